"""Certified classes against the exact out-of-fold values."""

import numpy as np
import pytest

from mcls import OneLSM
from mcls.data import load_dataset
from mcls.evaluation.folds import stratified_folds
from mcls.evaluation.grid import search
from mcls.evaluation.scaling import to_range
from mcls.kernels import gaussian, squared_distances
from mcls.solvers import lanczos, lsm

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


def test_a_grid_of_many_rows_is_certified_or_solved_directly(letters, monkeypatch):
    data = load_dataset("letter", first=700)
    X, y = to_range(data.X), data.y
    folds, grid = stratified_folds(y, 5, seed=0), {"gamma": GAMMAS, "sigma": [0.25, 1.0]}
    exact = search(OneLSM(), X, y, grid, folds)
    counted = []
    monkeypatch.setattr(lanczos.Certified, "note", lambda self, certain, direct: counted.append(direct))
    monkeypatch.setattr(lanczos, "FROM_ROWS", 700)
    for most in (0, 8, 40):
        monkeypatch.setattr(lanczos, "blocks_worth", lambda *args, most=most: most)
        for book in ("indicators", "consistency"):
            found = search(OneLSM(labelbook=book), X, y, grid, folds)
            assert np.array_equal(found.predictions, exact.predictions)
    assert max(counted) > 0 == min(counted)
    assert OneLSM(kernel=lambda A, B: A @ B.T).certifier(10**4) is None
    assert OneLSM(labelbook="fisher").certifier(10**4) is None
