"""Scaling of the features: to [−1, 1] over the data set or from each training fold, standardised, or none.

A value that is missing (NaN) is the median of its column over the rows that the scaling comes from: with ``fold`` the
training rows of each fold alone, otherwise all rows, also where nothing is scaled.
"""

from __future__ import annotations

import numpy as np

from mcls.errors import McLsError, unknown_name

Array = np.ndarray

#: ``dataset``: [−1, 1] over all rows before any fold is made, as honeine2013 and Hsu & Lin did. ``fold``: [−1, 1]
#: over the training rows of each fold, applied to its test rows. ``standard``: zero mean and unit variance over
#: all rows. ``none``: as given.
SCALINGS = ("dataset", "fold", "standard", "none")


def impute(X: Array, reference: Array | None = None) -> Array:
    """Put the median over the reference rows (X itself by default) where a value is missing; 0 where all are.

    >>> impute(np.array([[1.0], [np.nan], [5.0]]), np.array([[1.0], [2.0]])).tolist()
    [[1.0], [1.5], [5.0]]
    """
    gaps = np.isnan(X)  # (n, d)
    if not gaps.any():
        return X
    filled = X.copy()
    for j in np.flatnonzero(gaps.any(axis=0)):
        known = (X if reference is None else reference)[:, j]
        known = known[~np.isnan(known)]
        filled[gaps[:, j], j] = np.median(known) if len(known) else 0.0
    return filled


def to_range(X: Array, reference: Array | None = None) -> Array:
    """Map each column linearly so that the reference rows (X itself by default) span [−1, 1].

    A column that is constant over the reference rows carries nothing and becomes zero there.

    >>> to_range(np.array([[0.0, 5.0], [10.0, 5.0]]))
    array([[-1.,  0.],
           [ 1.,  0.]])
    """
    reference = None if reference is None else impute(reference)
    X = impute(X, reference)
    with np.errstate(all="ignore"):
        low, span = _range(X if reference is None else reference)
        scaled = np.where(span > 0, 2 * (X - low) / np.where(span > 0, span, 1.0) - 1, 0.0)
    _refuse_overflow(X, span, scaled)
    return scaled


def _range(X: Array) -> tuple[Array, Array]:
    low = X.min(axis=0)
    return low, X.max(axis=0) - low


def standardise(X: Array) -> Array:
    """Zero mean and unit variance in each column; a constant column becomes zero."""
    X = impute(X)
    with np.errstate(all="ignore"):
        constant = X.max(axis=0) == X.min(axis=0)
        deviation = np.where(constant, 1.0, X.std(axis=0))
        scaled = np.where(constant, 0.0, (X - X.mean(axis=0)) / deviation)
    _refuse_overflow(X, deviation, scaled)
    return scaled


def _refuse_overflow(X: Array, spread: Array, scaled: Array) -> None:
    """Refuse a column whose spread, or what is divided by it, is not finite: squares of 1e200 overflow."""
    whole = np.isfinite(spread) & np.isfinite(scaled).all(axis=0)  # (d,)
    if not whole.all():
        column = int(whole.argmin())
        largest = float(np.abs(X[:, column]).max())
        raise McLsError(
            f"feature {column + 1} cannot be scaled: with values as large as {largest:.3g} "
            "it leaves the range of numbers; use another unit"
        )


def scale_dataset(X: Array, scaling: str) -> Array:
    """Apply what a scaling does to the whole data set; ``fold`` leaves it as it is, ``none`` fills gaps only."""
    if scaling not in SCALINGS:
        raise unknown_name("scaling", scaling, SCALINGS)
    if scaling == "dataset":
        return to_range(X)
    if scaling == "standard":
        return standardise(X)
    return X if scaling == "fold" else impute(X)
