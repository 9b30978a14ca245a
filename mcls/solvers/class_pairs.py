"""Least squares for every pair of classes: all strengths and folds of a semi-definite matrix from shared factors.

The machine of the classes (a, b) solves (K_PP + γI)α = ±1 on their rows P = A ∪ B. All pairs with A share what
eliminates it. With K_AA + γI = LLᵀ, W = L⁻¹K_AB, X = L⁻ᵀW and the factor of the Schur complement,

    K_BB + γI − WᵀW = L_B L_Bᵀ,   R = L_B⁻¹,   V = [−X; I] Rᵀ (m, |B|),   (K_PP + γI)⁻¹ = M = (K_AA + γI)⁻¹ ⊕ 0 + VVᵀ:

Cholesky's factorisation, a block at a time. The larger class is eliminated first, so that small ones cost little
beside it. Classes so far apart that K_AB is rounding are not coupled at all, and their values are differences of what
each class gives alone. Folds are left out of M as in ``mcls.solvers.spectrum``: the solution without the rows S is
Mt − M_{:,S}e with e = M_SS⁻¹[Mt]_S, and two folds at once by ``mcls.solvers.pairs``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

import numpy as np
from scipy.linalg import lapack

from mcls.solvers.pairs import Parts, left_out
from mcls.solvers.solved import solve_each

Array = np.ndarray

# Up to this many rows of a fold NumPy solves stacks of systems quicker than LAPACK one after another.
_STACKED_UP_TO = 24

# Columns are left out where at most this share of them is kept.
_FEW_COLUMNS = 0.8

# Entries of V formed at once, those of several strengths of small pairs.
_BATCH_UP_TO = 2**17


def class_pairs(n_classes: int) -> list[tuple[int, int]]:
    """All pairs (a, b) of classes with a < b."""
    return list(combinations(range(n_classes), 2))


@dataclass(frozen=True)
class PairFolds:
    """Folds as sets of rows that are left out alone or two at a time.

    The values of a pair of classes are kept as (k, γ, f, s): for each of the k sets those of its s rows (fewer, if it
    is not the largest) in each of the f folds that leave it out.
    """

    sets: list[Array]
    tests: Sequence[Array]
    parts: Parts | None  # where some folds leave out two sets, which are then disjoint
    folds_with: Array  # (k, f) the folds with each set; a set of fewer folds has its first ones again
    _of_size: dict[int, Parts] = field(default_factory=dict)

    @classmethod
    def of(cls, tests: Sequence[Array], n: int) -> PairFolds:
        """Two sets at a time where all folds are made of few parts, as in nested cross-validation."""
        parts = Parts.of(tests, n)
        if parts is None or not len(parts.pairs):
            return cls(list(tests), tests, None, np.arange(len(tests))[:, None])
        sets = [parts.order[parts.slice(k)] for k in range(parts.k)]
        found = [np.flatnonzero((parts.members == k).any(axis=1)) for k in range(parts.k)]
        most = max(map(len, found))
        return cls(sets, tests, parts, np.array([np.resize(folds, most) for folds in found]))

    def of_size(self, s: int) -> Parts:
        """The parts where each has s rows, one after another."""
        assert self.parts is not None
        k = self.parts.k
        return self._of_size.setdefault(s, Parts(np.arange(k * s), s * np.arange(k + 1), self.parts.members))

    @property
    def alike(self) -> bool:
        """Whether the sets are of similar sizes, so that padding them to one size costs little."""
        sizes = [len(rows) for rows in self.sets]
        return max(sizes) > 0 and len(sizes) * max(sizes) <= 2 * sum(sizes)

    @cached_property
    def rows(self) -> Array:
        """The rows of each set (k, s); a smaller set has its first ones again, an empty one any."""
        most = max(map(len, self.sets))
        return np.array([np.resize(rows if len(rows) else [0], most) for rows in self.sets])

    def split(self, scores: Array) -> Iterator[Array]:
        """The scores (γ, |test|, ℓ) of each fold, of all (k, γ, f, s, ℓ)."""
        if self.parts is None:
            yield from (scores[k, :, 0, : len(test)] for k, test in enumerate(self.tests))
            return
        place = np.empty(len(self.parts.order), dtype=np.intp)
        for fold, (test, members) in enumerate(zip(self.tests, self.parts.members)):
            own = [k for k in members.tolist() if k < self.parts.k]
            pieces = [scores[k, :, int(np.argmax(self.folds_with[k] == fold)), : len(self.sets[k])] for k in own]
            if not own:
                yield scores[0, :, 0, :0]
                continue
            place[np.concatenate([self.sets[k] for k in own])] = np.arange(len(test))
            yield np.concatenate(pieces, axis=1)[:, place[test]]


@dataclass(frozen=True)
class _Class:
    """The rows of a class, and which of them each set leaves out."""

    code: int
    at: slice  # where they are in the order of the classes
    root: Array  # (n_c,) roots of the weights
    left_out: Array  # (k, s) which of the rows, those of a smaller set followed by n_c
    kept: Array  # (folds, n_c) the root of the weight, zero where a fold leaves the row out

    @classmethod
    def of(cls, code: int, rows: Array, start: int, n: int, folds: PairFolds, root: Array) -> _Class:
        """The class with some of the n rows."""
        place = np.full(n, -1)
        place[rows] = np.arange(len(rows))
        inside = [at[at >= 0] for at in (place[some] for some in folds.sets)]
        sizes = np.array([len(some) for some in inside])
        padded = np.full((len(inside), int(sizes.max(initial=0))), len(rows))
        padded[np.arange(padded.shape[1]) < sizes[:, None]] = np.concatenate(inside)
        flags = np.zeros((len(inside) + 1, len(rows) + 1), dtype=bool)
        flags[np.arange(len(inside))[:, None], padded] = True
        own = np.arange(len(inside))[:, None] if folds.parts is None else folds.parts.members
        left_out = flags[own, :-1].any(axis=1)  # (folds, n_c)
        return cls(code, slice(start, start + len(rows)), root[rows], padded, np.where(left_out, 0.0, root[rows]))

    def __len__(self) -> int:
        return len(self.root)


@dataclass(frozen=True)
class _Eliminated:
    """A class A eliminated at g strengths, by one eigendecomposition K_AA = QΛQᵀ for all of them.

    Any root of K_AA + γI serves as L: here Q(Λ + γI)^½, and P = K_later,A Q is one product for all γ. Its columns that
    hold rounding alone, most of them for a wide kernel, are left out.
    """

    M: Array  # (K_AA + γI)⁻¹ (g, n_a + 1, n_a + 1), with a last row and column of zeros
    Mt: Array  # its product with the targets (g, n_a)
    blocks: Array  # of it, for each set (g, k, s_a, s_a)
    P: Array  # (rows of later classes, r)
    Q: Array  # (n_a, r)
    weights: Array  # 1/(λ + γ) (g, r)

    @classmethod
    def of(cls, K_A: Array, K_later: Array, A: _Class, shifts: Array) -> _Eliminated:
        """Eliminate K_AA from itself and from K_later,A."""
        n = len(A)
        values, Q = np.linalg.eigh(K_A)
        weights = 1 / (values + shifts[:, None])
        M = np.zeros((len(shifts), n + 1, n + 1))
        for i, w in enumerate(weights):
            scaled = Q * np.sqrt(w)
            M[i, :n, :n] = scaled @ scaled.T
        P = K_later @ Q
        seen = np.abs(P).max(axis=0, initial=0.0) > 1e-15 * np.sqrt(n) * K_A.diagonal().max()
        if seen.mean() < _FEW_COLUMNS:
            P, Q, weights = P[:, seen], Q[:, seen], weights[:, seen]
        at = A.left_out
        return cls(M, A.root @ M[:, :n, :n], M[:, at[:, :, None], at[:, None, :]], P, Q, weights)


@dataclass(frozen=True)
class PairSystems:
    """The machines of all pairs at some strengths, for a semi-definite K."""

    K: Array  # W^½KW^½ (n, n), in the order of the classes
    seen: Array  # κ (k, s, n) between the rows of each set and those of the classes
    classes: list[_Class]  # the largest first
    folds: PairFolds
    shifts: Array  # (g,)
    condition: float  # an upper bound

    @classmethod
    def of(
        cls, K: Array, y: Array, n_classes: int, folds: PairFolds, shifts: Array, root: Array, condition: float
    ) -> PairSystems:
        """Put the rows of K in order."""
        rows = [np.flatnonzero(y == c) for c in range(n_classes)]
        codes = sorted(range(n_classes), key=lambda c: -len(rows[c]))
        order = np.concatenate([rows[c] for c in codes])
        starts = np.cumsum([0] + [len(rows[c]) for c in codes])
        classes = [_Class.of(c, rows[c], starts[i], len(y), folds, root) for i, c in enumerate(codes)]
        B = root[order, None] * K[order[:, None], order] * root[order]
        return cls(B, K[folds.rows[:, :, None], order], classes, folds, shifts, condition)

    def values(self) -> Array:
        """Values (pairs, k, γ, f, s) of all pairs, as ``PairFolds`` has them."""
        places = {pair: p for p, pair in enumerate(class_pairs(len(self.classes)))}
        (k, s, _), (_, f) = self.seen.shape, self.folds.folds_with.shape
        values = np.empty((len(places), k, len(self.shifts) * f, s))
        linked = self._linked()
        apart = {i: self._apart(A) for i, A in enumerate(self.classes) if not linked[i].all()}
        for i, A in enumerate(self.classes[:-1]):
            rest = self.K[A.at.stop :, A.at] if any(linked[i, i + 1 :]) else np.empty((0, len(A)))
            eliminated = _Eliminated.of(self.K[A.at, A.at], rest, A, self.shifts)
            for j, B in enumerate(self.classes[i + 1 :], i + 1):
                found = values[places[min(A.code, B.code), max(A.code, B.code)]]
                if linked[i, j]:
                    alpha = self._pair(A, B, eliminated)  # (g, folds, n_a + n_b)
                    np.matmul(self._by_set(alpha[..., : len(A)]), self.seen[:, :, A.at].swapaxes(1, 2), out=found)
                    found += self._by_set(alpha[..., len(A) :]) @ self.seen[:, :, B.at].swapaxes(1, 2)
                else:
                    np.subtract(apart[i], apart[j], out=found)
                if A.code > B.code:
                    np.negative(found, out=found)
        return values.reshape(len(places), k, len(self.shifts), f, s)

    def _linked(self) -> Array:
        """Whether any rows of two classes (ℓ, ℓ) are near enough to matter to each other's coefficients."""
        starts = [A.at.start for A in self.classes]
        largest = np.maximum.reduceat(np.maximum.reduceat(np.abs(self.K), starts, axis=0), starts, axis=1)
        np.fill_diagonal(largest, np.inf)
        return largest > 1e-16 * self.K.diagonal().min() / len(self.K)

    def _by_set(self, alpha: Array) -> Array:
        """Coefficients (k, g · f, ·) for the rows of each set, of those (g, folds, ·) of each fold."""
        some = alpha[:, self.folds.folds_with].swapaxes(0, 1)
        return some.reshape(len(some), -1, some.shape[-1])

    def _apart(self, A: _Class) -> Array:
        """What a class adds (k, g · f, s) to the values of its pairs with classes that it is not linked to."""
        nobody = _Class(-1, slice(0, 0), np.empty(0), A.left_out[:, :0], A.kept[:, :0])
        of = _Eliminated.of(self.K[A.at, A.at], np.empty((0, len(A))), A, self.shifts)
        alpha = self._without(A, nobody, of, slice(None), np.zeros((len(self.shifts), len(A) + 1, 0)))
        return self._by_set(alpha) @ self.seen[:, :, A.at].swapaxes(1, 2)

    def _pair(self, A: _Class, B: _Class, of: _Eliminated) -> Array:
        """Coefficients (g, folds, n_a + n_b) of a pair without each fold, A on the positive side."""
        n_a, n_b = len(A), len(B)
        at = slice(B.at.start - A.at.stop, B.at.stop - A.at.stop)
        found = []
        step = max(1, _BATCH_UP_TO // ((n_a + n_b) * n_b))
        for start in range(0, len(self.shifts), step):
            part = slice(start, start + step)
            w = of.weights[part, None]
            V = np.zeros((len(w), n_a + n_b + 1, n_b))  # the last row is that of no row
            Wt = of.P[at] * np.sqrt(w)  # (g, n_b, r)
            S = Wt @ Wt.swapaxes(1, 2)
            np.subtract(self.K[B.at, B.at], S, out=S)
            S.reshape(len(S), -1)[:, :: n_b + 1] += self.shifts[part, None]
            for i in range(len(S)):
                L, failed = lapack.dpotrf(S[i].T, lower=1, overwrite_a=1)
                V[i, n_a:-1] = np.nan if failed else lapack.dtrtri(L, lower=1, overwrite_c=1)[0].T  # Rᵀ
            X = (of.P[at] * -w).reshape(len(w) * n_b, of.Q.shape[1]) @ of.Q.T  # −Xᵀ
            np.matmul(X.reshape(len(w), n_b, n_a).swapaxes(1, 2), V[:, n_a:-1], out=V[:, :n_a])
            found.append(self._without(A, B, of, part, V))
        return np.concatenate(found) if len(found) > 1 else found[0]

    def _without(self, A: _Class, B: _Class, of: _Eliminated, part: slice, V: Array) -> Array:
        """Coefficients (g, folds, m) of a pair without each fold, zero on its rows; m = n_a + n_b."""
        n_a, m, g, M = len(A), len(A) + len(B), len(V), of.M[part]
        t = np.concatenate([A.root, -B.root])
        U = np.zeros((g, m + 1))
        U[:, :m] = ((t @ V[:, :m])[:, None] @ V[:, :m].swapaxes(1, 2))[:, 0]
        U[:, :n_a] += of.Mt[part]
        # The rows that each set leaves out, in the order of the sets; m stands for none, which is a row of zeros.
        of_A, of_B = A.left_out, B.left_out
        at = np.concatenate([np.where(of_A < n_a, of_A, m), n_a + of_B], axis=1)  # (k, s)
        k, s, s_a = *at.shape, of_A.shape[1]
        VS = V[:, at]  # (g, k, s, n_b)
        none = np.flatnonzero(at.ravel() == m)
        if self.folds.parts is None:
            blocks = VS @ VS.swapaxes(-1, -2)  # M_SS (g, k, s, s)
            blocks[..., :s_a, :s_a] += of.blocks[part]
            blocks[:, none // s, none % s, none % s] = 1.0
            E = solve_each(blocks, U[:, at][..., None], s > _STACKED_UP_TO)[..., 0]  # (g, k, s)
            alpha = (E[..., None, :] @ VS)[..., 0, :] @ V[:, :m].swapaxes(1, 2)
            E_A = np.zeros((g, k, n_a + 1))
            E_A[:, np.arange(k)[:, None], of_A] = E[..., :s_a]
            alpha[..., :n_a] += E_A[..., :n_a] @ M[:, :n_a, :n_a]
        elif not s:  # no fold tests a row of these classes
            alpha = np.zeros((g, len(self.folds.parts.members), m))
        else:
            VS = VS.reshape(g, k * s, -1)
            whole = VS @ VS.swapaxes(1, 2)
            M_A = M[:, of_A.ravel()]  # (g, k · s_a, n_a + 1)
            whole.reshape(g, k, s, k, s)[:, :, :s_a, :, :s_a] += M_A[..., of_A.ravel()].reshape(g, k, s_a, k, s_a)
            whole[:, none, none] = 1.0
            E = self._in_pairs(whole, U[:, at.ravel()], s)  # (g, folds, k, s)
            alpha = (E.reshape(g, E.shape[1], k * s) @ VS) @ V[:, :m].swapaxes(1, 2)
            alpha[..., :n_a] += (E[..., :s_a].reshape(g, E.shape[1], k * s_a) @ M_A)[..., :n_a]
        np.subtract(U[:, None, :m], alpha, out=alpha)
        # Rounding there, times a kernel value of one, would drown the tiny values of a narrow kernel.
        alpha *= np.concatenate([A.kept, B.kept], axis=1)
        return alpha

    def _in_pairs(self, M: Array, U: Array, s: int) -> Array:
        """E (g, folds, k, s): what one or two sets of each fold leave out, zero elsewhere."""
        parts = self.folds.of_size(s)
        g, k, (first, second) = len(M), parts.k, parts.members.T
        e = left_out(M, U[..., None], parts, self.condition)[..., 0]
        alone = e[:, : k * s].reshape(g, k, s)
        of_first, of_second = e[:, k * s :].reshape(g, 2, -1, s).swapaxes(0, 1)
        E = np.zeros((g, len(first), k, s))
        one = np.flatnonzero((first < k) & (second == k))
        two = np.flatnonzero(second < k)
        pair = np.searchsorted(parts.pairs @ [k, 1], first[two] * k + second[two])
        E[:, one, first[one]] = alone[:, first[one]]
        E[:, two, first[two]] = of_first[:, pair]
        E[:, two, second[two]] = of_second[:, pair]
        return E
