"""Mutated cells: damaged records, and records of a wrong form that were stored in the right way."""

from __future__ import annotations

import json
import random

from mcls.experiments.store import Store

from . import lab
from .attack import Tally
from .inputs import Mutated, judged
from .mutate import changed, damaged
from .places import Place


class Cells(Mutated):
    """The commands that read a store; a cell that cannot be read is as good as missing."""

    name = "cells"
    what = "mutated cells of a store through run, run --dry-run and store verify"
    full = 1500

    def prepare(self, place: Place) -> None:
        """A complete store."""
        self._lab = lab.Lab(replicates=1)
        self._lab.prepare(place)
        self._files = {name: data for name, data in place.content().items() if data and name.startswith("work/")}
        self._cells = sorted(name for name in self._files if "/cells/" in name and name.endswith(".json"))

    def attempt(self, trial: int, place: Place, r: random.Random) -> Tally:
        """One record, one command."""
        for name, data in self._files.items():
            (place.root / name).parent.mkdir(parents=True, exist_ok=True)
            (place.root / name).write_bytes(data)
        path = place.root / r.choice(self._cells)
        record = json.loads(path.read_bytes())
        if r.random() < 0.4:
            path.write_bytes(damaged(r, path.read_bytes()))
        else:
            record.pop("sha256", None)  # the store makes a new one
            changed(r, record)
            record["key"] = path.stem  # it stays where it is
            try:
                Store(path.parent).write(record)
            except (ValueError, RecursionError):  # what JSON or UTF-8 cannot hold
                path.write_bytes(damaged(r, path.read_bytes()))
        command = r.choice(("run", "run", "dry-run", "verify"))
        if command == "dry-run":
            return Tally(1, judged(place, *lab.RUN, "--dry-run")[1])
        if command == "verify":
            return Tally(1, judged(place, "store", "verify", "out", codes=(0, 1, 2))[1])
        return Tally(1, judged(place, *lab.RUN, codes=(0, 1, 2), makes=("work/out",), whole=False)[1])
