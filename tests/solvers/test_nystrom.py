"""Landmarks against the exact machine of their own kernel, cross-validated exactly; prediction in blocks."""

import numpy as np
import pytest
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import check_estimator

from mcls import OneLSM, OvALSM
from mcls.errors import McLsError
from mcls.evaluation.folds import stratified_folds
from mcls.evaluation.grid import search
from mcls.kernels import kernel_matrix
from mcls.machines import kernel_machine
from mcls.solvers import lsm, nystrom
from mcls.solvers.landmarks import LANDMARKS, choose_landmarks


def gaussian(A, B):
    return kernel_matrix(A, B, sigma=0.8)


@pytest.mark.parametrize("gamma", [2.0**-6, 0.25, 4.0])
@pytest.mark.parametrize("m", [10, 60])
def test_it_is_the_exact_machine_of_the_kernel_q(glass, gamma, m):
    X, y = glass
    Z = choose_landmarks("uniform", gaussian, X, m, seed=1)
    Y = lsm.indicators(y, y.max() + 1)
    K_nm, K_mm = gaussian(X, Z), gaussian(Z, Z)
    Q = K_nm @ np.linalg.solve(K_mm, K_nm.T)
    exact = Q @ np.linalg.solve(Q + gamma * np.eye(len(X)), Y)
    found = K_nm @ nystrom.fit(gaussian, X, Y, Z, [1.0, gamma], block=64)[1]
    assert np.abs(found - exact).max() < 1e-6


def test_with_every_row_a_landmark_it_is_onelsm(glass):
    X, y = glass
    exact = OneLSM(sigma=0.8, gamma=0.1).fit(X, y)
    approximate = OneLSM(sigma=0.8, gamma=0.1, solver="nystrom", n_landmarks=10**6).fit(X, y)
    assert len(approximate.X_fit_) == len(X)
    assert np.abs(approximate.decision_function(X) - exact.decision_function(X)).max() < 1e-6


def test_the_block_changes_nothing_but_rounding(glass):
    X, y = glass
    Y = lsm.indicators(y, y.max() + 1)
    one, many = (nystrom.fit(gaussian, X, Y, X[::5], [0.1], block)[0] for block in (10**6, 7))
    assert np.abs(gaussian(X, X[::5]) @ (one - many)).max() < 1e-9


def test_rows_that_repeat_are_no_trouble(glass):
    X, y = np.repeat(glass[0], 3, axis=0), np.repeat(glass[1], 3)
    machine = OneLSM(sigma=0.8, gamma=0.01, solver="nystrom", n_landmarks=500).fit(X, y)
    assert machine.score(X, y) > 0.75


def test_the_estimator_passes_scikit_learns_checks():
    odd = {"check_sample_weight_equivalence_on_dense_data": "a repeated row may be drawn more than once; below"}
    machine = OneLSM(solver="nystrom", n_landmarks=20)
    check_estimator(machine, on_skip=None, expected_failed_checks=odd)
    estimator_checks.check_sample_weight_equivalence_on_dense_data("OneLSM", machine.set_params(n_landmarks=100))


def test_a_grid_search_takes_its_landmarks_from_all_rows(glass):
    X, y = glass
    folds = stratified_folds(y, 3, seed=0)
    machine = OneLSM(solver="nystrom", n_landmarks=40, random_state=5)
    found = search(machine, X, y, {"gamma": [0.1], "sigma": [0.8]}, folds)
    Z = OneLSM(sigma=0.8, gamma=0.1, solver="nystrom", n_landmarks=40, random_state=5).fit(X, y).X_fit_
    for train, test in folds:
        beta = nystrom.fit(gaussian, X[train], lsm.indicators(y[train], 6), Z, [0.1], 10**6)[0]
        assert np.array_equal(found.predictions[0, test], (gaussian(X[test], Z) @ beta).argmax(axis=1))


def nested(y):
    tests = [test for _, test in stratified_folds(y, 4, seed=1)]
    rows = np.arange(len(y))
    return [(np.setdiff1d(rows, np.r_[R, S]), R) for R in tests for S in tests if R is not S]


def repeated(y):
    return [fold for seed in range(3) for fold in stratified_folds(y, 5, seed)]


def halves(y):
    return [(test, train) for train, test in stratified_folds(y, 4, seed=0)]  # a fold to learn from, three to test


@pytest.mark.parametrize("make_folds", [nested, repeated, halves])
@pytest.mark.parametrize("most", [2, 6, 10**6])
def test_fold_grams_equal_fits_to_the_training_rows(glass, make_folds, most, monkeypatch):
    X, y = glass
    Y, Z, gammas = lsm.indicators(y, 6), X[::5], [0.1, 2.0]
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    monkeypatch.setattr(nystrom, "_GRAM_VALUES", most * len(Z) ** 2)
    folds = make_folds(y)
    found = nystrom.sweep(gaussian, X, Y, Z, folds, gammas, 50, weights)
    for (train, test), scores in zip(folds, found, strict=True):
        beta = nystrom.fit(gaussian, X[train], Y[train], Z, gammas, 10**6, weights[train])
        assert np.abs(scores - gaussian(X[test], Z) @ beta).max() < 1e-8


@pytest.mark.parametrize("n_folds", [4, 60])
def test_landmarks_far_from_all_rows_learned_from_keep_the_order_of_their_tiny_values(n_folds):
    rng = np.random.default_rng(0)
    X, y, fold = 8 * rng.normal(size=(60, 2)), rng.integers(0, 3, 60), np.arange(60) % n_folds
    Y, gammas = lsm.indicators(y, 3), [2.0**-10, 1.0]
    folds = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(n_folds)]
    for (train, test), scores in zip(folds, nystrom.sweep(gaussian, X, Y, X, folds, gammas, 50), strict=True):
        expected = gaussian(X[test], X) @ nystrom.fit(gaussian, X[train], Y[train], X, gammas, 50)
        assert np.array_equal(scores.argmax(axis=2), expected.argmax(axis=2))


@pytest.mark.parametrize("landmarks", LANDMARKS)
@pytest.mark.parametrize("labelbook", ["indicators", "fisher", "consistency"])
def test_the_sweep_equals_refitting(glass, labelbook, landmarks):
    X, y = glass
    without = np.flatnonzero(y != 2)  # a training fold that lacks a class
    folds = [*stratified_folds(y, 3, seed=0), (without, np.flatnonzero(y == 2))]
    machine = OneLSM(solver="nystrom", n_landmarks=40, labelbook=labelbook, landmarks=landmarks)
    grid = {"gamma": [0.1, 0.5, 2.0], "sigma": [0.3, 0.8]}
    fast, refit = (search(machine, X, y, grid, folds, engine=engine) for engine in ("fast", "refit"))
    assert fast.points == refit.points
    assert all(map(np.array_equal, fast.fold_predictions, refit.fold_predictions))
    assert len(np.unique(fast.errors)) > 2


@pytest.mark.parametrize(
    "options, complaint",
    [
        ({"solver": "nistrom"}, "did you mean 'nystrom'"),
        ({"solver": "nystrom", "kernel": "precomputed"}, "use solver='exact'"),
        ({"solver": "nystrom", "landmarks": "kmean"}, "did you mean 'kmeans'"),
        ({"solver": "nystrom", "n_landmarks": 0}, "n_landmarks must be a whole number"),
        ({"solver": "nystrom", "random_state": None}, "random_state must be a whole number"),
    ],
)
def test_nonsense_is_refused(options, complaint):
    with pytest.raises(McLsError, match=complaint):
        OneLSM(**options).fit(np.eye(4), [0, 0, 1, 1])


def test_the_plain_scheme_has_no_such_option():
    assert not {"solver", "n_landmarks", "landmarks", "random_state"} & set(OvALSM().get_params())


@pytest.mark.parametrize("kernel", ["gaussian", "linear", "polynomial"])
def test_prediction_in_blocks_equals_prediction_at_once(glass, kernel, monkeypatch):
    X, y = glass
    machine = OneLSM(kernel=kernel, gamma=0.1).fit(X[::2], y[::2])
    at_once = machine.decision_function(X)
    monkeypatch.setattr(kernel_machine, "_SCORED_VALUES", 10 * len(machine.X_fit_) + 1)
    assert np.allclose(machine.decision_function(X), at_once, rtol=0, atol=1e-10 * np.abs(at_once).max())
