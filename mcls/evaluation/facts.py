"""Facts about fitted machines that tables report beside the error: the size of a code, the overlap of codewords."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import clone

Array = np.ndarray


def fitted_facts(estimator: Any, point: Mapping[str, Any], X: Array, y: Array) -> dict[str, Any]:
    """Fit a machine at a point on its training rows and note what it became (``BaseMachine.facts``).

    >>> from mcls import ECOC
    >>> X, y = np.array([[0.0], [0.2], [1.0], [1.2], [2.0], [2.2]]), np.array([0, 0, 1, 1, 2, 2])
    >>> facts = fitted_facts(ECOC(coding="all-pairs"), {"gamma": 0.1}, X, y)
    >>> facts["rows"], facts["columns"]
    (3, 3)
    """
    if len(np.unique(y)) < 2:
        return {}
    facts: dict[str, Any] = clone(estimator).set_params(**point).fit(X, y).facts(X, y)
    return facts
