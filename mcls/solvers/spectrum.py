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

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.linalg import lapack as scipy_lapack
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from mcls.solvers import lapack
from mcls.solvers.linear import LARGEST_CONDITION
from mcls.solvers.pairs import Parts, left_out
from mcls.solvers.solved import Solved, congruent, fold_runs

Array = np.ndarray

# Below this many rows a whole eigendecomposition is as quick as looking for a low rank.
_LOW_RANK_FROM = 600  # rows

# Eigenvalues below this share of the largest are the rounding of a decomposition; so large a share of them is dropped.
_ROUNDING = 1e-16
_DROPPED_FROM = 0.2

# Where blocks are looked for: below this many rows a whole eigendecomposition is as quick, and a matrix with more
# than this share of entries hardly has any.
_BLOCKS_FROM = 250  # rows
_BLOCKS_UP_TO = 0.1

# Rows that are copied to columns at a time.
_MIRRORED = 128

# Numbers of inverses held at once: those of several shifts of small systems, so that their folds are batched.
_HELD_UP_TO = 600 * 600


def asks_for_all(tests: Sequence[Array], entries: float) -> bool:
    """Whether the blocks M_SS of all folds together have more entries than M."""
    return sum(len(test) ** 2 for test in tests) >= entries


def pair_parts(tests: Sequence[Array], n: int) -> Parts | None:
    """The parts that folds are made of, where some leave out two of them."""
    parts = Parts.of(tests, n)
    return parts if parts is not None and len(parts.pairs) else None


def mirror(M: Array) -> None:
    """Copy the upper triangle of M (n, n) to the lower one."""
    for start in range(0, len(M), _MIRRORED):
        stop = start + _MIRRORED
        M[stop:, start:stop] = M[start:stop, stop:].T
        block = M[start:stop, start:stop]
        block[...] = np.triu(block) + np.triu(block, 1).T


def pivoted_factor(A: Array, tol: float, most: int) -> Array | None:
    """Z (n, r) with A = ZZᵀ to rounding and r ≤ ``most`` columns, by a pivoted Cholesky; None if there is none.

    Cholesky stops when no diagonal entry of what is left exceeds ``tol``. Of a semi-definite matrix nothing is left
    then; of an indefinite one much may be, off the diagonal and below zero, which a few random products show.
    """
    n = len(A)
    factor, pivots, rank, _ = scipy_lapack.dpstrf(A, lower=1, tol=tol)
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
    blocks: Sequence[Array] = ()  # rows of the diagonal blocks of A where there are several; Q has the same
    held: Mapping[float, Array] = field(default_factory=dict)  # shift → M, formed beforehand

    @classmethod
    def of(cls, A: Array, blocks: Sequence[Array] | None = None) -> Spectrum:
        """Decompose A; ``blocks`` lists the rows of its diagonal blocks if they are known, else they are found."""
        return cls.short(A, blocks) or cls._eigen(A)

    @classmethod
    def _eigen(cls, A: Array) -> Spectrum:
        """All eigenvectors, or those of a low rank if all other eigenvalues are rounding and it has none below zero."""
        values, vectors = np.linalg.eigh(A)
        dropped = int(np.searchsorted(values, _ROUNDING * values[-1:].max(initial=0.0)))
        if dropped < _DROPPED_FROM * len(A) or -values[0] > _ROUNDING * values[-1] * len(A):
            return cls(values, vectors)
        return cls(values[dropped:], vectors[:, dropped:] * np.sqrt(values[dropped:]))

    @classmethod
    def short(cls, A: Array, blocks: Sequence[Array] | None = None) -> Spectrum | None:
        """Decompose an A that falls into blocks or has a low rank; None for another one."""
        if blocks is None or len(blocks) == 1:
            blocks = _diagonal_blocks(A)
        if len(blocks) == 1:
            return cls._low_rank(A)
        values, vectors = np.empty(len(A)), np.zeros(A.shape)
        for rows in blocks:
            block = np.ix_(rows, rows)
            values[rows], vectors[block] = np.linalg.eigh(A[block])
        return cls(values, vectors, tuple(blocks))

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
    def is_whole(self) -> bool:
        return len(self.values) == len(self.vectors)

    def conditions(self, shifts: Array) -> Array:
        """Condition number (g,) of A + δI for each of g shifts; ∞ where it is singular."""
        values = self.values if self.is_whole else np.append(self.values, 0.0)
        sizes = np.abs(values + shifts[:, None])
        smallest = sizes.min(axis=1)
        return np.divide(sizes.max(axis=1), smallest, out=np.full(len(shifts), np.inf), where=smallest > 0)

    def keeps_digits(self, shifts: Array) -> Array:
        """For which shifts (g,) solutions keep their digits; the methods below are for those."""
        return self.conditions(shifts) <= LARGEST_CONDITION

    def weights(self, shifts: Array) -> tuple[Array, Array, Array]:
        """Weights w (g, ·) and a, b (g, 1) with M = aI + b Q diag(w) Qᵀ for each of g shifts."""
        weights = 1 / (self.values + shifts[:, None])
        if self.is_whole:
            return weights, np.zeros((len(shifts), 1)), np.ones((len(shifts), 1))
        return weights, 1 / shifts[:, None], -1 / shifts[:, None]

    def solve(self, shifts: Array, R: Array) -> Array:
        """M R (g, n, r) for each of g shifts."""
        if self.held and all(float(shift) in self.held for shift in shifts):
            return np.stack([self.held[float(shift)] @ R for shift in shifts])
        weights, a, b = self.weights(shifts)
        g, (n, r) = len(shifts), R.shape
        projected = (b * weights).T[:, :, None] * (self.vectors.T @ R)[:, None, :]  # (·, g, r)
        products = self.vectors @ projected.reshape(-1, g * r) if g else np.empty((n, 0))  # one large product
        return a[:, :, None] * R + products.reshape(n, g, r).transpose(1, 0, 2)

    def solved(self, shifts: Array, R: Array, tests: Sequence[Array]) -> Iterator[tuple[slice, Solved]]:
        """Solve for the right-hand sides R (n, r) at some shifts after another, ready to leave the folds out.

        Yields which of the shifts, and their solutions. Per shift and fold, the block M_SS from rows of Q costs |S|²
        times as many multiplications as Q has columns; all of M costs Σ n_b² such, over the diagonal blocks b of A, and
        from then on a block is a copy. So M is formed where the folds together ask for more: k folds of a partition
        ask for n²/k, those of nested cross-validation, with two of the k folds left out at once, for 2n² and more.
        """
        n = len(self.vectors)
        entries = sum(len(rows) ** 3 for rows in self.blocks) / n if self.blocks else n**2
        whole = bool(self.held) or asks_for_all(tests, entries)
        step = max(1, _HELD_UP_TO // n**2 if whole else len(shifts))
        U = self.solve(shifts, R)
        runs = list(fold_runs(tests, 0 if whole else n))
        parts = pair_parts(tests, n) if whole and not self.held and self.is_definite(shifts) else None
        ordered = self if parts is None else self._ordered(parts)
        for start in range(0, len(shifts), step):
            part = slice(start, start + step)
            M = ordered._inverse(shifts[part]) if whole else None
            e = None
            if parts is not None and M is not None:
                e = left_out(M, U[part][:, parts.order], parts, float(self.conditions(shifts[part]).max()))
            yield part, Solved(self, shifts[part], U[part], runs, M, parts, e)

    def is_definite(self, shifts: Array) -> bool:
        """Whether A + δI is positive definite at every shift."""
        return bool((self.values.min(initial=np.inf) + shifts > 0).all())

    def _ordered(self, parts: Parts) -> Spectrum:
        """The same with the rows in the order of some parts."""
        blocks = [parts.place[rows] for rows in self.blocks]
        if not blocks:
            return Spectrum(self.values, self.vectors[parts.order])
        values, vectors = self.values[parts.order], np.empty_like(self.vectors)
        vectors[np.ix_(parts.place, parts.place)] = self.vectors
        return Spectrum(values, vectors, blocks)

    def holding(self, shifts: Array) -> Spectrum:
        """The same with M formed beforehand for shifts that are asked for often, where it keeps its digits."""
        kept = shifts[self.keeps_digits(shifts)]
        return replace(self, held={float(shift): self._inverse(np.array([shift]))[0] for shift in kept})

    def _inverse(self, shifts: Array) -> Array:
        """M (g, n, n) for each of g shifts."""
        if all(float(shift) in self.held for shift in shifts):
            some = [self.held[float(shift)] for shift in shifts]
            return some[0][None] if len(some) == 1 else np.stack(some)
        n = len(self.vectors)
        weights, a, b = self.weights(shifts)
        M = np.zeros((len(shifts), n, n)) if self.blocks else np.empty((len(shifts), n, n))
        for i, w in enumerate(weights):
            for rows in self.blocks:
                block = np.ix_(rows, rows)
                M[i][block] = congruent(self.vectors[block], w[rows])
            if self.blocks:
                continue
            if self.is_whole or n < _LOW_RANK_FROM or w.min() <= 0:
                congruent(self.vectors, w, out=M[i])
                if not self.is_whole:
                    M[i] *= b[i]
            else:  # the lower triangle in the order of LAPACK is the upper one here
                scaled = (self.vectors * np.sqrt(w)).T
                lapack.dsyrk(float(b[i, 0]), scaled, trans=1, lower=1, c=M[i].T, overwrite_c=1)
                mirror(M[i])
        M[:, np.arange(n), np.arange(n)] += a
        return M
