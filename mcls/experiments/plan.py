"""The plan of an experiment: its rows, the cells behind them, and what is known of its data sets.

A run writes it to ``plan.json`` beside its results. Tables, plots and the report read that and the store: they need
neither the data nor the config.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from mcls.data import Dataset
from mcls.experiments.cells import Cell, DatasetRef
from mcls.packing import pack, unpack

Array = np.ndarray

#: Of the file; one of another format is passed over.
PLAN_FORMAT = 1
_ROW_FIELDS = ("dataset", "machine", "labelbook", "options", "protocol")
_CELL_FIELDS = (
    *(
        "fingerprint",
        "machine",
        "options",
        "grid",
        "protocol",
        "settings",
        "scaling",
        "engine",
        "timing",
        "grouped",
    ),
    "defaults",
)
#: Written only where they are not the default, so that older plans stay as they are.
_CELL_EXTRAS = ("metrics", "costs")
#: Columns of a scene that say where a row of the table lies.
_PLACES = ("row", "column")


@dataclass(frozen=True)
class PlannedData:
    """What tables and plots need of a data set: its classes, the class of each row, and where rows lie in a scene."""

    classes: tuple[str, ...]
    y: Array = field(compare=False)  # (n,) class codes
    places: Mapping[str, Array] = field(default_factory=dict, compare=False)

    @classmethod
    def of(cls, data: Dataset) -> PlannedData:
        """What the plan keeps of a data set."""
        places = {name: data.extra[name].astype(int) for name in _PLACES if name in data.extra}
        return cls(tuple(data.classes), data.y, places)

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self.y)

    @property
    def baseline(self) -> float:
        """The error of always saying the largest class, in percent."""
        return 100.0 * (1.0 - float(np.bincount(self.y).max()) / self.n)

    def to_json(self) -> dict[str, Any]:
        """As JSON values; the codes packed."""
        places = {name: pack(values) for name, values in self.places.items()}
        return {"classes": list(self.classes), "y": pack(self.y), "places": places}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> PlannedData:
        """Undo ``to_json``."""
        places = {name: unpack(packed) for name, packed in values["places"].items()}
        return cls(tuple(values["classes"]), unpack(values["y"]), places)


@dataclass(frozen=True)
class PlanRow:
    """One line of a summary: a machine on a data set, with the cell of each replicate."""

    dataset: str
    machine: str
    labelbook: str
    options: str  # what else was given, as "solver=active-set"
    protocol: str
    cells: tuple[Cell, ...]
    nested: tuple[Cell, ...] = ()

    @property
    def all_cells(self) -> tuple[Cell, ...]:
        """The cells of the protocol and of the nested estimate."""
        return self.cells + self.nested

    @property
    def tuned(self) -> bool:
        """Whether anything is chosen: from a grid, or by the machine itself."""
        if any(len(values) > 1 for values in self.cells[0].grid.values()):
            return True
        from mcls.machines.external import tunes_itself  # scikit-learn takes its time to import

        return tunes_itself(self.machine)


@dataclass(frozen=True)
class Plan:
    """The rows of an experiment, and the different cells behind them in the order they are run.

    ``notes`` tell what is odd about the data without being a mistake; ``datasets`` has what tables and plots need of
    each data set, by its label. A run writes its plan beside its cells, and whoever reads results needs no more.
    """

    rows: tuple[PlanRow, ...]
    notes: tuple[str, ...] = ()
    datasets: Mapping[str, PlannedData] = field(default_factory=dict)

    @property
    def baselines(self) -> dict[str, float]:
        """The error of always saying the largest class, by data set, in percent."""
        return {label: data.baseline for label, data in self.datasets.items()}

    @cached_property
    def cells(self) -> list[Cell]:
        """Every different cell once, one replicate after the other so that a stopped run has whole replicates."""
        unique = {cell.key: cell for row in self.rows for cell in row.all_cells}
        order = {cell.key: i for i, cell in enumerate(unique.values())}
        return sorted(unique.values(), key=lambda c: (c.replicate, order[c.key]))

    @property
    def n_shared(self) -> int:
        """How many cells were saved because rows share provably identical work."""
        return sum(len(row.all_cells) for row in self.rows) - len(self.cells)

    @property
    def is_plugged(self) -> bool:
        """Whether something of it comes from a plug-in, which whoever runs it has to name."""
        return any(" " in what for row in self.rows for cell in row.cells[:1] for what in cell.plugins)

    def to_json(self) -> str:
        """The plan as text, with no path of this machine in it."""
        values = {
            "format": PLAN_FORMAT,
            "notes": list(self.notes),
            "datasets": {label: data.to_json() for label, data in self.datasets.items()},
            "rows": [_row_to_json(row) for row in self.rows],
        }
        return json.dumps(values, ensure_ascii=False, indent=1, allow_nan=False) + "\n"

    @classmethod
    def read(cls, path: Path) -> Plan | None:
        """The plan that a run wrote; None where there is none, or none that this version reads."""
        try:
            values = json.loads(path.read_bytes())
            if values["format"] != PLAN_FORMAT:
                return None
            return cls(
                tuple(_row_from_json(row) for row in values["rows"]),
                tuple(values["notes"]),
                {label: PlannedData.from_json(data) for label, data in values["datasets"].items()},
            )
        except (OSError, ValueError, LookupError, TypeError, AttributeError, zlib.error):
            return None


def _row_to_json(row: PlanRow) -> dict[str, Any]:
    fields = {name: getattr(row, name) for name in _ROW_FIELDS}
    return fields | {"cells": _cells_to_json(row.cells), "nested": _cells_to_json(row.nested)}


def _row_from_json(values: Mapping[str, Any]) -> PlanRow:
    cells = [_cells_from_json(values["dataset"], values[part]) for part in ("cells", "nested")]
    return PlanRow(*(values[name] for name in _ROW_FIELDS), *cells)


def _cells_to_json(cells: Sequence[Cell]) -> dict[str, Any] | None:
    """What the cells of a row have in common, and the seed of each."""
    if not cells:
        return None
    extras = {
        name: getattr(cells[0], name) for name in _CELL_EXTRAS if getattr(cells[0], name) != getattr(Cell, name)
    }
    fields = {name: getattr(cells[0], name) for name in _CELL_FIELDS} | extras
    fields |= {"plugins": dict(cells[0].plugins)} if cells[0].plugins else {}
    return fields | {"seeds": [cell.seed for cell in cells]}


def _cells_from_json(label: str, values: Mapping[str, Any] | None) -> tuple[Cell, ...]:
    if values is None:
        return ()
    common = {name: values[name] for name in _CELL_FIELDS} | {"plugins": values.get("plugins", {})}
    if "metrics" in values:
        common["metrics"] = tuple(values["metrics"])
    if "costs" in values:
        common["costs"] = tuple(map(tuple, values["costs"]))
    return Cell(dataset=DatasetRef(label), seed=0, replicate=0, **common).replicates(values["seeds"])
