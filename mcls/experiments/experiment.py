"""One experiment from its config to its folder of results."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from mcls.environment import environment
from mcls.errors import printable
from mcls.experiments.config import OF_TABLES, ExperimentConfig
from mcls.experiments.layout import plan
from mcls.experiments.plan import Plan
from mcls.experiments.runner import Batch, Progress, RunOutcome, run_batches, run_cells
from mcls.experiments.store import Store, write_file
from mcls.experiments.summary import Line, summarise, to_csv, to_markdown
from mcls.files import clear_stale
from mcls.plugins import loaded_files

#: In the folder of an experiment.
PLAN_FILE, CONFIG_FILE = "plan.json", "config.yaml"


@dataclass(frozen=True)
class Experiment:
    """A config laid out as cells, with the folder its results go to.

    Parameters
    ----------
    config : ExperimentConfig
        What to run.
    source : Path
        The folder that paths in the config are relative to.
    out : Path
        Results go to ``out/<name>/``, and nowhere else.
    part : str
        The folder below that for what is written of this experiment alone, where several of one name share the cells.
    """

    config: ExperimentConfig
    source: Path
    out: Path
    plan: Plan
    part: str = ""

    @classmethod
    def laid_out(cls, config: ExperimentConfig, source: Path, out: Path) -> Experiment:
        """Lay the config out as cells; loads the data sets."""
        return cls(config, source, out, plan(config, source))

    @property
    def folder(self) -> Path:
        """Where the summary goes, and the config as run."""
        return self.out / self.config.name / self.part

    @cached_property
    def store(self) -> Store:
        """The cells' records."""
        return Store(self.out / self.config.name / "cells")

    def run(
        self,
        *,
        jobs: int = 1,
        backend: str = "loky",
        scheduler: str | None = None,
        fresh: bool = False,
        keep_going: bool = True,
        progress: Progress | None = None,
    ) -> RunOutcome:
        """Compute what is missing and write the folder; see ``runner.run_cells`` for the parameters.

        With ``timing: true`` the cells run one after the other: a time measured beside other work is not a measurement.
        """
        self._begin()
        outcome = run_cells(
            self.plan.cells,
            self.store,
            jobs=1 if self.config.timing else jobs,
            backend=backend,
            scheduler=scheduler,
            fresh=fresh,
            keep_going=keep_going,
            progress=progress,
        )
        self.write_summary()
        return outcome

    def _begin(self) -> None:
        """Write what the folder says of the run itself."""
        clear_stale(self.folder)
        write_file(self.folder / CONFIG_FILE, self.config_as_run())
        self.write_plan()
        write_file(self.folder / "environment.json", json.dumps(environment(), indent=1) + "\n")

    def write_plan(self) -> None:
        """Write ``plan.json``: what tables, plots and the report need beside the cells."""
        write_file(self.folder / PLAN_FILE, self.plan.to_json())

    def summary(self) -> list[Line]:
        """The lines of the summary, from the store."""
        return summarise(self.plan, self.store)

    @cached_property
    def written(self) -> list[Line]:
        """The lines of the summary as they were written last."""
        return self.summary()

    def write_summary(self) -> None:
        """Write ``summary.csv`` and ``summary.md`` from the store."""
        self.__dict__.pop("written", None)
        lines = self.written
        write_file(self.folder / "summary.csv", to_csv(lines))
        shared, baselines = self.plan.n_shared, self.plan.baselines
        page = to_markdown(self.config.name, self.config.description, lines, shared, baselines)
        write_file(self.folder / "summary.md", page)

    def config_as_run(self) -> str:
        """The config with every default spelt out; it runs again from its new place and finds the same cells."""
        values: dict[str, Any] = self.config.model_dump(mode="json", exclude_none=True)
        values["replicates"] = self.config.n_replicates
        for protocol in reversed(self.config.protocols):
            values |= self.config.settings(protocol)
        for entry in (*values["datasets"], *values.get("metric", [])):
            for name in ("path", "costs"):
                if name in entry:
                    entry[name] = self._from_folder(self.source / entry[name])
        for entry in values["datasets"]:
            if "path" not in entry:
                for name in entry.keys() & set(OF_TABLES):
                    del entry[name]
        for entry in (*values["datasets"], *values["machines"]):
            for name in ("options", "grid"):
                if entry.get(name) == {}:
                    del entry[name]
        header = "# The experiment as it was run, every default spelt out.\n"
        for origin in loaded_files():
            header += f"# Run with --plugin {printable(origin.name)}, sha256 {origin.digest}.\n"
        return header + yaml.safe_dump(values, sort_keys=False, allow_unicode=True, width=100)

    def replaces(self) -> list[str]:
        """The data sets of the experiment whose results the folder has, where this one shares none of them."""
        try:
            before = _data_of((self.folder / CONFIG_FILE).read_text(encoding="utf-8"))
        except (OSError, ValueError, LookupError, TypeError, AttributeError, yaml.YAMLError):
            return []
        return [] if set(before) & set(_data_of(self.config_as_run())) else before

    def _from_folder(self, file: Path) -> str:
        """A file as the config in the folder calls it: also where a link on the way leads the folder elsewhere."""
        path = os.path.relpath(file, self.folder)
        folder = os.path.realpath(self.folder)
        if os.path.exists(file) and not os.path.exists(os.path.normpath(os.path.join(folder, path))):
            return os.path.relpath(os.path.join(os.path.realpath(file.parent), file.name), folder)
        return path


def _data_of(config_as_run: str) -> list[str]:
    return [str(entry.get("path") or entry["name"]) for entry in yaml.safe_load(config_as_run)["datasets"]]


def run_together(
    experiments: Sequence[Experiment], jobs: int, progress: Progress | None = None
) -> list[RunOutcome]:
    """Compute what several experiments lack, as if it were one; each has its summary as soon as its cells are there."""
    for experiment in experiments:
        experiment._begin()
    batches = [Batch(each.plan.cells, each.store, each.write_summary) for each in experiments]
    return run_batches(batches, jobs=jobs, progress=progress)
