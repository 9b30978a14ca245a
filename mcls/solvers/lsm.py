"""Least-squares machines on arrays: (K + γI)α = Y for all classes at once, one by one, or pair by pair.

honeine2013, Sec. 5. With the class indicators as right-hand sides, α (n, ℓ), every labelbook follows from
its Gram matrix L: the scores of (25) are K α L (see ``mcls.machines.labels``).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from mcls.solvers.linear import FoldPartition, Spectrum, solve_spd

Array = np.ndarray

# A value of Y − e keeps eight digits above 10⁸ times the rounding of the solution; above this it is always taken.
_DIGITS = 1e8
_CANCELS = 1e-4


def indicators(y: Array, n_classes: int) -> Array:
    """Indicator matrix (n, ℓ) of the class codes."""
    return np.eye(n_classes)[y]


def add_ridge(K: Array, gamma: float) -> Array:
    """K + γI of a symmetric K, a copy in Fortran order, ready for LAPACK."""
    A = np.array(K.T, order="F")  # transposed, C order is Fortran order: no entry changes its place
    A[np.diag_indices(len(A))] += gamma
    return A


def fit(K: Array, Y: Array, gamma: float) -> Array:
    """Solve (K + γI)α = Y, eq. (23): one factorisation for every column of Y (n, r)."""
    return solve_spd(add_ridge(K, gamma), Y)


def fit_one_by_one(K: Array, Y: Array, gamma: float) -> Array:
    """The same with a factorisation a column, as the plain one-against-all scheme does."""
    return np.column_stack([fit(K, Y[:, k : k + 1], gamma) for k in range(Y.shape[1])])


def sweep(
    K: Array, Y: Array, tests: Sequence[Array], gammas: Sequence[float], spectrum: Spectrum | None = None
) -> list[Array]:
    """Out-of-fold values K_(S,−S) α^(−S) for folds S that partition the rows: one (γ, |S|, r) a fold.

    One eigendecomposition of K, the ``spectrum`` if it is given, serves every γ and fold
    (``mcls.solvers.linear``).

    Algebra also gives K_(S,−S) α^(−S) = Y_S − e, at a fraction of the price. That subtraction is exact enough
    where the values are of the size of the labels, and leaves noise where they are tiny, as with a narrow
    kernel: a row whose values have all lost too many digits is computed by the product instead.
    """
    partition = FoldPartition(tests)
    order = partition.order
    Y = Y[order]
    spectrum = (spectrum or Spectrum.of(K)).reordered(order)
    shifts = np.asarray(gammas, dtype=float)
    alphas = spectrum.solve(shifts, Y)  # (γ, n, r)
    e = np.empty_like(alphas)
    for run in partition.groups:
        start, count, size = run
        e[:, start : start + count * size] = spectrum.left_out(shifts, alphas, run).reshape(
            len(shifts), count * size, -1
        )
    F = Y - e
    smallest = min(_CANCELS, _DIGITS * np.finfo(float).eps * spectrum.condition(shifts))
    lost = (np.abs(F).max(axis=2) < smallest).any(axis=0)  # (n,)
    for start, stop in partition.bounds:
        rows = start + np.flatnonzero(lost[start:stop])
        if len(rows):
            K_rows = K[np.ix_(order[rows], order)]
            F[:, rows] = spectrum.left_out_products(shifts, alphas, (start, stop), e[:, start:stop], K_rows)
    return partition.split(F)


def class_pairs(n_classes: int) -> list[tuple[int, int]]:
    """All pairs (a, b) of classes with a < b."""
    return list(combinations(range(n_classes), 2))


def fit_pairs(K: Array, y: Array, n_classes: int, gamma: float) -> Array:
    """One ±1 machine a pair of classes: coefficients (n, pairs), zero on the rows of other classes."""
    pairs = class_pairs(n_classes)
    alpha = np.zeros((len(y), len(pairs)))
    for p, (a, b) in enumerate(pairs):
        rows = np.flatnonzero((y == a) | (y == b))
        targets = np.where(y[rows] == a, 1.0, -1.0)
        alpha[rows, p] = fit(K[np.ix_(rows, rows)], targets[:, None], gamma)[:, 0]
    return alpha


def sweep_pairs(
    K: Array, y: Array, n_classes: int, tests: Sequence[Array], gammas: Sequence[float]
) -> list[Array]:
    """Out-of-fold values of every pair's machine on *all* rows of each fold: one (γ, |S|, pairs) a fold.

    Each pair is a small system of its own rows; a fold leaves out its members among them (perhaps none).
    """
    pairs = class_pairs(n_classes)
    shifts = np.asarray(gammas, dtype=float)
    results = [np.empty((len(gammas), len(test), len(pairs))) for test in tests]
    for p, (a, b) in enumerate(pairs):
        rows = np.flatnonzero((y == a) | (y == b))
        place = np.full(len(y), -1)
        place[rows] = np.arange(len(rows))
        members = [place[test][place[test] >= 0] for test in tests]
        partition = FoldPartition(members)
        order = partition.order
        spectrum = Spectrum.of(K[np.ix_(rows[order], rows[order])])
        targets = np.where(y[rows[order]] == a, 1.0, -1.0)[:, None]
        K_tests = [K[np.ix_(test, rows[order])] for test in tests]
        whole = sum(len(m) == 0 for m in members)  # folds without members come first, and keep α
        solutions = spectrum.solve(shifts, targets)  # (γ, m, 1)
        alphas = [np.repeat(solutions.transpose(2, 0, 1), whole, axis=0)]
        for run in partition.groups:
            without = spectrum.left_out_solutions(shifts, solutions, run)[..., 0]  # (γ, k, m)
            alphas.append(without.transpose(1, 0, 2))
        by_fold = np.concatenate(alphas)[partition.ranks]  # (folds, γ, m)
        for k, K_test in enumerate(K_tests):
            results[k][:, :, p] = by_fold[k] @ K_test.T
    return results


def votes(values: Array, n_classes: int) -> Array:
    """Class scores (..., ℓ) of pairwise values (..., pairs): votes, equal ones ordered by the summed values.

    A value of exactly zero is half a vote for each. The sums are scaled by the largest of the sample, so that
    they order ties (by less than half a vote) however small they are.
    """
    score = np.zeros((*values.shape[:-1], n_classes))
    total = np.zeros_like(score)
    for p, (a, b) in enumerate(class_pairs(n_classes)):
        sign = np.sign(values[..., p])
        score[..., a] += 0.5 * (1 + sign)
        score[..., b] += 0.5 * (1 - sign)
        total[..., a] += values[..., p]
        total[..., b] -= values[..., p]
    largest = np.abs(total).max(axis=-1, keepdims=True)
    np.divide(total, largest, out=total, where=largest > 0)
    return score + total / 5  # half-votes differ by at least 1/2 > 2/5
