"""Several runs of one config at once: they share the work, and what they leave is what one run leaves."""

from __future__ import annotations

import random
import re
import signal
from collections.abc import Sequence

from . import forks, lab
from .attack import Attack, Tally
from .places import Place

_RUNS = 4
_TWICE = 10  # cells that may be computed by more than one


class Together(Attack):
    """Four runs, forked or fresh; in every other try one of them is killed."""

    name = "together"
    what = "four mcls run of one config at once, one of them killed in half of the tries"
    full = 24
    short = 1
    shuffled = False  # the small ones come first

    def prepare(self, place: Place) -> None:
        """A small and a large experiment."""
        self._labs = {replicates: lab.Lab(replicates) for replicates in (20, 160)}
        for experiment in self._labs.values():
            experiment.prepare(Place.make(place.root))

    def tries(self) -> Sequence[tuple[int, bool, bool]]:
        """Replicates, whether in interpreters of their own, whether one is killed."""
        small = [(20, False, killed) for killed in (False, True)] * 10
        return [*small, (160, True, False), (160, True, True), (160, False, False), (160, False, True)]

    def attempt(self, trial: tuple[int, bool, bool], place: Place, r: random.Random) -> Tally:
        """Start them, kill one, and look."""
        replicates, fresh, killed = trial
        experiment = self._labs[replicates]
        experiment.write_config(place)
        places = [Place(place.logs / f"run{i}") for i in range(_RUNS)]
        children = []
        for each in places:
            each.logs.mkdir(parents=True)
            each.work.symlink_to(place.work)
            env = place.environment()
            children.append(forks.start(each, lab.RUN, env=env, fresh=("-m", "mcls") if fresh else None))
        faults: list[str] = []
        if killed:
            enough = r.randint(1, experiment.cells // 2)
            victim = children.pop(r.randrange(_RUNS))
            ended = victim.wait(until=lambda: len(list((place.work / "out/lab/cells").glob("*.json"))) >= enough)
            if ended is None:
                victim.kill(signal.SIGKILL)
                victim.end()
        computed = 0
        for child in children:
            ended = child.end()
            faults += ended.faults(0)
            if found := re.search(r"(\d+) cells? computed", ended.out):
                computed += int(found[1])
        if computed > experiment.cells + _TWICE:
            faults.append(f"{computed} cells were computed in all, of {experiment.cells}")
        faults += experiment.resumed(place)
        return Tally(
            1, [f"{experiment.cells} cells, {'fresh' if fresh else 'forked'}: {fault}" for fault in faults]
        )
