"""Least-squares machines on arrays: (K + γI)α = Y for all classes at once, or one by one.

honeine2013, Sec. 5. With the class indicators as right-hand sides, α (n, ℓ), every labelbook follows from
its Gram matrix L: the scores of (25) are K α L (see ``mcls.machines.labels``).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np

from mcls.solvers.linear import add_ridge, solve_spd
from mcls.solvers.remembered import recall
from mcls.solvers.spectrum import Spectrum
from mcls.solvers.weights import weigh
from mcls.solvers.whole_inverse import decomposed

Array = np.ndarray

# A value of Y − e keeps eight digits above 10⁸ times the rounding of the solution; above this it is always taken.
_DIGITS = 1e8
_CANCELS = 1e-4

# With so many folds of many rows that need products, those of all folds are cheaper together.
_MANY, _MANY_ROWS = 8, 600

#: In a narrow kernel classes of one size have equal biases: at full precision rounding would order them.
BIAS_DECIMALS = 12


def indicators(y: Array, n_classes: int) -> Array:
    """Indicator matrix (n, ℓ) of the class codes."""
    return np.eye(n_classes)[y]


def fit(K: Array, Y: Array, gamma: float, w: Array | None = None) -> Array:
    """Solve (K + γI)α = Y, eq. (23), or with weights (K + γW⁻¹)α = Y: one factorisation for all columns of Y (n, r).

    It is left out where a search has just found the solution (``mcls.solvers.remembered``).
    """
    if w is None:
        known = recall(K, Y, gamma)
        return known if known is not None else solve_spd(add_ridge(K, gamma), Y)
    B, root = weigh(K, w)
    return root[:, None] * solve_spd(add_ridge(B, gamma), root[:, None] * Y)


def fit_one_by_one(K: Array, Y: Array, gamma: float, w: Array | None = None) -> Array:
    """The same with one factorisation per column, as the plain one-against-all scheme does."""
    return np.column_stack([fit(K, Y[:, k : k + 1], gamma, w) for k in range(Y.shape[1])])


def least_difference(condition: float) -> float:
    """Below this size a value Y − e has lost too many digits, for targets of order one."""
    return float(min(_CANCELS, _DIGITS * np.finfo(float).eps * condition))


def sweep(
    K: Array,
    Y: Array,
    tests: Sequence[Array],
    gammas: Sequence[float],
    spectrum: Spectrum | None = None,
    w: Array | None = None,
) -> list[Array]:
    """Out-of-fold values K_(S,−S) α^(−S) of folds that train on all the rows but S: one (γ, |S|, r) per fold.

    One eigendecomposition of K, the ``spectrum`` if it is given, serves every γ and fold
    (``mcls.solvers.spectrum``); what loses its digits there is NaN.

    Algebra also gives K_(S,−S) α^(−S) = Y_S − e, at a fraction of the price. That subtraction is exact enough
    where the values are of the size of the labels, and leaves noise where they are tiny, as with a narrow
    kernel: a row whose values have all lost too many digits is computed by the product instead.

    With weights w (n,) the values of B = W^½KW^½ for the targets W^½Y are W^½ times those of the machine.
    """
    if w is not None:
        largest = w.max()  # weights of at most 1, so that the targets are of order one
        B, root = weigh(K, w / largest)
        found = sweep(B, root[:, None] * Y, tests, np.asarray(gammas) / largest)
        return [values / root[test, None] for values, test in zip(found, tests)]
    shifts = np.asarray(gammas, dtype=float)
    spectrum = spectrum or decomposed(K, shifts, tests)
    kept = spectrum.keeps_digits(shifts)
    # All folds in one array, so that there are few calls for many small ones.
    ends = np.cumsum([len(test) for test in tests])
    joined = np.full((len(shifts), sum(map(len, tests)), Y.shape[1]), np.nan)
    results = [joined[:, end - len(test) : end] for test, end in zip(tests, ends.tolist())]
    if not kept.any():
        return results
    shifts = shifts[kept]
    smallest = least_difference(spectrum.conditions(shifts).max())
    for part, solved in spectrum.solved(shifts, Y, tests):
        at = np.flatnonzero(kept)[part]
        tiny: list[
            tuple[int, Array, Array, Array]
        ] = []  # folds with rows whose values are computed by the product
        for places, rows in solved.runs:
            e = solved.left_out(rows, places)  # (γ, k, s, r)
            F = Y[rows] - e
            into = (ends[places] - rows.shape[1])[:, None] + np.arange(rows.shape[1])  # (k, s)
            joined[at[:, None, None], into] = F
            lost = (reduce(np.maximum, np.moveaxis(np.abs(F), 3, 0)) < smallest).any(axis=0)  # (k, s)
            tiny += [(places[i], rows[i], e[:, i], lost[i]) for i in np.flatnonzero(lost.any(axis=1)).tolist()]
        for place, S, e, some in tiny:
            into = ends[place] - len(S) + np.flatnonzero(some)
            many = place if len(tiny) > _MANY and len(K) >= _MANY_ROWS else None
            joined[at[:, None], into] = solved.left_out_products(S, e, K[S[some]], many)
    return results
