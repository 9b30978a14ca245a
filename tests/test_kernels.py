"""Kernels: distances, widths, subnormals, and what is refused."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from scipy.stats import rankdata
from sklearn.gaussian_process.kernels import Matern
from sklearn.metrics.pairwise import laplacian_kernel, polynomial_kernel, rbf_kernel

from mcls.errors import McLsError
from mcls.kernels import (
    COLUMN_KERNELS,
    RADIAL,
    check_precomputed,
    gaussian,
    kernel_matrix,
    ranks,
    squared_distances,
)


@given(st.integers(0, 10**6), st.integers(1, 40), st.integers(1, 6), st.sampled_from([0.0, 1.0, 1e6]))
def test_squared_distances_equal_differences_even_far_from_the_origin(seed, n, d, offset):
    rng = np.random.default_rng(seed)
    X, Z = rng.normal(size=(n, d)) + offset, rng.normal(size=(7, d)) + offset
    scale = cdist(X, Z, "sqeuclidean").max()
    assert np.abs(squared_distances(X, Z) - cdist(X, Z, "sqeuclidean")).max() <= 1e-9 * scale
    D2 = squared_distances(X)
    assert (D2 == D2.T).all()
    assert (np.diag(D2) == 0).all()


def test_identical_rows_are_at_distance_exactly_zero():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 3)) * [1.0, 1e4, 1e-4]
    X[650] = X[2]
    assert squared_distances(X)[2, 650] == 0
    assert squared_distances(X[:5], X)[2, 650] == 0


def test_many_nearly_equal_rows_keep_their_digits():
    X = 1e8 + np.linspace(0, 1, 60)[:, None]
    X[0] = 0.0  # one far row takes the centre away from all the others
    assert np.allclose(squared_distances(X), cdist(X, X, "sqeuclidean"), rtol=1e-12, atol=0)


def test_gaussian_and_polynomial_agree_with_scikit_learn():
    rng = np.random.default_rng(1)
    X, Z = rng.normal(size=(30, 4)), rng.normal(size=(20, 4))
    assert np.allclose(kernel_matrix(X, Z, sigma=0.7), rbf_kernel(X, Z, gamma=1 / (2 * 0.49)), atol=1e-14)
    ours = kernel_matrix(X, Z, kernel="polynomial", degree=2, coef0=0.5)
    assert np.allclose(ours, polynomial_kernel(X, Z, degree=2, gamma=1, coef0=0.5))


@pytest.mark.parametrize("kernel, nu", [("laplace", 0.5), ("matern", 1.5)])
def test_laplace_and_matern_agree_with_scikit_learn(kernel, nu):
    rng = np.random.default_rng(1)
    X, Z = rng.normal(size=(30, 4)), rng.normal(size=(20, 4))
    expected = Matern(length_scale=0.7, nu=nu)
    assert np.allclose(kernel_matrix(X, Z, kernel=kernel, sigma=0.7), expected(X, Z), atol=1e-14)


def test_the_l1_kernel_is_scikit_learns_up_to_the_width():
    X, Z = np.random.default_rng(4).normal(size=(2, 20, 4))
    ours = kernel_matrix(X, Z, kernel="laplace-l1", sigma=0.7)
    assert np.allclose(ours, laplacian_kernel(X, Z, gamma=1 / (0.7 * 2)), atol=1e-14)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kernel", COLUMN_KERNELS)
def test_kernels_of_columns_do_not_depend_on_their_units(kernel):
    rng = np.random.default_rng(5)
    X, Z = rng.normal(size=(30, 4)), rng.normal(size=(12, 4))
    X[:, 3] = 7.0  # tells nothing, whatever new rows have there
    units, shift = np.array([1e-6, 3.0, 1e5, 2.0]), np.array([4.0, -1e3, 0.5, 9.0])
    for rows in (None, Z):
        one = kernel_matrix(*((X,) if rows is None else (rows, X)), kernel=kernel)
        other = kernel_matrix(
            *(units * part + shift for part in ((X,) if rows is None else (rows, X))), kernel=kernel
        )
        assert np.allclose(one, other, atol=1e-8)
        assert one.std() > 0.01
    K = kernel_matrix(X, kernel=kernel)
    assert np.array_equal(K, K.T)
    assert (K.diagonal() == 1).all()
    assert np.allclose(
        K, kernel_matrix(X, X, kernel=kernel), atol=1e-12
    )  # the rows of the training are those of Z
    assert np.linalg.eigvalsh(K)[0] > -1e-12


def test_the_kernel_of_ranks_does_not_see_increasing_functions():
    X = np.random.default_rng(6).normal(size=(40, 3))
    Z = X[:20] + 0.01
    K, L = kernel_matrix(X, kernel="laplace-l1-ranks"), kernel_matrix(np.exp(4 * X), kernel="laplace-l1-ranks")
    assert np.array_equal(K, L)
    expected = rankdata(X, axis=0) / 20 - 1 - 1 / 40
    assert np.allclose(ranks(X, X), expected)
    new = ranks(Z, X)
    assert ((new >= expected[:20]) & (new <= 1)).all()


@pytest.mark.parametrize("kernel", RADIAL)
def test_one_set_of_distances_serves_many_widths(kernel):
    X = np.random.default_rng(2).normal(size=(20, 3))
    D2 = RADIAL[kernel].distances(X)
    for sigma in 2.0 ** np.arange(-4, 5):
        assert np.array_equal(RADIAL[kernel].value(D2, sigma), kernel_matrix(X, kernel=kernel, sigma=sigma))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kernel, reach", [("gaussian", 1000), ("laplace", 500**2), ("matern", 500**2 / 3)])
def test_no_subnormal_survives(kernel, reach):
    K = RADIAL[kernel].value(np.append(np.linspace(0, 4 * reach, 4001), 1e300)[None, :], sigma=1.0)
    assert ((K == 0) | (K >= 1e-290)).all()
    assert (K[0, :1000] > 0).all()
    assert K[0, -1] == 0
    assert np.array_equal(RADIAL[kernel].value(np.array([[0.0, 1e306]]), sigma=1e-150), [[1, 0]])


@pytest.mark.parametrize("sigma", [0, -1, np.nan, np.inf, 1e-200, 1e200, "wide"])
def test_a_width_that_is_not_positive_is_refused(sigma):
    with pytest.raises(McLsError, match="sigma must be a positive number between 1e-150 and 1e150, got"):
        kernel_matrix(np.eye(2), sigma=sigma)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "kernel", [*(name for name in RADIAL if name != "laplace-l1-ranks"), "linear", "polynomial"]
)
@pytest.mark.parametrize("size", [1e200, 1e308])
def test_a_kernel_that_overflows_is_refused(kernel, size):
    X = np.random.default_rng(3).uniform(-1, 1, size=(20, 3))
    X[4, 2] = 1.0
    for rows, others in [(size * X, None), (size * X, X), (X, size * X)]:
        with pytest.raises(McLsError, match=re.escape(f"overflows: features as large as {size:g}; scale them")):
            kernel_matrix(rows, others, kernel=kernel)


@pytest.mark.filterwarnings("error")
def test_distances_near_the_largest_number_are_right_or_refused():
    X = np.array([[0.0], [1.0], [3.0]])
    assert np.allclose(squared_distances(1e153 * X) / 1e306, cdist(X, X, "sqeuclidean"), rtol=1e-12)
    with pytest.raises(McLsError, match="overflows"):
        squared_distances(1e154 * X)
    assert np.array_equal(gaussian(np.array([[0.0, 1e300]]), sigma=1e-100), [[1, 0]])


def test_unknown_kernel_gets_a_suggestion():
    with pytest.raises(McLsError, match="did you mean 'gaussian'"):
        kernel_matrix(np.eye(2), kernel="gausian")


def test_a_callable_must_return_the_right_shape_and_numbers():
    with pytest.raises(McLsError, match=r"shape \(1, 1\), expected \(2, 2\)"):
        kernel_matrix(np.eye(2), kernel=lambda X, Z: np.eye(1))
    with pytest.raises(McLsError, match="not finite"):
        kernel_matrix(np.eye(2), kernel=lambda X, Z: np.full((2, 2), np.inf))


@pytest.mark.parametrize(
    "K, message",
    [
        (np.ones((2, 3)), "square"),
        (np.array([[1.0, 0.5], [0.1, 1.0]]), "symmetric"),
        (np.array([[1.0, 2.0], [2.0, 1.0]]), "positive semi-definite"),
        (1e200 * np.eye(2), "this one reaches 1e\\+200"),
    ],
)
def test_what_is_no_kernel_matrix_is_refused(K, message):
    with pytest.raises(McLsError, match=message):
        check_precomputed(K)
