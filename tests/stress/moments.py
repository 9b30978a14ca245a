"""Kills at random moments of a run, one after another into the same folder, until a last run goes through."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Sequence

from . import forks, lab
from .attack import Attack, Tally
from .places import Ended, Place

SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
_KILLS = 6  # of one try


class Moments(Attack):
    """``mcls run``, killed up to six times on its way."""

    name = "run-moments"
    what = "mcls run killed or stopped at random moments, up to six times in a row"
    full = 70
    short = 1

    def prepare(self, place: Place) -> None:
        """How long it takes undisturbed, and what it leaves."""
        self.lab = lab.Lab(replicates=12)
        began = time.monotonic()
        self.lab.prepare(place)
        self._seconds = time.monotonic() - began

    def tries(self) -> Sequence[int]:
        """As many as wanted."""
        return range(self.full or 0)

    def attempt(self, trial: int, place: Place, r: random.Random) -> Tally:
        """Kill, look, and go on."""
        self.lab.write_config(place)
        faults, kills = [], 0
        for _ in range(_KILLS):
            before = lab.done(place)
            child = forks.start(place, lab.RUN)
            number, moment = r.choice(SIGNALS), r.uniform(0.0, self._seconds)
            ended = child.wait(until=after(moment))
            if ended is None:
                kills += 1
                child.kill(number)
                ended = child.end()
                faults += stopped(ended, number)
            faults += self.lab.whole(place) + lab.changed(before, lab.done(place))
            if ended.code == 0:
                break
        faults += self.lab.resumed(place)
        return Tally(kills, [f"after {kills} kills: {fault}" for fault in faults])


def after(seconds: float) -> forks.Condition:
    """True from then on."""
    moment = time.monotonic() + seconds
    return lambda: time.monotonic() >= moment


def stopped(ended: Ended, number: int) -> list[str]:
    """What was wrong with how a run took a signal.

    Before its work begins and after it has ended the ways of the interpreter will do; what a run must say while it
    works is tried at each of its steps.
    """
    codes = {signal.SIGKILL: (-9,), signal.SIGTERM: (143, -15), signal.SIGINT: (130, -2, 1)}[
        signal.Signals(number)
    ]
    if number == signal.SIGINT and ended.err.rstrip().endswith("KeyboardInterrupt") and ended.code in codes:
        return []
    return ended.faults(0, *codes)
