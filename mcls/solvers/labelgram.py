"""The label Gram matrix that suits a task best, learned from honest scores (honeine2013, Sec. 9, future work).

With the Gram matrix L of the labels the scores of oneLSM are F L, where F (n, ℓ) are those of the indicators. From
leave-one-out scores F and the classes y,

    min over L   (1/n) Σᵢ Σ_{c≠yᵢ} max(0, 1 − [FᵢL]_{yᵢ} + [FᵢL]_c)² + μ‖L − I‖²_F,   L ⪰ 0, tr L = ℓ,

a semidefinite programme. ``learn`` solves it by projected gradients with momentum (FISTA, restarted): the projection is
one eigendecomposition (ℓ, ℓ) and a projection of the eigenvalues to the simplex.
The objective is strongly convex, so there is one solution; as μ grows it becomes I, the indicators. Least squares on
indicators masks a class that lies between others; a linear map of honest scores can undo some of that.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray

_STEPS = 2000
_ENOUGH = 1e-9  # largest change of an entry


def objective(L: Array, F: Array, y: Array, mu: float) -> tuple[float, Array]:
    """The objective at L (ℓ, ℓ), and its gradient."""
    S = F @ L
    rows = np.arange(len(y))
    V = np.maximum(0.0, 1.0 - S[rows, y][:, None] + S)
    V[rows, y] = 0.0
    G = 2.0 * V
    G[rows, y] = -2.0 * V.sum(axis=1)
    away = L - np.eye(len(L))
    gradient = F.T @ G / len(y) + 2.0 * mu * away
    return float(np.square(V).sum() / len(y) + mu * np.square(away).sum()), (gradient + gradient.T) / 2


def project(L: Array) -> Array:
    """The nearest positive semi-definite matrix with trace ℓ."""
    values, U = np.linalg.eigh(L)
    ell = len(values)
    largest = values[::-1]
    thresholds = (np.cumsum(largest) - ell) / np.arange(1, ell + 1)
    threshold = thresholds[np.flatnonzero(largest > thresholds)[-1]]
    return (U * np.maximum(values - threshold, 0.0)) @ U.T


def learn(F: Array, y: Array, mu: float) -> Array:
    """The learned Gram matrix L (ℓ, ℓ) for scores F (n, ℓ) and class codes y (n,)."""
    ell = F.shape[1]
    steepness = 2.0 * ell * float(np.linalg.eigvalsh(F.T @ F)[-1]) / len(y) + 2.0 * mu
    L = np.eye(ell)
    ahead, momentum = L, 1.0
    for _ in range(_STEPS):
        new = project(ahead - objective(ahead, F, y, mu)[1] / steepness)
        if np.abs(new - L).max() <= _ENOUGH:
            return new
        grown = (1.0 + np.sqrt(1.0 + 4.0 * momentum**2)) / 2.0
        if ((ahead - new) * (new - L)).sum() > 0:  # the momentum points uphill: start it anew
            grown = momentum = 1.0
        ahead, L, momentum = new + (momentum - 1.0) / grown * (new - L), new, grown
    return L


def root(L: Array) -> Array:
    """Label vectors B (ℓ, ℓ), symmetric, with BᵀB = L: the nearest to the indicators."""
    values, U = np.linalg.eigh(L)
    return (U * np.sqrt(np.maximum(values, 0.0))) @ U.T
