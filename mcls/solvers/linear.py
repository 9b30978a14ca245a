"""Symmetric linear systems: solve, invert, and leave groups of rows out of a solved system.

**Leaving a fold out.** Let A be symmetric and invertible (n, n), M = A⁻¹ and u = MR the solution of Au = R.
Delete the rows and columns S of the system. Its solution on the others, u⁽⁻ˢ⁾, follows from the inverse of a
block matrix:

    u⁽⁻ˢ⁾ = u₋S − M₋S,S e,   e = M_SS⁻¹ u_S.

(Multiply by A₋S,₋S: since A M = I, A₋S,₋S u₋S = R₋S − A₋S,S u_S and A₋S,₋S M₋S,S = −A₋S,S M_SS, hence
A₋S,₋S u⁽⁻ˢ⁾ = R₋S − A₋S,S u_S + A₋S,S M_SS e = R₋S.) One eigendecomposition A = VΛVᵀ serves every fold and
every shift δ of A + δI, with M = V(Λ + δI)⁻¹Vᵀ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack, solve_triangular
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

Array = np.ndarray

# OpenBLAS's Cholesky crashes with two threads on large matrices (seen from 16000 rows on; OpenBLAS issue 2562).
_WHOLE_UP_TO = 8000

# Below this many rows a whole eigendecomposition is as quick as looking for a low rank.
_LOW_RANK_FROM = 600  # rows

# Where blocks are looked for: below this many rows a whole eigendecomposition is as quick, and a matrix with more
# than this share of entries hardly has any.
_BLOCKS_FROM = 250  # rows
_BLOCKS_UP_TO = 0.1

# Below this size of a block the general product is quicker than the symmetric one.
_SYMMETRIC_FROM = 32  # rows


# A shift δ is told apart from rounding in A + δI only above this share of the largest eigenvalue of A.
_SMALLEST_SHIFT = 1e-11
_SMALLEST_SHIFT_LOW_RANK = 1e-7  # where the inverse is a difference, (I − Q(Λ + δI)⁻¹Qᵀ)/δ


class PrecisionError(ArithmeticError):
    """A decomposition cannot give what is asked of it; a factorisation for each system can."""


def solve_spd(A: Array, R: Array) -> Array:
    """Solve AX = R for a symmetric positive definite A (n, n); a numerically indefinite one by LDLᵀ.

    An A in Fortran order is overwritten by its factor.
    """
    diagonal = A.diagonal().copy()
    whole = len(A) <= _WHOLE_UP_TO
    factor, info = lapack.dpotrf(A, lower=1, clean=0, overwrite_a=1) if whole else blocked_cholesky(A)
    if info == 0:
        X, info = lapack.dpotrs(factor, R, lower=1)
        return X
    A = np.triu(factor, 1)  # the factor fills the lower triangle alone
    A += A.T
    A[np.diag_indices(len(A))] = diagonal
    return solve_symmetric(A, R)


def blocked_cholesky(A: Array, block: int = 2048) -> tuple[Array, int]:
    """Lower factor L (n, n) of A = LLᵀ by blocks of columns, and 0; or what there is and 1 if A is not definite.

    An A in Fortran order is overwritten.

    With A = [[A₁₁, ·], [A₂₁, A₂₂]]: L₁₁ from A₁₁, L₂₁ = A₂₁L₁₁⁻ᵀ, then the same for A₂₂ − L₂₁L₂₁ᵀ. The upper
    triangle is left as it was in A.
    """
    L = np.asfortranarray(A)
    n = len(L)
    for start in range(0, n, block):
        stop = min(start + block, n)
        L11, info = lapack.dpotrf(L[start:stop, start:stop], lower=1, clean=0)
        if info:
            return L, 1
        L[start:stop, start:stop] = L11
        L21 = solve_triangular(L11, L[stop:, start:stop].T, lower=True, check_finite=False).T  # (n − stop, block)
        L[stop:, start:stop] = L21
        for left in range(stop, n, block):  # the lower triangle of A₂₂, a block of columns at a time
            right = min(left + block, n)
            update = L21[left - stop :] @ L21[left - stop : right - stop].T
            update[: right - left] = np.tril(update[: right - left])
            L[left:, left:right] -= update
    return L, 0


def solve_symmetric(A: Array, R: Array) -> Array:
    """Solve AX = R for a symmetric A (n, n), definite or not; least squares when it is singular."""
    _, _, X, info = lapack.dsysv(A, R, lower=1)
    if info != 0 or not np.isfinite(X).all():
        X = np.linalg.lstsq(A, R, rcond=None)[0]
    return X.reshape(R.shape)


class FoldPartition:
    """Folds as runs of consecutive rows after one permutation, grouped by size so that they are batched.

    ``order`` (n,) lists the rows fold by fold, folds of equal size beside each other; ``groups`` holds
    (start, count, size): ``count`` folds of ``size`` rows each, from position ``start`` of the order on;
    ``ranks[k]`` is the place of the caller's fold k in this order of folds and ``bounds[k]`` its first position
    and the one after its last. With many rows the products are
    large enough by themselves, and folds come one by one to keep the temporaries small.
    """

    _BATCH_UP_TO = 600  # rows

    def __init__(self, tests: Sequence[Array]) -> None:
        sizes = np.array([len(test) for test in tests])
        by_size = np.argsort(sizes, kind="stable")
        self.order = np.concatenate([tests[k] for k in by_size])
        self.ranks = np.argsort(by_size, kind="stable")
        self.groups: list[tuple[int, int, int]] = []
        start = 0
        for size in np.unique(sizes):
            count = int((sizes == size).sum())
            step = count if sizes.sum() <= self._BATCH_UP_TO else 1
            for first in range(0, count if size else 0, step):
                self.groups.append((start + first * int(size), step, int(size)))
            start += count * int(size)
        stops = np.cumsum(sizes[by_size])
        starts = stops - sizes[by_size]
        self.bounds = [(int(starts[rank]), int(stops[rank])) for rank in self.ranks]

    def split(self, values: Array) -> list[Array]:
        """Cut values (..., n, r), rows in ``order``, into one array a fold in the caller's order of folds."""
        return [values[..., start:stop, :] for start, stop in self.bounds]


def _has_full_rank(A: Array) -> bool:
    """Whether A is definite to rounding: quicker to see than its rank."""
    try:
        np.linalg.cholesky(A)
    except np.linalg.LinAlgError:
        return False
    return True


def _diagonal_blocks(A: Array) -> list[Array]:
    """Rows of each diagonal block of a symmetric A; all rows as one block where looking for more does not pay.

    Entries which together are below the rounding of a decomposition count as zeros: those of a narrow kernel.
    """
    n = len(A)
    if n < _BLOCKS_FROM:
        return [np.arange(n)]
    # n × n of them have a norm below the rounding of any diagonal entry, however much the rows differ in size.
    tiny = 1e-16 * np.abs(A.diagonal()).min() / n
    linked = A > tiny
    linked |= A < -tiny
    if np.count_nonzero(linked) > _BLOCKS_UP_TO * n * n:
        return [np.arange(n)]
    _, block_of = connected_components(csr_array(linked), directed=False)
    return np.split(np.argsort(block_of, kind="stable"), np.cumsum(np.bincount(block_of))[:-1])


def is_partition(folds: Sequence[tuple[Array, Array]], n: int) -> bool:
    """Whether the folds test each of n rows exactly once and each trains on all the rows that it does not test."""
    if not folds or any(len(train) + len(test) != n for train, test in folds):
        return False
    tested = np.concatenate([test for _, test in folds])
    if len(tested) != n or not (np.bincount(tested, minlength=n) == 1).all():
        return False
    for train, test in folds:
        seen = np.zeros(n, dtype=bool)
        seen[train] = seen[test] = True
        if not seen.all():  # of n indices in all, so each row is there once
            return False
    return True


@dataclass(frozen=True)
class Spectrum:
    """A symmetric A (n, n) decomposed so that M = (A + δI)⁻¹ costs little for every δ.

    Either A = QΛQᵀ with all n eigenvectors in Q, and M = Q(Λ + δI)⁻¹Qᵀ; or, where A has a low numerical rank
    r (a wide kernel), A = QQᵀ with QᵀQ = Λ (r, r), and M = (I − Q(Λ + δI)⁻¹Qᵀ)/δ.
    """

    values: Array  # Λ (n,) or (r,)
    vectors: Array  # Q (n, n) or (n, r)

    @classmethod
    def of(cls, A: Array, blocks: Sequence[Array] | None = None) -> Spectrum:
        """Decompose A; ``blocks`` lists the rows of its diagonal blocks if they are known, else they are found."""
        if blocks is None or len(blocks) == 1:
            blocks = _diagonal_blocks(A)
        if len(blocks) == 1:
            return cls._low_rank(A) or cls(*np.linalg.eigh(A))
        values, vectors = np.empty(len(A)), np.zeros(A.shape)
        for rows in blocks:
            block = np.ix_(rows, rows)
            values[rows], vectors[block] = np.linalg.eigh(A[block])
        return cls(values, vectors)

    @classmethod
    def _low_rank(cls, A: Array) -> Spectrum | None:
        """Decompose by a pivoted Cholesky factor of at most 2n/3 columns, exact to rounding, if there is one."""
        n = len(A)
        largest = float(A.diagonal().max())
        # Worth a try only where entries are near those of the diagonal: narrow kernels have full rank.
        if n < _LOW_RANK_FROM or A.mean() < 0.7 * largest or _has_full_rank(A[: 2 * n // 3, : 2 * n // 3]):
            return None
        factor, pivots, rank, _ = lapack.dpstrf(A, lower=1, tol=1e-15 * largest)
        if 3 * rank > 2 * n:
            return None
        Z = np.empty((n, rank))
        Z[pivots - 1] = np.tril(factor[:, :rank])
        values, U = np.linalg.eigh(Z.T @ Z)
        return cls(values, Z @ U)

    def reordered(self, order: Array) -> Spectrum:
        """The same of A with its rows and columns in another order."""
        return Spectrum(self.values, self.vectors[order])

    def _weights(self, shifts: Array) -> tuple[Array, Array, Array]:
        """Weights w (g, ·) and a, b (g, 1) with M = aI + b Q diag(w) Qᵀ for each of g shifts."""
        weights = 1 / (self.values + shifts[:, None])
        if len(self.values) == len(self.vectors):
            return weights, np.zeros((len(shifts), 1)), np.ones((len(shifts), 1))
        return weights, 1 / shifts[:, None], -1 / shifts[:, None]

    def _check_shifts(self, shifts: Array) -> None:
        """Refuse a shift that drowns in the rounding of the decomposition, relative to the largest eigenvalue."""
        whole = len(self.values) == len(self.vectors)
        smallest = (_SMALLEST_SHIFT if whole else _SMALLEST_SHIFT_LOW_RANK) * np.abs(self.values).max(initial=0.0)
        if shifts.min() < smallest:
            raise PrecisionError(
                f"a shift of {shifts.min():g} is below {smallest:g}, what the decomposition resolves"
            )

    def condition(self, shifts: Array) -> float:
        """The largest condition number of A + δI."""
        smallest = float(self.values.min()) if len(self.values) == len(self.vectors) else 0.0
        shift = float(shifts.min())
        return (float(np.abs(self.values).max()) + shift) / (smallest + shift) if smallest + shift > 0 else np.inf

    def solve(self, shifts: Array, R: Array) -> Array:
        """M R (g, n, r) for each of g shifts; a ``PrecisionError`` where digits are lost."""
        self._check_shifts(shifts)
        weights, a, b = self._weights(shifts)
        projected = (b * weights).T[:, :, None] * (self.vectors.T @ R)[:, None, :]  # (·, g, r)
        products = self.vectors @ projected.reshape(len(weights.T), -1)  # (n, g·r): one large product
        return a[:, :, None] * R + products.reshape(len(R), len(shifts), -1).transpose(1, 0, 2)

    def left_out(self, shifts: Array, U: Array, folds: tuple[int, int, int]) -> Array:
        """e = M_SS⁻¹ u_S (g, k, s, r) for a run of k folds, with U = MR (g, n, r)."""
        start, count, size = folds
        weights, a, b = self._weights(shifts)
        Q_S = self.vectors[start : start + count * size].reshape(count, size, -1)
        M_SS = np.empty((len(shifts), count, size, size))
        scaled = np.empty_like(Q_S)
        # A matrix times its own transpose is half the work, if the blocks are large and the weights have a root.
        symmetric = size >= _SYMMETRIC_FROM and weights.min() > 0
        for i, w in enumerate(weights):  # one shift at a time: the product's operands stay in the cache
            np.multiply(Q_S, np.sqrt(w) if symmetric else w, out=scaled)
            np.matmul(scaled, (scaled if symmetric else Q_S).transpose(0, 2, 1), out=M_SS[i])
        if a.any():
            M_SS *= b[:, :, None, None]
            M_SS += a[:, :, None, None] * np.eye(size)
        u_S = U[:, start : start + count * size].reshape(len(shifts), count, size, -1)
        return np.linalg.solve(M_SS, u_S)

    def left_out_solutions(self, shifts: Array, U: Array, folds: tuple[int, int, int]) -> Array:
        """Solutions u⁽⁻ˢ⁾ (g, k, n, r) without each fold of a run, exactly zero on the rows left out.

        (Rounding there, times a kernel value of one, would drown the tiny scores of a narrow kernel.)
        """
        start, count, size = folds
        e = self.left_out(shifts, U, folds)  # (g, k, s, r)
        g, k, _, r = e.shape
        Q_S = self.vectors[start : start + count * size].reshape(count, size, -1)
        weights, _, b = self._weights(shifts)  # aI touches only the rows left out, which end as zeros
        projected = np.matmul(Q_S.transpose(0, 2, 1), e)  # (g, k, ·, r)
        projected *= (b * weights)[:, None, :, None]
        columns = self.vectors @ projected.transpose(2, 0, 1, 3).reshape(-1, g * k * r)  # one large product
        solutions = U[:, None] - columns.reshape(-1, g, k, r).transpose(1, 2, 0, 3)
        for i in range(count):
            solutions[:, i, start + i * size : start + (i + 1) * size] = 0.0
        return solutions

    def left_out_products(self, shifts: Array, U: Array, fold: tuple[int, int], e: Array, T: Array) -> Array:
        """Products T u⁽⁻ˢ⁾ (g, m, r) with the solutions without one fold, for a T (m, n) of few rows.

        ``fold`` holds the first row of S and the one after its last, ``e`` (g, s, r) is M_SS⁻¹ u_S. T is set to
        zero in the columns of S. Products with Q come before the shifts, so the price is that of TQ.
        """
        start, stop = fold
        g, n, r = U.shape
        T[:, start:stop] = 0.0
        weights, _, b = self._weights(shifts)
        projected = self.vectors[start:stop].T @ e.transpose(1, 0, 2).reshape(stop - start, -1)  # (·, g·r)
        projected = projected.reshape(-1, g, r) * (b * weights).T[:, :, None]
        whole = T @ U.transpose(1, 0, 2).reshape(n, -1)  # (m, g·r)
        return (whole - (T @ self.vectors) @ projected.reshape(-1, g * r)).reshape(-1, g, r).transpose(1, 0, 2)
