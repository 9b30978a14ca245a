"""Solutions that a search has found serve the fit, and only the fit of the same system."""

from __future__ import annotations

import numpy as np
import pytest

from mcls.kernels import gaussian, squared_distances
from mcls.models.selection import select
from mcls.solvers import inverse, linear, lsm, remembered

GAMMA = 0.125


@pytest.fixture
def problem(monkeypatch):
    """A kernel matrix, indicators and two folds; so few rows are remembered here as well."""
    monkeypatch.setattr(remembered, "FROM_ROWS", 50)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    folds = [np.arange(0, 60, 2), np.arange(1, 60, 2)]
    return gaussian(squared_distances(X), 1.0), lsm.indicators(rng.integers(0, 3, 60), 3), folds


@pytest.fixture
def factorisations(monkeypatch):
    """The sizes of the systems that are factored from now on."""
    sizes = []
    solve = lsm.solve_spd
    monkeypatch.setattr(lsm, "solve_spd", lambda A, R: (sizes.append(len(A)), solve(A, R))[1])
    return sizes


def test_the_fit_after_a_sweep_needs_no_factor_and_has_the_same_solution(problem, factorisations):
    K, Y, folds = problem
    direct = linear.solve_spd(linear.add_ridge(K, GAMMA), Y)
    with remembered.solutions_remembered():
        inverse.sweep(K, Y, folds, [1.0, GAMMA])
        found = lsm.fit(K, Y, GAMMA)
    assert factorisations == []
    np.testing.assert_allclose(found, direct, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("change", ["kernel", "targets", "gamma", "one entry"])
def test_a_solution_of_another_system_is_not_taken(problem, factorisations, change):
    K, Y, folds = problem
    other = {"kernel": (K**2, Y, GAMMA), "targets": (K, Y[::-1], GAMMA), "gamma": (K, Y, GAMMA + 1e-9)}
    changed = K.copy()
    changed[3, 7] = changed[7, 3] = K[3, 7] + 1e-9
    A, R, gamma = other.get(change, (changed, Y, GAMMA))
    with remembered.solutions_remembered():
        inverse.sweep(K, Y, folds, [GAMMA])
        found = lsm.fit(A, R, gamma)
    assert factorisations == [60]
    np.testing.assert_allclose(found, linear.solve_spd(linear.add_ridge(A, gamma), R), rtol=1e-12)


def test_nothing_is_remembered_outside(problem, factorisations):
    K, Y, folds = problem
    with remembered.solutions_remembered():
        inverse.sweep(K, Y, folds, [GAMMA])
    inverse.sweep(K, Y, folds, [GAMMA])
    lsm.fit(K, Y, GAMMA)
    assert factorisations == [60]


def test_select_fits_many_rows_by_what_its_search_has_solved(monkeypatch, factorisations):
    monkeypatch.setattr(inverse, "FROM_ROWS", 600)
    monkeypatch.setattr(inverse, "MANY_ROWS", 600)
    monkeypatch.setattr(remembered, "FROM_ROWS", 600)
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 700)
    X = rng.standard_normal((700, 4)) + y[:, None]
    monkeypatch.setattr("mcls.evaluation.grid._THREADS_UP_TO", 0)
    grid = {"gamma": [0.25, 1.0], "sigma": [1.0, 2.0]}
    found = select(X, y, grid=grid, folds=5, nested=True)
    assert 700 not in factorisations
    point = found.best_params
    K = gaussian(squared_distances(X), point["sigma"])
    direct = linear.solve_spd(linear.add_ridge(K, point["gamma"]), lsm.indicators(y, 3))
    np.testing.assert_allclose(found.estimator.class_alpha_, direct, rtol=1e-9, atol=1e-12)
