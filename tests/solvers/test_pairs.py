"""Leaving out parts of the rows, alone and two by two, against one solution per system."""

from itertools import combinations

import numpy as np
import pytest

from mcls.solvers import pairs as module
from mcls.solvers.pairs import Parts, left_out


def folds_of(parts):
    """Every part, every two parts with their rows mixed, one pair again, and no row at all."""
    rng = np.random.default_rng(1)
    pairs = [rng.permutation(np.concatenate(pair)) for pair in combinations(parts, 2)]
    return [*parts, *pairs, pairs[0], np.array([], dtype=int)]


@pytest.mark.parametrize("sizes", [[5, 5, 5], [6, 5, 5, 4], [1, 1, 1], [12, 3, 1, 7]])
@pytest.mark.parametrize("most, condition", [(0, 1.0), (24, 1.0), (24, 1e8)])
def test_every_fold_equals_its_own_system(monkeypatch, sizes, most, condition):
    monkeypatch.setattr(module, "STACKED_UP_TO", most)
    rng = np.random.default_rng(sum(sizes))
    n = sum(sizes) + 3  # three rows are in no fold
    rows = rng.permutation(n)[3:]
    tests = folds_of(np.split(rows, np.cumsum(sizes)[:-1]))
    parts = Parts.of(tests, n)
    assert parts is not None
    assert sorted(np.diff(parts.bounds).tolist()) == sorted(sizes)
    Z = rng.normal(size=(2, n, 2 * n))
    M, U = Z @ Z.swapaxes(1, 2) / n + 0.1 * np.eye(n), rng.normal(size=(2, n, 3))
    found = left_out(M[:, parts.order][:, :, parts.order], U[:, parts.order], parts, condition)
    for f, test in enumerate(tests):
        e = found[:, parts.find([f], test[None])[0]]
        for i in range(2):
            assert np.allclose(e[i], np.linalg.solve(M[i][np.ix_(test, test)], U[i, test]))


def test_folds_of_more_than_two_parts_are_not_taken():
    thirds = np.arange(3), np.arange(3, 6), np.arange(6, 9)
    assert Parts.of([*thirds, np.arange(9)], 9) is None
    assert Parts.of([np.arange(4), np.arange(2, 6), np.arange(4, 9), np.arange(3)], 9) is None
    assert Parts.of([], 9) is None
    assert Parts.of([*thirds, np.arange(6)], 9) is not None


def test_what_is_not_definite_is_nan_and_the_rest_is_not(monkeypatch):
    monkeypatch.setattr(module, "STACKED_UP_TO", 0)
    tests = [np.array([0]), np.array([1]), np.array([2]), np.array([0, 1]), np.array([1, 2])]
    parts = Parts.of(tests, 3)
    M = np.array([[[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]]])  # the first two together are indefinite
    found = left_out(M[:, parts.order][:, :, parts.order], np.ones((1, 3, 1)), parts, 1.0)
    nan = [bool(np.isnan(found[0, parts.find([f], test[None])[0]]).any()) for f, test in enumerate(tests)]
    assert nan[3]
    assert not any(nan[:3])
    assert not nan[4]
