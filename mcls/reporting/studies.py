"""Studies: the shipped configs behind the tables, with the figures that the store holds for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from mcls.data.cache import cached_files, folder_table_path
from mcls.data.cards import load_card
from mcls.errors import McLsError
from mcls.experiments.cells import Row
from mcls.experiments.config import ExperimentConfig
from mcls.experiments.experiment import Experiment
from mcls.experiments.loading import find_config, load_config
from mcls.experiments.store import Record, Store
from mcls.experiments.summary import Line, summarise
from mcls.reporting.quick import quick


class AbsentDataError(McLsError):
    """A study needs data that are not on this machine; the message is the command that gets them."""


@dataclass(frozen=True)
class Figures:
    """A row of a study with its line of figures; ``dataset`` is the data set as the config names it."""

    study: str
    index: int
    dataset: str
    row: Row
    line: Line
    store: Store

    @property
    def anchor(self) -> str:
        """Where the report lists the cells of this row."""
        return f"#cells-{self.study}-{self.index}"

    @cached_property
    def fields(self) -> dict[str, str]:
        """What a row is found by."""
        return {
            "dataset": self.dataset,
            "machine": self.row.machine,
            "labelbook": self.row.labelbook,
            "options": self.row.options,
        }

    @property
    def complete(self) -> bool:
        """Whether every cell of the protocol is done."""
        return self.line.state == "complete"

    @cached_property
    def records(self) -> list[Record | None]:
        """What the store holds for each cell of the protocol; None where that is no result."""
        return [self.store.result(cell) for cell in self.row.cells]

    @cached_property
    def results(self) -> list[dict[str, Any]]:
        """The results of all cells; empty unless all are done."""
        return [r["result"] for r in self.records if r is not None] if self.complete else []

    def cell(self, replicate: int) -> str:
        """The file of a cell, relative to the folder of results."""
        return f"{self.study}/cells/{self.row.cells[replicate].key}.json"

    def extreme(self, worst: bool) -> str:
        """The file of the replicate with the smallest or the largest error."""
        if not self.complete:
            return ""
        errors = [result["error"] for result in self.results]
        return self.cell(int(np.argmax(errors) if worst else np.argmin(errors)))

    @property
    def halves(self) -> list[list[float]] | None:
        """Errors (5, 2) of a 5×2cv row; None unless all are there."""
        return [result["errors"] for result in self.results] if self.complete else None

    @property
    def parameters(self) -> dict[str, Any]:
        """The untuned parameters of the machine, defaults included."""
        return self.row.cells[0].parameters()

    def facts(self, name: str) -> float | None:
        """Mean over folds and replicates of a fact that the protocol noted about the fitted machines."""
        values = [fold[name] for result in self.results for fold in result.get("facts", []) if name in fold]
        return float(np.mean(values)) if values else None


class Study:
    """One config laid out as cells, read from the store."""

    def __init__(self, name: str, out: Path, is_quick: bool) -> None:
        path = find_config(name)
        self.config = load_config(path)
        self.name = self.config.name
        if command := absent_data(self.config):
            raise AbsentDataError(command)
        self.as_run = quick(self.config, path.parent) if is_quick else self.config
        self.experiment = Experiment.prepare(self.as_run, path.parent, out)

    @cached_property
    def figures(self) -> list[Figures]:
        """All rows, data set by data set, machines in the order of the config."""
        plan, store = self.experiment.plan, self.experiment.store
        per_dataset = len(plan.rows) // len(self.config.datasets)
        return [
            Figures(self.name, i, self.config.datasets[i // per_dataset].label, row, line, store)
            for i, (row, line) in enumerate(zip(plan.rows, summarise(plan, store), strict=True))
        ]

    def find(self, **where: str) -> Iterator[Figures]:
        """The rows with these fields: dataset as in the config, machine, labelbook, options."""
        wanted = where.items()
        return (figures for figures in self.figures if wanted <= figures.fields.items())

    def one(self, **where: str) -> Figures | None:
        """The first row with these fields."""
        return next(self.find(**where), None)

    def refresh(self) -> None:
        """Forget the figures: the store has changed."""
        self.__dict__.pop("figures", None)


class Studies:
    """The studies of one folder of results, each laid out when it is first asked for.

    Quick runs live in a folder of their own, ``quick/``: what they leave never stands beside the real figures.
    """

    def __init__(self, out: Path, is_quick: bool = False) -> None:
        self.quick = is_quick
        self.root = out  # the folder that the user names
        self.out = out / "quick" if is_quick else out
        self._studies: dict[str, Study] = {}

    @property
    def bench(self) -> Path:
        """Where the benchmarks are; they have no quick version and stand beside the folder of quick results."""
        return self.root / "bench"

    def __getitem__(self, name: str) -> Study:
        if name not in self._studies:
            self._studies[name] = Study(name, self.out, self.quick)
        return self._studies[name]

    def loaded(self) -> list[Study]:
        """The studies asked for so far."""
        return list(self._studies.values())


def absent_data(config: ExperimentConfig) -> str | None:
    """The command that gets the first data set that is not on this machine; None when all are."""
    for entry in config.datasets:
        if entry.name is None:
            continue
        card = load_card(entry.name)
        if card.origin == "download" and len(cached_files(card)) < len(card.files):
            return f"mcls data fetch {card.name}"
        if card.origin == "folder" and "path" not in entry.options and not folder_table_path(card).is_file():
            return f"mcls data import {card.name} FOLDER"
    return None


def missing_note(figures: Iterable[Figures], command: str) -> list[str]:
    """One note that says how many cells are wanting and how to get them; none when all are there."""
    wanting = failed = total = 0
    for each in unique(figures):
        total += each.line.replicates
        wanting += each.line.missing
        failed += each.line.failed
    if not wanting and not failed:
        return []
    parts = [f"{wanting} of {total} cells are missing"] if wanting else []
    parts += [f"{failed} of {total} cells failed"] if failed else []
    return [f"INCOMPLETE: {', '.join(parts)}; rows without all their cells have no figures. Run: {command}"]


def unique(figures: Iterable[Figures]) -> Sequence[Figures]:
    """Each row once: rows that share provably identical cells count once too."""
    seen: dict[tuple[str, ...], Figures] = {}
    for each in figures:
        seen.setdefault(tuple(cell.key for cell in each.row.cells), each)
    return list(seen.values())
