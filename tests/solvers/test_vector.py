"""Vector-output least squares on arrays: labelbooks that carry no bias, and vo-RLS in extended precision."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcls.data import load_dataset
from mcls.errors import PrecisionWarning
from mcls.evaluation.folds import stratified_folds
from mcls.evaluation.scaling import to_range
from mcls.kernels import gaussian, polynomial, squared_distances
from mcls.labelbooks import label_gram, label_vectors
from mcls.solvers import vector
from tests.solvers.corners import solve_box_qp

# Labelbooks with a bias ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3, 4, 6, 11])
def test_which_labelbooks_carry_a_bias(n_classes, signed):
    def degenerate(name):
        return vector.is_degenerate(label_vectors(name, n_classes), signed=signed)

    assert degenerate("indicators")
    assert degenerate("pm1") == (n_classes > 2)
    assert not any(degenerate(name) for name in ("alignment", "consistency", "mincorr"))


def test_degenerate_when_only_some_classes_cancel():
    alone = np.array([[1.0, -1.0, 0.0], [0.0, 0.0, 1.0]])  # the third class stands alone
    both_signs, positive = np.array([[1.0, -1.0, 0.5]]), np.array([[1.0, 2.0, 0.5]])
    assert [vector.is_degenerate(B, signed=False) for B in (alone, both_signs, positive)] == [True, False, True]
    assert not any(vector.is_degenerate(B, signed=True) for B in (alone, both_signs, positive))


@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(1, 4))
def test_a_positive_combination_is_found_where_one_was_hidden(seed, n_classes, p):
    rng = np.random.default_rng(seed)
    s = rng.uniform(0.1, 1.0, n_classes)
    B = rng.normal(size=(p, n_classes))
    B[:, -1] = -B[:, :-1] @ s[:-1] / s[-1]
    with_ones = np.vstack([B, np.ones(n_classes)])  # the class sums would have to cancel too
    for signed in (False, True):
        assert not vector.is_degenerate(B, signed=signed)
        assert vector.is_degenerate(with_ones, signed=signed)


@pytest.mark.parametrize("labelbook", ["indicators", "pm1"])
def test_degenerate_labelbooks_really_leave_only_zero(labelbook):
    data = load_dataset("iris")
    y, B = data.y, label_vectors(labelbook, 3)
    K = gaussian(squared_distances(to_range(data.X)), 1.0)
    beta, b = vector.fit_lssvm_bias(K, y, B, 1.0)
    assert np.abs(beta).max() <= 1e-12
    assert np.allclose(B.T @ b, 1)
    for solver in ("active-set", "osqp"):
        beta = solve_box_qp(K * (B.T @ B)[np.ix_(y, y)], 1.0, A=B[:, y], solver=solver).beta
        assert np.abs(beta).max() <= 1e-6


# vo-RLS on raw features ----------------------------------------------------------------------------------------


def least_squares(A, b):
    """Householder's QR in the precision of A."""
    A, b = A.copy(), b.copy()
    n = A.shape[1]
    for k in range(n):
        v = A[k:, k].copy()
        v[0] += np.copysign(np.sqrt(v @ v), v[0])
        v /= np.sqrt(v @ v)
        A[k:, k:] -= 2 * np.outer(v, v @ A[k:, k:])
        b[k:] -= 2 * v * (v @ b[k:])
    x = np.zeros(n, dtype=A.dtype)
    for k in range(n - 1, -1, -1):
        x[k] = (b[k] - A[k, k + 1 :] @ x[k + 1 :]) / A[k, k]
    return x


@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="this machine has no extended precision")
@pytest.mark.parametrize("book", ["alignment", "indicators"])
@pytest.mark.parametrize("name, degree, gamma", [("iris", 3, 2.0**-4), ("wine", 1, 2.0**-4)])
def test_vo_rls_keeps_its_digits_on_raw_features(name, degree, gamma, book):
    """The normal equations alone leave hardly one digit here: their condition number is the square of K's."""
    data = load_dataset(name)
    train, test = stratified_folds(data.y, 5, seed=0)[0]
    train = train[::2]
    K, L, y = polynomial(data.X, data.X, degree, 1.0), label_gram(book, data.n_classes), data.y[train]
    C = np.linalg.eigh(L)
    C = (np.sqrt(np.maximum(C[0], 0)) * C[1]).T.astype(np.longdouble)  # L = CᵀC
    T = C[:, y]
    K_train = K[np.ix_(train, train)].astype(np.longdouble)
    stacked = np.vstack([*(K_train * t for t in T), np.sqrt(np.longdouble(gamma)) * np.eye(len(y))])
    exact = least_squares(stacked, np.concatenate([*T, np.zeros(len(y))]))
    beta = vector.fit_rls(K[np.ix_(train, train)], y, L, gamma, "beta")
    fitted, expected = (vector.class_values(K[np.ix_(test, train)], b, y, len(L)) @ L for b in (beta, exact))
    assert np.abs(fitted - expected).max() < 1e-7 * np.abs(expected).max()


def test_vo_rls_says_when_no_way_keeps_its_digits():
    data = load_dataset("wine")
    L, y = label_gram("alignment", 3), data.y
    with pytest.warns(PrecisionWarning, match="scale the features"):
        vector.fit_rls(polynomial(data.X, data.X, 3, 1.0), y, L, 1.0, "beta")
    X = to_range(data.X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        vector.fit_rls(polynomial(X, X, 3, 1.0), y, L, 2.0**-4, "beta")
