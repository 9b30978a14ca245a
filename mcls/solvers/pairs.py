"""Leave the parts of a partition of the rows out of a solved system, one by one and two by two.

Nested cross-validation asks for e = M_PP⁻¹u_P (``mcls.solvers.spectrum``) of every fold P = S and of every two folds
P = R ∪ S. With M_SS = LLᵀ, W = L⁻¹M_SR and v = L⁻¹u_S, Cholesky's elimination of S leaves for R

    (M_RR − WᵀW) e_R = u_R − Wᵀv,   e_S = L⁻ᵀ(v − W e_R).

The factor L and W for all R at once serve every pair that S is the first of, and the rows are put in the order of the
parts, so that every block is a slice of M. It is the Cholesky factorisation of M_PP, step by step, and as stable.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import blas, lapack

from mcls.threads import spread

Array = np.ndarray

# Up to this many rows in a part all pairs go through NumPy's stacked routines, beyond one by one through LAPACK.
_STACKED_UP_TO = 24

# Products with L⁻¹ are quicker than solving with L, and lose the digits of L's condition, the root of that of M: up to
# this condition of M that is nothing.
_INVERTED_UP_TO = 1e5

# Parts are padded to the size of the largest where they are stacked: not if that adds more than this share of rows.
_PADDING_UP_TO = 1.3


@dataclass(frozen=True)
class Parts:
    """Disjoint parts of the rows, and which one or two of them each fold leaves out.

    Attributes
    ----------
    order : array (m,)
        The rows of all parts, one part after another, then those of none.
    bounds : array (k + 1,)
        Where each part begins in that order, and where the last one ends.
    members : array (folds, 2)
        The parts of each fold, the smaller number first; the number k stands for none.
    """

    order: Array
    bounds: Array
    members: Array

    @classmethod
    def of(cls, tests: Sequence[Array], n: int) -> Parts | None:
        """The parts that folds with these rows are made of; None where some fold is made of more than two.

        Rows of one part are in the same folds: each fold adds a random number to its rows, and equal sums tell them.
        """
        if not tests:
            return None
        counts = np.array([len(test) for test in tests])
        rows = np.concatenate(tests).astype(np.intp)
        numbers = np.random.default_rng(0).random(len(tests)) + 1
        sums = np.bincount(rows, np.repeat(numbers, counts), minlength=n)
        different, part_of = np.unique(sums, return_inverse=True)
        outside = int(different[0] == 0)
        k, part_of = len(different) - outside, part_of - outside  # −1: in no fold
        if not k or k > len(tests):
            return None
        sizes = np.bincount(part_of + 1, minlength=k + 1)[1:]
        members = np.full((len(tests), 2), k)
        some = counts > 0
        starts = np.cumsum(counts)[some] - counts[some]
        first, last = (of.reduceat(part_of[rows], starts) for of in (np.minimum, np.maximum))
        two = first != last
        if (counts[some] != sizes[first] + np.where(two, sizes[last], 0)).any():
            return None
        members[some] = np.stack([first, np.where(two, last, k)], axis=1)
        order = np.argsort(np.where(part_of < 0, k, part_of), kind="stable")
        return cls(order, np.concatenate([[0], np.cumsum(sizes)]), members)

    @cached_property
    def place(self) -> Array:
        """Where each row (n,) stands in the order."""
        place = np.empty(len(self.order), dtype=np.intp)
        place[self.order] = np.arange(len(self.order))
        return place

    @cached_property
    def _pairs(self) -> tuple[Array, Array]:
        two = self.members[:, 1] < self.k
        numbers, which = np.unique(self.members[two] @ [self.k, 1], return_inverse=True)
        pair_of = np.full(len(self.members), -1)
        pair_of[two] = which
        return np.stack(np.divmod(numbers, self.k), axis=1), pair_of

    @property
    def pairs(self) -> Array:
        """The different pairs of parts (p, 2) that are left out together, in lexical order."""
        return self._pairs[0]

    @property
    def k(self) -> int:
        """The number of parts."""
        return len(self.bounds) - 1

    @property
    def is_stacked(self) -> bool:
        """Whether the parts are small and of nearly one size."""
        largest = int(np.diff(self.bounds).max())
        return largest <= _STACKED_UP_TO and largest * self.k <= _PADDING_UP_TO * self.bounds[-1]

    def slice(self, part: int) -> slice:
        """Where a part is in the order."""
        return slice(int(self.bounds[part]), int(self.bounds[part + 1]))

    def find(self, folds: Sequence[int], rows: Array) -> Array:
        """Where the rows (f, s) of some folds stand in what ``left_out`` returns."""
        place, pair = self.place[rows], self._pairs[1][list(folds), None]
        part = np.searchsorted(self.bounds, place, side="right") - 1
        end, largest, p = self.bounds[-1], np.diff(self.bounds).max(), len(self.pairs)
        is_second = part != self.members[list(folds), :1]
        of_pair = end + (is_second * p + pair) * largest + place - self.bounds[part]
        return np.where(pair < 0, place, of_pair)


def left_out(M: Array, U: Array, parts: Parts, condition: float) -> Array:
    """e (g, ·, r) of every part and of every two parts, for a definite M (g, n, n) and U (g, n, r) in their order.

    ``condition`` is the largest condition number of M. The rows of the parts alone come first, then those of the first
    part of each pair, padded to the size of the largest, then those of the second: ``Parts.find`` says where. NaN where
    a block is not definite.
    """
    made = _stacked(M, U, parts, condition <= _INVERTED_UP_TO) if parts.is_stacked else None
    alone, first, second = made or _one_by_one(M, U, parts)
    g, r = len(M), U.shape[-1]
    return np.concatenate([alone, first.reshape(g, -1, r), second.reshape(g, -1, r)], axis=1)


def _stacked(M: Array, U: Array, parts: Parts, inverted: bool) -> tuple[Array, Array, Array] | None:
    """All shifts and pairs by stacked routines, the parts padded by rows of the identity; None if one is singular.

    With ``inverted`` L⁻¹ is formed.
    """
    g, k, r = len(M), parts.k, U.shape[-1]
    sizes = np.diff(parts.bounds)
    s = int(sizes.max())
    inside = np.arange(s) < sizes[:, None]  # (k, s)
    m = int(parts.bounds[-1])
    if inside.all():
        M, U = M[:, :m, :m], U[:, :m].reshape(g, k, s, r)
    else:
        at = np.where(inside, parts.bounds[:-1, None] + np.arange(s), 0).ravel()
        dummies = np.flatnonzero(~inside.ravel())
        M = M[:, at[:, None], at]
        M[:, dummies] = 0.0
        M[:, :, dummies] = 0.0
        M[:, dummies, dummies] = 1.0
        U = np.where(inside[..., None], U[:, at].reshape(g, k, s, r), 0.0)
    M = M.reshape(g, k, s, k, s)
    each, (first, second) = np.arange(k), parts.pairs.T
    D = M[:, each, :, each].swapaxes(0, 1)  # (g, k, s, s)
    try:
        L = np.linalg.cholesky(D)
        solve: Callable[[Array, Array], Array] = np.linalg.solve
        if inverted:
            L, solve = np.linalg.inv(L), np.matmul
        v = solve(L, U)
        W = (
            solve(L, M.reshape(g, k, s, k * s)).reshape(M.shape)[:, first, :, second].swapaxes(0, 1)
        )  # (g, p, s, s)
        Wt = W.swapaxes(-1, -2)
        e_second = np.linalg.solve(D[:, second] - Wt @ W, U[:, second] - Wt @ v[:, first])  # (g, p, s, r)
    except np.linalg.LinAlgError:
        return None
    right = np.zeros((g, k, s, 1 + k, r))
    right[:, :, :, k] = v
    right[:, first, :, second] = (W @ e_second).swapaxes(0, 1)
    found = solve(L.swapaxes(-1, -2), right.reshape(g, k, s, -1)).reshape(right.shape)
    alone = found[:, :, :, k]
    e_first = alone[:, first] - found[:, first, :, second].swapaxes(0, 1)
    return alone[:, inside], e_first, e_second


def _one_by_one(M: Array, U: Array, parts: Parts) -> tuple[Array, Array, Array]:
    """One shift, part and pair after another."""
    g, r = len(M), U.shape[-1]
    s = int(np.diff(parts.bounds).max())
    alone = np.empty((g, int(parts.bounds[-1]), r))
    e_first, e_second = (np.zeros((g, len(parts.pairs), s, r)) for _ in range(2))
    for i in range(g):

        def fill(a: int, i: int = i) -> None:
            at = np.flatnonzero(parts.pairs[:, 0] == a)
            _first_of(M[i], U[i], parts, a, at, alone[i], e_first[i], e_second[i])

        spread(fill, range(parts.k))
    return alone, e_first, e_second


def _first_of(
    M: Array, U: Array, parts: Parts, a: int, at: Array, alone: Array, e_first: Array, e_second: Array
) -> None:
    """Fill in what leaves out part a alone, and together with the others of the pairs at some places."""
    S, r, end = parts.slice(a), U.shape[-1], int(parts.bounds[-1])
    size = S.stop - S.start
    # In C order the transpose of a symmetric block is the block in the order of LAPACK.
    L, failed = lapack.dpotrf(np.ascontiguousarray(M[S, S]).T, lower=1, clean=0, overwrite_a=1)
    if failed:
        alone[S], e_first[at], e_second[at] = np.nan, np.nan, np.nan
        return
    right = np.empty((size, end - S.stop + r)) if len(at) else np.empty((size, r))
    if len(at):
        right[:, :-r] = M[S, S.stop : end]
    right[:, -r:] = U[S]
    # Rᵀ L⁻ᵀ in Fortran order is L⁻¹R in C order.
    W = blas.dtrsm(1.0, L, right.T, side=1, lower=1, trans_a=1, overwrite_b=1).T
    v, later = W[:, -r:], W[:, :-r]
    targets = U[S.stop : end] - later.T @ v if len(at) else None
    columns = np.empty((1 + len(at), r, size))
    columns[0] = v.T
    for j, b in enumerate(parts.pairs[at, 1]):
        R = parts.slice(b)
        W_b = later[:, R.start - S.stop : R.stop - S.stop]
        C = np.matmul(W_b.T, W_b)
        np.subtract(M[R, R], C, out=C)
        factor, failed = lapack.dpotrf(C.T, lower=1, clean=0, overwrite_a=1)
        if failed:
            e_second[at[j]], columns[1 + j] = np.nan, np.nan
            continue
        assert targets is not None
        e = lapack.dpotrs(factor, targets[R.start - S.stop : R.stop - S.stop], lower=1)[0]
        e_second[at[j], : len(e)] = e
        columns[1 + j] = (v - W_b @ e).T
    # All columns at once: L⁻ᵀ of each, again transposed.
    flat = columns.reshape(-1, size)
    found = blas.dtrsm(1.0, L, flat.T, side=0, lower=1, trans_a=1, overwrite_b=1).T.reshape(columns.shape)
    alone[S] = found[0].T
    e_first[at, :size] = found[1:].swapaxes(1, 2)
