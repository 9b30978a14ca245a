"""Symmetric systems: the factor whatever the matrix, and the digits that are left."""

import warnings

import numpy as np
import pytest

from mcls.errors import PrecisionWarning
from mcls.solvers import linear
from mcls.solvers.linear import Factor, solve_spd
from mcls.threads import shared_by


def test_solvers_fall_back_when_the_matrix_is_not_definite():
    A = np.array([[1.0, 2.0], [2.0, 1.0]])  # indefinite
    R = np.array([[1.0], [0.0]])
    assert np.allclose(A @ solve_spd(A, R), R)
    singular = np.array([[1.0, 1.0], [1.0, 1.0]])
    with pytest.warns(PrecisionWarning, match="scale the features"):
        assert np.allclose(solve_spd(singular, np.array([[2.0], [2.0]])), 1.0)


@pytest.mark.parametrize("n, block", [(50, 7), (64, 16), (30, 100), (33, 1)])
def test_the_blocked_factor_is_lapacks(n, block):
    A = np.random.default_rng(0).normal(size=(n, n))
    A = A @ A.T + np.eye(n)
    L, info = linear.blocked_cholesky(A, block)
    assert info == 0
    assert np.allclose(np.tril(L), np.linalg.cholesky(A), rtol=0, atol=1e-12)
    assert np.array_equal(np.triu(L, 1), np.triu(A, 1))


def test_a_large_matrix_is_solved_by_blocks_or_by_lu(monkeypatch):
    rng = np.random.default_rng(0)
    A = rng.normal(size=(40, 40))
    A, R = A @ A.T + np.eye(40), rng.normal(size=(40, 3))
    monkeypatch.setattr(linear, "WHOLE_UP_TO", 10)
    assert np.allclose(A @ linear.solve_spd(A, R), R, rtol=0, atol=1e-9)
    A[30, 30] = -5.0  # indefinite: the blocks find out, and LU solves it
    assert linear.blocked_cholesky(A, 16)[1] == 1
    assert np.allclose(A @ linear.solve_spd(A, R), R, rtol=0, atol=1e-9)


@pytest.mark.parametrize("smallest", [1e-2, 1e-6, 1e-12])
def test_the_estimated_condition_is_that_of_the_scaled_matrix(smallest):
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.normal(size=(50, 50)))[0]
    A = (Q * np.geomspace(1, smallest, 50)) @ Q.T
    rows = np.geomspace(1, 1e8, 50)  # rows and columns of any size change nothing
    for size in (np.ones(50), rows):
        root = np.sqrt(A.diagonal())
        true = 1 / np.linalg.cond(A / np.outer(root, root))
        factor = Factor(np.outer(size, size) * A)
        assert true / 1000 < factor.rcond() < true
        assert factor.smallest_pivot() > factor.rcond()
        assert not factor.loses_digits()


def test_a_solution_of_few_digits_comes_with_a_warning_and_a_graded_matrix_without():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    with pytest.warns(PrecisionWarning, match="raise gamma"):
        solve_spd(1e14 * X @ X.T + np.eye(60), np.ones((60, 1)))
    X[7] *= 1e9  # one row far larger than the others: Cholesky does not mind
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solve_spd(X @ X.T + np.eye(60), np.ones((60, 1)))


@pytest.mark.parametrize("n, block", [(50, 7), (64, 16), (30, 100), (33, 1)])
def test_the_inverse_of_the_factor_takes_its_place(n, block):
    rng = np.random.default_rng(0)
    L = np.asfortranarray(np.tril(rng.normal(size=(n, n))) / n + np.eye(n))
    upper = np.triu(rng.normal(size=(n, n)), 1)  # not looked at
    with shared_by(2):
        found = linear.invert_factor(L + upper, block)
    assert np.allclose(np.tril(found), np.linalg.inv(L), rtol=0, atol=1e-12)
