"""Costs of mistakes: a matrix (rows true, columns predicted), its file, and decisions of least expected cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mcls.data.cells import parse_number
from mcls.data.lines import table_rows
from mcls.errors import McLsError, unknown_name

Array = np.ndarray


def least_cost_classes(probabilities: Array, costs: Array) -> Array:
    """Classes (..., m) of least expected cost Σ_c p_c costs[c, k]; of equal ones the most probable.

    With equal costs of all mistakes that is the most probable class.

    >>> costs = np.array([[0.0, 1.0], [9.0, 0.0]])
    >>> least_cost_classes(np.array([[0.8, 0.2], [0.95, 0.05]]), costs)
    array([1, 0])
    """
    expected = probabilities @ costs  # (..., m, ℓ)
    least = expected.min(axis=-1, keepdims=True)
    # Rounding in the product must not decide between equal costs.
    equal = expected <= least + 1e-12 * np.abs(costs).max()
    return np.where(equal, probabilities, -np.inf).argmax(axis=-1)


def cost_of(y: Array, predictions: Array, costs: Array) -> Array:
    """Cost (..., m) of each predicted class."""
    return costs[y, predictions]


def check_costs(costs: Any, n_classes: int) -> Array:
    """The matrix (ℓ, ℓ) as numbers, or an error that says what is wrong with it."""
    try:
        C = np.array(costs, dtype=np.float64)
    except (TypeError, ValueError):
        raise McLsError(f"the cost matrix must hold numbers only, {n_classes} rows of {n_classes}") from None
    if C.shape != (n_classes, n_classes):
        shape = " by ".join(str(side) for side in C.shape) or "a single number"
        raise McLsError(
            f"the cost matrix is {shape}; {n_classes} classes need {n_classes} rows (true class) of {n_classes} "
            "numbers (predicted class)"
        )
    bad = np.argwhere(~(np.isfinite(C) & (C >= 0)))
    if len(bad):
        row, column = bad[0]
        raise McLsError(
            f"the cost matrix: a cost must be a finite number, zero or more; row {row + 1}, column {column + 1} has "
            f"{C[row, column]:g}"
        )
    return C


def read_costs(path: str | Path, class_names: Sequence[str]) -> Array:
    """Read a cost matrix (ℓ, ℓ) from a CSV file: one row per true class, one column per predicted class.

    The file may name the classes in its first row, its first column or both, in any order; without names rows and
    columns are in the order of ``class_names``. The size of the file tells names from numbers, so that classes may
    be called 0, 1 and 2.
    """
    path, names = Path(path), list(class_names)
    ell = len(names)
    rows = list(table_rows(path))
    widths = {len(cells) for _, cells in rows}
    if len(rows) not in (ell, ell + 1) or not widths <= {ell, ell + 1} or len(widths) != 1:
        found = f"{len(rows)} rows of " + (" or ".join(str(w) for w in sorted(widths)) or "0") + " cells"
        raise McLsError(
            f"{path} has {found}; a cost matrix of {ell} classes has {ell} rows (true class) of {ell} numbers "
            "(predicted class), with or without the names of the classes in the first row and the first column"
        )
    head, side = len(rows) > ell, widths == {ell + 1}
    order_of_columns = order_of_rows = list(range(ell))
    if head:
        order_of_columns = _order(path, "first row", rows.pop(0)[1][int(side) :], names)
    if side:
        order_of_rows = _order(path, "first column", [cells[0] for _, cells in rows], names)
    costs = np.empty((ell, ell))
    for to, (line, cells) in zip(order_of_rows, rows):
        for column, text in zip(order_of_columns, cells[int(side) :]):
            value = parse_number(text)
            if value is None or not 0 <= value < np.inf:
                raise McLsError(
                    f"{path}: line {line} has '{text[:40]}'; a cost must be a finite number, zero or more"
                )
            costs[to, column] = value
    return costs


def _order(path: Path, where: str, found: Sequence[str], names: list[str]) -> list[int]:
    """Positions of the class names that a file gives, each of which must be there once."""
    for name, times in Counter(found).items():
        if name not in names:
            raise unknown_name(f"class in the {where} of {path}:", name, names)
        if times > 1:
            raise McLsError(f"{path}: the {where} names the class '{name}' {times} times; name each class once")
    return [names.index(name) for name in found]
