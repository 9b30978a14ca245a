"""Scaling of the features: to [−1, 1] over the data set or from each training fold, standardised, or none."""

from __future__ import annotations

import numpy as np

from mcls.errors import unknown_name

Array = np.ndarray

#: ``dataset``: [−1, 1] over all rows before any fold is made, as honeine2013 and Hsu & Lin did. ``fold``: [−1, 1]
#: over the training rows of each fold, applied to its test rows. ``standard``: zero mean and unit variance over
#: all rows. ``none``: as given.
SCALINGS = ("dataset", "fold", "standard", "none")


def to_range(X: Array, reference: Array | None = None) -> Array:
    """Map each column linearly so that the reference rows (X itself by default) span [−1, 1].

    A column that is constant over the reference rows carries nothing and becomes zero there.

    >>> to_range(np.array([[0.0, 5.0], [10.0, 5.0]]))
    array([[-1.,  0.],
           [ 1.,  0.]])
    """
    low, span = _range(X if reference is None else reference)
    return np.where(span > 0, 2 * (X - low) / np.where(span > 0, span, 1.0) - 1, 0.0)


def _range(X: Array) -> tuple[Array, Array]:
    low = X.min(axis=0)
    return low, X.max(axis=0) - low


def standardise(X: Array) -> Array:
    """Zero mean and unit variance in each column; a constant column becomes zero."""
    deviation = X.std(axis=0)
    constant = X.max(axis=0) == X.min(axis=0)
    return np.where(constant, 0.0, (X - X.mean(axis=0)) / np.where(constant, 1.0, deviation))


def scale_dataset(X: Array, scaling: str) -> Array:
    """Apply what a scaling does to the whole data set; ``fold`` and ``none`` leave it as it is."""
    if scaling not in SCALINGS:
        raise unknown_name("scaling", scaling, SCALINGS)
    if scaling == "dataset":
        return to_range(X)
    return standardise(X) if scaling == "standard" else X
