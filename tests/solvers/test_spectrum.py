"""Leaving folds out of a solved system, against solving each smaller system."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from mcls.solvers import spectrum as module
from mcls.solvers.solved import fold_runs
from mcls.solvers.spectrum import Spectrum, pivoted_factor


def wide_kernel(Z):
    return np.exp(-0.001 * cdist(Z, Z, "sqeuclidean"))  # nearly constant: decomposed by its low rank


def tanh_kernel(Z):
    return np.tanh(Z @ Z.T / 10 + 1)  # nearly constant and not positive semi-definite


def partition(rng, n, k):
    return [np.sort(part) for part in np.array_split(rng.permutation(n), k)]


def narrow_kernel(Z):
    return np.exp(-2 * ((Z[:, None] - Z) ** 2).sum(axis=2))


def repeated(rng, n, k):
    return [*partition(rng, n, k), *partition(rng, n, k)]


def nested(rng, n, k):
    parts = partition(rng, n, k)
    return [*parts, *(np.sort(np.concatenate(pair)) for pair in combinations(parts, 2))]


def some(rng, n, k):
    return [*partition(rng, n, k)[1:3], np.array([], dtype=int)]


@pytest.mark.parametrize("make_folds", [partition, repeated, nested, some])
@pytest.mark.parametrize(
    "n, k, kernel, low",
    [
        (23, 4, np.dot, True),
        (30, 30, np.dot, True),
        (650, 7, np.dot, True),
        (40, 5, narrow_kernel, False),
        (650, 7, wide_kernel, True),
        (600, 5, wide_kernel, True),
        (40, 5, tanh_kernel, False),
        (650, 5, tanh_kernel, False),
    ],
)
def test_left_out_solutions_equal_smaller_systems(n, k, kernel, low, make_folds):
    rng = np.random.default_rng(n)
    Z = rng.normal(size=(n, 5))
    A, R, shifts = Z @ Z.T if kernel is np.dot else kernel(Z), rng.normal(size=(n, 2)), np.array([0.1, 0.3])
    tests = make_folds(rng, n, k)
    spectrum = Spectrum.of(A)
    assert (spectrum.vectors.shape[1] < n) == low
    U = spectrum.solve(shifts, R)
    for u, shift in zip(U, shifts):
        assert np.allclose(u, np.linalg.solve(A + shift * np.eye(n), R))
    seen = []
    for part, solved in spectrum.solved(shifts, R, tests):
        for places, rows in solved.runs:
            solutions = solved.left_out_solutions(rows, places)  # (shifts, folds, n, 2)
            seen += [(place, part.start) for place in places]
            for place, by_shift in zip(places, solutions.transpose(1, 0, 2, 3), strict=True):
                kept = np.setdiff1d(np.arange(n), tests[place])
                for solution, shift in zip(by_shift, shifts[part]):
                    expected = np.zeros((n, 2))
                    expected[kept] = np.linalg.solve(A[np.ix_(kept, kept)] + shift * np.eye(len(kept)), R[kept])
                    assert np.abs(solution - expected).max() < 1e-9 * max(1, np.abs(expected).max())
                    assert (solution[tests[place]] == 0).all()
    starts = sorted({start for _, start in seen})
    assert sorted(seen) == [(place, start) for place in range(len(tests)) for start in starts]


@given(st.lists(st.integers(0, 6), min_size=1, max_size=9), st.integers(0, 10**6))
def test_every_fold_is_in_one_run_with_its_rows(sizes, seed):
    rng = np.random.default_rng(seed)
    tests = [rng.permutation(20)[:size] for size in sizes]
    runs = {place: row for places, rows in fold_runs(tests, 20) for place, row in zip(places, rows, strict=True)}
    assert sorted(runs) == list(range(len(tests)))
    for place, test in enumerate(tests):
        assert np.array_equal(runs[place], test)


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
    blocks = module._diagonal_blocks(A)
    assert sorted(sorted(np.round(x[rows]).tolist()) for rows in blocks) == [[float(c)] * 5 for c in range(60)]
    R = rng.normal(size=(300, 2))
    for shift, solution in zip((0.1, 3.0), Spectrum.of(A).solve(np.array([0.1, 3.0]), R)):
        assert np.allclose(solution, np.linalg.solve(A + shift * np.eye(300), R), rtol=0, atol=1e-12)


def test_a_factor_that_is_not_the_matrix_is_refused():
    Z = np.random.default_rng(0).normal(size=(90, 3))
    found = pivoted_factor(Z @ Z.T, 1e-13, 30)
    assert found is not None
    assert np.allclose(found @ found.T, Z @ Z.T)
    assert pivoted_factor(Z @ Z.T, 1e-13, 2) is None
    for A in (tanh_kernel(Z), (Z @ Z.T - 8) ** 2, -Z @ Z.T):
        assert np.linalg.eigvalsh(A)[0] < -0.01
        assert pivoted_factor(A, 1e-13, 90) is None
