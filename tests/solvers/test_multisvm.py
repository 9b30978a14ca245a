"""The single-machine SVMs against a modelling language, scikit-learn and their own certificate."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC, LinearSVC

from mcls.data import load_dataset
from mcls.errors import McLsError
from mcls.evaluation.scaling import to_range
from mcls.kernels import gaussian, squared_distances
from mcls.solvers.multisvm import MARGINS, objectives, solve

LOSSES = sorted(MARGINS)


def problem(seed, n, n_classes, sigma=1.0, overlap=1.0):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)])
    X = rng.normal(size=(n, 3)) * overlap + rng.normal(size=(n_classes, 3))[y]
    return gaussian(squared_distances(X), sigma), y


def modelled(K, y, n_classes, C, loss):
    """The primal problem as the papers print it, on the features of an exact factor K = ZZᵀ."""
    eigenvalues, vectors = np.linalg.eigh(K)
    Z = vectors * np.sqrt(np.maximum(eigenvalues, 0))
    W = cp.Variable((Z.shape[1], n_classes))
    F = Z @ W
    slack = 0
    for i, label in enumerate(y):
        violations = [MARGINS[loss] + F[i, m] - F[i, label] for m in range(n_classes) if m != label]
        slack += sum(map(cp.pos, violations)) if loss == "weston-watkins" else cp.pos(cp.maximum(*violations, 0))
    objective = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(W) + C * slack))
    return objective.solve(solver=cp.CLARABEL)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("C", [0.05, 1.0, 30.0])
@pytest.mark.parametrize(("seed", "n", "n_classes", "sigma"), [(0, 14, 3, 1.0), (1, 18, 4, 0.3), (2, 12, 3, 8.0)])
def test_the_objective_is_that_of_a_modelling_language(loss, C, seed, n, n_classes, sigma):
    K, y = problem(seed, n, n_classes, sigma)
    optimum = modelled(K, y, n_classes, C, loss)
    found = solve(K, y, n_classes, C, loss)
    assert found.primal == pytest.approx(optimum, rel=1e-5)
    # the certificate brackets the optimum
    assert found.dual <= optimum * (1 + 1e-6)
    assert found.primal >= optimum * (1 - 1e-6)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(6, 30),
    st.integers(2, 6),
    st.sampled_from([0.05, 0.5, 3.0, 50.0]),
    st.sampled_from([1e-4, 0.1, 1.0, 20.0, 1e4]),
    st.sampled_from(LOSSES),
)
def test_the_gap_is_reached_at_a_feasible_point_and_recomputes(seed, n, n_classes, sigma, C, loss):
    K, y = problem(seed, n, n_classes, sigma)
    found = solve(K, y, n_classes, C, loss)
    assert found.gap <= 1e-7
    assert objectives(K, found.A, y, C, loss) == pytest.approx((found.primal, found.dual), rel=1e-6)
    label = np.eye(n_classes, dtype=bool)[y]
    others = found.A[~label]
    tiny = 1e-9 * C
    assert np.abs(found.A.sum(axis=1)).max() <= tiny
    assert others.max() <= tiny
    if loss == "weston-watkins":
        assert others.min() >= -C - tiny
    else:
        assert found.A[label].max() <= C + tiny


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", ["iris", "glass"])
def test_corners_of_the_papers_grid_are_solved(loss, name):
    data = load_dataset(name)
    D2 = squared_distances(to_range(data.X))
    for sigma in (2**-4, 1.0, 2**4):
        K = gaussian(D2, sigma)
        for C in (2**-4, 2**4):
            assert solve(K[::2, ::2], data.y[::2], data.y.max() + 1, C, loss).gap <= 1e-7


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_two_classes_are_the_binary_svm_without_bias(C):
    K, y = problem(5, 40, 2)
    t = np.where(y == 1, 1.0, -1.0)

    def binary_objective(C):
        # SVC has a bias. On the data and its mirror image (−φ(x), −t) the best bias is zero, and each row counts twice.
        mirrored = np.block([[K, -K], [-K, K]])
        svc = SVC(C=C / 2, kernel="precomputed", tol=1e-9).fit(mirrored, np.r_[t, -t])
        assert svc.intercept_[0] == pytest.approx(0, abs=1e-6)
        beta = np.zeros(80)
        beta[svc.support_] = svc.dual_coef_[0]
        beta = beta[:40] - beta[40:]
        return 0.5 * beta @ K @ beta + C * np.maximum(0, 1 - t * (K @ beta)).sum()

    assert solve(K, y, 2, C, "weston-watkins").primal == pytest.approx(2 * binary_objective(C), rel=1e-5)
    assert solve(K, y, 2, C, "crammer-singer").primal == pytest.approx(0.5 * binary_objective(2 * C), rel=1e-5)


@pytest.mark.parametrize("C", [0.01, 1.0])
def test_crammer_singer_with_a_linear_kernel_is_liblinears(C):
    data = load_dataset("iris")
    X, y = to_range(data.X), data.y
    svc = LinearSVC(multi_class="crammer_singer", fit_intercept=False, C=C, tol=1e-10, max_iter=100_000)
    W = svc.fit(X, y).coef_
    F = X @ W.T
    loss = (F + 1 - np.eye(3)[y]).max(axis=1) - F[np.arange(len(y)), y]
    theirs = 0.5 * (W**2).sum() + C * loss.sum()
    assert solve(X @ X.T, y, 3, C, "crammer-singer").primal == pytest.approx(theirs, rel=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
def test_identical_rows_and_a_kernel_of_zeros_are_no_trouble(loss):
    K, y = problem(3, 12, 3)
    twice = np.tile(np.arange(12), 2)
    y2 = np.r_[y, (y + 1) % 3]  # the same rows again with other labels
    assert solve(K[np.ix_(twice, twice)], y2, 3, 1.0, loss).gap <= 1e-7
    nothing = solve(np.zeros((12, 12)), y, 3, 1.0, loss)
    assert nothing.primal == pytest.approx(12 * (4 if loss == "weston-watkins" else 1))


def test_an_indefinite_kernel_is_refused():
    K = np.array([[0.0, 1.0, 0.2], [1.0, 0.0, 0.2], [0.2, 0.2, 0.0]])
    with pytest.raises(McLsError, match="positive semi-definite"):
        solve(K, np.array([0, 1, 2]), 3, 100.0, "crammer-singer")
