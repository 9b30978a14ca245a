"""Leave groups of rows out of a solved symmetric system, for many shifts of its diagonal at once.

**Leaving a fold out.** Let A be symmetric and invertible (n, n), M = A⁻¹ and u = MR the solution of Au = R.
Delete the rows and columns S of the system. Its solution on the others, u⁽⁻ˢ⁾, follows from the inverse of a
block matrix:

    u⁽⁻ˢ⁾ = u₋S − M₋S,S e,   e = M_SS⁻¹ u_S.

(Multiply by A₋S,₋S: since A M = I, A₋S,₋S u₋S = R₋S − A₋S,S u_S and A₋S,₋S M₋S,S = −A₋S,S M_SS, hence
A₋S,₋S u⁽⁻ˢ⁾ = R₋S − A₋S,S u_S + A₋S,S M_SS e = R₋S.) One eigendecomposition A = VΛVᵀ serves every fold and
every shift δ of A + δI, with M = V(Λ + δI)⁻¹Vᵀ. Each fold is on its own: folds may overlap and need not cover
the rows.

**Digits.** e is exact relative to the condition of A₋S,₋S. For a definite A that is at most the condition of A. For an
indefinite one the smaller system may be singular where A is not; then e = R_S − A_S,₋S u⁽⁻ˢ⁾ grows beyond bounds. So
the condition of A times the size of e tells in both cases what is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from mcls.solvers.linear import LARGEST_CONDITION

Array = np.ndarray

# Below this many rows a whole eigendecomposition is as quick as looking for a low rank.
_LOW_RANK_FROM = 600  # rows

# Where blocks are looked for: below this many rows a whole eigendecomposition is as quick, and a matrix with more
# than this share of entries hardly has any.
_BLOCKS_FROM = 250  # rows
_BLOCKS_UP_TO = 0.1

# Below this size of a block the general product is quicker than the symmetric one.
_SYMMETRIC_FROM = 32  # rows

# Folds are batched while their rows of the eigenvectors stay below this many numbers; larger ones are products
# large enough by themselves.
_BATCH_UP_TO = 600 * 600


def fold_runs(tests: Sequence[Array], n: int) -> Iterator[tuple[list[int], Array]]:
    """Yield folds of one size in batches: their places in the list of folds, and their rows (k, s) of n."""
    sizes = np.array([len(test) for test in tests])
    for size in np.unique(sizes):
        places = np.flatnonzero(sizes == size).tolist()
        step = max(1, _BATCH_UP_TO // (n * max(1, int(size))))
        for start in range(0, len(places), step):
            some = places[start : start + step]
            yield some, np.array([tests[place] for place in some], dtype=np.intp)


def pivoted_factor(A: Array, tol: float, most: int) -> Array | None:
    """Z (n, r) with A = ZZᵀ to rounding and r ≤ ``most`` columns, by a pivoted Cholesky; None if there is none.

    Cholesky stops when no diagonal entry of what is left exceeds ``tol``. Of a semi-definite matrix nothing is left
    then; of an indefinite one much may be, off the diagonal and below zero, which a few random products show.
    """
    n = len(A)
    factor, pivots, rank, _ = lapack.dpstrf(A, lower=1, tol=tol)
    if rank > most:
        return None
    Z = np.empty((n, rank))
    Z[pivots - 1] = np.tril(factor[:, :rank])
    probes = np.random.default_rng(0).standard_normal((n, 4))
    products = A @ probes
    left = np.linalg.norm(
        products - Z @ (Z.T @ probes)
    )  # about twice the norm of A − ZZᵀ, whose trace is at most n·tol
    return Z if left <= n * (2 * tol + 1e-16 * np.linalg.norm(products)) else None


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
        """Decompose by a factor of at most 2n/3 columns, if there is one."""
        n = len(A)
        largest = float(A.diagonal().max())
        # Worth a try only where entries are near those of the diagonal: narrow kernels have full rank.
        if n < _LOW_RANK_FROM or A.mean() < 0.7 * largest or _has_full_rank(A[: 2 * n // 3, : 2 * n // 3]):
            return None
        Z = pivoted_factor(A, 1e-15 * largest, 2 * n // 3)
        if Z is None:
            return None
        values, U = np.linalg.eigh(Z.T @ Z)
        return cls(values, Z @ U)

    @property
    def _whole(self) -> bool:
        return len(self.values) == len(self.vectors)

    def conditions(self, shifts: Array) -> Array:
        """Condition number (g,) of A + δI for each of g shifts; ∞ where it is singular."""
        values = self.values if self._whole else np.append(self.values, 0.0)
        sizes = np.abs(values + shifts[:, None])
        smallest = sizes.min(axis=1)
        return np.divide(sizes.max(axis=1), smallest, out=np.full(len(shifts), np.inf), where=smallest > 0)

    def keeps_digits(self, shifts: Array) -> Array:
        """For which shifts (g,) solutions keep their digits; the methods below are for those."""
        return self.conditions(shifts) <= LARGEST_CONDITION

    def _weights(self, shifts: Array) -> tuple[Array, Array, Array]:
        """Weights w (g, ·) and a, b (g, 1) with M = aI + b Q diag(w) Qᵀ for each of g shifts."""
        weights = 1 / (self.values + shifts[:, None])
        if self._whole:
            return weights, np.zeros((len(shifts), 1)), np.ones((len(shifts), 1))
        return weights, 1 / shifts[:, None], -1 / shifts[:, None]

    def solve(self, shifts: Array, R: Array) -> Array:
        """M R (g, n, r) for each of g shifts."""
        weights, a, b = self._weights(shifts)
        g, (n, r) = len(shifts), R.shape
        projected = (b * weights).T[:, :, None] * (self.vectors.T @ R)[:, None, :]  # (·, g, r)
        products = self.vectors @ projected.reshape(-1, g * r) if g else np.empty((n, 0))  # one large product
        return a[:, :, None] * R + products.reshape(n, g, r).transpose(1, 0, 2)

    def left_out(self, shifts: Array, U: Array, rows: Array) -> Array:
        """e = M_SS⁻¹ u_S (g, k, s, r) of k folds with the rows (k, s), with U = MR (g, n, r).

        R is of order one. NaN where a fold's system loses its digits.
        """
        count, size = rows.shape
        weights, a, b = self._weights(shifts)
        Q_S = self.vectors[rows]  # (k, s, ·)
        M_SS = np.empty((len(shifts), count, size, size))
        scaled = np.empty_like(Q_S)
        # A matrix times its own transpose is half the work, if the blocks are large and the weights have a root.
        symmetric = size >= _SYMMETRIC_FROM and weights.min() > 0
        for i, w in enumerate(weights):  # one shift at a time: the product's operands stay in the cache
            np.multiply(Q_S, np.sqrt(w) if symmetric else w, out=scaled)
            np.matmul(scaled, (scaled if symmetric else Q_S).transpose(0, 2, 1), out=M_SS[i])
        if not self._whole:
            M_SS *= b[:, :, None, None]
            M_SS += a[:, :, None, None] * np.eye(size)
        try:
            e = np.linalg.solve(M_SS, U[:, rows])
        except np.linalg.LinAlgError:  # singular to the last digit
            return np.full((len(shifts), count, size, U.shape[2]), np.nan)
        lost = self.conditions(shifts)[:, None] * np.abs(e).max(axis=(2, 3), initial=0.0) > LARGEST_CONDITION
        e[lost] = np.nan
        return e

    def left_out_solutions(self, shifts: Array, U: Array, rows: Array) -> Array:
        """Solutions u⁽⁻ˢ⁾ (g, k, n, r) without each of k folds with the rows (k, s), exactly zero on those rows.

        (Rounding there, times a kernel value of one, would drown the tiny scores of a narrow kernel.)
        """
        e = self.left_out(shifts, U, rows)
        g, k, _, r = e.shape
        weights, _, b = self._weights(shifts)  # aI touches only the rows left out, which end as zeros
        projected = np.matmul(self.vectors[rows].transpose(0, 2, 1), e)  # (g, k, ·, r)
        projected *= (b * weights)[:, None, :, None]
        columns = self.vectors @ projected.transpose(2, 0, 1, 3).reshape(-1, g * k * r)  # one large product
        solutions = U[:, None] - columns.reshape(-1, g, k, r).transpose(1, 2, 0, 3)
        for i, S in enumerate(rows):
            solutions[:, i, S] = 0.0
        return solutions

    def left_out_products(self, shifts: Array, U: Array, S: Array, e: Array, T: Array) -> Array:
        """Products T u⁽⁻ˢ⁾ (g, m, r) with the solutions without the rows S (s,), for a T (m, n) of few rows.

        ``e`` (g, s, r) is M_SS⁻¹ u_S. T is set to zero in the columns of S. Products with Q come before the
        shifts, so the price is that of TQ.
        """
        g, n, r = U.shape
        T[:, S] = 0.0
        weights, _, b = self._weights(shifts)
        projected = self.vectors[S].T @ e.transpose(1, 0, 2).reshape(len(S), -1)  # (·, g·r)
        projected = projected.reshape(-1, g, r) * (b * weights).T[:, :, None]
        whole = T @ U.transpose(1, 0, 2).reshape(n, -1)  # (m, g·r)
        return (whole - (T @ self.vectors) @ projected.reshape(-1, g * r)).reshape(-1, g, r).transpose(1, 0, 2)
