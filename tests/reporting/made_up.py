"""A made-up store: records with chosen figures for the cells of a study, nothing computed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mcls.experiments.cells import FORMAT, Cell
from mcls.packing import pack
from mcls.reporting.studies import Study

ENVIRONMENT = {"cpu": "made-up CPU", "cores": 2, "libraries": [], "packages": {"mcls": "0"}, "python": "3"}


def record(cell: Cell, error: float, seconds: float = 1.0, **result: Any) -> dict[str, Any]:
    """A record of a finished cell with this error (a fraction)."""
    y = cell.dataset.load().y
    names = sorted(cell.grid, reverse=True)
    points = int(np.prod([len(cell.grid[name]) for name in names], dtype=int))
    grid = {
        "names": names,
        "values": {name: cell.grid[name] for name in names},
        "fold_sizes": [10, 10],
        "fold_mistakes": pack(np.arange(2 * points).reshape(points, 2) % 10),
    }
    return {
        "format": FORMAT,
        "key": cell.key,
        "status": "done",
        "dataset": cell.dataset.label,
        "machine": cell.machine,
        "options": dict(cell.options),
        "replicate": cell.replicate,
        "identity": cell.identity(),
        "engine": cell.engine,
        "parameters": cell.parameters(),
        "result": {
            "error": error,
            "oracle_error": max(error - 0.02, 0.0),
            "errors": [error, error],
            "chosen": [{name: cell.grid[name][0] for name in names}],
            "predictions": pack(y),
            "grid": grid,
            "facts": [{"rows": 5, "columns": 4, "overlap": 0.1, "overlap_cosine": 0.2}],
            **result,
        },
        "warnings": [],
        "seconds": seconds,
        "cpu_seconds": seconds,
        "finished": "2020-01-01T00:00:00+00:00",
        "environment": ENVIRONMENT,
    }


def fill(
    study: Study,
    error: Callable[[Cell], float] = lambda cell: 0.25,
    leave_out: Callable[[Cell], bool] | None = None,
) -> None:
    """Store a record for every cell of a study, but for those left out."""
    for cell in study.experiment.plan.cells:
        if leave_out is None or not leave_out(cell):
            study.experiment.store.write(record(cell, error(cell)))
    study.refresh()


def texts(table: Any, **where: str) -> dict[str, str]:
    """The texts of the first row whose columns say this, column → text."""
    for row in table.rows:
        shown = dict(zip(table.columns, (entry.text for entry in row)))
        if all(shown[key] == value for key, value in where.items()):
            return shown
    raise AssertionError(f"no row with {where} in {table.name}")
