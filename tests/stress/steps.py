"""Kills, signals and errors of the disk at every system call that writes, in turn; then the same command again.

Whatever happens at whatever call: what was finished before stays as it was, no file that can be seen is half-written,
and the next run ends with the files that an undisturbed one leaves, no temporary ones beside them.
"""

from __future__ import annotations

import random
from abc import abstractmethod
from collections.abc import Sequence

from mcls.resources import datasets_dir

from . import forks, lab
from .attack import Attack, Tally
from .inject import ACTIONS, Injector
from .places import Ended, Place

Trial = tuple[str, int, str]  # how the folder begins, the number of the call, what happens there


class Steps(Attack):
    """A command, interrupted at each of its writing calls."""

    beginnings: tuple[str, ...]
    _calls: dict[str, list[str]]

    def prepare(self, place: Place) -> None:
        """Run each beginning undisturbed; note the calls, and what is left at the end."""
        self._calls = {}
        for beginning in self.beginnings:
            self.begin(Place.make(place.root), beginning)
            ended = self._run(place, beginning, 0, "kill")
            if ended.code:
                raise RuntimeError(f"{self.name} failed undisturbed: {ended.err}")
            self._calls[beginning] = list(ended.noted)
            self.remember(place, beginning)

    def tries(self) -> Sequence[Trial]:
        """Every call with every thing that can happen; only a write can be torn."""
        return [
            (beginning, number, action)
            for beginning, calls in self._calls.items()
            for number, call in enumerate(calls, 1)
            for action in ACTIONS
            if action != "torn" or call.startswith("write")
        ]

    def attempt(self, trial: Trial, place: Place, r: random.Random) -> Tally:
        """Interrupt it, look, run it again, and look again."""
        beginning, number, action = trial
        self.begin(place, beginning)
        before = self.finished_before(place)
        faults = _ended_well(self._run(place, beginning, number, action), action, self.said_to_go_on)
        faults += self.whole(place, beginning) + self.lost(before, place, beginning)
        before = self.finished_before(place)
        faults += self._again(place, beginning) + self.lost(before, place, "")
        if self.complete(place, beginning):  # what may be in use by another process is cleared days later
            lab.age(place)
            faults += self._again(place, beginning)
        faults += self.complete(place, beginning)
        call = self._calls[beginning][number - 1]
        return Tally(
            faults=[f"{action} at call {number} ({call}) of {self.name}, {beginning}: {f}" for f in faults]
        )

    def _again(self, place: Place, beginning: str) -> list[str]:
        ended = forks.run(place, *self.command(beginning, again=True))
        return [f"run again: {fault}" for fault in ended.faults(0)]

    def _run(self, place: Place, beginning: str, number: int, action: str) -> Ended:
        def inject() -> None:
            handle = open(place.logs / "notes", "a", buffering=1)  # noqa: SIM115  (open until the child ends)
            note = None if number else lambda text: print(text.replace(f"{place.root}/", ""), file=handle)
            Injector([str(folder) for folder in place.folders], number, action, note).install()

        return forks.run(place, *self.command(beginning, again=False), before=inject)

    #: Whether a command that is told to end says how to go on, with the shell's exit code.
    said_to_go_on = False

    @abstractmethod
    def command(self, beginning: str, again: bool) -> Sequence[object]:
        """The command line, the first time or after the interruption."""

    @abstractmethod
    def begin(self, place: Place, beginning: str) -> None:
        """Lay out what the command finds."""

    @abstractmethod
    def remember(self, place: Place, beginning: str) -> None:
        """Note what an undisturbed command has left."""

    @abstractmethod
    def whole(self, place: Place, beginning: str) -> list[str]:
        """What is half-written."""

    @abstractmethod
    def complete(self, place: Place, beginning: str) -> list[str]:
        """In what the end differs from an undisturbed one."""

    def finished_before(self, place: Place) -> dict[str, bytes]:
        """Finished work that must stay."""
        return {}

    def lost(self, before: dict[str, bytes], place: Place, beginning: str) -> list[str]:
        """What became of it."""
        return lab.changed(before, self.finished_before(place))


def _ended_well(ended: Ended, action: str, said_to_go_on: bool) -> list[str]:
    if action in ("kill", "torn"):
        return ended.faults(-9)
    if action in ("full", "broken"):
        return ended.faults(0, 1, 2) if said_to_go_on else ended.faults(0, 2)
    if action == "int":
        return ended.faults(0, 130)
    if not said_to_go_on:
        return ended.faults(-15, 143)
    faults = ended.faults(0, 143)
    if ended.code == 143 and "the same command goes on" not in ended.err:
        faults.append(f"it does not say how to go on: {ended.err!r}")
    return faults


class RunSteps(Steps):
    """``mcls run``: into an empty folder, with half of the cells done, and computing all of them again."""

    name = "run-steps"
    what = "mcls run killed, stopped or refused the disk at each call that writes"
    short = 4
    beginnings = ("empty", "half", "fresh")
    said_to_go_on = True

    def __init__(self) -> None:
        self.lab = lab.Lab(replicates=2)
        self._full: dict[str, bytes] = {}

    def prepare(self, place: Place) -> None:
        """Also keep the files of a complete run, which two of the beginnings are made of."""
        self.lab.prepare(Place.make(place.root))
        self._full = {name: data for name, data in place.content().items() if name.startswith("work/out")}
        super().prepare(place)

    def command(self, beginning: str, again: bool) -> Sequence[object]:
        """Run; what is computed afresh is not so after the interruption."""
        return (*lab.RUN, "--fresh") if beginning == "fresh" and not again else lab.RUN

    def begin(self, place: Place, beginning: str) -> None:
        """The config, and the results there are."""
        self.lab.write_config(place)
        if beginning == "empty":
            return
        cells = sorted(name for name in self._full if "/cells/" in name and name.endswith(".json"))
        for name, data in self._full.items():
            path = place.root / name
            if beginning == "half" and name in cells[::2]:
                continue
            if data:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)

    def remember(self, place: Place, beginning: str) -> None:
        """Every beginning ends as the first did."""
        if faults := self.lab.finished(place):
            raise RuntimeError(f"{self.name}, {beginning}: {faults}")

    def whole(self, place: Place, beginning: str) -> list[str]:
        """What is half-written."""
        return self.lab.whole(place)

    def complete(self, place: Place, beginning: str) -> list[str]:
        """In what the end differs from an undisturbed one."""
        return self.lab.finished(place)

    def finished_before(self, place: Place) -> dict[str, bytes]:
        """The cells that are done."""
        return lab.done(place)

    def lost(self, before: dict[str, bytes], place: Place, beginning: str) -> list[str]:
        """No cell is lost; its bytes stay unless it was computed afresh."""
        return lab.changed(before, lab.done(place), results_only=beginning == "fresh")


class OutputSteps(Steps):
    """A command with one output, which is new or replaces an old one."""

    beginnings = ("new", "over an old file")
    short = 6
    output: str
    arguments: tuple[object, ...]

    def __init__(self) -> None:
        self._end: dict[str, dict[str, bytes]] = {}
        self._made = b""

    def command(self, beginning: str, again: bool) -> Sequence[object]:
        """The same every time."""
        return self.arguments

    def begin(self, place: Place, beginning: str) -> None:
        """The inputs; a mirror, a model and a table."""
        (place.work / "mirror").mkdir()
        (place.work / "mirror" / "iris.data").write_bytes(iris_raw())
        if self._inputs is not None:
            (place.work / "old.mcls").write_bytes(self._inputs)
        if beginning != "new":
            (place.root / self.output).parent.mkdir(parents=True, exist_ok=True)
            (place.root / self.output).write_bytes(self.old())

    _inputs: bytes | None = None  # a model

    def prepare(self, place: Place) -> None:
        """Fit the model that is predicted with."""
        forks.run(place, "fit", TABLE, "--machine", "ovO:gamma=1,sigma=1", "--folds", 2, "-o", "old.mcls")
        self._inputs = (place.work / "old.mcls").read_bytes()
        super().prepare(place)

    def old(self) -> bytes:
        """An output of an earlier command."""
        return b"old,output\n1,2\n"

    def remember(self, place: Place, beginning: str) -> None:
        """All files at the end."""
        self._end[beginning] = place.content()
        self._made = (place.root / self.output).read_bytes()

    def whole(self, place: Place, beginning: str) -> list[str]:
        """The output is the old one, the new one, or not there."""
        path = place.root / self.output
        allowed = (self.old(), self._made) if beginning != "new" else (self._made,)
        if path.exists() and path.read_bytes() not in allowed:
            return [f"{self.output} is half-written"]
        return [f"{self.output} was lost"] if beginning != "new" and not path.exists() else []

    def complete(self, place: Place, beginning: str) -> list[str]:
        """All files are there, with their content, and no others."""
        now, then = place.content(), self._end[beginning]
        odd = sorted(name for name in now.keys() | then.keys() if now.get(name) != then.get(name))
        return [f"files differ from those an undisturbed command leaves: {odd}"] if odd else []


TABLE = datasets_dir() / "lenses.csv"
MACHINE = ("--machine", "oneLSM:gamma=0.5,sigma=1", "--folds", 2)


def iris_raw() -> bytes:
    """UCI's iris.data, put together again from the shipped table (its checksum is on the card)."""
    lines = (datasets_dir() / "iris.csv").read_text(encoding="utf-8").splitlines()[1:]
    rows = [line.rsplit(",", 1) for line in lines]
    return "".join(f"{values},Iris-{name}\n" for values, name in rows).encode() + b"\n"


class FitSteps(OutputSteps):
    """``mcls fit``."""

    name = "fit-steps"
    what = "mcls fit killed, stopped or refused the disk at each call that writes"
    output = "work/m.mcls"
    arguments = ("fit", TABLE, *MACHINE, "-o", "m.mcls")

    def old(self) -> bytes:
        """A model of another machine."""
        assert self._inputs is not None
        return self._inputs


class PredictSteps(OutputSteps):
    """``mcls predict``."""

    name = "predict-steps"
    what = "the same for mcls predict"
    output = "work/out.csv"
    arguments = ("predict", "old.mcls", TABLE, "-o", "out.csv")


class FetchSteps(OutputSteps):
    """``mcls data fetch``."""

    name = "fetch-steps"
    what = "the same for mcls data fetch"
    output = "cache/iris/iris.data"
    arguments = ("data", "fetch", "iris", "--remote", "--mirror", "MIRROR")

    def command(self, beginning: str, again: bool) -> Sequence[object]:
        """A mirror is an absolute address."""
        return [*self.arguments[:-1], self._mirror]

    def begin(self, place: Place, beginning: str) -> None:
        """The mirror is in the work folder."""
        self._mirror = (place.work / "mirror").as_uri()
        super().begin(place, beginning)
