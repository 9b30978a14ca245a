"""Certified classes against the exact out-of-fold values."""

import numpy as np
import pytest

from mcls import OneLSM
from mcls.data import load_dataset
from mcls.evaluation.folds import stratified_folds
from mcls.evaluation.grid import search
from mcls.evaluation.scaling import to_range
from mcls.kernels import gaussian, squared_distances
from mcls.solvers import inverse, lanczos, lsm

GAMMAS = [2.0**-4, 1.0, 16.0]


@pytest.fixture(scope="module")
def letters():
    data = load_dataset("letter", first=700)
    return squared_distances(to_range(data.X)), data.y


@pytest.mark.parametrize("sigma", [2.0**-4, 0.25, 1.0, 8.0])
@pytest.mark.parametrize("most", [3, 40])
def test_what_is_certified_is_exact_and_enough_blocks_certify_all(letters, sigma, most):
    D2, y = letters
    K = gaussian(D2, sigma)
    folds = stratified_folds(y, 5, seed=0)
    tests = [test for _, test in folds]
    values, certain = lanczos.sweep(K, y, 26, tests, GAMMAS, np.eye(26), most)
    exact = lsm.sweep(K, lsm.indicators(y, 26), tests, GAMMAS)
    for found, sure, expected in zip(values, certain, exact, strict=True):
        assert np.array_equal(found.argmax(axis=2)[sure], expected.argmax(axis=2)[sure])
    share = np.mean([sure.mean() for sure in certain])
    assert most == 3 or share == 1
    assert np.array_equal(K, gaussian(D2, sigma))


def twins(n, d, seed):
    """Rows, each of them twice, and class codes, which twins need not share."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(3), rng.integers(0, 3, n - 3)])
    return np.repeat(rng.normal(size=(n // 2, d)), 2, axis=0), y


@pytest.mark.parametrize("most", [3, 8])
@pytest.mark.parametrize("sigma, d", [(1e-3, 1), (0.01, 2), (10.0, 1)])
def test_nothing_wrong_is_certified_of_tiny_values_equal_rows_and_tiny_strengths(sigma, d, most):
    gammas, tests = [2.0**-30, 2.0**-10, 1.0], np.split(np.arange(120), 4)
    for X, y in (twins(120, d, seed) for seed in range(4)):
        K = gaussian(squared_distances(X), sigma)
        values, certain = lanczos.sweep(K, y, 3, tests, gammas, np.eye(3), most)
        for test, found, sure in zip(tests, values, certain, strict=True):
            train = np.setdiff1d(np.arange(120), test)
            for g, gamma in enumerate(gammas):
                alpha = np.linalg.solve(K[np.ix_(train, train)] + gamma * np.eye(90), np.eye(3)[y[train]])
                exact = K[np.ix_(test, train)] @ alpha
                chosen = exact[np.arange(30), found[g].argmax(axis=1)]  # of classes that are equal any may be
                lacking = exact.max(axis=1) - chosen
                assert (lacking <= 1e-3 * np.abs(exact).max(axis=1))[sure[g]].all()


@pytest.mark.parametrize("sigma", [1e-3, 0.1, 10.0])
def test_bases_stay_orthonormal_where_blocks_are_small_or_rounding(sigma):
    X, y = twins(120, 1, 0)
    K, test = gaussian(squared_distances(X), sigma), np.arange(30)
    Y = np.eye(3)[y] * (np.arange(120) >= 30)[:, None]
    basis = lanczos._Basis(test, Y, np.empty((120, 30), order="F"), np.empty((30, 30), order="F"))
    basis.start()
    for _ in range(9):
        if len(basis.widths) > len(basis.diagonal):
            basis.extend(K @ basis.V[:, basis.last], float(K.sum(axis=1).max()))
    V = basis.V[:, : basis.size]
    np.testing.assert_allclose(V.T @ V, np.eye(basis.size), atol=1e-13)


def test_a_grid_of_many_rows_is_certified_or_solved_directly(letters, monkeypatch):
    data = load_dataset("letter", first=700)
    X, y = to_range(data.X), data.y
    folds, grid = stratified_folds(y, 5, seed=0), {"gamma": GAMMAS, "sigma": [0.25, 1.0]}
    exact = search(OneLSM(), X, y, grid, folds)
    ruled = {"gamma": [0.1], "sigma": [1.0], "decision": ["max", "nearest"], "labelbook": ["pm1", "fisher"]}
    by_rules = search(OneLSM(), X, y, ruled, folds)
    counted = []
    monkeypatch.setattr(lanczos.Certified, "note", lambda self, certain, direct: counted.append(direct))
    for module, name in ((lanczos, "FROM_ROWS"), (inverse, "FROM_ROWS"), (inverse, "MANY_ROWS")):
        monkeypatch.setattr(module, name, 700)
    monkeypatch.setattr(lanczos, "_is_worth_going_on", lambda *args: True)
    for most in (0, 8, 40):
        monkeypatch.setattr(lanczos, "blocks_worth", lambda *args, most=most: most)
        for book in ("indicators", "consistency"):
            found = search(OneLSM(labelbook=book), X, y, grid, folds)
            assert np.array_equal(found.predictions, exact.predictions)
        assert np.array_equal(search(OneLSM(), X, y, ruled, folds).predictions, by_rules.predictions)
    assert max(counted) > 0 == min(counted)
    assert OneLSM(kernel=lambda A, B: A @ B.T).certifier(10**4) is None
    assert OneLSM(labelbook="fisher").certifier(10**4) is None


def test_blocks_that_are_not_worth_their_time_are_not_made(letters, monkeypatch):
    D2, y = letters
    K, tests = gaussian(D2, 1.0), [test for _, test in stratified_folds(y, 5, seed=0)]
    made = []
    real = lanczos._Basis.extend
    monkeypatch.setattr(lanczos._Basis, "extend", lambda self, *args: made.append(1) or real(self, *args))
    for direct in (1.0, 1e9, np.inf):
        lanczos.sweep(K, y, 26, tests, GAMMAS, np.eye(26), 20, direct)
        made.append(0)
    counts = np.diff([0, *(i for i, one in enumerate(made) if not one)])
    assert counts[0] < counts[1] < counts[2]


def test_blocks_nearly_dependent_are_left_to_the_pivoted_way():
    W = np.random.default_rng(0).normal(size=(50, 4)) * [1.0, 1e-9, 1e3, 1.0]
    Q, R = lanczos._orthonormal(W, 0.0)
    assert np.allclose(Q.T @ Q, np.eye(4), atol=1e-14)
    assert np.allclose(Q @ R, W, rtol=1e-12, atol=1e-18)
    W[:, 3] = W[:, 0] + 1e-9 * W[:, 2]
    assert lanczos._orthonormal(W, 0.0) is None
    assert lanczos._orthonormal(np.zeros((5, 2)), 0.0) is None
    assert lanczos._orthonormal(np.eye(5)[:, :2] * [1.0, 1e-12], 1e-11) is None
