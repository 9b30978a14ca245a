"""Every pair of classes by shared factors: each value against a fit to the training rows."""

from __future__ import annotations

import numpy as np
import pytest

from mcls.evaluation.folds import stratified_folds
from mcls.evaluation.protocols.nested_folds import NestedFolds
from mcls.kernels import gaussian, squared_distances
from mcls.solvers import class_pairs, one_vs_one

GAMMAS = [2.0**-12, 0.1, 3.0]
COUNTS = [[40, 30], [37, 5, 22, 11], [12] * 5]
SIGMAS = [0.05, 0.6, 20.0]


def made(counts, sigma):
    rng = np.random.default_rng(len(counts))
    y = rng.permutation(np.repeat(np.arange(len(counts)), counts))
    X = rng.standard_normal((len(counts), 3))[y] + 0.5 * rng.standard_normal((len(y), 3))
    return y, gaussian(squared_distances(X), sigma)


def assert_equals_fits(K, y, tests, w=None, gammas=GAMMAS):
    n, ell = len(y), int(y.max()) + 1
    mix = np.random.default_rng(1).standard_normal((ell * (ell - 1) // 2, ell))  # every value counts, by itself
    found = one_vs_one.sweep(K, y, ell, tests, gammas, lambda values, _: np.moveaxis(values, 0, -1) @ mix, w)
    for test, of_fold in zip(tests, found, strict=True):
        train = np.setdiff1d(np.arange(n), test)
        of_train = None if w is None else w[train]
        for gamma, scores in zip(gammas, of_fold, strict=True):
            alpha = one_vs_one.fit_pairs(K[np.ix_(train, train)], y[train], ell, gamma, of_train)
            expected = K[np.ix_(test, train)] @ alpha @ mix
            np.testing.assert_allclose(scores, expected, rtol=1e-7, atol=1e-7 * np.abs(expected).max(initial=0.0))


@pytest.fixture
def no_decompositions(monkeypatch):
    """A semi-definite matrix must not take the slow way."""

    def refuse(*_):
        raise AssertionError("a pair was decomposed")

    monkeypatch.setattr(one_vs_one, "_by_spectrum", refuse)


@pytest.mark.usefixtures("no_decompositions")
@pytest.mark.parametrize("sigma", SIGMAS)
@pytest.mark.parametrize("counts", COUNTS)
def test_folds_alone_and_two_at_a_time(counts, sigma):
    y, K = made(counts, sigma)
    folds = stratified_folds(y, 4, seed=0)
    assert_equals_fits(K, y, [test for _, test in folds])
    rows = np.arange(len(y))
    nested = NestedFolds.of([folds], len(y)).folds
    assert_equals_fits(K, y, [np.setdiff1d(rows, train) for train, _ in nested])


@pytest.mark.usefixtures("no_decompositions")
def test_weights_and_any_order_of_rows():
    y, K = made(COUNTS[1], 0.6)
    rng = np.random.default_rng(0)
    w = rng.uniform(0.1, 4.0, len(y))
    tests = [rng.permutation(test) for _, test in stratified_folds(y, 5, seed=1)]
    assert_equals_fits(K, y, tests, w)
    pairs = [rng.permutation(np.concatenate([tests[i], tests[j]])) for i in range(5) for j in range(i)]
    assert_equals_fits(K, y, tests + pairs, w)


@pytest.mark.usefixtures("no_decompositions")
def test_folds_that_overlap_and_folds_of_one_row():
    y, K = made(COUNTS[2], 0.6)
    rng = np.random.default_rng(0)
    assert_equals_fits(K, y, [rng.permutation(len(y))[:size] for size in (9, 10, 12)])
    assert_equals_fits(K, y, [np.array([i]) for i in range(len(y))])
    assert_equals_fits(K, y, [np.flatnonzero(y == 0)[:4], np.flatnonzero(y == 1)[:3]])  # of one class each


@pytest.mark.usefixtures("no_decompositions")
def test_classes_far_apart_are_not_coupled():
    y, K = made(COUNTS[2], 0.02)
    folds = class_pairs.Folds.of([np.arange(5)], len(y))
    systems = class_pairs.PairSystems.of(K, y, 5, folds, np.ones(1), np.ones(len(y)), 9.0)
    assert not systems._linked().all()
    assert_equals_fits(K, y, [test for _, test in stratified_folds(y, 4, seed=0)])


@pytest.mark.parametrize("sigma", [0.02, 0.6])
def test_a_class_that_no_fold_tests(sigma):
    y, K = made(COUNTS[2], sigma)
    folds = stratified_folds(y, 4, seed=0)
    tested = [(np.setdiff1d(np.arange(len(y)), test), test) for test in (test[y[test] != 0] for _, test in folds)]
    assert_equals_fits(K, y, [test for _, test in tested])
    nested = NestedFolds.of([tested], len(y)).folds
    assert_equals_fits(K, y, [np.setdiff1d(np.arange(len(y)), train) for train, _ in nested])


def test_indefinite_matrices_and_folds_of_very_different_sizes_are_decomposed():
    y, K = made(COUNTS[1], 0.6)
    folds = [test for _, test in stratified_folds(y, 4, seed=0)]
    assert_equals_fits(K - 0.02 * np.eye(len(y)), y, folds, gammas=[0.1, 3.0])
    sizes = [np.flatnonzero(y == 0)[:20], *(np.array([i]) for i in np.flatnonzero(y == 2)[:6])]
    assert_equals_fits(K, y, sizes)


def test_a_strength_that_loses_digits_is_nan():
    y, K = made(COUNTS[0], 20.0)
    (scores,) = one_vs_one.sweep(K, y, 2, [np.arange(8)], [1e-10, 1.0], one_vs_one.votes)
    assert np.isnan(scores[0]).all()
    assert not np.isnan(scores[1]).any()


def test_votes_and_their_ties():
    # Classes 0, 1, 2 beat each other in a circle: the sums decide; a value of zero is half a vote for each.
    circle = np.array([[0.2], [-0.5], [0.9]])  # (0, 1), (0, 2), (1, 2)
    np.testing.assert_allclose(one_vs_one.votes(circle, 3)[0] - 1.0, np.array([-0.3, 0.7, -0.4]) / 0.7 / 5)
    assert one_vs_one.votes(np.zeros((3, 1)), 3).tolist() == [[1.0, 1.0, 1.0]]
    np.testing.assert_allclose(one_vs_one.soft_votes(np.array([[3.0], [0.5], [-0.5]]), 3), [[1.5, -1.5, 0.0]])
