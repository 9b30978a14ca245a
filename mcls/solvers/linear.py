"""Symmetric linear systems: solve, invert, and leave groups of rows out of a solved system.

**Leaving a fold out.** Let A be symmetric and invertible (n, n), M = A⁻¹ and u = MR the solution of Au = R.
Delete the rows and columns S of the system. Its solution on the others, u⁽⁻ˢ⁾, follows from the inverse of a
block matrix:

    u⁽⁻ˢ⁾ = u₋S − M₋S,S e,   e = M_SS⁻¹ u_S.

(Multiply by A₋S,₋S: since A M = I, A₋S,₋S u₋S = R₋S − A₋S,S u_S and A₋S,₋S M₋S,S = −A₋S,S M_SS, hence
A₋S,₋S u⁽⁻ˢ⁾ = R₋S − A₋S,S u_S + A₋S,S M_SS e = R₋S.) One inverse serves every fold.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import lapack

Array = np.ndarray


def solve_spd(A: Array, R: Array) -> Array:
    """Solve AX = R for a symmetric positive definite A (n, n); a numerically indefinite one by LDLᵀ."""
    factor, info = lapack.dpotrf(A, lower=1, clean=0)
    if info == 0:
        X, info = lapack.dpotrs(factor, R, lower=1)
        return X
    return solve_symmetric(A, R)


def solve_symmetric(A: Array, R: Array) -> Array:
    """Solve AX = R for a symmetric A (n, n), definite or not; least squares when it is singular."""
    _, _, X, info = lapack.dsysv(A, R, lower=1)
    if info != 0 or not np.isfinite(X).all():
        X = np.linalg.lstsq(A, R, rcond=None)[0]
    return X.reshape(R.shape)


def inverse_spd(A: Array) -> Array:
    """Inverse of a symmetric positive definite matrix (n, n) by Cholesky: n³ operations."""
    factor, info = lapack.dpotrf(A, lower=1, clean=0)
    if info == 0:
        M, info = lapack.dpotri(factor, lower=1, overwrite_c=1)
    if info != 0:
        return inverse_symmetric(A)
    return _mirror(M)


def inverse_symmetric(A: Array) -> Array:
    """Inverse of a symmetric matrix (n, n), definite or not; the pseudo-inverse when it is singular."""
    factor, pivots, info = lapack.dsytrf(A, lower=1)
    if info == 0:
        M, info = lapack.dsytri(factor, pivots, lower=1)
    if info != 0 or not np.isfinite(np.tril(M)).all():
        return np.linalg.pinv(A, hermitian=True)
    return _mirror(M)


def _mirror(M: Array) -> Array:
    """Copy the lower triangle of a Fortran-ordered M over its upper one, in blocks that fit the cache."""
    n, step = len(M), 256
    for start in range(0, n, step):
        stop = min(start + step, n)
        corner = np.tril(M[start:stop, start:stop])
        M[start:stop, start:stop] = corner + np.tril(corner, -1).T
        M[start:stop, stop:] = M[stop:, start:stop].T
    return M


class FoldPartition:
    """Folds as runs of consecutive rows after one permutation, grouped by size so that they are batched.

    ``order`` (n,) lists the rows fold by fold, folds of equal size beside each other; ``groups`` holds
    (start, count, size): ``count`` folds of ``size`` rows each, from position ``start`` of the order on;
    ``ranks[k]`` is the place of the caller's fold k in this order of folds.
    """

    def __init__(self, tests: Sequence[Array]) -> None:
        sizes = np.array([len(test) for test in tests])
        by_size = np.argsort(sizes, kind="stable")
        self.order = np.concatenate([tests[k] for k in by_size])
        self.ranks = np.argsort(by_size, kind="stable")
        self.groups: list[tuple[int, int, int]] = []
        start = 0
        for size in np.unique(sizes):
            count = int((sizes == size).sum())
            if size:
                self.groups.append((start, count, int(size)))
            start += count * int(size)
        self._sizes = sizes[by_size]

    def split(self, values: Array) -> list[Array]:
        """Cut values (..., n, r), rows in ``order``, into one array a fold in the caller's order of folds."""
        cuts = np.cumsum(self._sizes)[:-1]
        pieces = np.split(values, cuts, axis=-2)
        return [pieces[rank] for rank in self.ranks]


def is_partition(folds: Sequence[tuple[Array, Array]], n: int) -> bool:
    """Whether the folds test each of n rows exactly once and each trains on all the rows that it does not test."""
    if not folds or any(len(train) + len(test) != n for train, test in folds):
        return False
    tested = np.concatenate([test for _, test in folds])
    if len(tested) != n or not np.array_equal(np.sort(tested), np.arange(n)):
        return False
    return all(not np.isin(train, test).any() for train, test in folds)


def left_out_solutions(M: Array, u: Array, start: int, count: int, size: int) -> Array:
    """Solutions of the systems without each of ``count`` consecutive groups of ``size`` rows: (count, N, r).

    M (N, N) is the inverse and u (N, r) the solution of the whole system, rows in the order of a
    FoldPartition. Entries of the rows left out are exactly zero: rounding there, times a kernel value of one,
    would drown the tiny scores of a narrow kernel.
    """
    stop = start + count * size
    u_S = u[start:stop].reshape(count, size, -1)  # (k, s, r)
    if count == 1:
        columns = M[:, start:stop]  # (N, s)
        e = solve_spd(M[start:stop, start:stop], u_S[0])
        solutions = (u - columns @ e)[None]
    else:
        columns = M[:, start:stop].reshape(len(M), count, size)  # (N, k, s)
        blocks = M[start:stop, start:stop].reshape(count, size, count, size)
        M_SS = blocks[np.arange(count), :, np.arange(count), :]  # (k, s, s)
        e = np.linalg.solve(M_SS, u_S)  # (k, s, r)
        solutions = u - np.matmul(columns.transpose(1, 0, 2), e)
    for k in range(count):
        solutions[k, start + k * size : start + (k + 1) * size] = 0.0
    return solutions
