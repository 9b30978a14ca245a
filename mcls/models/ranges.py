"""Rows far outside the range that a model was trained on: another unit, or another thing altogether."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from mcls.data.encoder import Encoder, ScaledColumn
from mcls.terminal import counted


class RangeWatch:
    """Counts, piece by piece, the rows with a number far outside the training range of its column.

    Far is beyond the range by more than its own width; beside a column that was constant, any other number.

    Examples
    --------
    >>> watch = RangeWatch(Encoder(columns=(ScaledColumn(name="cm", low=1, high=7),)))
    >>> watch.add({"cm": np.array([3.0, 13.0])})
    >>> watch.note()
    >>> watch.add({"cm": np.array([10.0, 69.0])})
    >>> watch.note()
    '1 of 4 rows lies far outside the training range (cm: 3 to 69, trained on 1 to 7)'
    """

    def __init__(self, encoder: Encoder) -> None:
        self.columns = [column for column in encoder.columns if isinstance(column, ScaledColumn)]
        self.rows = self.far_rows = 0
        self.far = np.zeros(len(self.columns), dtype=np.int64)  # (d,) rows far outside, by column
        self.low = np.full(len(self.columns), np.inf)  # (d,) the range that was seen
        self.high = -self.low

    def add(self, values: Mapping[str, np.ndarray]) -> None:
        """Look at some rows, given as columns of numbers by name, NaN where one is missing."""
        if not self.columns:
            return
        X = np.array([values[column.name] for column in self.columns])  # (d, m)
        low, high = np.array([(column.low, column.high) for column in self.columns]).T[:, :, None]
        with np.errstate(over="ignore"):
            far = (X < low - (high - low)) | (X > high + (high - low))
        self.rows += X.shape[1]
        self.far_rows += int(far.any(axis=0).sum())
        self.far += far.sum(axis=1)
        self.low = np.fmin(self.low, np.fmin.reduce(X, axis=1))
        self.high = np.fmax(self.high, np.fmax.reduce(X, axis=1))

    def note(self) -> str | None:
        """What there is to say, with the column that is far outside most often."""
        if not self.far_rows:
            return None
        worst = int(self.far.argmax())
        column = self.columns[worst]
        seen, trained = _range(self.low[worst], self.high[worst]), _range(column.low, column.high)
        others = int((self.far > 0).sum()) - 1
        more = f"; and {counted(others, 'more column')}" if others else ""
        return (
            f"{self.far_rows} of {counted(self.rows, 'row')} {'lies' if self.far_rows == 1 else 'lie'} "
            f"far outside the training range ({column.name}: {seen}, trained on {trained}{more})"
        )


def _range(low: float, high: float) -> str:
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"
