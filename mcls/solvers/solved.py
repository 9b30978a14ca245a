"""Solutions of a symmetric system at some shifts of its diagonal, and what becomes of them without a fold of rows.

``mcls.solvers.spectrum`` has the derivation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from mcls.solvers import lapack
from mcls.solvers.linear import LARGEST_CONDITION
from mcls.solvers.pairs import STACKED_UP_TO, Parts, solve_stacked

if TYPE_CHECKING:
    from mcls.solvers.spectrum import Spectrum

Array = np.ndarray

# So many small systems per row of one of them are worth the steps of eliminating them at once.
_MANY_STEPS = 8

# Below this size of a block the general product is quicker than the symmetric one.
_SYMMETRIC_FROM = 32  # rows

# Below this share of the columns of M single entries are picked, beyond whole rows.
_FEW_COLUMNS = 0.2

# Numbers of the products of M with e of all folds that are held at once.
_COLUMNS_UP_TO = 2**24

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


def congruent(Q: Array, w: Array, out: Array | None = None) -> Array:
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
            e = solve_each(self._blocks(rows), self.U[:, rows], self.spectrum.is_definite(self.shifts))
        lost = self._conditions[:, None] * np.abs(e).max(axis=(2, 3), initial=0.0) > LARGEST_CONDITION
        e[lost] = np.nan
        return e

    @cached_property
    def _conditions(self) -> Array:
        return self.spectrum.conditions(self.shifts)

    def _blocks(self, rows: Array) -> Array:
        """M_SS (g, k, s, s) of k folds with the rows (k, s)."""
        if self.M is not None:
            n = len(self.spectrum.vectors)
            return self.M.reshape(len(self.M), n * n).take(rows[:, :, None] * n + rows[:, None, :], axis=1)
        weights, a, b = self.spectrum.weights(self.shifts)
        Q_S = self.spectrum.vectors[rows]  # (k, s, ·)
        M_SS = np.empty((len(self.shifts), *rows.shape, rows.shape[1]))
        for i, w in enumerate(weights):  # one shift at a time: the product's operands stay in the cache
            congruent(Q_S, w, out=M_SS[i])
        if not self.spectrum.is_whole:
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
        weights, _, b = self.spectrum.weights(self.shifts)  # aI touches only the rows left out
        Q = self.spectrum.vectors
        projected = np.matmul(Q[rows].transpose(0, 2, 1), e)  # (g, k, ·, r)
        projected *= (b * weights)[:, None, :, None]
        columns = Q @ projected.transpose(2, 0, 1, 3).reshape(-1, g * k * r)  # one large product
        return columns.reshape(-1, g, k, r).transpose(1, 2, 0, 3)

    def _at(self, rows: Array) -> Array:
        """Where rows stand in M."""
        return rows if self.parts is None else self.parts.place[rows]

    @cached_property
    def columns_of_folds(self) -> Array | None:
        """M_(·,S) e of every fold that was solved for (g, folds, r, n), in the order of the parts; None if too large.

        The columns of a part serve all folds that leave it out, as one product.
        """
        if self.parts is None or self.of_parts is None or self.M is None:
            return None
        g, n, r = self.U.shape
        if g * len(self.parts.members) * r * n > _COLUMNS_UP_TO:
            return None
        found = np.zeros((g, len(self.parts.members), r, n))
        for part, (folds, at) in enumerate(zip(self.parts.folds_of, self.parts.find_parts, strict=True)):
            e = self.of_parts[:, at].swapaxes(2, 3)  # (g, f, r, s)
            S = self.parts.slice(part)
            found[:, folds] += np.matmul(e.reshape(g, -1, at.shape[1]), self.M[:, S]).reshape(g, -1, r, n)
        return found

    def solutions_of_folds(self) -> Array | None:
        """Solutions (g, folds, n, r) without each fold, exactly zero on its rows, in the order of the parts.

        None where there are no parts, where all together are too large, or where digits are lost.
        """
        columns = self.columns_of_folds
        if columns is None or self.parts is None or self.of_parts is None:
            return None
        if not (self._conditions.max() * np.abs(self.of_parts).max(initial=0.0) <= LARGEST_CONDITION):
            return None
        solutions = self.U[:, self.parts.order].swapaxes(1, 2)[:, None] - columns
        for part, folds in enumerate(self.parts.folds_of):
            solutions[:, folds, :, self.parts.slice(part)] = 0.0
        return solutions.swapaxes(2, 3)

    def left_out_products(self, S: Array, e: Array, T: Array, place: int | None = None) -> Array:
        """Products T u⁽⁻ˢ⁾ (g, m, r) with the solutions without the rows S (s,), for a T (m, n) of few rows.

        ``e`` (g, s, r) is M_SS⁻¹ u_S. T is set to zero in the columns of S. Without M, products with Q come before
        the shifts, so that the price is that of TQ. Where many folds are asked for, their ``place`` tells so.
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
            elif place is not None and self.columns_of_folds is not None:
                u -= self.columns_of_folds[:, place][:, :, self._at(seen)].swapaxes(1, 2)
            else:  # whole rows of M are next to each other
                u -= np.matmul(self.M[:, self._at(S)].swapaxes(-1, -2), e)[:, self._at(seen)]
            return T[:, seen] @ u
        weights, _, b = self.spectrum.weights(self.shifts)
        Q = self.spectrum.vectors
        projected = Q[S].T @ e.transpose(1, 0, 2).reshape(len(S), -1)  # (·, g·r)
        projected = projected.reshape(-1, g, r) * (b * weights).T[:, :, None]
        whole = T @ self.U.transpose(1, 0, 2).reshape(n, -1)  # (m, g·r)
        return (whole - (T @ Q) @ projected.reshape(-1, g * r)).reshape(-1, g, r).transpose(1, 0, 2)


def solve_each(blocks: Array, right: Array, definite: bool) -> Array:
    """Solve each of the symmetric systems (..., s, s) for its right-hand sides (..., s, r); NaN where one is singular.

    Cholesky, half the work of LU, for definite systems; many small ones at once.
    """
    if not definite or not blocks.shape[-1]:
        try:
            return np.linalg.solve(blocks, right)
        except np.linalg.LinAlgError:  # one of them is singular to the last digit
            if blocks.ndim == 2:
                return np.full(right.shape, np.nan)
            return np.array([solve_each(A, R, definite) for A, R in zip(blocks, right, strict=True)])
    s = blocks.shape[-1]
    if s <= STACKED_UP_TO and blocks.size > _MANY_STEPS * s**3:
        return solve_stacked(blocks, right)
    out = np.empty(right.shape)
    for at in np.ndindex(*blocks.shape[:-2]):
        # The transpose is the same matrix, in the order of LAPACK, and is not needed any more.
        _, out[at], info = lapack.dposv(blocks[at].T, right[at], overwrite_a=1)
        if info:
            out[at] = np.nan
    return out
