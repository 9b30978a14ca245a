"""The statistical tests against mlxtend, scipy and published figures."""

from __future__ import annotations

import warnings
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from mlxtend.evaluate import combined_ftest_5x2cv, mcnemar_table, paired_ttest_5x2cv
from mlxtend.evaluate import mcnemar as mlxtend_mcnemar
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin

from mcls.errors import McLsError
from mcls.evaluation.statistics import (
    average_ranks,
    friedman,
    ftest_5x2cv,
    mcnemar,
    nemenyi_critical_difference,
    ttest_5x2cv,
    wilson,
)

errors_5x2 = hnp.arrays(float, (5, 2), elements=st.integers(0, 40).map(lambda k: k / 75))


class Scripted(ClassifierMixin, BaseEstimator):
    """A classifier whose scores are dictated, so that mlxtend's own loop sees the differences we choose."""

    def __init__(self, errors=()):
        self.errors = errors

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.zeros(len(X))

    @classmethod
    def scorer(cls, estimator, X, y):
        return 1.0 - next(estimator.errors)


def mlxtend_on(test, a, b):
    """Run mlxtend's test with scorers that replay the errors a and b (5, 2)."""
    X, y = np.zeros((8, 1)), np.array([0, 1] * 4)
    return test(Scripted(iter(a.ravel())), Scripted(iter(b.ravel())), X, y, scoring=Scripted.scorer, random_seed=1)


@settings(max_examples=40, deadline=None)
@given(a=errors_5x2, b=errors_5x2)
def test_ftest_equals_mlxtend(a, b):
    ours = ftest_5x2cv(a, b)
    if ours.identical or ours.undefined:
        return
    f, p = mlxtend_on(combined_ftest_5x2cv, a, b)
    assert ours.statistic == pytest.approx(f, rel=1e-9)
    assert ours.p == pytest.approx(p, rel=1e-9)


@settings(max_examples=40, deadline=None)
@given(a=errors_5x2, b=errors_5x2)
def test_ttest_equals_mlxtend(a, b):
    ours = ttest_5x2cv(a, b)
    if ours.identical or ours.undefined:
        return
    t, p = mlxtend_on(paired_ttest_5x2cv, a, b)
    assert ours.statistic == pytest.approx(-t, rel=1e-9)  # mlxtend subtracts accuracies, we subtract errors
    assert ours.p == pytest.approx(p, rel=1e-9)


def test_identical_machines_are_p_one_without_a_warning():
    errors = np.random.default_rng(0).random((5, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for test in (ftest_5x2cv, ttest_5x2cv):
            result = test(errors, errors)
            assert result.identical
            assert result.p == 1.0
            assert not result.differs()


def _one_more_error(n_rows, reps, rng):
    """Errors (5, 2) of two machines on halves of n_rows: in the given replications b errs once more in each half."""
    sizes = np.array([n_rows // 2, n_rows - n_rows // 2])
    wrong = rng.integers(0, n_rows // 4, (5, 2))
    more = np.zeros((5, 2), dtype=int)
    more[list(reps)] = 1
    return wrong / sizes, (wrong + more) / sizes


@pytest.mark.parametrize("n_rows", [75, 149, 150, 214, 1001, 5001])
@pytest.mark.parametrize("reps", [(0,), (0, 3), range(5)])
def test_differences_alike_in_both_halves_leave_no_variance_and_no_test(n_rows, reps):
    rng = np.random.default_rng(n_rows)
    a, b = _one_more_error(n_rows, reps, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for test in (ftest_5x2cv, ttest_5x2cv):
            for result in (test(a, b, n_rows), test(b, a, n_rows)):
                assert np.isnan([result.statistic, result.p]).all()
                assert "no variance" in result.undefined
                assert not result.differs()
                assert not result.identical


def test_one_row_in_one_half_is_a_variance():
    for n_rows in (75, 149, 150, 1001):
        a, b = _one_more_error(n_rows, (0, 1), np.random.default_rng(n_rows))
        b[4, 1] += 1.0 / (n_rows - n_rows // 2)
        result = ftest_5x2cv(a, b, n_rows)
        assert result.statistic == pytest.approx(5.0, rel=0.15)  # five differences of a row, one of them alone
        assert ttest_5x2cv(a, b, n_rows).undefined == ""


def test_differences_alike_that_rounding_makes_unlike_are_undefined_without_a_number_of_rows():
    # Two flowers of 150 in the first replication; the sums of fractions are not equal to the last digit.
    a = np.full((5, 2), 0.04)
    b = a.copy()
    b[0] += 1 / 75
    b[1] += [0.3 - 0.2, 0.1]
    assert b[1, 0] - a[1, 0] != b[1, 1] - a[1, 1]
    for test in (ftest_5x2cv, ttest_5x2cv):
        assert test(a, b).undefined
        assert np.isnan(test(a, b).p)


def test_rounding_breaks_no_tie_between_ranks():
    low, high = 31.49532710280373, 31.49532710280374  # one mean, its ten errors added in two orders
    errors = [[low, high, 50.0], [high, low, 50.0], [low, high, 60.0]]
    assert average_ranks(errors).tolist() == [1.5, 1.5, 3.0]
    assert friedman(errors).chi2 == pytest.approx(stats.friedmanchisquare(*np.round(errors, 6).T).statistic)


def test_threshold_of_the_paper():
    # honeine2013, Sec. 8: equality is rejected at 0.95 when f exceeds 4.74.
    assert stats.f.ppf(0.95, 10, 5) == pytest.approx(4.74, abs=0.005)


def test_shapes_and_gaps_are_refused():
    with pytest.raises(McLsError, match="5, 2"):
        ftest_5x2cv(np.zeros((4, 2)), np.zeros((4, 2)))
    with pytest.raises(McLsError, match="all ten"):
        ftest_5x2cv(np.full((5, 2), np.nan), np.zeros((5, 2)))


def _with_counts(only_a, only_b, agree=7):
    """Labels and predictions of which ``only_a`` samples are wrong by a alone and ``only_b`` by b alone."""
    y = np.zeros(only_a + only_b + agree, dtype=int)
    a, b = y.copy(), y.copy()
    a[:only_a] = 1
    b[only_a : only_a + only_b] = 2
    return y, a, b


@settings(max_examples=60, deadline=None)
@given(only_a=st.integers(0, 400), only_b=st.integers(0, 400))
def test_mcnemar_is_the_exact_binomial_test(only_a, only_b):
    ours = mcnemar(*_with_counts(only_a, only_b))
    assert (ours.only_a_wrong, ours.only_b_wrong) == (only_a, only_b)
    if only_a + only_b:
        assert ours.p == pytest.approx(stats.binomtest(only_a, only_a + only_b, 0.5).pvalue, rel=1e-9)
    _, p = mlxtend_mcnemar(mcnemar_table(*_with_counts(only_a, only_b)), exact=True)
    assert ours.p == pytest.approx(min(p, 1.0), rel=1e-9)


@pytest.mark.parametrize("count", [1, 13, 14, 500])
def test_mcnemar_with_equal_counts_is_p_one_and_edwards_form_is_not(count):
    data = _with_counts(count, count)
    assert mcnemar(*data).p == 1.0
    chi2, p = mlxtend_mcnemar(mcnemar_table(*data), corrected=True, exact=False)
    assert chi2 == pytest.approx(1 / (2 * count))
    assert p < 0.99


@pytest.mark.parametrize("only_a, only_b", [(20, 6), (40, 18), (150, 110), (520, 450)])
def test_mcnemar_lies_close_to_edwards_form_for_many_samples(only_a, only_b):
    data = _with_counts(only_a, only_b)
    _, p = mlxtend_mcnemar(mcnemar_table(*data), corrected=True, exact=False)
    assert mcnemar(*data).p != p  # the sum itself, not the approximation
    assert mcnemar(*data).p == pytest.approx(p, abs=0.003)


def test_mcnemar_with_no_discordant_sample_is_identical():
    result = mcnemar([0, 1, 2], [0, 1, 1], [0, 1, 0])
    assert result.identical
    assert result.p == 1.0


def test_mcnemar_refuses_predictions_of_different_samples():
    with pytest.raises(McLsError, match="one prediction per sample"):
        mcnemar([0, 1, 2], [0, 1], [0, 1, 0])


@settings(max_examples=50, deadline=None)
@given(
    errors=st.tuples(st.integers(2, 12), st.integers(3, 6)).flatmap(
        lambda shape: hnp.arrays(float, shape, elements=st.integers(0, 9).map(float))
    )
)
def test_friedman_equals_scipy(errors):
    ours = friedman(errors)
    assert np.array_equal(ours.ranks, average_ranks(errors))
    with np.errstate(invalid="ignore", divide="ignore"):
        theirs = stats.friedmanchisquare(*errors.T)
    if np.isnan(theirs.statistic):  # every error tied
        assert ours.p == 1.0
    else:
        assert ours.chi2 == pytest.approx(theirs.statistic, abs=1e-9)
        assert ours.p == pytest.approx(theirs.pvalue, abs=1e-9)


def test_demsar_2006_example():
    # Table 6 of Demšar (JMLR 2006): average ranks 3.143, 2.000, 2.893, 1.964 over 14 data sets;
    # chi2 = 9.28, F = 3.69, CD = 1.25 at 0.05.
    auc = np.array(
        [
            [0.763, 0.768, 0.771, 0.798], [0.599, 0.591, 0.590, 0.569], [0.954, 0.971, 0.968, 0.967],
            [0.628, 0.661, 0.654, 0.657], [0.882, 0.888, 0.886, 0.898], [0.936, 0.931, 0.916, 0.931],
            [0.661, 0.668, 0.609, 0.685], [0.583, 0.583, 0.563, 0.625], [0.775, 0.838, 0.866, 0.875],
            [1.000, 1.000, 1.000, 1.000], [0.940, 0.962, 0.965, 0.962], [0.619, 0.666, 0.614, 0.669],
            [0.972, 0.981, 0.9751, 0.975], [0.957, 0.978, 0.946, 0.970],
        ]
    )  # fmt: skip
    result = friedman(1 - auc)
    assert result.ranks == pytest.approx((3.143, 2.0, 2.893, 1.964), abs=0.001)
    assert result.critical_difference == pytest.approx(1.25, abs=0.005)
    # Demšar prints chi2 without the correction for ties.
    untied = 12 * 14 / (4 * 5) * (np.square(result.ranks).sum() - 4 * 25 / 4)
    assert untied == pytest.approx(9.28, abs=0.01)
    assert result.chi2 >= untied


@pytest.mark.parametrize("k, q", [(2, 1.960), (3, 2.343), (5, 2.728), (10, 3.164)])
def test_nemenyi_constants_of_demsar(k, q):
    assert nemenyi_critical_difference(k, 6, 0.05) / np.sqrt(k * (k + 1) / 36) == pytest.approx(q, abs=0.001)


@pytest.mark.parametrize("row, N", [([1, 2, 3], 2), ([1, 2, 3], 3), ([1, 1, 2], 4), ([1, 2, 2, 3], 2)])
def test_the_p_of_one_order_everywhere_counts_all_orders(row, N):
    orders = sorted(set(permutations(row)))  # of one data set, equally likely
    statistics = [friedman(np.array(found, dtype=float)).chi2 for found in product(orders, repeat=N)]
    result = friedman(np.array([row] * N, dtype=float))
    assert result.one_order
    assert result.iman_davenport_p == pytest.approx(np.mean(np.array(statistics) >= result.chi2 - 1e-9))


def test_friedman_with_one_order_everywhere():
    result = friedman([[1.0, 2.0, 3.0]] * 10)
    assert result.one_order
    assert result.iman_davenport == np.inf
    assert result.iman_davenport_p == pytest.approx(6.0**-9)
    assert result.differs(0, 2)
    assert not result.differs(0, 1)
    with pytest.raises(McLsError, match="two data sets"):
        friedman([[1.0, 2.0, 3.0]])


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("mistakes, n", [(0, 1), (1, 1), (0, 150), (7, 150), (75, 150), (150, 150), (3, 20000)])
def test_wilson_is_scipys(mistakes, n, level):
    theirs = stats.binomtest(mistakes, n).proportion_ci(level, method="wilson")
    assert wilson(mistakes, n, level) == pytest.approx(tuple(theirs), abs=1e-12)
    low, high = wilson(mistakes, n, level)
    assert 0 <= low <= mistakes / n <= high <= 1
    assert low < high


@pytest.mark.parametrize("mistakes, n", [(-1, 5), (6, 5), (0, 0)])
def test_wilson_needs_a_share(mistakes, n):
    with pytest.raises(McLsError, match="0 to n mistakes"):
        wilson(mistakes, n)
