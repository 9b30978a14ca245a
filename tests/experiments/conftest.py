"""A machine that fails when told to."""

from __future__ import annotations

import sys
import types

import pytest

from mcls.machines.lsm import OneLSM
from mcls.machines.registry import MACHINES, Machine


class Flaky(OneLSM):
    """OneLSM, but ``broken`` makes every fit fail."""

    broken = False

    def _check_together(self) -> None:
        pass

    def sweep(self, *args, **kwargs):
        if Flaky.broken:
            raise RuntimeError("the machine\nbroke")
        return super().sweep(*args, **kwargs)


@pytest.fixture
def flaky(monkeypatch: pytest.MonkeyPatch) -> type[Flaky]:
    """Register the machine ``flaky`` for this process; set ``flaky.broken`` to make it fail."""
    module = types.ModuleType("flaky_machine")
    module.Flaky = Flaky  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "flaky_machine", module)
    monkeypatch.setitem(MACHINES, "flaky", Machine("flaky", "flaky_machine:Flaky", "fails when told to", "none"))
    monkeypatch.setattr(Flaky, "broken", False)
    return Flaky
