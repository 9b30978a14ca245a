"""Leaving folds out of a solved system, against solving each smaller system."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from mcls.solvers import linear
from mcls.solvers.linear import FoldPartition, Spectrum, is_partition, solve_spd, solve_symmetric


def random_folds(rng, n, k):
    return [np.sort(part) for part in np.array_split(rng.permutation(n), k)]


@pytest.mark.parametrize(
    "n, k, wide", [(23, 4, 0), (40, 5, 0), (30, 30, 0), (650, 7, 0), (650, 7, 1), (600, 5, 1)]
)
def test_left_out_solutions_equal_smaller_systems(n, k, wide):
    rng = np.random.default_rng(n)
    Z = rng.normal(size=(n, 5))
    A, R, shifts = Z @ Z.T, rng.normal(size=(n, 2)), np.array([0.1, 0.3])
    if wide:  # nearly constant, as a wide Gaussian kernel: decomposed by its low rank
        A = np.exp(-0.001 * cdist(Z, Z, "sqeuclidean"))
    tests = random_folds(rng, n, k)
    partition = FoldPartition(tests)
    order = partition.order
    spectrum = Spectrum.of(A[np.ix_(order, order)])
    assert (spectrum.vectors.shape[1] < n) == bool(wide)
    U = spectrum.solve(shifts, R[order])
    for u, shift in zip(U, shifts):
        assert np.allclose(u, np.linalg.solve(A + shift * np.eye(n), R)[order])
    place = 0
    for run in partition.groups:
        solutions = spectrum.left_out_solutions(shifts, U, run)  # (shifts, folds, n, 2)
        for by_shift in solutions.transpose(1, 0, 2, 3):
            left_out = order[place : place + run[2]]
            place += run[2]
            kept = np.setdiff1d(np.arange(n), left_out)
            for solution, shift in zip(by_shift, shifts):
                expected = np.zeros((n, 2))
                expected[kept] = np.linalg.solve(A[np.ix_(kept, kept)] + shift * np.eye(len(kept)), R[kept])
                assert np.abs(solution - expected[order]).max() < 1e-9
                assert (solution[np.isin(order, left_out)] == 0).all()
    assert place == n


@given(st.lists(st.integers(0, 6), min_size=1, max_size=9), st.integers(0, 10**6))
def test_splitting_gives_back_each_fold_in_the_callers_order(sizes, seed):
    rows = np.random.default_rng(seed).permutation(sum(sizes))
    tests = np.split(rows, np.cumsum(sizes)[:-1])
    partition = FoldPartition(tests)
    values = partition.order[:, None].astype(float)
    for test, piece in zip(tests, partition.split(values)):
        assert np.array_equal(piece[:, 0], test)


def test_block_diagonal_spectrum_equals_the_whole():
    rng = np.random.default_rng(5)
    groups = [np.array([0, 3, 4]), np.array([1, 2, 5, 6])]
    A = np.zeros((7, 7))
    for rows in groups:
        Z = rng.normal(size=(len(rows), 9))
        A[np.ix_(rows, rows)] = Z @ Z.T
    R = rng.normal(size=(7, 1))
    spectrum = Spectrum.of(A, groups)
    (solution,) = spectrum.solve(np.array([0.5]), R)
    assert np.allclose(solution, np.linalg.solve(A + 0.5 * np.eye(7), R))


def test_the_blocks_of_a_narrow_kernel_are_found():
    rng = np.random.default_rng(6)
    centres = np.repeat(np.arange(60.0), 5)  # 60 groups of 5 rows, mixed
    x = rng.permutation(centres + rng.uniform(-0.05, 0.05, size=300))
    A = np.exp(-((x[:, None] - x) ** 2) / (2 * 0.05**2))  # 10⁻⁷⁰ between the groups
    blocks = linear._diagonal_blocks(A)
    assert sorted(sorted(np.round(x[rows]).tolist()) for rows in blocks) == [[float(c)] * 5 for c in range(60)]
    R = rng.normal(size=(300, 2))
    for shift, solution in zip((0.1, 3.0), Spectrum.of(A).solve(np.array([0.1, 3.0]), R)):
        assert np.allclose(solution, np.linalg.solve(A + shift * np.eye(300), R), rtol=0, atol=1e-12)


def test_solvers_fall_back_when_the_matrix_is_not_definite():
    A = np.array([[1.0, 2.0], [2.0, 1.0]])  # indefinite
    R = np.array([[1.0], [0.0]])
    assert np.allclose(A @ solve_spd(A, R), R)
    singular = np.array([[1.0, 1.0], [1.0, 1.0]])
    assert np.allclose(solve_symmetric(singular, np.array([[2.0], [2.0]])), 1.0)


def test_what_is_a_partition():
    whole = [(np.array([1, 2]), np.array([0])), (np.array([0]), np.array([1, 2]))]
    assert is_partition(whole, 3)
    assert not is_partition(whole[:1], 3)
    assert not is_partition([(np.array([0, 1]), np.array([0])), (np.array([0]), np.array([1, 2]))], 3)
    assert not is_partition([], 0)


@pytest.mark.parametrize("n, block", [(50, 7), (64, 16), (30, 100), (33, 1)])
def test_the_blocked_factor_is_lapacks(n, block):
    A = np.random.default_rng(0).normal(size=(n, n))
    A = A @ A.T + np.eye(n)
    L, info = linear.blocked_cholesky(A, block)
    assert info == 0
    assert np.allclose(np.tril(L), np.linalg.cholesky(A), rtol=0, atol=1e-12)
    assert np.array_equal(np.triu(L, 1), np.triu(A, 1))


def test_a_large_matrix_is_solved_by_blocks_or_by_ldl(monkeypatch):
    rng = np.random.default_rng(0)
    A = rng.normal(size=(40, 40))
    A, R = A @ A.T + np.eye(40), rng.normal(size=(40, 3))
    monkeypatch.setattr(linear, "_WHOLE_UP_TO", 10)
    assert np.allclose(A @ linear.solve_spd(A, R), R, rtol=0, atol=1e-9)
    A[30, 30] = -5.0  # indefinite: the blocks find out, and LDLᵀ solves it
    assert linear.blocked_cholesky(A, 16)[1] == 1
    assert np.allclose(A @ linear.solve_spd(A, R), R, rtol=0, atol=1e-9)
