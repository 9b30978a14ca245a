"""Leave folds out of (K + γI)α = Y by one Cholesky factor per γ: for few γ, where a decomposition costs more.

With A = K + γI = LLᵀ, M = A⁻¹ and u = MY, the values without the rows S of a fold are Y_S − e with e = M_SS⁻¹u_S
(``mcls.solvers.spectrum`` has the derivation). The rows are put in the order of the folds. The columns S of L⁻¹ are
then zero above the first row of S, so that N = L⁻¹_(·,S) is the solution of a smaller and smaller triangular system,
and M_SS = NᵀN. All folds together take n³/3 operations, as the factor does: 2n³/3 per γ, in products of large
matrices, where the eigendecomposition takes 9n³.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import lapack, solve_triangular

from mcls.solvers.linear import LARGEST_CONDITION, blocked_cholesky

Array = np.ndarray

#: Operations per γ, times n³.
OPERATIONS = 2 / 3

# As in ``mcls.solvers.lsm``: below this a difference may have lost its digits, and the product is taken instead.
_DIGITS = 1e8
_CANCELS = 1e-4


def sweep(K: Array, Y: Array, tests: Sequence[Array], gammas: Sequence[float]) -> list[Array]:
    """Out-of-fold values K_(S,−S) α^(−S) of folds that train on all the rows but S: one (γ, |S|, r) per fold.

    NaN where the system loses its digits.
    """
    n = len(K)
    results = [np.full((len(gammas), len(test), Y.shape[1]), np.nan) for test in tests]
    seen = np.concatenate([*tests, np.arange(n)])
    order = seen[np.sort(np.unique(seen, return_index=True)[1])]  # the rows as the folds come
    place = np.empty(n, dtype=np.intp)
    place[order] = np.arange(n)
    largest = float(np.abs(K).sum(axis=1).max())  # at least the largest eigenvalue
    for g, gamma in enumerate(gammas):
        condition = (largest + gamma) / gamma
        if condition > LARGEST_CONDITION:
            continue
        A = np.asfortranarray(K[np.ix_(order, order)])
        A[np.diag_indices(n)] += gamma
        L, not_definite = blocked_cholesky(A)
        if not_definite:
            continue
        u = lapack.dpotrs(L, Y[order], lower=1)[0]  # (n, r)
        smallest = min(_CANCELS, _DIGITS * np.finfo(float).eps * condition)
        for result, test in zip(results, tests, strict=True):
            result[g] = _left_out(K, Y, L, u, order, place[test], smallest)
    return results


def _left_out(K: Array, Y: Array, L: Array, u: Array, order: Array, S: Array, smallest: float) -> Array:
    """Values (|S|, r) of the rows at the places S of the order, without them."""
    if not len(S):
        return np.empty((0, Y.shape[1]))
    first = int(S.min())
    N = np.zeros((len(L) - first, len(S)), order="F")
    N[S - first, np.arange(len(S))] = 1.0
    N = solve_triangular(L[first:, first:], N, lower=True, overwrite_b=True, check_finite=False)
    e = np.linalg.solve(N.T @ N, u[S])  # (s, r)
    F = Y[order[S]] - e
    lost = np.flatnonzero(np.abs(F).max(axis=1) < smallest)
    if len(lost):
        right = np.zeros_like(u)
        right[first:] = N @ e
        solution = u - solve_triangular(L, right, lower=True, trans="T", check_finite=False)
        solution[S] = 0.0
        F[lost] = K[np.ix_(order[S[lost]], order)] @ solution
    return F
