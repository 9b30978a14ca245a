"""The active set of the single-machine SVMs: against the interior point in every label, and its certificate."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import StratifiedKFold

from mcls.data import load_dataset
from mcls.evaluation.scaling import to_range
from mcls.kernels import gaussian, squared_distances
from mcls.solvers import multisvm, multisvm_path
from mcls.solvers.multisvm_path import MultiSVM, RowSystem, onto_simplex, sweep

LOSSES = sorted(multisvm.MARGINS)
GRID = [2.0**k for k in range(-4, 5)]


def load(name, n_splits=5):
    data = load_dataset(name)
    folds = list(StratifiedKFold(n_splits, shuffle=True, random_state=0).split(data.y, data.y))
    return squared_distances(to_range(data.X)), data.y, len(data.classes), folds


def assert_same_labels(K, y, n_classes, folds, Cs, loss, w=None):
    found = sweep(K, y, n_classes, folds, Cs, loss, 1e-7, w)
    for (train, test), scores in zip(folds, found, strict=True):
        for i, C in enumerate(Cs):
            weights = None if w is None else w[train]
            K_train = K[np.ix_(train, train)]
            cold = multisvm.solve(K_train, y[train], n_classes, C, loss, tol=1e-11, weights=weights)
            expected = K[np.ix_(test, train)] @ cold.A
            np.testing.assert_array_equal(scores[i].argmax(axis=1), expected.argmax(axis=1))
            assert np.abs(scores[i] - expected).max() <= 1e-4


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name, sigmas", [("iris", GRID[::2]), ("glass", [2.0**-4, 0.25, 16.0])])
def test_sweep_equals_interior_points_in_every_label(loss, name, sigmas):
    D2, y, n_classes, folds = load(name)
    for sigma in sigmas:
        assert_same_labels(gaussian(D2, sigma), y, n_classes, folds[:2], [4.0, 0.0625, 16.0, 1.0], loss)


@pytest.mark.parametrize("loss", LOSSES)
def test_weighted_rows_and_overlapping_folds(loss):
    D2, y, n_classes, folds = load("wine")
    w = np.random.default_rng(0).uniform(0.1, 3.0, len(y))
    overlapping = [(folds[0][0][::2], folds[0][1]), (folds[0][0], folds[0][0][:7])]
    assert_same_labels(gaussian(D2, 1.0), y, n_classes, overlapping, [0.25, 4.0], loss, w)


@pytest.mark.parametrize("loss", LOSSES)
def test_every_solution_of_a_path_is_certified_where_prices_are_paid_but_for_rounding(loss):
    """Of a kernel with values of 10⁵ the interior point is taken, none of whose entries is quite at its bound."""
    rng = np.random.default_rng(0)
    X, y, Cs = 3 * rng.normal(size=(30, 2)), np.arange(30) % 3, [2.0**-10, 2.0**-4, 1.0, 16.0]
    machine = MultiSVM((X @ X.T + 1) ** 3, y, 3, loss)
    for C, A in zip(Cs, machine.path(Cs, np.ones(30)), strict=True):
        assert machine.gap(A, C * np.ones(30)) <= 1e-7


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(6, 40),
    st.integers(2, 6),
    st.sampled_from([0.05, 0.5, 3.0, 50.0]),
    st.sampled_from([0.01, 1.0, 100.0]),
    st.sampled_from(LOSSES),
)
def test_its_own_answer_is_feasible_and_certified(seed, n, n_classes, sigma, C, loss):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)])
    X = np.round(2 * (rng.normal(size=(n, 3)) + rng.normal(size=(n_classes, 3))[y])) / 2  # with equal rows
    machine = MultiSVM(gaussian(squared_distances(X), sigma), y, n_classes, loss)
    price = C * rng.uniform(0.5, 1.5, n) * (rng.random(n) < 0.8)
    price[:n_classes] = C
    found = machine.finished(price)
    assert found.gap <= 1e-7
    A, (lower, upper) = found.A, machine.bounds(price)
    assert (A >= lower - 1e-9 * C).all()
    assert (A <= upper + 1e-9 * C).all()
    assert np.abs(A.sum(axis=1)).max() <= 1e-9 * C
    assert not A[price == 0].any()


@pytest.mark.parametrize("loss", LOSSES)
def test_iterations_give_the_direction_of_the_factor(monkeypatch, loss):
    D2, y, n_classes, _ = load("iris")
    K = gaussian(D2, 0.25) + 1e-6 * np.eye(len(y))
    rng = np.random.default_rng(0)
    basic = rng.integers(0, n_classes, len(y))
    free = rng.random((len(y), n_classes)) < 0.8
    free[np.arange(len(y)), basic] = False
    f = np.flatnonzero(free)
    system, b = RowSystem(K, basic, n_classes), rng.normal(size=len(f))
    expected = np.linalg.solve(system.block(f, f), b)
    np.testing.assert_allclose(system.solve(f, b), expected, rtol=1e-6, atol=1e-9)
    monkeypatch.setattr(multisvm_path, "_ITERATED", 0)
    np.testing.assert_allclose(system.solve(f, b), expected, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("loss", LOSSES)
def test_an_uncertified_solution_is_not_given(monkeypatch, loss):
    D2, y, n_classes, folds = load("iris")
    monkeypatch.setattr(MultiSVM, "gap", lambda self, A, price: 1.0)
    monkeypatch.setattr(MultiSVM, "finished", lambda self, price: self.inside(price)._replace(dual=-np.inf))
    assert all(
        np.isnan(scores).all() for scores in sweep(gaussian(D2, 1.0), y, n_classes, folds, [1.0], loss, 1e-7)
    )


def test_rows_go_to_the_nearest_point_of_the_simplex():
    V = np.array([[0.5, 0.5, -np.inf], [3.0, 0.0, 0.0], [0.0, 0.0, 0.3]])
    np.testing.assert_allclose(
        onto_simplex(V, np.array([1.0, 1.0, 0.6])), [[0.5, 0.5, 0], [1, 0, 0], [0.1, 0.1, 0.4]]
    )
