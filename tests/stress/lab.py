"""A small experiment, what an undisturbed run of it leaves, and whether another folder holds the same."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcls.experiments.summary import TIME_COLUMNS

from . import forks
from .places import Place

CONFIG = """\
name: lab
datasets: lenses
machines: [oneLSM, ovO]
folds: 3
replicates: {replicates}
grid: {{gamma: [0.25, 4], sigma: [0.5]}}
"""
RUN = ("run", "lab.yaml", "--out", "out", "-j", "1")
_AGE = 48 * 3600.0  # seconds; a temporary file that old belongs to nobody


@dataclass(frozen=True)
class State:
    """What a folder holds, apart from what differs from run to run."""

    names: frozenset[str]
    summary: list[list[str]]
    page: list[list[str]]
    results: dict[str, Any]  # of cells that are done


class Lab:
    """The experiment with two cells for each replicate."""

    def __init__(self, replicates: int) -> None:
        self.cells = 2 * replicates
        self._config = CONFIG.format(replicates=replicates)
        self.state: State

    def write_config(self, place: Place) -> None:
        """Put the config into the work folder."""
        (place.work / "lab.yaml").write_text(self._config)

    def prepare(self, place: Place) -> None:
        """Run it undisturbed, and remember what it leaves."""
        self.write_config(place)
        ended = forks.run(place, *RUN)
        if ended.code:
            raise RuntimeError(f"the undisturbed run failed: {ended.err}")
        self.state = read_state(place)

    def whole(self, place: Place) -> list[str]:
        """What is half-written among the files that can be seen; hidden ones are on their way."""
        faults = []
        for path in sorted((place.work / "out").rglob("*")):
            if not path.is_file() or path.name.startswith("."):
                continue
            text = path.read_text(encoding="utf-8", errors="replace")
            if path.suffix == ".json":
                with contextlib.suppress(ValueError):
                    if isinstance(json.loads(text), dict):
                        continue
                faults.append(f"{path.name} is half-written")
            elif path.name == "summary.csv":
                rows = without_times(text)
                if not text.endswith("\n") or len(rows) != len(self.state.summary):
                    faults.append(f"{path.name} is half-written")
            elif path.suffix == ".md" and len(table_of(text)) != len(self.state.page):
                faults.append(f"{path.name} is half-written")
        return faults

    def resumed(self, place: Place) -> list[str]:
        """Run it to its end: what was lost or changed on the way, and what is different in the end.

        A temporary file may be in use by another process, and is cleared by a run of days later.
        """
        before = done(place)
        faults = forks.run(place, *RUN).faults(0) + changed(before, done(place))
        if self.finished(place):
            age(place)
            faults += forks.run(place, *RUN).faults(0)
        return faults + self.finished(place)

    def finished(self, place: Place) -> list[str]:
        """In what a run that has come to its end differs from the undisturbed one."""
        faults, state = [], read_state(place)
        if state.names != self.state.names:
            faults.append(f"other files than an undisturbed run leaves: {sorted(state.names ^ self.state.names)}")
        other = [
            name for name in ("summary", "page", "results") if getattr(state, name) != getattr(self.state, name)
        ]
        return faults + [
            f"another {name} than an undisturbed run's: {getattr(state, name)}"[:400] for name in other
        ]


def read_state(place: Place) -> State:
    """Read what a run has left.

    The file of claims may stay after a kill: it is empty, and a lock in it ends with its process.
    """
    folder = place.work / "out" / "lab"
    files = {n for n, data in place.content().items() if data or not n.endswith("/cells/.claims")}
    return State(
        names=frozenset(n for n in files if n.startswith("work/out") or not n.startswith("work/")),
        summary=without_times(_text(folder / "summary.csv")),
        page=table_of(_text(folder / "summary.md")),
        results={name: json.loads(data)["result"] for name, data in done(place).items()},
    )


def done(place: Place) -> dict[str, bytes]:
    """The files of all cells that are done."""
    found = {}
    for path in (place.work / "out" / "lab" / "cells").glob("*.json"):
        with contextlib.suppress(ValueError):
            data = path.read_bytes()
            if json.loads(data).get("status") == "done":
                found[path.name] = data
    return found


def changed(before: dict[str, bytes], after: dict[str, bytes], results_only: bool = False) -> list[str]:
    """Which finished cells were lost or changed; where all are computed again, times may differ."""

    def seen(data: bytes) -> Any:
        return json.loads(data)["result"] if results_only else data

    lost = sorted(before.keys() - after.keys())
    other = sorted(name for name in before.keys() & after.keys() if seen(before[name]) != seen(after[name]))
    return [f"finished cells were lost: {lost}"] * bool(lost) + [f"finished cells changed: {other}"] * bool(other)


def age(place: Place) -> None:
    """Make hidden files and folders two days old, as if their process had been killed then."""
    then = time.time() - _AGE
    for name in place.content():
        path = place.root / name
        if any(part.startswith(".") for part in Path(name).parts) and not path.is_symlink():
            os.utime(path, (then, then))


def without_times(text: str) -> list[list[str]]:
    """The rows of a summary.csv without its time columns."""
    rows = list(csv.reader(io.StringIO(text)))
    keep = [j for j, name in enumerate(rows[0]) if name not in TIME_COLUMNS] if rows else []
    return [[row[j] for j in keep if j < len(row)] for row in rows]


def table_of(text: str) -> list[list[str]]:
    """The rows of a Markdown page's table without the column of times."""
    rows = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in text.splitlines() if "|" in line]
    at = rows[0].index("time") if rows and "time" in rows[0] else -1
    return [[cell for j, cell in enumerate(row) if j != at] for row in rows if not row[0].startswith("---")]


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""
