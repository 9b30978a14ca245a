"""Orthogonal codewords of machines with label correction: their norms, their overlap, ties, and the path of a sweep."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from mcls.errors import McLsError
from mcls.labelbooks import label_vectors
from mcls.machines.base import Points

Array = np.ndarray


def codeword_norms(codewords: str | Array, n_classes: int) -> Array:
    """Norms (ℓ,) of the codewords, which must be orthogonal to each other.

    Orthogonal codewords are the columns of an orthogonal matrix Q times their norms. The loss and the
    penalty on W of (2) do not change under a rotation of the outputs, and Qᵀ turns the codewords into
    ν_c times the indicator of class c, for which the rows of (1) are orthogonal whatever the class
    counts. So the norms are all that a machine needs to know.
    """
    B = label_vectors(codewords, n_classes)
    gram = B.T @ B
    norms = np.sqrt(np.diag(gram))
    if norms.min() == 0:
        raise McLsError("a codeword of zeros has no direction; give every class a codeword that is not zero")
    cosines = gram / np.outer(norms, norms) - np.eye(n_classes)
    if np.abs(cosines).max() > 1e-10:
        name = f"'{codewords}'" if isinstance(codewords, str) else "the matrix given"
        raise McLsError(
            f"label correction needs orthogonal codewords; those of {name} for {n_classes} classes have "
            f"cosines up to {np.abs(cosines).max():.3g}: use 'indicators' or a matrix with orthogonal columns"
        )
    return norms


def codeword_overlap(estimator: Any, X: Any, y: Any) -> Array:
    """Inner products (ℓ, ℓ) of the mean estimated codewords of the classes: off the diagonal, their overlap.

    This is what label correction sets out to reduce. The means are over the rows of X with each label in y,
    so training rows show what the penalty reached and new rows what is left of it. The diagonal holds the
    squared lengths: a penalty that shrinks every codeword reduces the overlap without turning any of them,
    which only the cosines G_cc'/√(G_cc G_c'c') tell.

    Parameters
    ----------
    estimator : fitted RLSC, OLCRLSC, LSSVM, OLCLSSVM or OLCOneLSM
    X, y : array-likes (m, d), (m,)
        Rows and their labels; every class of the estimator must occur.

    Examples
    --------
    >>> from mcls.machines.codewords import codeword_overlap
    >>> from mcls import OLCRLSC
    >>> X, y = [[0.0], [0.2], [1.0], [1.2]], ["a", "a", "b", "b"]
    >>> machine = OLCRLSC(sigma=0.5, lambda1=0.1)
    >>> for lambda2 in (0.0, 10.0):
    ...     print(round(codeword_overlap(machine.set_params(lambda2=lambda2).fit(X, y), X, y)[0, 1], 3))
    0.016
    0.001
    """
    check_is_fitted(estimator)
    X, y = validate_data(estimator, X, y, reset=False, dtype=np.float64)
    if missing := set(estimator.classes_.tolist()) - set(y.tolist()):
        raise McLsError(f"the overlap needs rows of every class; there is none of {sorted(missing)}")
    K = X if estimator.kernel == "precomputed" else estimator._kernel(X, estimator.X_fit_)
    codewords = estimator._codewords(K)
    means = np.stack([codewords[y == c].mean(axis=0) for c in estimator.classes_])  # (ℓ, ℓ)
    return means @ means.T


def settle_ties(scores: Array) -> Array:
    """Make scores (..., ℓ) equal that differ from the best of their row by rounding alone, 1e-9 of its size.

    With a narrow kernel and features on a lattice, a row often has equally near neighbours in several classes:
    the tie is exact, and rounding would decide it one way in a sweep and another in a fit.
    """
    size = np.abs(scores).max(axis=-1, keepdims=True)
    best = scores.max(axis=-1, keepdims=True)
    return np.where(scores >= best - 1e-9 * size, best, scores)


def swept_path(name: str, points: Points) -> list[tuple[float, float]]:
    """The (ridge, λ₂) of each point of a sweep; λ₂ = 0 where the machine has none."""
    return [(point[name], point.get("lambda2", 0.0)) for point in points]


def codeword_facts(machine: Any, X: Array, y: Array) -> dict[str, Any]:
    """Mean size of the inner product of two classes' mean codewords (``overlap``) and of their cosine."""
    G = codeword_overlap(machine, X, y)  # (ℓ, ℓ)
    lengths = np.sqrt(np.diag(G))
    apart = ~np.eye(len(G), dtype=bool)
    cosines = G / np.where(lengths > 0, lengths, 1.0)[:, None] / np.where(lengths > 0, lengths, 1.0)
    return {
        "overlap": float(np.abs(G[apart]).mean()),
        "overlap_cosine": float(np.abs(cosines[apart]).mean()),
    }
