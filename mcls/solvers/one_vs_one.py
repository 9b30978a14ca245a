"""One least-squares machine per pair of classes (honeine2013, Sec. 2): fits, votes, and the sweep of all pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.linalg import lapack

from mcls.solvers.class_pairs import PairFolds, PairSystems, class_pairs
from mcls.solvers.linear import LARGEST_CONDITION
from mcls.solvers.lsm import add_ridge, fit
from mcls.solvers.spectrum import Spectrum
from mcls.solvers.weights import weigh

Array = np.ndarray
Count = Callable[[Array, int], Array]  # pairwise values (pairs, ...) and ℓ to class scores (..., ℓ)

# An eigenvalue this much below zero, beside the largest sum of a row, is rounding of a semi-definite matrix.
_ROUNDING = 1e-11

# Pairwise values held at once (128 MB): of as many strengths as fit.
_VALUES_UP_TO = 2**24


def fit_pairs(K: Array, y: Array, n_classes: int, gamma: float, w: Array | None = None) -> Array:
    """One ±1 machine per pair of classes: coefficients (n, pairs), zero on the rows of other classes."""
    pairs = class_pairs(n_classes)
    alpha = np.zeros((len(y), len(pairs)))
    for p, (a, b) in enumerate(pairs):
        rows = np.flatnonzero((y == a) | (y == b))
        targets = np.where(y[rows] == a, 1.0, -1.0)
        of_rows = None if w is None else w[rows]
        alpha[rows, p] = fit(K[np.ix_(rows, rows)], targets[:, None], gamma, of_rows)[:, 0]
    return alpha


# From the values of the pairs to scores of classes ----------------------------------------------------------


def votes(values: Array, n_classes: int) -> Array:
    """Class scores (..., ℓ) of pairwise values (pairs, ...): votes, equal ones ordered by the summed values.

    A value of exactly zero is half a vote for each. The sums are scaled by the largest of the sample, so that
    they order ties (by less than half a vote) however small they are.
    """
    score, total = _sums(np.sign(values), n_classes), _sums(values, n_classes)
    score += n_classes - 1
    score *= 0.5  # half the sum of (1 ± sign) over the others
    largest = np.abs(total).max(axis=0)
    np.divide(total, largest, out=total, where=largest > 0)
    return np.moveaxis(score + total / 5, 0, -1)  # half-votes differ by at least 1/2 > 2/5


def soft_votes(values: Array, n_classes: int) -> Array:
    """Class scores (..., ℓ) of pairwise values (pairs, ...): their sums, no value counting more than one vote.

    Votes say nothing of how sure a pair is, and many classes of a row have equally many; these sums do, and so their
    probabilities are the better ones.
    """
    return np.moveaxis(_sums(np.clip(values, -1.0, 1.0), n_classes), 0, -1)


def _sums(values: Array, n_classes: int) -> Array:
    """For each class (ℓ, ...) the sum of what speaks for it."""
    sums = np.zeros((n_classes, *values.shape[1:]))
    for value, (a, b) in zip(values, class_pairs(n_classes), strict=True):
        sums[a] += value
        sums[b] -= value
    return sums


# The sweep --------------------------------------------------------------------------------------------------


def sweep(
    K: Array,
    y: Array,
    n_classes: int,
    tests: Sequence[Array],
    gammas: Sequence[float],
    count: Count,
    w: Array | None = None,
) -> list[Array]:
    """Out-of-fold class scores (γ, |S|, ℓ) of each fold: what ``count`` makes of the values of every pair's machine.

    A fold leaves out its members among the rows of a pair (perhaps none), and all its rows are scored. What loses its
    digits is NaN. A matrix that is not semi-definite, a γ so small beside it that the condition is not known to be
    good, and folds of very different sizes take the way over the eigendecomposition of each pair.
    """
    largest = 1.0 if w is None else float(w.max())
    root = np.ones(len(y)) if w is None else np.sqrt(w / largest)
    shifts = np.asarray(gammas, dtype=float) / largest
    folds = PairFolds.of(tests, len(y))
    norm = float(np.abs(K).sum(axis=1).max(initial=0.0))
    rounding = _ROUNDING * norm
    conditions = np.full(len(shifts), np.inf)  # at most
    np.divide(norm + shifts, shifts - rounding, out=conditions, where=shifts > rounding)
    sure = (conditions <= LARGEST_CONDITION) & folds.alike
    if sure.any() and lapack.dpotrf(add_ridge(K, rounding), lower=1, clean=0, overwrite_a=1)[1]:
        sure[:] = False
    results = [np.full((len(shifts), len(test), n_classes), np.nan) for test in tests]
    kept = np.flatnonzero(sure)
    step = max(1, _VALUES_UP_TO // (len(class_pairs(n_classes)) * folds.folds_with.shape[1] * folds.rows.size))
    for part in (kept[start : start + step] for start in range(0, len(kept), step)):
        pairs = PairSystems.of(K, y, n_classes, folds, shifts[part], root, float(conditions[part].max()))
        for k, scores in enumerate(folds.split(count(pairs.values(), n_classes))):
            results[k][part] = scores
    if not sure.all():
        for k, values in enumerate(_by_spectrum(K, y, n_classes, tests, shifts[~sure], root)):
            results[k][~sure] = count(values, n_classes)
    return results


def _by_spectrum(
    K: Array, y: Array, n_classes: int, tests: Sequence[Array], shifts: Array, root: Array
) -> list[Array]:
    """Out-of-fold values (pairs, γ, |S|) of each fold by an eigendecomposition of each pair."""
    pairs = class_pairs(n_classes)
    results = [np.full((len(pairs), len(shifts), len(test)), np.nan) for test in tests]
    for p, (a, b) in enumerate(pairs):
        rows = np.flatnonzero((y == a) | (y == b))
        place_of = np.full(len(y), -1)
        place_of[rows] = np.arange(len(rows))
        members = [place_of[test][place_of[test] >= 0] for test in tests]
        K_rows = K[:, rows]
        B = weigh(K_rows[rows], root[rows] ** 2)[0]
        spectrum = Spectrum.of(B)
        keeps = spectrum.keeps_digits(shifts)
        if not keeps.any():
            continue
        kept = np.flatnonzero(keeps)
        targets = np.where(y[rows] == a, root[rows], -root[rows])[:, None]
        touched = [k for k, own in enumerate(members) if len(own)]
        for part, solved in spectrum.solved(shifts[kept], targets, [members[k] for k in touched]):
            for places, left in solved.runs:
                without = solved.left_out_solutions(left, places)[..., 0]  # (γ, k, m)
                for i, place in enumerate(touched[at] for at in places):
                    results[place][p, kept[part]] = (root[rows] * without[:, i]) @ K_rows[tests[place]].T
        whole = spectrum.solve(shifts[kept], targets)[..., 0] if len(touched) < len(tests) else None  # (γ, m)
        for place in set(range(len(tests))).difference(touched):
            results[place][p, kept] = (root[rows] * whole) @ K_rows[tests[place]].T
    return results
