"""Kernel least squares on few rows, chosen one by one by the exact decrease of the objective.

With the kept rows J, f = Σ_{j∈J} β_j κ(x_j, ·) minimises ‖Y − K_nJ β‖² + γ tr βᵀK_JJ β. A pivoted Cholesky of K gives
columns P = K_nJ L⁻ᵀ (n, m), LLᵀ = K_JJ, in which this is ridge regression: min_c ‖Y − Pc‖² + γ‖c‖². With
H = I − P(PᵀP + γI)⁻¹Pᵀ, the residuals E = HY and what is left of the kernel R = K − PPᵀ, a further row j adds the
column q = R_j/√R_jj, and the objective falls by exactly

    Δ_j = ‖qᵀE‖² / (γ + qᵀHq) = ‖R_jᵀE‖² / (γR_jj + R_jᵀHR_j).

All Δ_j are known from vectors that one product K u per step keeps up to date: with u = Hq, τ = qᵀu, s = γ + τ, v = qᵀE
and w = Ru,

    H ← H − uuᵀ/s,   E ← E − uv/s,   R ← R − qqᵀ,
    R E ← R E − wv/s − qv(1 − τ/s),   R_jᵀHR_j ← R_jᵀHR_j − 2q_jw_j + q_j²τ − (w_j − q_jτ)²/s.

The diagonal h of H gives the leave-one-out residuals E_i/h_i for the rows chosen so far: the whole curve of errors over
kept rows comes from one pass. (It takes the chosen rows as given. That the choice saw all labels makes it a little
optimistic; errors that are reported come from folds in which everything, the choice included, is done anew.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from mcls.solvers.linear import add_ridge, solve_spd

Array = np.ndarray

# A row of whose kernel so small a part is left, relative to the largest diagonal entry, brings nothing but rounding.
_LEFT = 1e-10

# Mean misses within so many standard errors of the smallest are near it.
_NEAR = 0.25


class Path(NamedTuple):
    """Rows in the order in which they were chosen, their columns, and the errors on the way."""

    rows: Array  # (m,)
    P: Array  # (n, m)
    decreases: Array  # (m,) of the objective
    errors: Array  # (m,) leave-one-out error with the first 1, …, m rows
    misses: Array  # (m, n) squared length of each row's leave-one-out residual with these


def forward(K: Array, Y: Array, gamma: float, most: int, patient: bool = True) -> Path:
    """Choose up to ``most`` rows of the kernel matrix K (n, n) for the targets Y (n, ℓ).

    Without ``patient`` it ends when the number of rows has doubled since the smallest mean miss so far.
    """
    n, truth = len(K), Y.argmax(axis=1)
    P, U = np.empty((n, most)), np.empty((n, most))  # U: the u/√s, so that H = I − UUᵀ
    left = K.diagonal().copy()  # of R
    floor = _LEFT * max(float(left.max(initial=0.0)), np.finfo(float).tiny)
    E, h = Y.copy(), np.ones(n)
    N = K @ E  # R E
    D = np.einsum("ij,ij->j", K, K)  # R_jᵀHR_j
    chosen: list[int] = []
    decreases: list[float] = []
    errors: list[float] = []
    misses = np.empty((most, n))
    best, least = 0, np.inf
    for m in range(most):
        able = left > floor
        if not able.any():
            break
        gain = np.full(n, -np.inf)
        gain[able] = np.square(N[able]).sum(axis=1) / (gamma * left[able] + np.maximum(D[able], 0.0))
        j = int(gain.argmax())
        q = (K[:, j] - P[:, :m] @ P[j, :m]) / np.sqrt(left[j])
        u = q - U[:, :m] @ (U[:, :m].T @ q)
        tau, v = float(q @ u), q @ E
        s = gamma + tau
        w = K @ u - P[:, :m] @ (P[:, :m].T @ u)
        N -= np.outer(w, v / s) + np.outer(q, v * (1 - tau / s))
        D += -2 * q * w + q * q * tau - np.square(w - q * tau) / s
        E -= np.outer(u, v / s)
        h -= u * u / s
        left -= q * q
        left[j] = 0.0
        P[:, m], U[:, m] = q, u / np.sqrt(s)
        chosen.append(j)
        decreases.append(float(gain[j]))
        # A row that alone decides its own value has no leave-one-out residual to speak of.
        residual = E / np.maximum(h, 1e-12)[:, None]
        errors.append(float(((Y - residual).argmax(axis=1) != truth).mean()))
        misses[m] = np.einsum("ij,ij->i", residual, residual)
        if (miss := float(misses[m].mean())) < least:
            best, least = m, miss
        if not patient and m > 2 * best + 20:
            break
    m = len(chosen)
    return Path(np.array(chosen, dtype=np.intp), P[:, :m], np.array(decreases), np.array(errors), misses[:m])


def smallest_within(misses: Array) -> int:
    """How many rows to keep: the fewest from which on mean misses are within a quarter standard error of the smallest.

    ``misses`` (m, n) are those of the path. The standard error is that of the mean difference to the smallest, row by
    row. Squared residuals tell of few rows what their errors do not: three rows may leave no error, by luck.
    """
    means = misses.mean(axis=1)
    best = int(means.argmin())
    spread = (misses[:best] - misses[best]).std(axis=1) / np.sqrt(misses.shape[1])
    over = np.flatnonzero(means[:best] > means[best] + _NEAR * spread)
    return 2 + int(over[-1]) if len(over) else 1


def coefficients(path: Path, Y: Array, gamma: float, m: int) -> Array:
    """β (m, ℓ) of the first m chosen rows."""
    P = path.P[:, :m]
    c = solve_spd(add_ridge(P.T @ P, gamma), P.T @ Y)
    L = P[path.rows[:m]]  # lower triangular
    return solve_triangular(L, c, lower=True, trans="T", check_finite=False)
