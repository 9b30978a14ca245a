"""The label-correction solvers against the printed formulas, written out plainly."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import block_diag

from mcls.kernels import gaussian, squared_distances
from mcls.solvers import olc

# Grids reach λ₁ = 2^-10, where digits are lost and that is said; what is lost is what is tested.
pytestmark = pytest.mark.filterwarnings("ignore::mcls.errors.PrecisionWarning")

POWERS = st.integers(-5, 5).map(lambda k: 2.0**k)


@st.composite
def problems(draw):
    """Rows X (n, d), class codes y with every class present, codeword norms."""
    ell = draw(st.integers(2, 4))
    n, d = draw(st.integers(ell, 24)), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    y = np.concatenate([np.arange(ell), rng.integers(ell, size=n - ell)])
    norms = np.ones(ell) if draw(st.booleans()) else rng.uniform(0.5, 2.0, ell)
    return rng.normal(size=(n, d)) + y[:, None], y, norms


def codeword_rows(y, norms):
    """Y of (1), one row y⁽ᶜ⁾ a class: (ℓ, n)."""
    return (np.eye(len(norms))[y] * norms).T


def others(Y, c):
    """B_c: the rows of the other classes as columns."""
    return np.delete(Y, c, axis=0).T


def primal_rlsc(X, Y, lambda1, lambda2):
    """W (d, ℓ) by equation (5), with X (d, n) as in the paper."""
    W = []
    for c in range(len(Y)):
        penalty = sum(np.outer(X @ Y[k], X @ Y[k]) for k in range(len(Y)) if k != c)
        W.append(np.linalg.solve(X @ X.T + lambda1 * np.eye(len(X)) + lambda2 * penalty, X @ Y[c]))
    return np.array(W).T


def primal_lssvm(X, Y, T, lambda1, lambda2):
    """W (d, ℓ) and b by the whole block system (9), T (ℓ, n) = ±1 in the constraints; and the multipliers."""
    ell, n = T.shape
    metrics = [
        np.linalg.inv(np.eye(len(X)) + lambda2 * X @ others(Y, c) @ others(Y, c).T @ X.T) for c in range(ell)
    ]
    Omega = block_diag(*[np.outer(T[c], T[c]) * (X.T @ metrics[c] @ X) + np.eye(n) / lambda1 for c in range(ell)])
    Y_C = block_diag(*[T[c][:, None] for c in range(ell)])  # (nℓ, ℓ)
    system = np.block([[np.zeros((ell, ell)), Y_C.T], [Y_C, Omega]])
    solution = np.linalg.solve(system, np.concatenate([np.zeros(ell), np.ones(n * ell)]))
    b, alpha = solution[:ell], solution[ell:].reshape(ell, n)
    W = np.array([metrics[c] @ X @ (alpha[c] * T[c]) for c in range(ell)]).T
    return W, b, alpha


def signs(y, ell):
    return 2 * np.eye(ell)[y].T - 1


@settings(max_examples=60, deadline=None)
@given(problems(), POWERS, POWERS)
def test_linear_kernel_gives_equation_5(problem, lambda1, lambda2):
    X, y, norms = problem
    alpha = olc.fit_rlsc(X @ X.T, y, norms, lambda1, lambda2)
    expected = X @ primal_rlsc(X.T, codeword_rows(y, norms), lambda1, lambda2)
    np.testing.assert_allclose(X @ X.T @ alpha, expected, rtol=0, atol=1e-8)


@settings(max_examples=60, deadline=None)
@given(problems(), POWERS, POWERS)
def test_linear_kernel_gives_equation_9(problem, lambda1, lambda2):
    X, y, norms = problem
    T = signs(y, len(norms))
    alpha, b = olc.fit_lssvm(X @ X.T, y, norms, lambda1, lambda2)
    W, b_paper, multipliers = primal_lssvm(X.T, codeword_rows(y, norms), T, lambda1, lambda2)
    outputs = X @ X.T @ alpha + b
    np.testing.assert_allclose(outputs, X @ W + b_paper, rtol=0, atol=1e-8)
    np.testing.assert_allclose(b, b_paper, rtol=0, atol=1e-8)
    np.testing.assert_allclose(lambda1 * (1 - T * outputs.T), multipliers, rtol=0, atol=1e-7)


@settings(max_examples=40, deadline=None)
@given(problems(), POWERS, POWERS)
def test_gaussian_kernel_gives_the_dual_systems(problem, lambda1, lambda2):
    X, y, norms = problem
    K, Y, n = gaussian(squared_distances(X), 1.5), codeword_rows(y, norms), len(y)
    alpha = olc.fit_rlsc(K, y, norms, lambda1, lambda2)
    values, b = olc.fit_lssvm(K, y, norms, lambda1, lambda2)
    for c in range(len(norms)):
        B = others(Y, c)
        a = np.linalg.solve((np.eye(n) + lambda2 * B @ B.T) @ K + lambda1 * np.eye(n), Y[c])
        np.testing.assert_allclose(K @ alpha[:, c], K @ a, rtol=0, atol=1e-8)
        K_c = K - lambda2 * K @ B @ np.linalg.solve(np.eye(B.shape[1]) + lambda2 * B.T @ K @ B, B.T @ K)
        bordered = np.block([[np.zeros((1, 1)), np.ones((1, n))], [np.ones((n, 1)), K_c + np.eye(n) / lambda1]])
        solution = np.linalg.solve(bordered, np.concatenate([[0.0], signs(y, len(norms))[c]]))
        np.testing.assert_allclose(K @ values[:, c] + b[c], K_c @ solution[1:] + solution[0], rtol=0, atol=1e-8)


@settings(max_examples=30, deadline=None)
@given(problems(), POWERS, POWERS)
def test_corrected_onelsm_gives_its_dual_system(problem, gamma, lambda2):
    X, y, norms = problem
    K, ell = gaussian(squared_distances(X), 1.5), len(norms)
    Z = np.eye(ell)[y]
    H = np.eye(len(y)) + lambda2 * Z @ Z.T
    expected = K @ np.linalg.solve(K + gamma * np.linalg.inv(H), Z)
    np.testing.assert_allclose(K @ olc.fit_one(K, y, ell, gamma, lambda2), expected, rtol=0, atol=1e-8)


@settings(max_examples=30, deadline=None)
@given(problems(), st.sampled_from(["linear", 2.0**-6, 1.0, 2.0**10]))
def test_sweeps_equal_fits_at_every_corner(problem, kernel):
    X, y, norms = problem
    K, K_test = (
        Z @ X.T if kernel == "linear" else gaussian(squared_distances(Z, X), kernel) for Z in (X, X[::3] + 0.1)
    )
    ell = len(norms)
    path = [(a, b) for a in (2.0**-10, 1.0, 2.0**10) for b in (0.0, 2.0**-10, 2.0**10)][::-1]
    swept = olc.sweep_rlsc(K, K_test, y, norms, path), olc.sweep_lssvm(K, K_test, y, norms, path)
    swept_one = olc.sweep_one(K, K_test, y, ell, path)
    for i, point in enumerate(path):
        assert_close(swept[0][i], K_test @ olc.fit_rlsc(K, y, norms, *point))
        alpha, b = olc.fit_lssvm(K, y, norms, *point)
        assert_close(swept[1][i], K_test @ alpha + b)
        assert_close(swept_one[i], K_test @ olc.fit_one(K, y, ell, *point))


def assert_close(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-6 * np.abs(expected).max() + 1e-9)


@pytest.mark.parametrize("lambda1", [2.0**-10, 2.0**10])
@pytest.mark.parametrize("sigma", [2.0**-3, 2.0**3, 2.0**10])
def test_extreme_corners_keep_their_digits(sigma, lambda1):
    """At λ₂ = 2¹⁰ against an elimination in extended precision: the scores may be a millionth of RLSC's."""
    if np.finfo(np.longdouble).eps > 1e-18:
        pytest.skip("this machine has no extended precision")
    rng = np.random.default_rng(5)
    y = np.repeat([0, 1, 2], 12)
    X = np.round(rng.normal(size=(36, 3)) + 2 * y[:, None], 1)
    K, Y = gaussian(squared_distances(X), sigma), codeword_rows(y, np.ones(3))
    K_test = gaussian(squared_distances(X[::4] + 0.05, X), sigma)
    swept = olc.sweep_rlsc(K, K_test, y, np.ones(3), [(lambda1, 2.0**10)])[0]
    for c in range(3):
        B = others(Y, c).astype(np.longdouble)
        A = (np.eye(36) + 2.0**10 * B @ B.T) @ K.astype(np.longdouble) + lambda1 * np.eye(36)
        exact = K_test.astype(np.longdouble) @ eliminate(A, Y[c].astype(np.longdouble))
        np.testing.assert_allclose(swept[:, c], exact.astype(float), rtol=1e-6, atol=1e-8 * np.abs(swept).max())


def eliminate(A, r):
    """Gaussian elimination with row pivoting in the precision of A."""
    A, r = A.copy(), r.copy()
    n = len(r)
    for k in range(n):
        p = k + int(np.abs(A[k:, k]).argmax())
        A[[k, p]], r[[k, p]] = A[[p, k]], r[[p, k]]
        m = A[k + 1 :, k] / A[k, k]
        A[k + 1 :, k:] -= np.outer(m, A[k, k:])
        r[k + 1 :] -= m * r[k]
    x = np.zeros_like(r)
    for k in range(n - 1, -1, -1):
        x[k] = (r[k] - A[k, k + 1 :] @ x[k + 1 :]) / A[k, k]
    return x


@settings(max_examples=30, deadline=None)
@given(problems(), POWERS, POWERS)
def test_a_heavier_penalty_leaves_less_of_what_it_penalises(problem, lambda1, lambda2):
    X, y, norms = problem
    K, Y = gaussian(squared_distances(X), 1.0), codeword_rows(y, norms)

    def penalised(alpha):
        inner = Y @ K @ alpha  # [c', c] = w_cᵀX·y⁽ᶜ'⁾
        return np.square(inner - np.diag(np.diag(inner))).sum()

    for fit in (olc.fit_rlsc, lambda *args: olc.fit_lssvm(*args)[0]):
        light, heavy = (penalised(fit(K, y, norms, lambda1, factor * lambda2)) for factor in (1, 4))
        assert heavy <= light * (1 + 1e-9)


@pytest.mark.parametrize("rank", [0, 1, 3, 30])
def test_spectrum_rebuilds_the_matrix_at_its_rank(rank):
    L = np.random.default_rng(rank).normal(size=(30, rank)) * 100
    U, s = olc.spectrum(L @ L.T)
    assert U.shape == (30, rank)
    np.testing.assert_allclose(U.T @ U, np.eye(rank), atol=1e-12)
    np.testing.assert_allclose((U * s) @ U.T, L @ L.T, rtol=0, atol=1e-8)


def test_a_kernel_of_zeros_leaves_the_bias_alone():
    K, y = np.zeros((5, 5)), np.array([0, 0, 0, 1, 1])
    alpha, b = olc.fit_lssvm(K, y, np.ones(2), 1.0, 1.0)
    np.testing.assert_allclose(alpha, 0)
    np.testing.assert_allclose(b, [0.2, -0.2])
    np.testing.assert_allclose(olc.sweep_lssvm(K, K[:2], y, np.ones(2), [(1.0, 1.0)]), [[[0.2, -0.2]] * 2])
    np.testing.assert_allclose(olc.sweep_rlsc(K, K[:2], y, np.ones(2), [(1.0, 1.0)]), 0)


@pytest.mark.parametrize("lambda2", [0.0, 1.0])
@pytest.mark.parametrize("lambda1", [1.5e8, 1e10, 1e12])
def test_the_bias_does_not_cancel_where_the_errors_weigh_most(lambda1, lambda2):
    """The constant is a feature of this kernel, so that 1ᵀ(1 − S1) is of the order of 1/λ₁."""
    if np.finfo(np.longdouble).eps > 1e-18:
        pytest.skip("this machine has no extended precision")
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1, 2], 14)
    X = rng.normal(size=(42, 2)) + y[:, None]
    K, Y = (X @ X.T + 1) ** 2, codeword_rows(y, np.ones(3))
    alpha, b = olc.fit_lssvm(K, y, np.ones(3), lambda1, lambda2)
    features = [np.ones(42), *(np.sqrt(2) * X.T), *(X.T**2), np.sqrt(2) * X[:, 0] * X[:, 1]]
    Phi = np.column_stack([*features, np.ones(42)]).astype(np.longdouble)  # the last column is the bias
    for c in range(3):
        V = Phi[:, :-1].T @ others(Y, c)
        A = Phi.T @ Phi
        A[:-1, :-1] += (np.eye(6) + lambda2 * V @ V.T) / np.longdouble(lambda1)
        w = eliminate(A, Phi.T @ (2.0 * (y == c) - 1))
        np.testing.assert_allclose(b[c], float(w[-1]), rtol=1e-3)
        np.testing.assert_allclose(K @ alpha[:, c] + b[c], (Phi @ w).astype(float), rtol=0, atol=1e-6)


def test_a_kernel_that_is_not_semi_definite_loses_its_negative_eigenvalues_only():
    Z = np.random.default_rng(0).normal(size=(60, 3))
    for K in (np.tanh(Z @ Z.T / 10 + 1), (Z @ Z.T - 8) ** 2):
        s, V = np.linalg.eigh(K)
        assert s[0] < -0.1
        U, found = olc.spectrum(K)
        np.testing.assert_allclose((U * found) @ U.T, (V * np.maximum(s, 0)) @ V.T, rtol=0, atol=1e-9)
