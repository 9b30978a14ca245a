"""Whole inverses by Cholesky factors, against one solution per fold and shift."""

from itertools import combinations

import numpy as np
import pytest

from mcls.solvers import lsm, vector
from mcls.solvers import whole_inverse as module
from mcls.solvers.pairs import solve_stacked
from mcls.solvers.spectrum import Spectrum
from mcls.solvers.whole_inverse import Inverses, decomposed

N = 60


@pytest.fixture
def kernel(monkeypatch):
    """A kernel matrix of few rows, which are many here."""
    monkeypatch.setattr(module, "_FROM", 20)
    X = np.random.default_rng(0).normal(size=(N, 6))
    return np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2))


def nested(k):
    parts = np.array_split(np.random.default_rng(1).permutation(N), k)
    return [*parts, *(np.concatenate(pair) for pair in combinations(parts, 2))]


def repeated(k):
    return [part for seed in range(k) for part in np.array_split(np.random.default_rng(seed).permutation(N), k)]


@pytest.mark.parametrize("folds", [nested(4), repeated(5)], ids=["nested", "repeated"])
def test_every_fold_equals_its_own_system(kernel, folds):
    shifts, R = np.array([0.5, 0.1, 2.0]), np.random.default_rng(2).normal(size=(N, 3))
    made = decomposed(kernel, shifts, folds)
    assert isinstance(made, Inverses)
    exact = Spectrum.of(kernel).conditions(shifts)
    assert np.allclose(made.conditions(shifts), exact, rtol=0.3)
    for part, solved in made.solved(shifts, R, folds):
        (shift,) = shifts[part]
        for places, rows in solved.runs:
            for place, solution in zip(places, solved.left_out_solutions(rows, places)[0], strict=True):
                kept = np.setdiff1d(np.arange(N), folds[place])
                A = kernel[np.ix_(kept, kept)] + shift * np.eye(len(kept))
                assert np.allclose(solution[kept], np.linalg.solve(A, R[kept]), atol=1e-10)
                assert (solution[folds[place]] == 0).all()


def test_values_of_nested_folds_are_those_of_a_decomposition(kernel, monkeypatch):
    y, folds, gammas = np.arange(N) % 3, nested(4), [0.1, 1.0]
    Y, B = lsm.indicators(y, 3), np.eye(3) - 1 / 3
    quick = lsm.sweep(kernel, Y, folds, gammas), vector.sweep_lssvm(kernel, y, B, B.T @ B, folds, gammas, True)
    monkeypatch.setattr(module, "_FROM", N + 1)
    slow = lsm.sweep(kernel, Y, folds, gammas), vector.sweep_lssvm(kernel, y, B, B.T @ B, folds, gammas, True)
    for a, b in zip([*quick[0], *quick[1][0], quick[1][1]], [*slow[0], *slow[1][0], slow[1][1]], strict=True):
        assert np.allclose(a, b, atol=1e-10)


def test_folds_that_ask_for_little_and_what_is_not_definite_are_decomposed(kernel):
    assert not isinstance(decomposed(kernel, np.array([0.1]), repeated(5)[:5]), Inverses)
    assert not isinstance(decomposed(kernel, np.full(99, 0.1), nested(4)), Inverses)
    assert not isinstance(decomposed(kernel - np.eye(N), np.array([0.1]), nested(4)), Inverses)


def test_many_small_systems_at_once_and_nan_where_one_is_not_definite(monkeypatch):
    rng = np.random.default_rng(3)
    Z, R = rng.normal(size=(4, 7, 5, 9)), rng.normal(size=(4, 7, 5, 2))
    A = Z @ Z.swapaxes(-1, -2)
    A[2, 3] -= 100 * np.eye(5)
    monkeypatch.setattr("mcls.solvers.pairs._TOGETHER", 300)
    found = solve_stacked(A, R)
    definite = np.ones((4, 7), dtype=bool)
    definite[2, 3] = False
    assert np.allclose(found[definite], np.linalg.solve(A, R)[definite])
    assert np.isnan(found[2, 3]).all()
