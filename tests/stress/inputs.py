"""What all mutated inputs share: a command with little memory and time, and a look at every file afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import forks
from .attack import Attack
from .places import Ended, Place

_MEGABYTES = 400  # beyond what the process has when it starts
_CPU_SECONDS = 60


class Mutated(Attack):
    """An attack by inputs: every try is one of a seeded sequence."""

    full: int
    short = 8

    def tries(self) -> Sequence[int]:
        """As many as wanted."""
        return range(self.full)


def judged(
    place: Place,
    *args: object,
    codes: Sequence[int] = (0, 2),
    makes: Sequence[str] = (),
    whole: bool = True,
    **how: Any,
) -> tuple[Ended, list[str]]:
    """Run a command on an input and tell what was wrong.

    Parameters
    ----------
    codes : sequence of int
        Exit codes that are right.
    makes : sequence of str
        How the names of its outputs begin, below the place; everything else stays as it was.
    whole : bool
        Whether a command that fails must leave its outputs alone, too.
    """
    before = place.content()
    how = {"watched": True, "before": forks.limited(_MEGABYTES, _CPU_SECONDS)} | how
    ended = forks.run(place, *args, **how)
    after = place.content()
    faults = ended.faults(*codes)
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) == after.get(name):
            continue
        if not name.startswith(tuple(makes)):
            faults.append(f"touched {name!r}")
        elif whole and ended.code != 0:
            faults.append(f"left {name!r} with exit code {ended.code}")
    if makes and whole and ended.code == 0 and not any(name.startswith(tuple(makes)) for name in after):
        faults.append(f"exit code 0, but no {makes[0]}")
    shown = " ".join(str(a) for a in args)
    return ended, [f"mcls {shown[:200]!r}: {fault}" for fault in faults]
