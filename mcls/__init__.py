"""mcls: multiclass kernel least-squares classification and its relatives.

>>> from mcls import OneLSM
>>> OneLSM(sigma=0.5).fit([[0.0], [1.0], [2.0]], ["a", "b", "c"]).predict([[1.9]])
array(['c'], dtype='<U1')
"""

from __future__ import annotations

import importlib
from typing import Any

from mcls.machines.registry import class_targets

# Public names are imported when first used, so that the command line starts without numpy: the classes of the
# registry, and the functions on models.
_EXPORTS = {
    **class_targets(),
    "PrecisionWarning": "mcls.errors",
    "TableClassifier": "mcls.models.table_classifier",
    "SweepCV": "mcls.evaluation.sweepcv",
    "load": "mcls.models.saving",
    "register": "mcls.machines.plugged",
    "save": "mcls.models.saving",
    "select": "mcls.models.selection",
}

__all__ = sorted(_EXPORTS)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("mcls")
    if name == "statistics":
        return importlib.import_module("mcls.evaluation.all_tests")
    if name in _EXPORTS:
        return getattr(importlib.import_module(_EXPORTS[name]), name)
    raise AttributeError(f"module 'mcls' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_EXPORTS])
