"""Tests on repeated cross-validation and over data sets, against baycomp, scipy, statsmodels and scikit-posthocs."""

from __future__ import annotations

from itertools import product

import baycomp
import numpy as np
import pytest
import scikit_posthocs
from scipy import stats
from statsmodels.stats.multitest import multipletests

from mcls.errors import McLsError
from mcls.evaluation.resampling_tests import (
    bayesian_signed_rank,
    bayesian_ttest,
    corrected_ttest,
    holm,
    pairwise_wilcoxon,
    wilcoxon,
)

#: Demšar 2006, Table 2: the areas under the curve of C4.5 and C4.5+m on 14 data sets, as errors.
C45 = 1 - np.array([0.763, 0.599, 0.954, 0.628, 0.882, 0.936, 0.661, 0.583, 0.775, 1.0, 0.94, 0.619, 0.972, 0.957])
C45_M = 1 - np.array(
    [0.768, 0.591, 0.971, 0.661, 0.888, 0.931, 0.668, 0.583, 0.838, 1.0, 0.962, 0.666, 0.981, 0.978]
)


def drawn(n, seed, gap=0.01):
    rng = np.random.default_rng(seed)
    a = rng.uniform(0.1, 0.3, n)
    return a, a + gap + 0.02 * rng.normal(size=n)


@pytest.mark.parametrize("runs, folds", [(1, 10), (10, 10), (5, 2)])
@pytest.mark.parametrize("rope", [0.0, 0.01])
def test_bayesian_ttest_equals_baycomp(runs, folds, rope):
    for seed in range(5):
        a, b = drawn(runs * folds, seed)
        expected = baycomp.two_on_single(b, a, rope, runs)  # scores a − b: left is where a's error is smaller
        ours = bayesian_ttest(a, b, 1 / folds, rope)
        given = (ours.a_better, ours.equivalent, ours.b_better) if rope else (ours.a_better, ours.b_better)
        np.testing.assert_allclose(given, expected, atol=1e-12)


@pytest.mark.parametrize("gap, rope", list(product([0.0, 0.02, -0.02], [0.0, 0.01])))
def test_bayesian_ttest_of_one_difference_everywhere_equals_baycomp(gap, rope):
    a = np.full(10, 0.25)
    ours = bayesian_ttest(a, a + gap, 0.1, rope)
    given = (ours.a_better, ours.equivalent, ours.b_better) if rope else (ours.a_better, ours.b_better)
    np.testing.assert_allclose(given, baycomp.two_on_single(a + gap, a, rope))


def test_corrected_ttest_is_the_tail_of_that_posterior():
    """The posterior of the mean without a prior is Student's t around it: its tail is half the p-value."""
    for seed in range(5):
        a, b = drawn(100, seed)
        left, right = baycomp.two_on_single(b, a, 0, 10)
        assert corrected_ttest(a, b, 0.1).p == pytest.approx(2 * min(left, right))


def test_corrected_ttest_without_overlap_is_the_paired_one():
    a, b = drawn(12, 0)
    found, peer = corrected_ttest(a, b, 1e-15), stats.ttest_rel(a, b)
    assert (found.statistic, found.p) == pytest.approx((peer.statistic, peer.pvalue))
    interval = peer.confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))
    assert found.difference == pytest.approx((a - b).mean())


def test_corrected_ttest_of_equal_and_of_constant_differences():
    a = np.linspace(0.1, 0.2, 10)
    assert corrected_ttest(a, a, 0.1).identical
    assert corrected_ttest(a, a, 0.1).p == 1.0
    shifted = corrected_ttest(a, a + 0.1, 0.1)
    assert np.isnan(shifted.p)
    assert "no variance" in shifted.undefined
    assert not shifted.differs()
    assert shifted.difference == pytest.approx(-0.1)


def test_wilcoxon_gives_demsars_worked_example():
    found = wilcoxon(C45, C45_M)
    assert found.statistic == pytest.approx(12.0)  # R− = 12, R+ = 93
    assert found.rank_biserial == pytest.approx((93 - 12) / 105)
    assert found.p < 0.05


def signed_rank_p(d):
    """Two-sided exact p-value from all signs of the ranks of d, none of which are zero or tied."""
    ranks = stats.rankdata(np.abs(d))
    sums = np.array([(ranks * signs).sum() for signs in product([0, 1], repeat=len(d))])
    T = min(ranks[d > 0].sum(), ranks[d < 0].sum())
    return min(1.0, 2 * (sums <= T).mean())


@pytest.mark.parametrize("n", [4, 6, 9])
def test_wilcoxon_equals_all_signs_tried(n):
    for seed in range(3):
        a, b = drawn(n, seed)
        assert wilcoxon(a, b).p == pytest.approx(signed_rank_p(a - b))


@pytest.mark.parametrize("n", [6, 8, 10])
def test_the_interval_holds_the_shifts_that_the_test_does_not_reject(n):
    a, b = drawn(n, 1)
    found = wilcoxon(a, b)
    width = found.high - found.low
    for shift, inside in (
        (found.low - 1e-6 * width, False),
        (found.low + 1e-6 * width, True),
        (found.high - 1e-6 * width, True),
        (found.high + 1e-6 * width, False),
    ):
        assert (signed_rank_p(a - b - shift) > 0.05) == inside
    assert found.low < found.difference < found.high


def test_wilcoxon_of_equal_machines_and_of_few_data_sets():
    assert wilcoxon([0.1, 0.2], [0.1, 0.2]).identical
    few = wilcoxon([0.1, 0.3, 0.2], [0.2, 0.5, 0.5])
    assert (few.low, few.high) == (pytest.approx(-0.3), pytest.approx(-0.1))  # all of them: no level is reached


def test_rounding_makes_no_difference_of_equal_errors():
    a = np.array([0.1 + 0.2, 0.5, 0.6])
    assert wilcoxon(a, [0.3, 0.5, 0.6]).identical


@pytest.mark.parametrize("rope", [0.0, 0.01])
@pytest.mark.parametrize("gap", [0.0, 0.008, 0.03])
def test_bayesian_signed_rank_equals_baycomp(gap, rope):
    a, b = drawn(12, 3, gap)
    expected = baycomp.SignedRankTest.probs(b, a, rope, nsamples=20_000, random_state=1)
    ours = bayesian_signed_rank(a, b, rope, draws=20_000)
    given = (ours.a_better, ours.equivalent, ours.b_better) if rope else (ours.a_better, ours.b_better)
    np.testing.assert_allclose(given, expected, atol=4 * np.sqrt(2 * 0.25 / 20_000))


def test_holm_equals_statsmodels():
    rng = np.random.default_rng(0)
    for m in (1, 2, 7):
        p = np.round(rng.uniform(0, 0.3, m), 2)  # ties too
        np.testing.assert_allclose(holm(p), multipletests(p, method="holm")[1])


def test_pairwise_wilcoxon_equals_scikit_posthocs():
    rng = np.random.default_rng(1)
    errors = rng.uniform(0.1, 0.2, (12, 4)) + np.array([0, 0.01, 0.05, 0.1])
    peer = scikit_posthocs.posthoc_wilcoxon(errors.T, zero_method="zsplit", p_adjust="holm").to_numpy()
    np.testing.assert_allclose(pairwise_wilcoxon(errors), peer)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: corrected_ttest([0.1], [0.2], 0.1), "the same 2 or more errors"),
        (lambda: corrected_ttest([0.1, np.nan], [0.2, 0.3], 0.1), "none missing"),
        (lambda: wilcoxon([0.1, 0.2], [0.2]), "of both machines"),
        (lambda: corrected_ttest([0.1, 0.2], [0.2, 0.4], 1.0), "share of test rows must lie between 0 and 1"),
        (lambda: bayesian_ttest([0.1, 0.2], [0.2, 0.4], 0.1, -1), "region of practical equivalence"),
        (lambda: bayesian_signed_rank([0.1, 0.2], [0.2, 0.4], float("nan")), "region of practical equivalence"),
    ],
)
def test_what_cannot_be_tested_is_refused(call, message):
    with pytest.raises(McLsError, match=message):
        call()
