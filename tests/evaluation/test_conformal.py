"""Conformal sets: the quantile, coverage by simulation, and coverage on shipped data."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from mcls.data import load_dataset
from mcls.errors import McLsError
from mcls.evaluation.conformal import ConformalSets
from mcls.evaluation.folds import class_half_split, stratified_folds
from mcls.evaluation.scaling import to_range
from mcls.kernels import kernel_matrix
from mcls.machines.lsm import OneLSM
from mcls.solvers.calibration import calibrate


def test_the_threshold_is_the_order_statistic_of_the_finite_sample_quantile():
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.ones(3), size=19)
    y = rng.integers(0, 3, 19)
    fits = np.where(P.argmax(axis=1) == y, np.inf, P[np.arange(19), y])
    made, largest_first = ConformalSets.fit(P, y), -np.sort(-fits)
    for coverage, k in ((0.9, 18), (0.95, 19), (0.5, 10), (0.05, 1)):  # ⌈20 · coverage⌉
        assert made.threshold(coverage) == largest_first[k - 1]


def test_too_few_rows_for_a_coverage_leave_every_class_in():
    made = ConformalSets.fit(np.eye(2)[[0, 1, 0]], np.array([0, 1, 0]))
    assert made.sets(np.array([[1.0, 0.0]]), 0.9).tolist() == [[True, True]]  # ⌈4 · 0.9⌉ = 4 of 3 rows
    assert made.sets(np.array([[1.0, 0.0]]), 0.7).tolist() == [[True, False]]


def test_a_set_holds_the_most_probable_class_at_least():
    made = ConformalSets.fit(np.tile([0.99, 0.01], (50, 1)), np.zeros(50, dtype=int))
    assert made.sets(np.array([[0.4, 0.6], [0.5, 0.5]]), 0.9).tolist() == [[False, True], [True, False]]


def test_a_larger_coverage_never_takes_a_class_out():
    rng = np.random.default_rng(1)
    P, y = rng.dirichlet(np.ones(4), size=60), rng.integers(0, 4, 60)
    sets = [ConformalSets.fit(P, y).sets(P, coverage) for coverage in (0.1, 0.5, 0.8, 0.9, 0.99)]
    assert all((smaller <= larger).all() for smaller, larger in pairwise(sets))


@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.9])
@pytest.mark.parametrize("scores", ["probabilities", "scores"])
def test_coverage_of_exchangeable_rows(coverage, scores):
    """The guarantee: 400 tables of 39 calibration rows and 100 new ones; its two bounds, give or take 4 deviations."""
    rng = np.random.default_rng(2)
    covered, right = [], []
    for _ in range(400):
        y = rng.integers(0, 5, 139)
        S = rng.normal(size=(139, 5)) + 1.2 * np.eye(5)[y]  # wrong as probabilities, and that does not matter
        if scores == "probabilities":
            S = np.exp(S) / np.exp(S).sum(axis=1, keepdims=True)
        made = ConformalSets.fit(S[:39], y[:39])
        covered.append(made.sets(S[39:], coverage)[np.arange(100), y[39:]].mean())
        right.append(np.mean(S[39:].argmax(axis=1) == y[39:]))  # sets of one class cover as often
    slack = 4 * np.std(covered) / np.sqrt(len(covered))
    # A table whose calibration rows are right less often than asked for has larger sets.
    assert coverage - slack <= np.mean(covered) <= np.maximum(coverage + 1 / 40, right).mean() + slack


@pytest.mark.parametrize("name, sigma, gamma", [("glass", 1.0, 0.1), ("balance", 4.0, 0.01), ("tae", 0.5, 0.1)])
def test_coverage_on_halves_of_shipped_data(name, sigma, gamma):
    data = load_dataset(name)
    y, covered, sizes = data.y, [], []
    for split in range(10):
        train, test = class_half_split(y, split)
        Z = to_range(data.X, data.X[train])
        folds = stratified_folds(y[train], 10, split)
        machine = OneLSM(sigma=sigma, gamma=gamma)
        scores = machine.sweep(kernel_matrix(Z[train], sigma=sigma), y[train], folds, [{"gamma": gamma}])
        F = np.empty((len(train), int(y.max()) + 1))
        F[np.concatenate([rows for _, rows in folds])] = np.concatenate(scores, axis=1)[0]
        found, P = calibrate(F, y[train])
        fitted = machine.fit(Z[train], y[train])
        sets = ConformalSets.fit(P, y[train]).sets(found.probabilities(fitted.decision_function(Z[test])), 0.9)
        covered.append(sets[np.arange(len(test)), y[test]].mean())
        sizes.append(sets.sum(axis=1).mean())
    assert 0.87 <= np.mean(covered) <= 0.95
    assert np.mean(sizes) < 0.9 * sets.shape[1]


@pytest.mark.parametrize("coverage", [0.0, 1.0, -0.1, 90.0, float("nan")])
def test_a_coverage_outside_the_unit_interval_is_refused(coverage):
    made = ConformalSets.fit(np.eye(2), np.array([0, 1]))
    with pytest.raises(McLsError, match="must lie between 0 and 1"):
        made.sets(np.eye(2), coverage)


def test_a_row_of_weight_two_counts_as_two_rows():
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.ones(4), 60)
    y = rng.integers(0, 4, 60)
    w = rng.integers(0, 4, 60)
    weighed = ConformalSets.fit(P, y, w.astype(float))
    repeated = ConformalSets.fit(np.repeat(P, w, axis=0), np.repeat(y, w))
    for coverage in (0.05, 0.3, 0.5, 0.8, 0.9, 0.999):
        assert weighed.threshold(coverage) == repeated.threshold(coverage)
