"""What an attack is: a seeded list of tries, and one function that makes a try and tells what was wrong."""

from __future__ import annotations

import random
import resource
import shutil
import tempfile
import time
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from .places import Place


@dataclass
class Tally:
    """What came of a try: how often something was tried in it, everything that was wrong, and how often it was."""

    tried: int = 1
    faults: list[str] = field(default_factory=list)
    failed: int = 0

    def __post_init__(self) -> None:
        self.failed = max(self.failed, bool(self.faults))


class Attack(ABC):
    """One line of the table.

    Subclasses keep what all tries need, such as the results of an undisturbed run, as attributes that ``prepare``
    sets; the processes that make the tries are forked after it.
    """

    name: str
    what: str  # is tried, in a few words
    full: int | None = None  # tries of the suite; None: all there are
    short: int  # tries of the short form
    lanes: int | None = None  # tries at the same time; None: one for each job
    shuffled = True  # whether the first tries stand for all

    def absent(self) -> str | None:
        """Why nothing can be tried on this machine; None where it can."""
        return None

    def prepare(self, place: Place) -> None:  # noqa: B027  (most attacks need nothing)
        """Make what all tries share."""

    @abstractmethod
    def tries(self) -> Sequence[Any]:
        """All tries, in the order of their numbers."""

    @abstractmethod
    def attempt(self, trial: Any, place: Place, r: random.Random) -> Tally:
        """Make one try in its place; everything that is left to chance comes from ``r``."""

    def random(self, seed: int, number: int | str) -> random.Random:
        """The chance of one try."""
        return random.Random(f"{self.name} {seed} {number}")


@dataclass
class Result:
    """A line of the table."""

    attack: Attack
    tried: int = 0
    failed: int = 0
    faults: list[tuple[int, str]] = field(default_factory=list)  # number of the try, what was wrong
    skipped: str | None = None
    seconds: float = 0.0
    cpu_seconds: float = 0.0


def carry_out(
    attack: Attack, seed: int, jobs: int, short: bool = False, most: int | None = None, only: int | None = None
) -> Result:
    """Make the tries of an attack, several at a time, and count.

    Parameters
    ----------
    short : bool
        The few tries of the short form.
    most : int, optional
        No more tries than this.
    only : int, optional
        This try alone; its folder is kept.
    """
    result = Result(attack)
    began, cpu = time.monotonic(), _cpu_seconds()
    result.skipped = "not in the short form" if short and not attack.short else attack.absent()
    if result.skipped is not None:
        return result
    root = Path(tempfile.mkdtemp(prefix="mcls-stress-"))
    try:
        attack.prepare(Place.make(root / "shared"))
        tries = list(attack.tries())
        if attack.shuffled:
            attack.random(seed, "order").shuffle(tries)
        numbers = range(len(tries))[: attack.short if short else attack.full][:most]
        if only is not None:
            numbers = range(len(tries))[only : only + 1]
            print(f"try {only} of {len(tries)}: {tries[only]!r} in {root / str(only)}")
        make = partial(_make, attack, tries, seed, root, only is not None)
        for number, tally in _carried_out(make, numbers, attack.lanes or jobs):
            result.tried += tally.tried
            result.failed += tally.failed
            result.faults += [(number, fault) for fault in tally.faults]
    finally:
        if only is None:
            shutil.rmtree(root, ignore_errors=True)
    result.seconds, result.cpu_seconds = time.monotonic() - began, _cpu_seconds() - cpu
    return result


def _cpu_seconds() -> float:
    """Of this process and of all it has waited for."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def _make(
    attack: Attack, tries: Sequence[Any], seed: int, root: Path, keep: bool, number: int
) -> tuple[int, Tally]:
    place = Place.make(root / str(number))
    try:
        return number, attack.attempt(tries[number], place, attack.random(seed, number))
    except Exception:
        return number, Tally(faults=[f"the try itself broke: {traceback.format_exc()}"])
    finally:
        if not keep:
            place.remove()


def _carried_out(
    make: Callable[[int], tuple[int, Tally]], numbers: range, jobs: int
) -> Iterator[tuple[int, Tally]]:
    global _inherited
    if jobs == 1 or len(numbers) <= 1:
        yield from map(make, numbers)
        return
    _inherited = make  # the children of the pool are forked and find it here; it could not be sent to them
    with ProcessPoolExecutor(jobs, mp_context=get_context("fork")) as pool:
        yield from pool.map(_made, numbers)


_inherited: Callable[[int], tuple[int, Tally]]


def _made(number: int) -> tuple[int, Tally]:
    return _inherited(number)
