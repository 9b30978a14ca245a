"""One flipped bit in each cell of a store: every one is noticed, named, and computed again."""

from __future__ import annotations

import random
from collections.abc import Sequence

from mcls.experiments.experiment import Experiment
from mcls.experiments.loading import load_config
from mcls.experiments.store import Store

from . import forks, lab
from .attack import Attack, Tally
from .places import Place

_CELLS = 100  # of one try


class Flips(Attack):
    """A hundred cells in a try, one bit of each."""

    name = "flips"
    what = "one flipped bit in each stored cell: noticed, named by store verify, computed again by run"
    full = 20
    short = 1

    def prepare(self, place: Place) -> None:
        """A complete store."""
        self._lab = lab.Lab(replicates=_CELLS // 2)
        self._lab.prepare(place)
        self._files = lab.done(place)
        config = load_config(place.work / "lab.yaml")
        self._plan = Experiment.laid_out(config, place.work, place.work / "out").plan

    def tries(self) -> Sequence[int]:
        """As many as wanted."""
        return range(self.full or 0)

    def attempt(self, trial: int, place: Place, r: random.Random) -> Tally:
        """Flip, read, verify, run, and verify again."""
        self._lab.write_config(place)
        folder = place.work / "out" / "lab" / "cells"
        folder.mkdir(parents=True)
        for name, data in self._files.items():
            at = r.randrange(8 * len(data))
            turned = bytearray(data)
            turned[at // 8] ^= 1 << at % 8
            (folder / name).write_bytes(turned)
        store = Store(folder)
        unnoticed = [cell.key for cell in self._plan.cells if store.read(cell) is not None]
        faults = [f"{len(unnoticed)} flipped bits went unnoticed: {unnoticed[:3]}"] * bool(unnoticed)
        found = forks.run(place, "store", "verify", "out")
        faults += [f"store verify: {fault}" for fault in found.faults(1)]
        unnamed = [name for name in self._files if name.removesuffix(".json") not in found.out + found.err]
        faults += [f"store verify does not name {len(unnamed)} damaged cells: {unnamed[:3]}"] * bool(unnamed)
        again = forks.run(place, *lab.RUN)
        faults += again.faults(0) + self._lab.finished(place)
        if f"{len(self._files)} cells computed" not in again.out:
            faults.append(f"run did not compute the damaged cells again: {again.out[-200:]!r}")
        faults += [f"store verify after it: {f}" for f in forks.run(place, "store", "verify", "out").faults(0)]
        return Tally(len(self._files), faults, failed=len(unnoticed))
