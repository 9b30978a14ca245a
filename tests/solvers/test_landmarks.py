"""Choices of landmarks: seeded, different rows, and as many as span everything."""

import numpy as np
import pytest

from mcls import OneLSM
from mcls.errors import McLsError
from mcls.kernels import kernel_matrix
from mcls.solvers.landmarks import LANDMARKS, choose_landmarks


def gaussian(A, B):
    return kernel_matrix(A, B, sigma=0.8)


@pytest.mark.parametrize("how", LANDMARKS)
def test_landmarks_are_seeded_different_and_no_more_than_asked(glass, how):
    X = np.repeat(glass[0], 2, axis=0)
    a, b, c = (choose_landmarks(how, gaussian, X, 30, seed) for seed in (1, 1, 2))
    assert np.array_equal(a, b)
    assert a.shape != c.shape or not np.array_equal(a, c)
    assert len(a) <= 30
    assert how == "uniform" or len(np.unique(a, axis=0)) == len(a)


def test_pivots_stop_where_they_span_everything_and_are_better_than_uniform_ones(glass):
    X, _ = glass
    rows = np.repeat(X[:12], 5, axis=0)
    assert len(choose_landmarks("rpcholesky", gaussian, rows, 40, 0)) == len(np.unique(rows, axis=0))

    def left(how):  # the trace of K − Q, by the mean of some draws
        traces = []
        for seed in range(5):
            Z = choose_landmarks(how, gaussian, X, 30, seed)
            traces.append(len(X) - np.trace(gaussian(X, Z) @ np.linalg.solve(gaussian(Z, Z), gaussian(Z, X))))
        return np.mean(traces)

    assert left("rpcholesky") < 0.8 * left("uniform")


def test_landmarks_refuse_a_kernel_that_is_not_semi_definite(glass):
    X, y = glass
    machine = OneLSM(kernel=lambda A, B: np.tanh(A @ B.T / 10 + 1), solver="nystrom", n_landmarks=40)
    with pytest.raises(McLsError, match="use solver='exact'"):
        machine.fit(X, y)
