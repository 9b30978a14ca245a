"""Leave folds out of (K + γI)α = Y by one Cholesky factor per γ: for few γ, where a decomposition costs more.

With A = K + γI = LLᵀ, M = A⁻¹ and u = MY, the values without the rows S of a fold are Y_S − e with e = M_SS⁻¹u_S
(``mcls.solvers.spectrum`` has the derivation). The rows are put in the order of the folds, and X = L⁻¹ takes the place
of L. Then M_SS = X_SᵀX_S with the columns S of X, which are zero above the first row of S. Factor and inverse take n³/3
operations each, in products of large matrices, where the eigendecomposition takes 9n³.

Nested cross-validation leaves out two folds at once, and asks for all blocks M_RS = X_RᵀX_S: n³/3 more. They are put
above the diagonal, where nothing is needed of X, and ``mcls.solvers.pairs`` does the rest. So the memory is that of two
matrices, K and this one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcls.solvers import lapack
from mcls.solvers.linear import LARGEST_CONDITION, blocked_cholesky, invert_factor
from mcls.solvers.pairs import Parts, left_out
from mcls.solvers.remembered import remember
from mcls.threads import spread

Array = np.ndarray

#: Operations per γ, times n³, and those that pairs of folds take beside.
OPERATIONS, OF_PAIRS = 2 / 3, 1 / 3

#: Operations of an eigendecomposition, times n³.
DECOMPOSITION = 9
#: Fewer rows are decomposed in no time; this many and more have all threads for one matrix.
FROM_ROWS, MANY_ROWS = 1000, 2500

# As in ``mcls.solvers.lsm``: below this a difference may have lost its digits, and the product is taken instead.
_DIGITS = 1e8
_CANCELS = 1e-4


def is_quicker(n: int, n_gammas: int) -> bool:
    """Whether so many γ of n rows cost less than a decomposition, which serves all of them.

    From ``MANY_ROWS`` on threads share the work on one matrix, which does little for a decomposition.
    """
    return n >= FROM_ROWS and OPERATIONS * n_gammas <= (DECOMPOSITION if n >= MANY_ROWS else DECOMPOSITION / 3)


def sweep(K: Array, Y: Array, tests: Sequence[Array], gammas: Sequence[float]) -> list[Array]:
    """Out-of-fold values K_(S,−S) α^(−S) of folds that train on all the rows but S: one (γ, |S|, r) per fold.

    NaN where the system loses its digits.
    """
    n = len(K)
    results = [np.full((len(gammas), len(test), Y.shape[1]), np.nan) for test in tests]
    parts = Parts.of(tests, n)
    paired = parts is not None and bool(len(parts.pairs))
    seen = np.concatenate([*tests, np.arange(n)])
    order = parts.order if parts is not None else seen[np.sort(np.unique(seen, return_index=True)[1])]
    place = np.empty(n, dtype=np.intp)
    place[order] = np.arange(n)
    largest = float(np.abs(K).sum(axis=1).max())  # at least the largest eigenvalue
    for g, gamma in enumerate(gammas):
        condition = (largest + gamma) / gamma
        if condition > LARGEST_CONDITION:
            continue
        A = K[np.ix_(order, order)].T  # symmetric: the transposed is the same, in the order of LAPACK
        A[np.diag_indices(n)] += gamma
        L, not_definite = blocked_cholesky(A)
        if not_definite:
            continue
        u = lapack.dpotrs(L, Y[order], lower=1)[0]  # (n, r)
        remember(gamma, u[place])
        smallest = min(_CANCELS, _DIGITS * np.finfo(float).eps * condition)
        X = invert_factor(L)
        if parts is not None and paired:
            found = _pairs_left_out(K, Y, X, u, parts, tests, smallest, condition)
        else:
            found = spread(lambda test: _left_out(K, Y, X, u, order, place[test], smallest), tests)  # noqa: B023
        for result, values in zip(results, found, strict=True):
            result[g] = values
    return results


def _left_out(K: Array, Y: Array, X: Array, u: Array, order: Array, S: Array, smallest: float) -> Array:
    """Values (|S|, r) of the rows at the places S of the order, without them."""
    if not len(S):
        return np.empty((0, Y.shape[1]))
    first = int(S.min())
    N = _columns(X, S)  # (n − first, s)
    M_SS = lapack.dsyrk(1.0, N, trans=1, lower=1)
    _, e, not_definite = lapack.dposv(M_SS, u[S], lower=1, overwrite_a=1)  # (s, r)
    if not_definite:
        return np.full((len(S), Y.shape[1]), np.nan)
    F = Y[order[S]] - e
    lost = np.flatnonzero(np.abs(F).max(axis=1) < smallest)
    if len(lost):
        right = np.zeros_like(u)
        right[first:] = N @ e
        F[lost] = _products(K, order, S, lost, u - lapack.dtrmm(1.0, X, right, lower=1, trans_a=1))
    return F


def _columns(X: Array, S: Array) -> Array:
    """The columns S (n − first, s) of a lower triangular X, in Fortran order, from the first row of S on."""
    first, rows = int(S.min()), int(S.max()) + 1 - int(S.min())
    N = X.T[S, first:].T  # in Fortran order columns are next to each other
    N[:rows][np.arange(first, first + rows)[:, None] < S] = 0.0
    return N


def _products(K: Array, order: Array, S: Array, lost: Array, solution: Array) -> Array:
    """K_(S,−S) α^(−S) of the rows S[lost] from the solution (n, r), which is set to zero at S."""
    solution[S] = 0.0
    return K[np.ix_(order[S[lost]], order)] @ solution


def _pairs_left_out(
    K: Array,
    Y: Array,
    X: Array,
    u: Array,
    parts: Parts,
    tests: Sequence[Array],
    smallest: float,
    condition: float,
) -> list[Array]:
    """Values (|S|, r) of every fold, each made of one or two parts; X is overwritten."""
    M = _inverse_above(X, parts)
    e_all = left_out(M[None], u[None], parts, condition)[0]
    order = parts.order

    def values(f: int) -> Array:
        test = tests[f]
        if not len(test):
            return np.empty((0, Y.shape[1]))
        S = parts.place[test]
        e = e_all[parts.find([f], test[None])[0]]
        F = Y[test] - e
        lost = np.flatnonzero(np.abs(F).max(axis=1) < smallest)
        if len(lost):
            solution = u.copy()
            for part in parts.members[f][parts.members[f] < parts.k]:
                R = parts.slice(part)
                inside = np.flatnonzero((R.start <= S) & (R.stop > S))
                of = np.empty((R.stop - R.start, Y.shape[1]))
                of[S[inside] - R.start] = e[inside]
                solution[: R.start] -= M[: R.start, R] @ of  # the columns R of M from what is above the diagonal
                solution[R.start :] -= M[R, R.start :].T @ of
            F[lost] = _products(K, order, S, lost, solution)
        return F

    return spread(values, range(len(tests)))


def _inverse_above(X: Array, parts: Parts) -> Array:
    """The blocks of M = XᵀX on and above the diagonal, in the place of X."""
    n, last = len(X), int(parts.bounds[-1])
    blocks = [parts.slice(part) for part in range(parts.k)]
    blocks += [slice(start, min(start + 1024, n)) for start in range(last, n, 1024)]  # rows of no fold

    def of_columns(S: slice) -> Array:
        N = np.asfortranarray(X[S.start :, S])  # (n − start, s)
        N[: S.stop - S.start] = np.tril(N[: S.stop - S.start])
        for R in (R for R in blocks if R.start < S.start):
            X[R, S] = X[S.start :, R].T @ N
        own = lapack.dsyrk(1.0, N, trans=1, lower=1)
        return own + np.tril(own, -1).T

    for S, own in zip(blocks, spread(of_columns, blocks), strict=True):
        X[S, S] = own
    return X
