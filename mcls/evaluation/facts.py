"""Facts about fitted machines that tables report beside the error: the size of a code, the overlap of codewords."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import clone

from mcls.evaluation.packing import pack

Array = np.ndarray


def has_facts(estimator: Any) -> bool:
    """Whether a machine has facts to tell once it is fitted: coded machines, and those with estimated codewords."""
    return hasattr(estimator, "_design") or hasattr(estimator, "_codewords")


def fitted_facts(estimator: Any, point: Mapping[str, Any], X: Array, y: Array) -> dict[str, Any]:
    """Fit a machine at a point on its training rows and note what it became.

    Coded machines: ``rows`` and ``columns`` of the coding matrix, the packed matrix itself (``code``) and the class
    of each of its rows (``row_classes``). Machines with estimated codewords: the mean size of the inner product of
    two classes' mean codewords (``overlap``) and of their cosine (``overlap_cosine``) on the training rows.

    >>> from mcls import ECOC
    >>> X, y = np.array([[0.0], [0.2], [1.0], [1.2], [2.0], [2.2]]), np.array([0, 0, 1, 1, 2, 2])
    >>> facts = fitted_facts(ECOC(coding="all-pairs"), {"gamma": 0.1}, X, y)
    >>> facts["rows"], facts["columns"]
    (3, 3)
    """
    machine = clone(estimator).set_params(**point)
    if len(np.unique(y)) < 2:
        return {}
    machine.fit(X, y)
    if hasattr(machine, "code_matrix_"):
        M = np.asarray(machine.code_matrix_)
        return {
            "rows": int(M.shape[0]),
            "columns": int(M.shape[1]),
            "code": pack(M),
            "row_classes": [int(c) for c in machine.classes_[machine.row_classes_]],
        }
    from mcls.machines.codewords import codeword_overlap

    G = codeword_overlap(machine, X, y)  # (ℓ, ℓ)
    lengths = np.sqrt(np.diag(G))
    apart = ~np.eye(len(G), dtype=bool)
    cosines = G / np.where(lengths > 0, lengths, 1.0)[:, None] / np.where(lengths > 0, lengths, 1.0)
    return {
        "overlap": float(np.abs(G[apart]).mean()),
        "overlap_cosine": float(np.abs(cosines[apart]).mean()),
    }
