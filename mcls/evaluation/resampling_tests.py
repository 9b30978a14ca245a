"""Tests and effect sizes of two machines: on one data set by repeated cross-validation, and over data sets.

All functions take plain arrays of errors, of which smaller is better, and a difference is a − b: negative where a is
better. ``mcls.evaluation.statistics`` has the tests of 5×2cv, of predictions and of many machines.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from mcls.errors import McLsError
from mcls.evaluation.statistics import TestResult


@dataclass(frozen=True)
class Effect(TestResult):
    """A test with its effect size: the difference a − b of the errors and the interval that the same test gives.

    ``rank_biserial`` (Wilcoxon's test only) is the share of the ranks that speak for b less that for a: −1 where a
    is better on every data set, 1 where it is worse on every one.
    """

    difference: float = 0.0
    low: float = 0.0
    high: float = 0.0
    level: float = 0.95
    rank_biserial: float | None = None


@dataclass(frozen=True)
class Posterior:
    """Posterior probabilities of what a reader wants to know of two machines a and b."""

    a_better: float
    equivalent: float  # within the region of practical equivalence
    b_better: float


def _paired(errors_a: ArrayLike, errors_b: ArrayLike, least: int) -> np.ndarray:
    """Differences a − b (J,), without the digits that come from the order of a sum."""
    a, b = np.asarray(errors_a, dtype=float), np.asarray(errors_b, dtype=float)
    if a.ndim != 1 or a.shape != b.shape or len(a) < least or not np.isfinite(a - b).all():
        raise McLsError(
            f"this test needs the same {least} or more errors of both machines, none missing; got shapes "
            f"{a.shape} and {b.shape}"
        )
    return np.round(a - b, 12)


def _check_rope(rope: float) -> None:
    if not 0.0 <= rope < np.inf:
        raise McLsError(f"the region of practical equivalence must be zero or more, such as 0.01; got {rope:g}")


def _correlated(d: np.ndarray, test_share: float) -> tuple[float, float, int]:
    """Mean, its standard error by Nadeau and Bengio's variance, and the degrees of freedom.

    The J differences share training rows, so that their variance s² alone is too small: (1/J + n₂/n₁) s², where
    n₂/n₁ is the ratio of test to training rows. ``test_share`` is n₂ / (n₁ + n₂), 1/k in k-fold cross-validation.
    """
    if not 0.0 < test_share < 1.0:
        raise McLsError(f"the share of test rows must lie between 0 and 1, such as 0.1; got {test_share:g}")
    variance = d.var(ddof=1) if np.ptp(d) > 0.0 else 0.0  # rounding leaves equal differences a little
    scale = np.sqrt((1.0 / len(d) + test_share / (1.0 - test_share)) * variance)
    return float(d.mean()), float(scale), len(d) - 1


def corrected_ttest(errors_a: ArrayLike, errors_b: ArrayLike, test_share: float, level: float = 0.95) -> Effect:
    """Corrected resampled t-test (Nadeau and Bengio 2003), two-sided, with the interval of the mean difference.

    Parameters
    ----------
    errors_a, errors_b : array-like (J,)
        Errors of both machines on the same test parts: all folds of all repetitions.
    test_share : float
        Share of the rows in a test part: 1/k in k-fold cross-validation.
    level : float
        Of the interval.

    Examples
    --------
    >>> found = corrected_ttest([0.10, 0.12, 0.11, 0.13], [0.14, 0.15, 0.16, 0.15], test_share=0.25)
    >>> round(found.statistic, 3), round(found.p, 3), round(found.difference, 3)
    (-3.55, 0.038, -0.035)
    """
    mean, scale, df = _correlated(_paired(errors_a, errors_b, 2), test_share)
    shown: dict[str, Any] = {"difference": mean, "low": mean, "high": mean, "level": level}
    if scale == 0.0 and mean == 0.0:
        return Effect(0.0, 1.0, identical=True, **shown)
    if scale == 0.0:
        return Effect(np.nan, np.nan, undefined="no variance, the difference is the same everywhere", **shown)
    half = float(stats.t.ppf(0.5 + level / 2, df)) * scale
    t = mean / scale
    shown |= {"low": mean - half, "high": mean + half}
    return Effect(t, float(2 * stats.t.sf(abs(t), df)), **shown)


def bayesian_ttest(errors_a: ArrayLike, errors_b: ArrayLike, test_share: float, rope: float = 0.0) -> Posterior:
    """Bayesian correlated t-test (Corani and Benavoli 2015): the posterior of the mean difference is Student's.

    ``rope`` is the largest difference that does not matter in practice, 0.01 for one percent.
    """
    _check_rope(rope)
    mean, scale, df = _correlated(_paired(errors_a, errors_b, 2), test_share)
    if scale == 0.0:
        left, right = float(mean < -rope), float(mean > rope)
        half = 0.5 * (rope == 0.0 and mean == 0.0)
        return Posterior(left + half, 1.0 - left - right - 2 * half, right + half)
    left = float(stats.t.cdf(-rope, df, mean, scale))
    right = float(stats.t.sf(rope, df, mean, scale))
    return Posterior(left, max(0.0, 1.0 - left - right) if rope else 0.0, right)


def wilcoxon(errors_a: ArrayLike, errors_b: ArrayLike, level: float = 0.95) -> Effect:
    """Wilcoxon's signed-rank test over data sets (N,), two-sided, with the Hodges–Lehmann difference.

    Ranks of equal errors are split evenly between both machines (Demšar 2006), and the p-value is scipy's. The
    statistic is the smaller sum of ranks. The difference is the median of the means of all pairs of differences (of
    a difference with itself too); its interval takes the ordered means that the exact distribution without ties
    leaves in, and is all of them where N is too small for the level (below 6 at 0.95); ``level`` of the result is what
    that one reaches, ½ for two data sets.

    Examples
    --------
    >>> found = wilcoxon([0.10, 0.20, 0.30, 0.40, 0.50, 0.60], [0.11, 0.22, 0.33, 0.44, 0.55, 0.66])
    >>> found.statistic, found.p, round(found.difference, 3), found.rank_biserial
    (0.0, 0.03125, -0.035, -1.0)
    """
    d = _paired(errors_a, errors_b, 1)
    N = len(d)
    if not d.any():
        return Effect(0.0, 1.0, True, level=level, rank_biserial=0.0)
    ranks = stats.rankdata(np.abs(d))
    for_a = float(ranks[d < 0].sum() + ranks[d == 0].sum() / 2)
    for_b = float(ranks.sum()) - for_a
    p = float(stats.wilcoxon(d, zero_method="zsplit").pvalue)
    i, j = np.triu_indices(N)
    means = np.sort((d[i] + d[j]) / 2)  # Walsh averages (N(N + 1)/2,)
    # The largest C with P(T < C) ≤ (1 − level)/2 leaves the C-th mean from either end in.
    cdf = _signed_rank_cdf(N)
    C = max(int(np.searchsorted(cdf, (1 - level) / 2, side="right")), 1)
    return Effect(
        statistic=min(for_a, for_b),
        p=p,
        difference=float(np.median(means)),
        low=float(means[C - 1]),
        high=float(means[-C]),
        level=min(level, 1.0 - 2.0 * float(cdf[C - 1])),
        rank_biserial=(for_b - for_a) / float(ranks.sum()),
    )


def _signed_rank_cdf(N: int) -> np.ndarray:
    """P(T ≤ t) for t = 0..N(N + 1)/2 of the sum T of the ranks 1..N with random signs."""
    ways = np.ones(1)
    for rank in range(1, N + 1):  # halved at each step, so that nothing overflows
        ways = 0.5 * (np.pad(ways, (0, rank)) + np.pad(ways, (rank, 0)))
    return ways.cumsum()


def bayesian_signed_rank(
    errors_a: ArrayLike, errors_b: ArrayLike, rope: float = 0.0, *, seed: int = 0, draws: int = 50_000
) -> Posterior:
    """Bayesian signed-rank test over data sets (Benavoli et al. 2014), by a Dirichlet process.

    Each draw weighs the differences of the data sets, and one further difference of zero of half the weight; the
    shares of the pairs of differences whose mean lies below, in and above the region of practical equivalence say
    who is ahead. The result is how often each of the three has the largest share.
    """
    _check_rope(rope)
    d = np.concatenate([[0.0], _paired(errors_a, errors_b, 1)])
    sums = d[:, None] + d

    def above(values: np.ndarray) -> np.ndarray:
        return (values > 2 * rope) + 0.5 * (values == 2 * rope)

    W = np.random.default_rng(seed).dirichlet(np.r_[0.5, np.ones(len(d) - 1)], draws)  # (draws, N + 1)
    right = ((W @ above(sums)) * W).sum(axis=1)
    left = ((W @ above(-sums)) * W).sum(axis=1) if rope else 1.0 - right
    shares = np.stack([left, 1.0 - left - right if rope else np.full(draws, -1.0), right])
    wins = np.bincount(shares.argmax(axis=0), minlength=3) / draws
    return Posterior(float(wins[0]), float(wins[1]), float(wins[2]))


def holm(p: ArrayLike) -> np.ndarray:
    """Holm's correction: p-values (m,) that keep the chance of any false rejection below the level.

    >>> holm([0.01, 0.04, 0.03]).round(3)
    array([0.03, 0.06, 0.06])
    """
    p = np.asarray(p, dtype=float)
    order = np.argsort(p)
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)))
    return adjusted


def pairwise_wilcoxon(errors: ArrayLike) -> np.ndarray:
    """Holm-corrected p-values (k, k) of Wilcoxon's test of every pair of k machines, from errors (N data sets, k)."""
    E = np.asarray(errors, dtype=float)
    pairs = list(combinations(range(E.shape[1]), 2))
    P = np.ones((E.shape[1], E.shape[1]))
    for (i, j), p in zip(pairs, holm([wilcoxon(E[:, i], E[:, j]).p for i, j in pairs])):
        P[i, j] = P[j, i] = p
    return P
