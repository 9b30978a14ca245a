"""Tests of whether machines differ: 5×2cv F and t, McNemar, Friedman with Nemenyi's critical difference; intervals.

All functions take plain arrays of errors or predictions and know nothing of machines or folds.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, exp, factorial, inf, isinf, log, nan, prod, sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from mcls.errors import McLsError


@dataclass(frozen=True)
class TestResult:
    """A statistic and its p-value.

    ``identical`` marks machines that never differed (0/0, reported as p = 1). ``undefined`` is the reason why there
    is neither statistic nor p-value (both are NaN then), and empty otherwise.
    """

    __test__ = False  # not a test class, whatever pytest thinks of the name

    statistic: float
    p: float
    identical: bool = False
    undefined: str = ""

    def differs(self, alpha: float = 0.05) -> bool:
        """Whether equality is rejected at level alpha; an undefined test rejects nothing."""
        return self.p < alpha


_IDENTICAL = TestResult(statistic=0.0, p=1.0, identical=True)
_NO_VARIANCE = TestResult(
    nan, nan, undefined="no variance, the difference is the same in both halves of every replication"
)


def _differences(
    errors_a: ArrayLike, errors_b: ArrayLike, n_rows: int | None
) -> tuple[np.ndarray, float, TestResult | None]:
    """Differences p (5, 2) of the error rates, their variance Σ_i s_i², and the result where no test is possible.

    s_i² = (p_i1 − p_i2)² / 2. An error rate is a number of rows over the rows of its half, so the halves of a
    replication differ by a whole row or not at all. What is less than half a row in all replications together is
    rounding, or the quotient of two halves whose sizes differ by the odd row: no variance.
    """
    a, b = np.asarray(errors_a, dtype=float), np.asarray(errors_b, dtype=float)
    if a.shape != (5, 2) or b.shape != (5, 2):
        raise McLsError(
            f"a 5x2cv test needs errors of shape (5, 2) for both machines, got {a.shape} and {b.shape}"
        )
    p = a - b
    if not np.isfinite(p).all():
        raise McLsError("a 5x2cv test needs all ten errors of both machines")
    variance = float(np.square(p[:, 0] - p[:, 1]).sum()) / 2.0
    least = 0.5 / ceil(n_rows / 2) if n_rows is not None else 1e-9
    if not p.any():
        return p, variance, _IDENTICAL
    return p, variance, _NO_VARIANCE if 2.0 * variance < least**2 else None


def ftest_5x2cv(errors_a: ArrayLike, errors_b: ArrayLike, n_rows: int | None = None) -> TestResult:
    """Combined 5×2cv F-test (Alpaydın 1999): f = Σ_ij p_ij² / (2 Σ_i s_i²), F(10, 5) under equality.

    Parameters
    ----------
    errors_a, errors_b : array-like of shape (5, 2)
        Error of each half of each of the five replications, both machines on the same splits.
    n_rows : int, optional
        Rows of the data set. Where their number is odd, the halves differ in size, and only with it can one tell a
        variance from the quotient of the two sizes.

    Notes
    -----
    f above 4.74 rejects equality at 0.95. All differences zero is 0/0: the machines are identical, p = 1.
    Differences that are equal in both halves of every replication leave no variance to compare with: the test is
    undefined, however small the differences are (two rows of a thousand suffice for it).

    Examples
    --------
    >>> ftest_5x2cv([[0.1, 0.2]] * 5, [[0.1, 0.2]] * 5).identical
    True
    >>> ftest_5x2cv([[0.1, 0.2]] * 5, [[0.2, 0.3]] * 5).undefined
    'no variance, the difference is the same in both halves of every replication'
    """
    p, variance, decided = _differences(errors_a, errors_b, n_rows)
    if decided is not None:
        return decided
    f = float(np.square(p).sum() / (2.0 * variance))
    return TestResult(f, float(stats.f.sf(f, 10, 5)))


def ttest_5x2cv(errors_a: ArrayLike, errors_b: ArrayLike, n_rows: int | None = None) -> TestResult:
    """5×2cv paired t-test (Dietterich 1998): t = p_11 / √(Σ_i s_i² / 5), Student with 5 degrees of freedom.

    Two-sided. Its numerator is one of the ten differences alone, which is why the F-test replaced it. Parameters and
    the cases without a test are those of ``ftest_5x2cv``.
    """
    p, variance, decided = _differences(errors_a, errors_b, n_rows)
    if decided is not None:
        return decided
    t = float(p[0, 0] / sqrt(variance / 5.0))
    return TestResult(t, float(2.0 * stats.t.sf(abs(t), 5)))


@dataclass(frozen=True)
class McNemarResult(TestResult):
    """McNemar's test with its two counts; the statistic is the smaller one."""

    only_a_wrong: int = 0
    only_b_wrong: int = 0


def mcnemar(y: ArrayLike, predictions_a: ArrayLike, predictions_b: ArrayLike) -> McNemarResult:
    """McNemar's exact test on two machines' predictions of the same samples.

    Of the b + c samples that only one of the machines gets wrong, each is wrong by either with probability ½ under
    equality: p is the two-sided binomial probability of counts at least as uneven, whatever their number. The usual
    χ² = (|b − c| − 1)² / (b + c) of Edwards only approximates it (within 0.01), and where b = c, which is as even as
    counts can be, gives p below 1 (0.84 at b = c = 13); it is not used. No such sample at all is p = 1.

    >>> round(mcnemar([0] * 9, [1] * 7 + [0] * 2, [0] * 8 + [1]).p, 4)  # b = 7, c = 1
    0.0703
    """
    y, a, b = np.asarray(y), np.asarray(predictions_a), np.asarray(predictions_b)
    if not y.shape == a.shape == b.shape or y.ndim != 1:
        raise McLsError(
            f"McNemar's test needs one prediction per sample, got shapes {y.shape}, {a.shape} and {b.shape}"
        )
    only_a = int(((a != y) & (b == y)).sum())
    only_b = int(((a == y) & (b != y)).sum())
    fewer = min(only_a, only_b)
    p = min(1.0, 2.0 * float(stats.binom.cdf(fewer, only_a + only_b, 0.5)))
    return McNemarResult(float(fewer), p, only_a + only_b == 0, only_a_wrong=only_a, only_b_wrong=only_b)


@dataclass(frozen=True)
class FriedmanResult:
    """Friedman's test over data sets, the sharper Iman–Davenport form, and Nemenyi's critical difference."""

    ranks: tuple[float, ...]  # average rank of each machine, 1 the best
    chi2: float
    p: float
    iman_davenport: float
    iman_davenport_p: float
    critical_difference: float
    alpha: float
    n_datasets: int

    @property
    def one_order(self) -> bool:
        """Whether all data sets put the machines in the same order; ``iman_davenport_p`` is then exact."""
        return isinf(self.iman_davenport)

    def differs(self, i: int, j: int) -> bool:
        """Whether machines i and j differ by Nemenyi's test: their average ranks lie further apart than CD."""
        return abs(self.ranks[i] - self.ranks[j]) > self.critical_difference


def average_ranks(errors: ArrayLike) -> np.ndarray:
    """Average rank of each machine (k,) from errors (N data sets, k machines); equal errors share a rank."""
    return stats.rankdata(_without_rounding(errors), axis=1).mean(axis=0)


def _without_rounding(errors: ArrayLike) -> np.ndarray:
    """Errors without their last digits: means of equal counts, summed in another order, are equal again."""
    return np.round(np.asarray(errors, dtype=float), 9)


def nemenyi_critical_difference(n_machines: int, n_datasets: int, alpha: float = 0.05) -> float:
    """CD = q_α √(k(k+1) / 6N), q_α the studentized range with infinite degrees of freedom over √2 (Demšar 2006).

    >>> round(nemenyi_critical_difference(4, 14), 3)
    1.254
    """
    k, N = n_machines, n_datasets
    q = float(stats.studentized_range.ppf(1.0 - alpha, k, np.inf)) / np.sqrt(2.0)
    return float(q * np.sqrt(k * (k + 1) / (6.0 * N)))


def friedman(errors: ArrayLike, alpha: float = 0.05) -> FriedmanResult:
    """Friedman's test that k machines are equal over N data sets, from errors (N, k).

    χ²_F = 12N / (k(k+1)) (Σ_j R_j² − k(k+1)²/4), divided by 1 − Σ(t³−t) / (Nk(k²−1)) for groups of t tied
    errors; Iman and Davenport's F = (N−1)χ² / (N(k−1) − χ²) with k−1 and (k−1)(N−1) degrees of freedom.

    Where all data sets give the same order, F is infinite and its distribution says nothing: p is then the exact
    one. Under equality a data set gives each of the k! / Π t! orders of those ranks alike, and N − 1 of them repeat
    the first with probability (k! / Π t!)^−(N−1). Nothing is further from equality.

    >>> round(friedman([[0.1, 0.2, 0.3], [0.2, 0.4, 0.6]]).iman_davenport_p, 4)  # one of 3! orders, twice
    0.1667
    """
    errors = _without_rounding(errors)
    if errors.ndim != 2 or errors.shape[0] < 2 or errors.shape[1] < 2 or not np.isfinite(errors).all():
        raise McLsError(
            "Friedman's test needs the errors of at least two machines on at least two data sets, none missing; "
            f"got shape {errors.shape}"
        )
    N, k = errors.shape
    R = average_ranks(errors)
    ties = sum(float((t**3 - t).sum()) for t in (np.unique(row, return_counts=True)[1] for row in errors))
    untied = 1.0 - ties / (N * k * (k**2 - 1))
    cd = nemenyi_critical_difference(k, N, alpha)
    ranks = tuple(float(r) for r in R)
    if untied <= 0:  # every machine has the same error on every data set
        return FriedmanResult(ranks, 0.0, 1.0, 0.0, 1.0, cd, alpha, N)
    chi2 = max(0.0, 12.0 * N / (k * (k + 1)) * (np.square(R - (k + 1) / 2).sum()) / untied)
    rest = N * (k - 1) - chi2
    if rest > 1e-12 * N * k:
        F = (N - 1) * chi2 / rest
        p = float(stats.f.sf(F, k - 1, (k - 1) * (N - 1)))
    else:  # the same order everywhere: no variance left
        orders = factorial(k) // prod(factorial(t) for t in np.unique(errors[0], return_counts=True)[1].tolist())
        F, p = inf, exp(-(N - 1) * log(orders))
    return FriedmanResult(
        ranks=ranks,
        chi2=float(chi2),
        p=float(stats.chi2.sf(chi2, k - 1)),
        iman_davenport=float(F),
        iman_davenport_p=p,
        critical_difference=cd,
        alpha=alpha,
        n_datasets=N,
    )


def wilson(mistakes: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """Wilson's interval of a proportion: every p with |k/n − p| ≤ z √(p(1 − p)/n) for k ``mistakes`` in n rows.

    Its centre is (k + z²/2) / (n + z²) and its half width z / (n + z²) · √(k(n − k)/n + z²/4). Unlike k/n ± z·s it
    stays inside [0, 1] and has a width where no row, or every row, is a mistake.

    >>> low, high = wilson(7, 150)
    >>> round(low, 4), round(high, 4)
    (0.0228, 0.0932)
    """
    if n <= 0 or not 0 <= mistakes <= n:
        raise McLsError(f"a share of rows needs 0 to n mistakes in n rows, got {mistakes} in {n}")
    z = float(stats.norm.ppf((1.0 + level) / 2.0))
    centre = (mistakes + z**2 / 2.0) / (n + z**2)
    half = z / (n + z**2) * float(np.sqrt(mistakes * (n - mistakes) / n + z**2 / 4.0))
    return (centre - half if mistakes else 0.0), (centre + half if mistakes < n else 1.0)  # rounding aside


def honest_interval(
    error: float, n: int, folds: int = 10, new: int | None = None, level: float = 0.95
) -> tuple[float, float]:
    """Interval in which the error on ``new`` further rows will lie, from the cross-validated error of n rows.

    A figure on new rows differs from the estimate for three reasons. The estimate has the noise of its n rows,
    p(1 − p)/n. Its k machines learned from rows that overlap, so that its variance is larger by Nadeau and Bengio's
    n₂/n₁ = 1/(k − 1) of a fold's variance, p(1 − p)k/n (the same correction as in ``corrected_ttest``). And the m new
    rows have noise of their own, p(1 − p)/m; m = n by default. Together

        p(1 − p) · [(1 + k/(k − 1))/n + 1/m] = p(1 − p)/n′:

    this is Wilson's interval of n′ rows. Wilson's interval of n rows alone covers what is seen on another n rows in
    four or five cases of six (``python -m benchmarks honest-interval``).

    >>> low, high = honest_interval(0.156, 800)
    >>> round(low, 3), round(high, 3)
    (0.117, 0.205)
    """
    if folds < 2:
        raise McLsError(f"a cross-validated error has at least 2 folds, got {folds}")
    rows = 1.0 / ((1.0 + folds / (folds - 1.0)) / n + 1.0 / (n if new is None else new))
    return wilson(error * rows, rows, level)
