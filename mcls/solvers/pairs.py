"""Leave the parts of a partition of the rows out of a solved system, one by one and two by two.

Nested cross-validation asks for e = M_PP⁻¹u_P (``mcls.solvers.spectrum``) of every fold P = S and of every two folds
P = R ∪ S. With M_SS = LLᵀ, W = L⁻¹M_SR and v = L⁻¹u_S, Cholesky's elimination of S leaves for R

    (M_RR − WᵀW) e_R = u_R − Wᵀv,   e_S = L⁻ᵀ(v − W e_R).

The factor L and W for all R at once serve every pair that S is the first of, and the rows are put in the order of the
parts, so that every block is a slice of M. It is the Cholesky factorisation of M_PP, step by step, and as stable.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial

import numpy as np

from mcls.solvers import lapack
from mcls.threads import spread

Array = np.ndarray

#: Up to this many rows in a part all pairs go through stacked routines, beyond one by one through LAPACK.
STACKED_UP_TO = 24

# Numbers of a stack of small systems that are eliminated at once: as many as a cache holds.
_TOGETHER = 2**18

# Products with M_SS⁻¹ are quicker than solving, and lose the digits of its condition, at most that of M; what follows
# loses as many again. Up to this condition of M eight are left.
_INVERTED_UP_TO = 1e4

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
    _found: dict[tuple[int, ...], Array] = field(default_factory=dict)  # of ``find``: the same at every kernel

    @classmethod
    def of(cls, tests: Sequence[Array], n: int) -> Parts | None:
        """The parts that folds with these rows are made of; None where some fold is made of more than two.

        The same folds are asked for at one kernel after another: what they are made of is remembered.
        """
        return cls._of(tuple(np.asarray(test, dtype=np.intp).tobytes() for test in tests), n)

    @classmethod
    @lru_cache(maxsize=2)
    def _of(cls, of_tests: tuple[bytes, ...], n: int) -> Parts | None:
        """Rows of one part are in the same folds: each fold adds a random number to its rows, equal sums tell them."""
        tests = [np.frombuffer(of_test, dtype=np.intp) for of_test in of_tests]
        if not tests:
            return None
        counts = np.array([len(test) for test in tests])
        rows = np.concatenate(tests)
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
        return largest <= STACKED_UP_TO and largest * self.k <= _PADDING_UP_TO * self.bounds[-1]

    def slice(self, part: int) -> slice:
        """Where a part is in the order."""
        return slice(int(self.bounds[part]), int(self.bounds[part + 1]))

    @cached_property
    def folds_of(self) -> list[Array]:
        """For each part, the folds that leave it out."""
        return [np.flatnonzero((self.members == part).any(axis=1)) for part in range(self.k)]

    @cached_property
    def find_parts(self) -> list[Array]:
        """Where the rows of each part stand in what ``left_out`` returns, for each fold that leaves it out (f, s)."""
        rows = [self.order[self.slice(part)] for part in range(self.k)]
        return [self._find(f, np.broadcast_to(S, (len(f), len(S)))) for f, S in zip(self.folds_of, rows)]

    def find(self, folds: Sequence[int], rows: Array) -> Array:
        """Where the rows (f, s) of some folds, all that they leave out, stand in what ``left_out`` returns."""
        key = tuple(folds)
        if key not in self._found:
            self._found[key] = self._find(folds, rows)
        return self._found[key]

    def _find(self, folds: Sequence[int] | Array, rows: Array) -> Array:
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
    if parts.is_stacked:
        alone, first, second = _stacked(M, U, parts, condition <= _INVERTED_UP_TO)
    else:
        alone, first, second = _one_by_one(M, U, parts)
    g, r = len(M), U.shape[-1]
    return np.concatenate([alone, first.reshape(g, -1, r), second.reshape(g, -1, r)], axis=1)


def _stacked(M: Array, U: Array, parts: Parts, inverted: bool) -> tuple[Array, Array, Array]:
    """All shifts and pairs by stacked routines, the parts padded by rows of the identity.

    With Z = M_SS⁻¹M_SR, the elimination of S leaves (M_RR − M_RS Z) e_R = u_R − M_RS M_SS⁻¹u_S. With ``inverted``
    M_SS⁻¹ is formed.
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
    each, (first, second) = np.arange(k), parts.pairs.T
    M = M.reshape(g, k, s, k, s)
    D = M[:, each, :, each].swapaxes(0, 1)  # (g, k, s, s)
    solve = partial(solve_stacked, D)
    if inverted:
        solve = partial(np.matmul, solve(np.broadcast_to(np.eye(s), D.shape)))
    alone = solve(U)
    Z = solve(M.reshape(g, k, s, k * s)).reshape(M.shape)[:, first, :, second].swapaxes(0, 1)  # (g, p, s, s)
    across = M[:, first, :, second].transpose(1, 0, 3, 2)  # M_RS
    e_second = solve_stacked(D[:, second] - across @ Z, U[:, second] - across @ alone[:, first])  # (g, p, s, r)
    return alone[:, inside], alone[:, first] - Z @ e_second, e_second


def solve_stacked(A: Array, R: Array) -> Array:
    """A⁻¹R (..., s, r) of many small definite systems A (..., s, s); NaN where one is not definite.

    Elimination in the order of the rows, each of its steps for all systems at once, so that what a call of LAPACK costs
    beside its few operations is not paid. The row j of the factor is W_j = A_j − Σ_k W_kj/W_kk W_k over k < j.
    """
    *stack, s, r = R.shape
    found = np.empty((int(np.prod(stack)), s, r))
    A, R = A.reshape(-1, s, s), R.reshape(-1, s, r)
    step = max(1, _TOGETHER // (s * (s + r)))
    for start in range(0, len(found), step):
        some = slice(start, start + step)
        W = np.empty((s, s + r, len(found[some])))  # the stack comes last, so that every operation has long rows
        W[:, :s], W[:, s:] = A[some].transpose(1, 2, 0), R[some].transpose(1, 2, 0)
        scaled, X = np.empty((s, s, W.shape[2])), W[:, s:]
        with np.errstate(all="ignore"):
            for j in range(s):
                W[j, j:] -= np.einsum("kN,kqN->qN", scaled[:j, j], W[:j, j:])
                np.divide(W[j, j:s], W[j, j], out=scaled[j, j:])
            for j in reversed(range(s)):
                X[j] -= np.einsum("kN,krN->rN", W[j, j + 1 : s], X[j + 1 :])
                X[j] /= W[j, j]
        X[:, :, ~(W[np.arange(s), np.arange(s)] > 0).all(axis=0)] = np.nan
        found[some] = X.transpose(2, 0, 1)
    return found.reshape(*stack, s, r)


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
    W = lapack.dtrsm(1.0, L, right.T, side=1, lower=1, trans_a=1, overwrite_b=1).T
    v, later = W[:, -r:], W[:, :-r]
    targets = U[S.stop : end] - later.T @ v if len(at) else None
    columns = np.empty((1 + len(at), r, size))
    columns[0] = v.T
    for j, b in enumerate(parts.pairs[at, 1]):
        R = parts.slice(b)
        W_b = later[:, R.start - S.stop : R.stop - S.stop]
        C = np.array(M[R, R]).T
        C = lapack.dsyrk(-1.0, W_b.T, beta=1.0, c=C, lower=1, overwrite_c=1)  # M_RR − WᵀW, its lower triangle
        assert targets is not None
        _, e, failed = lapack.dposv(C, targets[R.start - S.stop : R.stop - S.stop], lower=1, overwrite_a=1)
        if failed:
            e_second[at[j]], columns[1 + j] = np.nan, np.nan
            continue
        e_second[at[j], : len(e)] = e
        columns[1 + j] = (v - W_b @ e).T
    # All columns at once: L⁻ᵀ of each, again transposed.
    flat = columns.reshape(-1, size)
    found = lapack.dtrsm(1.0, L, flat.T, side=0, lower=1, trans_a=1, overwrite_b=1).T.reshape(columns.shape)
    alone[S] = found[0].T
    e_first[at, :size] = found[1:].swapaxes(1, 2)
