"""Machines fitted again from what their cells say: the store holds figures and choices, no machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from mcls.data import Dataset
from mcls.errors import McLsError
from mcls.evaluation.scaling import scale_dataset, to_range
from mcls.experiments.cells import Cell

Array = np.ndarray


class Refitted(NamedTuple):
    """A machine, the data set it was fitted to, and the features as it saw them."""

    machine: Any
    data: Dataset
    X: Array  # (n, d)


def fit_again(cell: Cell, point: Mapping[str, Any], rows: Array | None = None) -> Refitted:
    """Fit the machine of a cell at a point of its grid, to all rows or to some; needs the data."""
    data = cell.dataset.load()
    if data.fingerprint != cell.fingerprint:
        raise McLsError(f"{cell.dataset.label} is not the data set that the results come from")
    X = to_range(data.X, data.X) if cell.scaling == "fold" else scale_dataset(data.X, cell.scaling)
    chosen = slice(None) if rows is None else rows
    machine = cell.estimator().set_params(**point).fit(X[chosen], data.y[chosen])
    return Refitted(machine, data, X)
