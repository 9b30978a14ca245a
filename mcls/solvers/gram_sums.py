"""Landmarks for rows that are never all in memory: Gram sums of pieces, added up in a fixed order.

The sums of ``mcls.solvers.nystrom``, G_f = PᵀWP and R_f = PᵀWY of each fold f, are made piece by piece. Adding floating
numbers in another order gives other last digits, so the order is fixed: the rows of a piece come in blocks, those of a
block fold by fold, each fold by one thread; the sums of four neighbouring pieces are added, of these again four, and
so on. Whoever adds the pieces up this way, on one machine or on many, has the same bits.

Sums are handed on as their lower triangles alone, k·m(m + 1)/2 numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from mcls.solvers import lapack
from mcls.solvers.nystrom import coefficients, total_of
from mcls.threads import blas_threads

Array = np.ndarray
Kernel = Callable[[Array, Array], Array]

#: Sums that are added to one at each level of the tree.
FAN = 4
#: Kernel values that one thread holds at once.
_VALUES = 2**22


class FoldedRows(NamedTuple):
    """Some encoded rows."""

    X: Array  # (b, d)
    y: Array  # (b,) class codes
    folds: Array  # (b,) the fold that tests each row
    weights: Array | None  # (b,)


class Sums(NamedTuple):
    """What is left of any number of rows."""

    G: Array  # (k, m(m + 1)/2) lower triangles
    R: Array  # (k, m, ℓ)
    N: Array  # (k, ℓ) rows of each class, or their weights

    def plus(self, other: Sums) -> Sums:
        """Add in place."""
        np.add(self.G, other.G, out=self.G)
        np.add(self.R, other.R, out=self.R)
        np.add(self.N, other.N, out=self.N)
        return self


def sum_rows(
    blocks: Iterable[FoldedRows], kernel: Kernel, Z: Array, L: Array, folds: int, n_classes: int, threads: int = 1
) -> Sums:
    """The sums of a piece.

    Parameters
    ----------
    blocks : iterable of FoldedRows
        The rows of the piece.
    kernel : callable
        Gives the kernel matrix of two arrays of rows.
    Z, L : arrays (m, d), (m, m)
        Landmarks, and Cholesky's factor of their kernel matrix (``nystrom.factor``).
    folds, n_classes, threads : int
        Their numbers; the folds of a block are spread over the threads.
    """
    m = len(Z)
    G, R, N = np.zeros((folds, m, m)), np.zeros((folds, m, n_classes)), np.zeros((folds, n_classes))

    def add(part: tuple[int, FoldedRows]) -> None:
        f, rows = part
        N[f] += np.bincount(rows.y, rows.weights, minlength=n_classes)
        step = max(1, _VALUES // m)
        for start in range(0, len(rows.X), step):
            some = slice(start, start + step)
            Pt = np.asfortranarray(kernel(rows.X[some], Z).T)
            Pt = lapack.dtrsm(1.0, L, Pt, lower=1, overwrite_b=1)  # (m, b)
            Y = np.zeros((Pt.shape[1], n_classes))
            Y[np.arange(len(Y)), rows.y[some]] = 1.0
            if rows.weights is not None:
                root = np.sqrt(rows.weights[some])
                Pt *= root
                Y *= root[:, None]
            # The upper triangle of the transposed, in Fortran order, is the lower one of G.
            lapack.dsyrk(1.0, Pt, beta=1.0, c=G[f].T, lower=0, overwrite_c=1)
            R[f] += Pt @ Y

    # One BLAS thread each: with more, the digits would depend on their number.
    with blas_threads(1), ThreadPoolExecutor(threads) as pool:
        for block in blocks:
            for _ in pool.map(add, by_fold(block, folds)):
                pass
    return Sums(np.stack([pack(of) for of in G]), R, N)


def by_fold(rows: FoldedRows, folds: int) -> list[tuple[int, FoldedRows]]:
    """The rows of each fold that has some, in their order."""
    made = []
    for f in range(folds):
        at = np.flatnonzero(rows.folds == f)
        if len(at):
            w = None if rows.weights is None else rows.weights[at]
            made.append((f, FoldedRows(rows.X[at], rows.y[at], rows.folds[at], w)))
    return made


def pack(G: Array) -> Array:
    """The lower triangle of G (m, m), row after row."""
    return np.concatenate([row[: i + 1] for i, row in enumerate(G)])


def unpack(packed: Array, m: int) -> Array:
    """G (m, m) with its lower triangle alone."""
    G = np.zeros((m, m))
    start = 0
    for i in range(m):
        G[i, : i + 1] = packed[start : start + i + 1]
        start += i + 1
    return G


class TreeSum:
    """Adds sums as they come, in order, with few of them in memory.

    Examples
    --------
    >>> tree = TreeSum()
    >>> for i in range(7):
    ...     tree.add(Sums(np.array([[float(i)]]), np.zeros((1, 1, 1)), np.ones((1, 1))))
    >>> tree.total().G
    array([[21.]])
    """

    def __init__(self) -> None:
        self._levels: list[tuple[Sums, int] | None] = []

    def add(self, sums: Sums, level: int = 0) -> None:
        """Take the next one, which is changed."""
        if level == len(self._levels):
            self._levels.append(None)
        known = self._levels[level]
        total, count = (sums, 1) if known is None else (known[0].plus(sums), known[1] + 1)
        if count == FAN:
            self._levels[level] = None
            self.add(total, level + 1)
        else:
            self._levels[level] = total, count

    def total(self) -> Sums:
        """The sum of all; nothing is added afterwards."""
        level = 0
        while True:
            known = self._levels[level]
            if level == len(self._levels) - 1:
                assert known is not None
                return known[0]
            if known is not None:
                self._levels[level] = None
                self.add(known[0], level + 1)
            level += 1


def add_up(parts: Sequence[Sums]) -> Sums:
    """The sum of neighbours in a tree, none of which is changed."""
    total = Sums(*(array.copy() for array in parts[0]))
    for part in parts[1:]:
        total.plus(part)
    return total


def fold_coefficients(sums: Sums, L: Array, gammas: Sequence[float], threads: int = 1) -> Array:
    """Coefficients (k, γ, m, ℓ) of the machine that is trained without each fold."""

    def without(f: int) -> Array:
        others = np.arange(len(sums.G)) != f
        return coefficients(unpack(total_of(sums.G, others), len(L)), total_of(sums.R, others), L, gammas)

    with ThreadPoolExecutor(threads) as pool:
        return np.stack(list(pool.map(without, range(len(sums.G)))))


def whole_coefficients(sums: Sums, L: Array, gammas: Sequence[float], threads: int = 1) -> Array:
    """Coefficients (γ, m, ℓ) of the machine of all rows."""
    whole, R = unpack(sums.G.sum(axis=0), len(L)), sums.R.sum(axis=0)
    with ThreadPoolExecutor(threads) as pool:
        return np.concatenate(list(pool.map(lambda gamma: coefficients(whole, R, L, [gamma]), gammas)))
