"""Weights of rows, on arrays: a weight of 2 counts as the row twice, a weight of 0 as no row.

With W = diag(w), min Σᵢ wᵢ‖f(xᵢ) − yᵢ‖² + γ‖f‖² gives (K + γW⁻¹)α = Y. The matrix B = W^½KW^½ does not depend on γ:

    α = W^½ (B + γI)⁻¹ W^½Y,

so one decomposition of B serves every γ, and rows are left out of it as they are left out of K. The same change of
variables, rows and coefficients both times W^½, turns every least-squares problem here into one without weights.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mcls.errors import McLsError

Array = np.ndarray


def weigh(K: Array, w: Array | None) -> tuple[Array, Array]:
    """B = W^½KW^½ (n, n) and the roots (n,) of the weights; K itself and ones where there are no weights."""
    if w is None:
        return K, np.ones(len(K))
    root = np.sqrt(w)
    return root[:, None] * K * root, root


def check_weights(sample_weight: Any, n: int) -> Array | None:
    """The weights (n,) of the rows; None where none are given. What cannot be a weight is refused.

    >>> check_weights([1, 2.5, 0], 3)
    array([1. , 2.5, 0. ])
    """
    if sample_weight is None:
        return None
    try:
        w = np.array(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise McLsError("sample_weight must be numbers, one for each row") from None
    if w.ndim == 0:
        w = np.full(n, w)
    if w.shape != (n,):
        raise McLsError(f"sample_weight must have one number for each of the {n} rows, got shape {w.shape}")
    if not np.isfinite(w).all() or (w < 0).any():
        bad = w[~(np.isfinite(w) & (w >= 0))][0]
        raise McLsError(f"sample_weight must be finite numbers, zero or positive; got {bad:g}")
    if not w.any():
        raise McLsError(
            "every sample_weight is zero: there is no row to learn from; at least one non-zero number is needed"
        )
    return w


def check_class_weight(name: str, value: Any) -> None:
    """Refuse a ``class_weight`` that is not None, "balanced" or a dictionary of positive numbers."""
    if value is None or (isinstance(value, str) and value == "balanced"):
        return
    if not isinstance(value, Mapping):
        raise McLsError(f"{name} must be None, 'balanced' or a dictionary class: weight, got {value!r}")
    for label, weight in value.items():
        if isinstance(weight, bool) or not isinstance(weight, int | float | np.number) or not 0 < weight < np.inf:
            raise McLsError(f"{name}: the weight of class {label!r} must be a positive number, got {weight!r}")


def check_class_names(class_weight: Any, classes: Sequence[Any]) -> None:
    """Refuse a dictionary that names an unknown class while a known one has no weight, as scikit-learn does."""
    if not isinstance(class_weight, Mapping):
        return
    unknown = [label for label in class_weight if label not in classes]
    if unknown and any(label not in class_weight for label in classes):
        known = ", ".join(repr(label) for label in list(classes)[:10])
        raise McLsError(f"class_weight names {unknown[0]!r}, which is not a class of the data ({known})")


def class_factors(class_weight: Any, classes: Sequence[Any], counts: Array) -> Array:
    """The factor (ℓ,) of each class from the summed weights (ℓ,) of its rows.

    "balanced" gives every class the same total, Σ counts / (ℓ · count).

    >>> class_factors("balanced", [0, 1], np.array([3.0, 1.0]))
    array([0.66666667, 2.        ])
    >>> class_factors({"b": 5}, ["a", "b"], np.array([3.0, 1.0]))
    array([1., 5.])
    """
    if class_weight is None:
        return np.ones(len(counts))
    if isinstance(class_weight, Mapping):
        return np.array([float(class_weight.get(label, 1.0)) for label in classes])
    return counts.sum() / (len(counts) * counts)


def row_weights(class_weight: Any, y: Array, classes: Sequence[Any], sample_weight: Array | None) -> Array | None:
    """Weight (n,) of each training row with class codes y (n,) of the ``classes``; None where all weigh 1.

    Every class has a row, and every row a positive ``sample_weight``.
    """
    if class_weight is None and sample_weight is None:
        return None
    factors = class_factors(class_weight, classes, np.bincount(y, sample_weight, minlength=len(classes)))
    w = factors[y] if sample_weight is None else factors[y] * sample_weight
    return None if (w == 1.0).all() else w
