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
from scipy.linalg import lapack
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from mcls.solvers.linear import LARGEST_CONDITION
from mcls.solvers.pairs import Parts, left_out

Array = np.ndarray

# Below this many rows a whole eigendecomposition is as quick as looking for a low rank.
_LOW_RANK_FROM = 600  # rows

# Where blocks are looked for: below this many rows a whole eigendecomposition is as quick, and a matrix with more
# than this share of entries hardly has any.
_BLOCKS_FROM = 250  # rows
_BLOCKS_UP_TO = 0.1

# Below this size of a block the general product is quicker than the symmetric one.
_SYMMETRIC_FROM = 32  # rows

# Numbers of inverses held at once: those of several shifts of small systems, so that their folds are batched.
_HELD_UP_TO = 600 * 600

# Below this share of the columns of M single entries are picked, beyond whole rows.
_FEW_COLUMNS = 0.2

# Folds are batched while their rows of the eigenvectors stay below this many numbers; larger ones are products
# large enough by themselves.
_BATCH_UP_TO = 600 * 600


def fold_runs(tests: Sequence[Array], n: int) -> Iterator[tuple[list[int], Array]]:
    """Yield folds of one size in batches: their places in the list of folds, and their rows (k, s).

    A batch has about as many numbers as fit into a cache, each row of a fold having n, or as many as there are rows
    in the fold.
    """
    sizes = np.array([len(test) for test in tests])
    for size in np.unique(sizes):
        places = np.flatnonzero(sizes == size).tolist()
        step = max(1, _BATCH_UP_TO // (max(n, int(size)) * max(1, int(size))))
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
    blocks: Sequence[Array] = ()  # rows of the diagonal blocks of A where there are several; Q has the same
    held: Mapping[float, Array] = field(default_factory=dict)  # shift → M, formed beforehand

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
        if self.held and all(float(shift) in self.held for shift in shifts):
            return np.stack([self.held[float(shift)] @ R for shift in shifts])
        weights, a, b = self._weights(shifts)
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
        asked = sum(len(test) ** 2 for test in tests)
        whole = bool(self.held) or asked * n >= (
            sum(len(rows) ** 3 for rows in self.blocks) if self.blocks else n**3
        )
        step = max(1, _HELD_UP_TO // n**2 if whole else len(shifts))
        U = self.solve(shifts, R)
        runs = list(fold_runs(tests, 0 if whole else n))
        parts = Parts.of(tests, n) if whole and not self.held and self._is_definite(shifts) else None
        if parts is not None and not len(parts.pairs):
            parts = None
        ordered = self if parts is None else self._ordered(parts)
        for start in range(0, len(shifts), step):
            part = slice(start, start + step)
            M = ordered._inverse(shifts[part]) if whole else None
            e = None
            if parts is not None and M is not None:
                e = left_out(M, U[part][:, parts.order], parts, float(self.conditions(shifts[part]).max()))
            yield part, Solved(self, shifts[part], U[part], runs, M, parts, e)

    def _is_definite(self, shifts: Array) -> bool:
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
        weights, a, b = self._weights(shifts)
        M = np.zeros((len(shifts), n, n)) if self.blocks else np.empty((len(shifts), n, n))
        for i, w in enumerate(weights):
            for rows in self.blocks:
                block = np.ix_(rows, rows)
                M[i][block] = _congruent(self.vectors[block], w[rows])
            if not self.blocks:
                _congruent(self.vectors, w, out=M[i])
        if not self._whole:
            M *= b[:, :, None]
            M[:, np.arange(n), np.arange(n)] += a
        return M


def _congruent(Q: Array, w: Array, out: Array | None = None) -> Array:
    """Q diag(w) Qᵀ (..., m, m): a matrix times its own transpose, half the work, where the weights have a root."""
    symmetric = Q.shape[-2] >= _SYMMETRIC_FROM and w.min() > 0
    scaled = Q * (np.sqrt(w) if symmetric else w)
    return np.matmul(scaled, (scaled if symmetric else Q).swapaxes(-1, -2), out=out)


@dataclass(frozen=True)
class Solved:
    """Solutions U = MR of (A + δI)U = R at some shifts δ, and what becomes of them without a fold of rows."""

    spectrum: Spectrum
    shifts: Array  # (g,)
    U: Array  # (g, n, r)
    runs: list[tuple[list[int], Array]]  # the folds, as ``fold_runs`` gives them
    M: Array | None = None  # (g, n, n) where it was worth forming, in the order of the parts if there are some
    parts: Parts | None = None
    of_parts: Array | None = None  # e of all folds, as ``pairs.left_out`` gives it

    def left_out(self, rows: Array, places: Sequence[int] = ()) -> Array:
        """e = M_SS⁻¹ u_S (g, k, s, r) of k folds with the rows (k, s); NaN where a fold's system loses its digits.

        ``places`` are those of the folds in the list that was solved for. R is of order one.
        """
        if self.parts is not None and self.of_parts is not None:
            e = self.of_parts.take(self.parts.find(places, rows), axis=1)
        else:
            e = solve_each(self._blocks(rows), self.U[:, rows], self.spectrum._is_definite(self.shifts))
        conditions = self.spectrum.conditions(self.shifts)
        lost = conditions[:, None] * np.abs(e).max(axis=(2, 3), initial=0.0) > LARGEST_CONDITION
        e[lost] = np.nan
        return e

    def _blocks(self, rows: Array) -> Array:
        """M_SS (g, k, s, s) of k folds with the rows (k, s)."""
        if self.M is not None:
            n = len(self.spectrum.vectors)
            return self.M.reshape(len(self.M), n * n).take(rows[:, :, None] * n + rows[:, None, :], axis=1)
        weights, a, b = self.spectrum._weights(self.shifts)
        Q_S = self.spectrum.vectors[rows]  # (k, s, ·)
        M_SS = np.empty((len(self.shifts), *rows.shape, rows.shape[1]))
        for i, w in enumerate(weights):  # one shift at a time: the product's operands stay in the cache
            _congruent(Q_S, w, out=M_SS[i])
        if not self.spectrum._whole:
            M_SS *= b[:, :, None, None]
            M_SS += a[:, :, None, None] * np.eye(rows.shape[1])
        return M_SS

    def left_out_solutions(self, rows: Array, places: Sequence[int] = ()) -> Array:
        """Solutions u⁽⁻ˢ⁾ (g, k, n, r) without each of k folds with the rows (k, s), exactly zero on those rows.

        (Rounding there, times a kernel value of one, would drown the tiny scores of a narrow kernel.)
        """
        e = self.left_out(rows, places)
        solutions = self.U[:, None] - self._columns(rows, e)
        for i, S in enumerate(rows):
            solutions[:, i, S] = 0.0
        return solutions

    def _columns(self, rows: Array, e: Array) -> Array:
        """M₋S,S e (g, k, n, r) of k folds with the rows (k, s); rows of S hold nothing of use."""
        g, k, _, r = e.shape
        if self.M is not None:  # M is symmetric: its rows are its columns, and next to each other
            columns = np.matmul(self.M[:, self._at(rows)].swapaxes(-1, -2), e)
            return columns if self.parts is None else columns[:, :, self.parts.place]
        weights, _, b = self.spectrum._weights(self.shifts)  # aI touches only the rows left out
        Q = self.spectrum.vectors
        projected = np.matmul(Q[rows].transpose(0, 2, 1), e)  # (g, k, ·, r)
        projected *= (b * weights)[:, None, :, None]
        columns = Q @ projected.transpose(2, 0, 1, 3).reshape(-1, g * k * r)  # one large product
        return columns.reshape(-1, g, k, r).transpose(1, 2, 0, 3)

    def _at(self, rows: Array) -> Array:
        """Where rows stand in M."""
        return rows if self.parts is None else self.parts.place[rows]

    def left_out_products(self, S: Array, e: Array, T: Array) -> Array:
        """Products T u⁽⁻ˢ⁾ (g, m, r) with the solutions without the rows S (s,), for a T (m, n) of few rows.

        ``e`` (g, s, r) is M_SS⁻¹ u_S. T is set to zero in the columns of S. Without M, products with Q come before
        the shifts, so that the price is that of TQ.
        """
        g, n, r = self.U.shape
        T[:, S] = 0.0
        if self.M is not None:
            # What is below the rounding of a row's largest entry adds nothing: a narrow kernel leaves few columns.
            sizes = np.abs(T)
            seen = np.flatnonzero((sizes > 1e-17 / n * sizes.max(axis=1, initial=0.0)[:, None]).any(axis=0))
            u = self.U[:, seen]
            if len(seen) < _FEW_COLUMNS * n:
                u -= np.matmul(self.M[:, self._at(seen)[:, None], self._at(S)], e)
            else:  # whole rows of M are next to each other
                u -= np.matmul(self.M[:, self._at(S)].swapaxes(-1, -2), e)[:, self._at(seen)]
            return T[:, seen] @ u
        weights, _, b = self.spectrum._weights(self.shifts)
        Q = self.spectrum.vectors
        projected = Q[S].T @ e.transpose(1, 0, 2).reshape(len(S), -1)  # (·, g·r)
        projected = projected.reshape(-1, g, r) * (b * weights).T[:, :, None]
        whole = T @ self.U.transpose(1, 0, 2).reshape(n, -1)  # (m, g·r)
        return (whole - (T @ Q) @ projected.reshape(-1, g * r)).reshape(-1, g, r).transpose(1, 0, 2)


def solve_each(blocks: Array, right: Array, definite: bool) -> Array:
    """Solve each of the symmetric systems (..., s, s) for its right-hand sides (..., s, r); NaN where one is singular.

    Cholesky, half the work of LU, for definite systems of enough rows.
    """
    if not definite or not blocks.shape[-1]:
        try:
            return np.linalg.solve(blocks, right)
        except np.linalg.LinAlgError:  # singular to the last digit
            return np.full(right.shape, np.nan)
    out = np.empty(right.shape)
    for at in np.ndindex(*blocks.shape[:-2]):
        # The transpose is the same matrix, in the order of LAPACK, and is not needed any more.
        _, out[at], info = lapack.dposv(blocks[at].T, right[at], overwrite_a=1)
        if info:
            out[at] = np.nan
    return out
