"""Columns of a table that are not features: the group of each row, and its weight."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mcls.data.frames import is_gap
from mcls.data.tables import Column, NumberColumn, TextColumn
from mcls.errors import McLsError, unknown_name

Array = np.ndarray

#: What the columns are called among those that a data set has beside its features.
GROUP, WEIGHT = "group", "weight"


def take_roles(
    columns: Sequence[Column], path: Path | str, group: str | None = None, weight: str | None = None
) -> tuple[list[Column], dict[str, Array]]:
    """The other columns, and the values of those that were named: ``group`` as codes (n,), ``weight`` as numbers (n,).

    >>> x, w = NumberColumn("x", np.array([1.0, 2.0])), NumberColumn("w", np.array([1.0, 3.0]))
    >>> rest, found = take_roles([x, w], "t.csv", weight="w")
    >>> [column.name for column in rest], found["weight"]
    (['x'], array([1., 3.]))
    """
    known = {column.name: column for column in columns}
    found: dict[str, Array] = {}
    for role, name in ((GROUP, group), (WEIGHT, weight)):
        if name is not None and name not in known:
            raise unknown_name(f"column for the {role} of each row in {path}:", name, known)
        if name is not None and (gaps := known[name].gaps) is not None:
            raise McLsError(f"{path}: the {role} of a row is missing in column '{name}': {gaps.first}")
    if group is not None:
        if group == weight:
            raise McLsError(f"{path}: column '{group}' cannot hold both the group and the weight of a row")
        column = known[group]
        codes = (
            np.unique(column.values, return_inverse=True)[1] if isinstance(column, NumberColumn) else column.codes
        )
        found[GROUP] = check_groups(codes, len(codes), f"{path}: column '{group}'")
    if weight is not None:
        column = known[weight]
        if isinstance(column, TextColumn):
            raise McLsError(f"{path}: column '{weight}' must hold weights, which are numbers; {column.first}")
        found[WEIGHT] = column.values
    rest = [column for column in columns if column.name not in (group, weight)]
    if not rest:
        raise McLsError(f"{path}: no column is left to learn from beside the class")
    return rest, found


def check_groups(groups: Any, n: int, what: str = "the groups") -> Array:
    """The group of each row as a code (n,); there must be two groups at least."""
    values = np.asarray(groups)
    if values.shape != (n,):
        raise McLsError(f"{what} must be one value for each of the {n} rows; got the shape {values.shape}")
    may_miss = values.dtype.kind in ("f", "O")
    if may_miss and (gaps := [i for i, value in enumerate(values.tolist()) if is_gap(value)]):
        raise McLsError(f"{what} must be one value for each of the {n} rows; that of row {gaps[0]} is missing")
    names, codes = np.unique(values, return_inverse=True)
    if len(names) < 2:
        raise McLsError(f"{what} holds one group only; cross-validation needs at least two")
    return codes
