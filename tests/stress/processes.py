"""The same with interpreters of their own, and with workers: what is killed is what a user would start."""

from __future__ import annotations

import contextlib
import os
import random
import re
import signal
import time
from collections.abc import Sequence
from pathlib import Path

from . import forks, lab
from .attack import Attack, Tally
from .moments import SIGNALS, after, stopped
from .places import Place

MCLS = ("-m", "mcls")
_TWO = (*lab.RUN[:-1], "2")
_SECONDS_TO_END = 20.0  # for the workers of a main process that was killed


class Fresh(Attack):
    """``python -m mcls run`` killed while it starts, works or ends."""

    name = "run-fresh"
    what = "mcls run in a fresh interpreter killed or stopped at random moments, twice in a row"
    full = 30
    short = 1

    def prepare(self, place: Place) -> None:
        """What it leaves undisturbed."""
        self.lab = lab.Lab(replicates=12)
        self.lab.prepare(place)

    def tries(self) -> Sequence[int]:
        """As many as wanted."""
        return range(self.full or 0)

    def attempt(self, trial: int, place: Place, r: random.Random) -> Tally:
        """One kill in four comes while the interpreter starts, the others once results are being written."""
        self.lab.write_config(place)
        faults, kills = [], 0
        for _ in range(2):
            before = lab.done(place)
            child = forks.start(place, lab.RUN, fresh=MCLS)
            number, moment = r.choice(SIGNALS), r.uniform(0.0, 1.0)
            ended = None
            if r.random() > 0.25:
                ended = child.wait(until=lambda: _begun(place))
                moment *= 0.3
            ended = ended or child.wait(until=after(moment))
            if ended is None:
                kills += 1
                child.kill(number)
                ended = child.end()
                faults += stopped(ended, number)
            faults += self.lab.whole(place) + lab.changed(before, lab.done(place))
        faults += self.lab.resumed(place)
        return Tally(kills, faults)


def _begun(place: Place) -> bool:
    return (place.work / "out" / "lab" / "environment.json").exists()


class Workers(Attack):
    """``mcls run -j 2``: a worker killed, which the run survives, or the main process, which its workers do not."""

    name = "run-workers"
    what = "mcls run -j 2: a worker killed (the run goes on) or the main process (the workers end)"
    full = 30
    short = 0  # two interpreters more for each try
    lanes = 1

    def prepare(self, place: Place) -> None:
        """What it leaves undisturbed, however many workers."""
        self.lab = lab.Lab(replicates=80)
        self.lab.prepare(place)

    def tries(self) -> Sequence[str]:
        """Whom to kill."""
        return [("worker", "worker", "main")[i % 3] for i in range(self.full or 0)]

    def attempt(self, trial: str, place: Place, r: random.Random) -> Tally:
        """Kill one process once the first cells are there."""
        self.lab.write_config(place)
        child = forks.start(place, _TWO, fresh=MCLS)
        enough = r.randint(1, 20)
        ended = child.wait(until=lambda: len(lab.done(place)) >= enough)
        ended = ended or child.wait(until=after(r.uniform(0.0, 0.3)))
        workers = [pid for pid in members(child.pid) if "loky" in _command(pid) and "tracker" not in _command(pid)]
        number = r.choice(SIGNALS)
        if ended is not None or not workers:
            return Tally(0, ["it was over before anything could be killed"] if ended is None else ended.faults(0))
        faults = []
        if trial == "worker":
            with contextlib.suppress(ProcessLookupError):
                os.kill(r.choice(workers), number)
            faults += child.end().faults(0)
        else:
            child.kill(number)
            faults += stopped(child.end(), number)
            faults += _left_behind(child.pid)
        faults += self.lab.whole(place)
        faults += self.lab.resumed(place)
        faults += [f"left in shared memory: {name}" for name in shared_memory(child.pid)]
        return Tally(1, [f"{signal.Signals(number).name} to a {trial}: {fault}" for fault in faults])


def members(session: int) -> list[int]:
    """The living processes of a session but its first."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            state, *numbers = (entry / "stat").read_text().rpartition(")")[2].split()
            if int(entry.name) != session and int(numbers[2]) == session and state != "Z":
                found.append(int(entry.name))
    return found


def _command(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace")
    return ""


def _left_behind(session: int) -> list[str]:
    """Processes that outlive their main process by more than is decent; they are ended here."""
    deadline = time.monotonic() + _SECONDS_TO_END
    while (left := members(session)) and time.monotonic() < deadline:
        time.sleep(0.05)
    for pid in left:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return [f"{len(left)} processes outlived the run by {_SECONDS_TO_END:.0f} s"] if left else []


def shared_memory(pid: int) -> list[str]:
    """What a process has left in shared memory."""
    return sorted(path.name for path in Path("/dev/shm").glob("*") if re.search(rf"[_-]{pid}[_-]", path.name))
