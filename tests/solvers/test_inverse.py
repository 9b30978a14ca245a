"""Leaving folds out by Cholesky factors against the eigendecomposition."""

import numpy as np
import pytest

from mcls import OneLSM
from mcls.data import load_dataset
from mcls.evaluation.folds import stratified_folds
from mcls.evaluation.scaling import to_range
from mcls.kernels import kernel_matrix
from mcls.solvers import inverse, lsm
from mcls.threads import shared_by


@pytest.mark.parametrize("sigma", [2.0**-6, 2.0**-4, 0.5, 16.0])
def test_it_equals_the_sweep_by_a_decomposition(sigma):
    data = load_dataset("glass")
    K, Y = kernel_matrix(to_range(data.X), sigma=sigma), lsm.indicators(data.y, 6)
    tests = [test for _, test in stratified_folds(data.y, 5, seed=0)]
    tests += [tests[0][::2], np.r_[tests[1], tests[3]], np.array([], dtype=int)]  # they may overlap
    gammas = [2.0**-12, 2.0**-4, 8.0]
    for found, expected in zip(inverse.sweep(K, Y, tests, gammas), lsm.sweep(K, Y, tests, gammas), strict=True):
        scale = np.abs(expected).max(axis=2, initial=0, keepdims=True)
        assert (np.abs(found - expected) <= 1e-6 * scale + 1e-300).all()
        assert np.array_equal(
            found.argmax(axis=2)[scale[..., 0] > 1e-280], expected.argmax(axis=2)[scale[..., 0] > 1e-280]
        )


@pytest.mark.parametrize("sigma", [2.0**-6, 2.0**-4, 0.5, 16.0])
@pytest.mark.parametrize("whole", [True, False])
def test_folds_are_left_out_one_by_one_and_two_by_two(sigma, whole):
    data = load_dataset("glass")
    K, Y = kernel_matrix(to_range(data.X), sigma=sigma), lsm.indicators(data.y, 6)
    tests = [test for _, test in stratified_folds(data.y, 5, seed=0)][: 5 if whole else 3]  # or rows of no fold
    tests += [np.sort(np.r_[a, b]) for i, a in enumerate(tests) for b in tests[:i]]
    gammas = [2.0**-12, 2.0**-4, 8.0]
    with shared_by(2):
        every = inverse.sweep(K, Y, tests, gammas)
    for found, expected in zip(every, lsm.sweep(K, Y, tests, gammas), strict=True):
        scale = np.abs(expected).max(axis=2, keepdims=True)
        assert (np.abs(found - expected) <= 1e-6 * scale + 1e-300).all()
        assert np.array_equal(
            found.argmax(axis=2)[scale[..., 0] > 1e-280], expected.argmax(axis=2)[scale[..., 0] > 1e-280]
        )


def test_what_loses_its_digits_is_nan():
    K = np.diag([1e9, 1.0, 1.0, 1.0])
    found = inverse.sweep(K, np.eye(4), [np.array([0]), np.array([2])], [0.1, 1e3])
    assert [np.isnan(values[0]).all() for values in found] == [True, True]
    assert not any(np.isnan(values[1]).any() for values in found)


def test_few_strengths_of_many_rows_are_swept_so(monkeypatch):
    data = load_dataset("glass")
    K, folds = kernel_matrix(to_range(data.X)), stratified_folds(data.y, 5, seed=0)
    monkeypatch.setattr(inverse, "FROM_ROWS", 100)
    monkeypatch.setattr(lsm, "sweep", None)  # the decomposition is not asked
    points = [{"gamma": 0.1}, {"gamma": 2.0}]
    found, expected = (OneLSM().sweep(K, data.y, folds, points, engine=engine) for engine in ("fast", "refit"))
    assert all(np.abs(a - b).max() < 1e-9 for a, b in zip(found, expected, strict=True))
