"""What the encoder of a table would be if it had been learnt from some of the rows: for errors that leave rows out.

The kinds of the columns are those of the whole table, as a user would tell them; what is *learnt* comes from the
training rows alone: ranges and medians, which texts there are, and whether values are missing often.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from mcls.data.encoder import (
    DateColumn,
    EncodedColumn,
    Encoder,
    OneHotColumn,
    OrdinalColumn,
    Reading,
    ScaledColumn,
    date_parts,
)
from mcls.data.encoding import is_often

Array = np.ndarray


def features_learnt_from(encoder: Encoder, values: Mapping[str, Array], train: Array) -> Array:
    """Features (n, d) of all rows, with everything that is learnt taken from the training rows.

    Parameters
    ----------
    encoder : Encoder
        Learnt from all rows.
    values : dict
        Column → numbers (n,), as ``read_values`` gives them.
    train : array of int
        The training rows.

    Examples
    --------
    >>> encoder = Encoder(columns=(ScaledColumn(name="size", low=0, high=100, fill=2),))
    >>> values = {"size": np.array([0.0, np.nan, 4.0, 100.0])}
    >>> features_learnt_from(encoder, values, np.array([0, 2])).tolist()
    [[-1.0], [0.0], [1.0], [49.0]]
    """
    parts = [_features(column, values[column.name], train) for column in encoder.columns]
    return np.concatenate(parts, axis=1)


def _features(column: EncodedColumn, values: Array, train: Array) -> Array:
    if isinstance(column, OneHotColumn):
        made = column.features(values, Reading())  # (n, levels)
        return made * made[train].any(axis=0)  # a text that no training row has is none of the known ones
    missing = np.isnan(values[train])
    learnt = _learnt(column, values[train][~missing], is_often(int(missing.sum()), len(train)))
    return learnt.features(values, Reading())


def _learnt(column: EncodedColumn, known: Array, often: bool) -> EncodedColumn:
    """The column with the ranges and the median of some values; all of it 0 where none is known."""
    imputes = getattr(column, "fill", None) is not None
    median = float(np.median(known)) if len(known) else 0.0
    fill = {"fill": median} if imputes else {}
    if isinstance(column, OrdinalColumn):
        return column.model_copy(update=fill)
    indicator = {"indicator": True if often and imputes else None}
    if isinstance(column, ScaledColumn):
        low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
        return column.model_copy(update={"low": low, "high": high, **fill, **indicator})
    assert isinstance(column, DateColumn)
    made = date_parts(known)
    parts = [
        part.model_copy(update={"low": float(made[part.name].min()), "high": float(made[part.name].max())})
        if len(known)
        else part
        for part in column.parts
    ]
    return column.model_copy(update={"parts": tuple(parts), **fill, **indicator})
