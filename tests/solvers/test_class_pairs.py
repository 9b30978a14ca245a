"""Pairs of classes by shared factors: each value against a fit to the training rows."""

from __future__ import annotations

import numpy as np
import pytest

from mcls.evaluation.folds import stratified_folds
from mcls.evaluation.protocols.nested_folds import NestedFolds
from mcls.solvers import class_pairs, one_vs_one
from tests.solvers.pairs_of_classes import COUNTS, SIGMAS, assert_equals_fits, made


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
    folds = class_pairs.PairFolds.of([np.arange(5)], len(y))
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
