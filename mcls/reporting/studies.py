"""Studies: the shipped configs behind the tables, with the figures that the store holds for them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from mcls.data.cache import cached_files, is_cached
from mcls.data.cards import load_card
from mcls.errors import McLsError, unknown_name
from mcls.evaluation.metrics import ERROR
from mcls.experiments.config import ExperimentConfig
from mcls.experiments.experiment import CONFIG_FILE, PLAN_FILE, Experiment
from mcls.experiments.loading import find_config, load_config, shipped_configs
from mcls.experiments.plan import Plan, PlannedData, PlanRow
from mcls.experiments.store import Record, Store
from mcls.experiments.stored import of_splits, share_tested, without_copies
from mcls.experiments.summary import Line, summarise
from mcls.reporting.quick import quick
from mcls.reporting.table import Lacking
from mcls.resources import configs_dir


class AbsentDataError(McLsError):
    """A study needs data that are not on this machine; the message is the command that gets them."""


@dataclass(frozen=True)
class StudyRow:
    """A row of a study with its line of figures; ``dataset`` is the data set as the config names it."""

    study: str
    index: int
    dataset: str
    row: PlanRow
    line: Line
    store: Store
    data: PlannedData

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
        """What the store holds for each cell of the protocol; None where that is not a result."""
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

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics of its cells, that which chooses first; the error is always there."""
        return tuple(dict.fromkeys((*self.row.cells[0].metrics, ERROR.name)))

    def values(self, metric: str) -> list[float] | None:
        """A metric of every replicate; None unless all are done and it is defined in each."""
        if metric == ERROR.name:
            found = [result["error"] for result in self.results]
        else:
            found = [result.get("metrics", {}).get(metric) for result in self.results]
        return found if found and None not in found else None

    def split_values(self, metric: str) -> np.ndarray | None:
        """A metric (replicates, splits) on every different split; None where it is not stored or not defined."""
        found = [of_splits(result, metric) for result in self.results]
        if not found or any(values is None or None in values for values in found):
            return None
        if len({len(values or ()) for values in found}) > 1:
            return None
        return without_copies(self.row.cells[0], np.array(found, dtype=float))

    @property
    def share_tested(self) -> float:
        """The share of the rows that a split tests."""
        return share_tested(self.row.cells[0], self.results[0])

    def facts(self, name: str) -> float | None:
        """Mean over folds and replicates of a fact that the protocol noted about the fitted machines."""
        values = [fold[name] for result in self.results for fold in result.get("facts", []) if name in fold]
        return float(np.mean(values)) if values else None


class Study:
    """One experiment as its run planned it and the store holds it.

    The plan is the one that the run wrote beside its cells; where there is none yet, the config is laid out, which
    needs the data.
    """

    def __init__(self, name: str, out: Path, is_quick: bool, part: str = "", stored: str = "") -> None:
        self.source = name  # what `mcls run` takes
        self._path = find_config(name)
        self.quick = is_quick
        self.root = out.parent if is_quick else out  # the folder that the user names
        shipped = self._path.parent == configs_dir()  # those are called as their files are: most need no reading
        self.name = stored or (self._path.stem if shipped else self.config.name)  # the folder of one that was run
        self.out = out
        self.folder = out / self.name / part
        self._written = Plan.read(self.folder / PLAN_FILE)
        if self._written is None:
            with self._plan_damaged():
                self._require_data()

    @contextlib.contextmanager
    def _plan_damaged(self) -> Iterator[None]:
        """Where what the run wrote cannot be read, say so beside why it cannot be made again."""
        try:
            yield
        except AbsentDataError:
            raise
        except McLsError as error:
            if not (self.folder / PLAN_FILE).is_file():
                raise
            damaged = f"{self.folder / PLAN_FILE} is damaged, or of a later version of mcls"
            raise McLsError(f"{damaged}, and cannot be made again: {error}") from None

    def _require_data(self) -> None:
        if command := absent_data(self.config):
            raise AbsentDataError(command)

    @cached_property
    def config(self) -> ExperimentConfig:
        """The config; reading it needs the plug-ins that it was run with."""
        return load_config(self._path)

    @cached_property
    def experiment(self) -> Experiment:
        """The config laid out anew, to be run; needs the data."""
        self._require_data()
        as_run = quick(self.config, self._path.parent) if self.quick else self.config
        return Experiment.laid_out(as_run, self._path.parent, self.out)

    @property
    def plan(self) -> Plan:
        """The plan as it was run last, or as it would be run."""
        if self._written is not None:
            return self._written
        with self._plan_damaged():
            return self.experiment.plan

    @cached_property
    def store(self) -> Store:
        """The cells' records."""
        return Store(self.out / self.name / "cells", keep=True)

    @property
    def protocol(self) -> str:
        """The protocol of its rows."""
        return self.plan.rows[0].protocol

    @property
    def config_as_run(self) -> str:
        """The config with every default spelt out."""
        try:
            return (self.folder / CONFIG_FILE).read_text(encoding="utf-8")
        except OSError:
            return self.experiment.config_as_run()

    @cached_property
    def fields_as_run(self) -> dict[str, Any]:
        """The fields of that config as they are written there: no plug-in is needed to read them."""
        try:
            fields = yaml.safe_load(self.config_as_run)
        except yaml.YAMLError:  # edited by hand
            return {}
        return fields if isinstance(fields, dict) else {}

    @cached_property
    def figures(self) -> list[StudyRow]:
        """All rows, data set by data set, machines in the order of the config."""
        plan = self.plan
        known = list(dict.fromkeys(row.dataset for row in plan.rows))
        labels = [entry.label for entry in self.config.datasets] if self.quick else known
        named = dict(zip(known, labels)) if len(known) == len(labels) else dict(zip(known, known))
        return [
            StudyRow(self.name, i, named[row.dataset], row, line, self.store, plan.datasets[row.dataset])
            for i, (row, line) in enumerate(zip(plan.rows, summarise(plan, self.store), strict=True))
        ]

    def find(self, **where: str) -> Iterator[StudyRow]:
        """The rows with these fields: dataset as in the config, machine, labelbook, options."""
        wanted = where.items()
        return (figures for figures in self.figures if wanted <= figures.fields.items())

    def one(self, **where: str) -> StudyRow | None:
        """The first row with these fields."""
        return next(self.find(**where), None)

    def refresh(self) -> None:
        """Forget the figures and the plan: the store has changed."""
        self._written = Plan.read(self.folder / PLAN_FILE)
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

    def experiments(self) -> list[str]:
        """The folders below ``out`` that hold an experiment as it was run."""
        configs = [*self.out.glob(f"*/{CONFIG_FILE}"), *self.out.glob(f"*/*/{CONFIG_FILE}")]
        names = sorted(path.parent.relative_to(self.out).as_posix() for path in configs)
        return [name for name in names if not name.startswith("quick/")]

    def experiment(self, text: str) -> Study:
        """Any experiment: by the folder of its results, by its config, or by the name of a shipped one."""
        known = self.experiments()
        folders = [Path(text), Path(os.path.relpath(text, self.out))]  # as listed, or as a path to it
        folders += [
            folder.parent for folder in folders if folder.name == CONFIG_FILE
        ]  # by the config as it was run
        try:
            for name in folders:
                if name.as_posix() in known:
                    part = name.relative_to(name.parts[0]).as_posix()  # a comparison has a folder of its own
                    path = str(self.out / name / CONFIG_FILE)
                    return Study(path, self.out, is_quick=False, part=part, stored=name.parts[0])
            if Path(text).name == text and not Path(text).suffix and text not in (shipped := shipped_configs()):
                raise unknown_name("experiment", text, [*known, *shipped])
            return self[text]
        except AbsentDataError as error:
            raise McLsError(f"{text} is about data that are not on this machine; to get them: {error}") from None

    def loaded(self) -> list[Study]:
        """The studies asked for so far."""
        return list(self._studies.values())


def absent_data(config: ExperimentConfig) -> str | None:
    """The command that gets the first data set that is not on this machine; None when all are."""
    for entry in config.datasets:
        if entry.path is not None:
            continue  # a table of the user's own, whatever it is called
        card = load_card(str(entry.name))
        if card.origin == "download" and len(cached_files(card)) < len(card.files):
            return f"mcls data fetch {card.name}"
        if card.origin == "folder" and "path" not in entry.options and not is_cached(card):
            return f"mcls data import {card.name} FOLDER"
    return None


def lacking(rows: Iterable[StudyRow], command: str) -> Lacking:
    """What is wanting behind some rows, and the command that gets it."""
    wanting = failed = total = 0
    for each in unique(rows):
        total += each.line.replicates
        wanting += each.line.missing
        failed += each.line.failed
    if not wanting and not failed:
        return Lacking()
    parts = [f"{wanting} of {total} cells are missing"] if wanting else []
    parts += [f"{failed} of {total} cells failed"] if failed else []
    note = f"INCOMPLETE: {', '.join(parts)}; rows without all their cells have no figures. Run: {command}"
    return Lacking("not run" if wanting + failed == total else "incomplete", (note,))


def unique(figures: Iterable[StudyRow]) -> Sequence[StudyRow]:
    """Each row once: rows that share provably identical cells count once too."""
    seen: dict[tuple[str, ...], StudyRow] = {}
    for each in figures:
        seen.setdefault(tuple(cell.key for cell in each.row.cells), each)
    return list(seen.values())
