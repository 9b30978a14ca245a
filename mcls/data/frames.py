"""Columns of a data frame, or of any mapping of names to columns, as the encoder reads them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np

from mcls.data.cells import is_missing
from mcls.data.encoder import Cells
from mcls.data.scanning import Gaps, TextCell
from mcls.data.tables import Column, NumberColumn, text_column


def frame_cells(column: Iterable[Any]) -> Cells:
    """The cells of a column: numbers (NaN where one is missing) where all are, otherwise texts ("" where missing).

    Truth values and moments are texts, as in a CSV file, and as there no text begins or ends with a space; a column of
    categories is what its categories are.

    >>> frame_cells([1, None, 2.5]).tolist(), frame_cells([" a", None, 3]), frame_cells([True, False])
    ([1.0, nan, 2.5], ['a', '', '3'], ['True', 'False'])
    """
    kind = getattr(column, "dtype", None)
    if isinstance(kind, np.dtype) and kind.kind in "iuf":
        return np.asarray(column, dtype=np.float64)
    cells = list(column)
    if all(is_gap(cell) or (_is_number(cell) and not isinstance(cell, bool | np.bool_)) for cell in cells):
        return np.array([np.nan if is_gap(cell) else _float(cell) for cell in cells])
    return ["" if is_gap(cell) else _text(cell).strip() for cell in cells]


class _Entry(TextCell):
    """A cell of a data frame, whose rows are numbered from 0 and stand on no line."""

    def __str__(self) -> str:
        shown = self.text if len(self.text) <= 40 else f"{self.text[:40]}…"
        return f"row {self.line} (the first is 0) has '{shown}'"


def frame_column(name: str, column: Iterable[Any], as_text: bool = False) -> Column:
    """A column of a data frame as ``read_table`` would give it; lines are the numbers of its rows from 0."""
    cells = frame_cells(column)
    if isinstance(cells, np.ndarray) and not as_text:
        gaps = _gaps(np.isnan(cells))
        infinite = np.flatnonzero(np.isinf(cells))
        odd = _Entry(int(infinite[0]), str(cells[infinite[0]])) if len(infinite) else None
        return NumberColumn(name, cells, gaps, odd)
    texts = _codes(cells) if isinstance(cells, np.ndarray) else cells
    missing = np.array([is_missing(text) for text in texts], dtype=bool)
    places: dict[str, int] = {}
    came = [-1 if gap else places.setdefault(text, len(places)) for text, gap in zip(texts, missing)]
    first = next((_Entry(i, text) for i, text in enumerate(texts) if not missing[i]), None)
    return text_column(name, np.array(came, dtype=np.int64), list(places), first, _gaps(missing))


def _codes(values: np.ndarray) -> list[str]:
    return ["" if np.isnan(v) else str(int(v)) if float(v).is_integer() else repr(float(v)) for v in values]


def _gaps(missing: np.ndarray) -> Gaps | None:
    if not missing.any():
        return None
    return Gaps(int(missing.sum()), _Entry(int(missing.argmax()), ""))


def _is_number(cell: Any) -> bool:
    return isinstance(cell, int | float | np.integer | np.floating | Decimal)


def _float(cell: Any) -> float:
    try:
        return float(cell)
    except OverflowError:  # a whole number of 309 digits, which a text file would hold for infinite too
        return np.inf if cell > 0 else -np.inf


def is_gap(cell: Any) -> bool:
    """None, NaN, NaT and pandas' NA: what is not equal to itself, or cannot say."""
    if cell is None:
        return True
    if isinstance(cell, str):
        return False
    try:
        return not bool(cell == cell)
    except (TypeError, ValueError):
        return True


def _text(cell: Any) -> str:
    if isinstance(cell, datetime | date):
        return cell.isoformat(" ") if isinstance(cell, datetime) else cell.isoformat()
    if isinstance(cell, np.datetime64):
        return str(cell).replace("T", " ")
    return str(cell)
