"""The certificate and the back-ends: against enumeration, against each other, on the data sets of the papers."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from mcls.data import load_dataset
from mcls.errors import McLsError
from mcls.evaluation.scaling import to_range
from mcls.kernels import gaussian, squared_distances
from mcls.labelbooks import label_vectors
from mcls.solvers.qp import SOLVERS, BoxQP, box_kkt_residual, solve_box_qp, solve_path
from mcls.solvers.qp.active_set import ActiveSet
from mcls.solvers.qp.free_system import FreeSystem
from mcls.solvers.qp.osqp_backend import OSQP

BOOKS = ["pm1", "indicators", "alignment", "consistency", "mincorr"]
CORNERS = list(product((2.0**-4, 2.0**4), repeat=2))  # (σ, γ)


def problem(name, labelbook, sigma):
    """H (n, n) and Y (p, n) of a data set."""
    data = load_dataset(name)
    B = label_vectors(labelbook, len(data.classes))
    K = gaussian(squared_distances(to_range(data.X)), sigma)
    return K * (B.T @ B)[np.ix_(data.y, data.y)], B[:, data.y]


def objective(H, beta):
    return 0.5 * beta @ H @ beta - beta.sum()


def random_psd(seed, n, rank):
    V = np.random.default_rng(seed).normal(size=(n, rank))
    return V @ V.T


def enumerate_faces(H, gamma, A=None):
    """Smallest objective over all 3^n faces of the box: brute force, for a handful of samples."""
    n, best = len(H), np.inf
    A = np.zeros((0, n)) if A is None else A
    for face in product((0, 1, 2), repeat=n):  # at zero, free, at γ
        face = np.asarray(face)
        f, beta = np.flatnonzero(face == 1), np.where(face == 2, gamma, 0.0)
        M = np.block([[H[np.ix_(f, f)], A[:, f].T], [A[:, f], np.zeros((len(A), len(A)))]])
        right = np.concatenate([1.0 - H[f] @ beta, -A @ beta])
        beta[f] = np.linalg.lstsq(M, right, rcond=1e-11)[0][: len(f)]
        feasible = (beta > -1e-9).all() and (beta < gamma + 1e-9).all() and np.abs(A @ beta).max(initial=0) < 1e-9
        if feasible:
            best = min(best, objective(H, beta))
    return best


# The certificate --------------------------------------------------------------------------------------------


def test_residual_is_zero_at_a_solution_written_down_by_hand():
    H = np.diag([2.0, 0.5, 1.0])
    assert box_kkt_residual(H, np.array([0.5, 1.0, 1.0]), 1.0) == 0.0


@pytest.mark.parametrize(
    "beta",
    [[0.5, 1.0, 0.9], [0.5, 1.0, 1.0 + 1e-3], [0.0, 1.0, 1.0], [0.5 + 1e-3, 1.0, 1.0], [-0.1, 1, 1], [0, 0, 0]],
)
def test_residual_sees_every_kind_of_error(beta):
    H = np.diag([2.0, 0.5, 1.0])
    assert box_kkt_residual(H, np.array(beta, dtype=float), 1.0) >= 0.99e-3


def test_residual_sees_a_violated_equality_and_wrong_multipliers():
    H, A = np.eye(2), np.array([[1.0, -1.0]])
    assert box_kkt_residual(H, np.array([1.0, 1.0]), 2.0, A, np.zeros(1)) == 0.0
    assert box_kkt_residual(H, np.array([1.0, 1.0]), 2.0, A, np.array([0.1])) == pytest.approx(0.1)
    assert box_kkt_residual(H, np.array([1.0, 1.0 - 1e-3]), 2.0, A, np.zeros(1)) >= 1e-3


def test_residual_of_nan_is_infinite():
    assert box_kkt_residual(np.eye(2), np.array([np.nan, 1.0]), 1.0) == np.inf


@given(st.integers(0, 10**6), st.floats(-3, 3))
def test_residual_does_not_depend_on_the_unit_of_beta(seed, exponent):
    H, t = random_psd(seed, 6, 4), 10.0**exponent
    beta = np.random.default_rng(seed + 1).uniform(0.1, 1, 6)
    A = np.random.default_rng(seed + 2).normal(size=(2, 6))
    nu = np.array([0.3, -0.2])
    here, there = box_kkt_residual(H, beta, 1.0, A, nu), box_kkt_residual(H / t, t * beta, t, A, nu)
    assert there == pytest.approx(here, rel=1e-9)


def test_a_large_gamma_does_not_hide_an_error():
    beta = np.array([0.5, 0.5])  # the solution is (1, 1)
    for gamma in (1.0, 2.0**10, 1e9):
        assert box_kkt_residual(np.eye(2), beta, gamma) >= 0.5


# Against brute force ----------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 5), st.sampled_from([0.05, 0.5, 5.0]))
def test_active_set_finds_the_best_of_all_faces(seed, n, rank, gamma):
    H = random_psd(seed, n, rank) + 1e-3 * np.eye(n)
    result = solve_box_qp(H, gamma, solver="active-set")
    assert result.kkt_residual <= 1e-6
    assert objective(H, result.beta) == pytest.approx(enumerate_faces(H, gamma), rel=1e-6, abs=1e-9)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10**6), st.sampled_from([0.05, 0.5, 5.0]))
def test_active_set_with_equalities_finds_the_best_of_all_faces(seed, gamma):
    H = random_psd(seed, 5, 3) + 1e-3 * np.eye(5)
    A = np.random.default_rng(seed).choice([-1.0, 1.0, 2.0], size=(2, 5))
    result = solve_box_qp(H, gamma, A=np.vstack([A, A.sum(axis=0)]), solver="active-set")
    assert result.kkt_residual <= 1e-6
    assert result.nu.shape == (3,)
    assert objective(H, result.beta) == pytest.approx(enumerate_faces(H, gamma, A), rel=1e-6, abs=1e-8)


# On real data -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("labelbook", BOOKS)
@pytest.mark.parametrize("name", ["iris", "wine", "glass", "vowel"])
def test_certified_and_the_same_for_osqp_and_active_set_at_the_corners_of_the_grid(name, labelbook):
    problems = {sigma: problem(name, labelbook, sigma)[0] for sigma, _ in CORNERS}
    for sigma, gamma in CORNERS:
        H = problems[sigma]
        a, b = (solve_box_qp(H, gamma, solver=solver) for solver in ("active-set", "osqp"))
        assert max(a.kkt_residual, b.kkt_residual) <= 1e-6
        assert objective(H, b.beta) == pytest.approx(objective(H, a.beta), rel=1e-6)
        assert np.abs(H @ (a.beta - b.beta)).max() <= 1e-9  # what a score depends on
        assert ((a.beta == 0) == (b.beta == 0)).all()
        assert (a.solver, b.solver) == ("active-set", "osqp+active-set")


@pytest.mark.parametrize("name, labelbook", [("iris", "pm1"), ("wine", "alignment"), ("glass", "indicators")])
@pytest.mark.parametrize("with_bias", [False, True])
def test_clarabel_agrees(name, labelbook, with_bias):
    for sigma, gamma in CORNERS:
        H, Y = problem(name, labelbook if not with_bias else "consistency", sigma)
        A = Y if with_bias else None
        a, c = (solve_box_qp(H, gamma, A=A, solver=solver) for solver in ("active-set", "cvxpy"))
        assert max(a.kkt_residual, c.kkt_residual) <= 1e-6
        assert objective(H, c.beta) == pytest.approx(objective(H, a.beta), rel=1e-6)


@pytest.mark.parametrize("labelbook", ["alignment", "consistency", "mincorr"])
@pytest.mark.parametrize("name", ["iris", "glass"])
def test_equality_constrained(name, labelbook):
    for sigma, gamma in [*CORNERS, (0.5, 1.0)]:
        H, Y = problem(name, labelbook, sigma)
        a, b = (solve_box_qp(H, gamma, A=Y, solver=solver) for solver in ("active-set", "osqp"))
        for result in (a, b):
            assert result.kkt_residual <= 1e-6
            assert np.abs(Y @ result.beta).max() <= 1e-10 * result.beta.sum()
        assert objective(H, b.beta) == pytest.approx(objective(H, a.beta), rel=1e-9)


def test_solution_is_sparse_and_exactly_at_its_bounds():
    H, _ = problem("glass", "indicators", 1.0)
    for solver in ("active-set", "osqp"):
        beta = solve_box_qp(H, 0.25, solver=solver).beta
        assert 50 < (beta == 0).sum() < len(beta)
        assert (beta == 0.25).sum() > 20


@pytest.mark.parametrize("gamma", [2.0**-10, 2.0**10])
@pytest.mark.parametrize("solver", ["active-set", "osqp"])
def test_far_outside_the_grid(solver, gamma):
    for sigma in (2.0**-4, 2.0**4):
        H, Y = problem("iris", "alignment", sigma)
        for A in (None, Y):
            assert solve_box_qp(H, gamma, A=A, solver=solver).kkt_residual <= 1e-6


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6), st.sampled_from([None, 2, 4]), st.floats(-10, 10), st.booleans())
def test_active_set_settles_on_low_rank_and_duplicate_rows(seed, n_classes, exponent, rounded):
    """Linear kernels in few dimensions with repeated and zero rows: as good as a linear programme."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 120))
    X = rng.normal(size=(n, int(rng.integers(1, 5)))) * 10 ** rng.uniform(-1, 1)
    X = np.round(X) if rounded else X
    B = label_vectors("alignment", n_classes or 3)
    y = np.arange(n) % B.shape[1]
    H = (X @ X.T) * (B.T @ B)[np.ix_(y, y)]
    A = None if n_classes is None else B[:, y]
    qp, upper = BoxQP(H, A, solver="active-set"), np.full(n, 2.0**exponent)
    beta, nu, _ = qp.backend.solve(upper, None, None)  # its own answer, before anyone steps in
    assert box_kkt_residual(H, beta, upper, A, nu) <= 1e-6


def test_samples_of_very_different_size():
    """A polynomial kernel on raw features: diagonal entries from 1 to 1e6."""
    X = np.random.default_rng(0).normal(size=(60, 3)) * 10.0 ** np.linspace(-1, 1, 60)[:, None]
    H = (1 + X @ X.T) ** 2 * np.where(np.arange(60)[:, None] % 2 == np.arange(60) % 2, 1.0, -1.0)
    assert H.diagonal().max() > 1e4 * H.diagonal().min()
    for gamma in (0.01, 1.0):
        a, c = (solve_box_qp(H, gamma, solver=solver) for solver in ("active-set", "cvxpy"))
        assert (a.solver, a.kkt_residual <= 1e-6) == ("active-set", True)
        assert objective(H, a.beta) == pytest.approx(objective(H, c.beta), rel=1e-6)


@pytest.mark.parametrize("solver", ["active-set", "osqp"])
def test_duplicate_rows_share_one_reproducible_solution(solver):
    H, _ = problem("iris", "pm1", 0.5)
    twice = np.tile(H, (2, 2))  # singular: only the sum over the two copies is determined
    result = solve_box_qp(twice, 1.0, solver=solver)
    first, second = result.beta[: len(H)], result.beta[len(H) :]
    assert result.kkt_residual <= 1e-6
    np.testing.assert_allclose(first, second, atol=1e-5)  # H + εI shares evenly
    np.testing.assert_allclose(H @ (first + second), H @ solve_box_qp(H, 2.0, solver=solver).beta, atol=1e-7)


def test_free_sets_that_differ_little_are_solved_by_borders_of_one_factor(monkeypatch):
    H, _ = problem("vowel", "alignment", 0.5)
    ridge, rng = np.full(len(H), 1e-3), np.random.default_rng(0)
    system, factors = FreeSystem(H, ridge), []
    keep = FreeSystem._keep
    monkeypatch.setattr(FreeSystem, "_keep", lambda self, f: (factors.append(len(f)), keep(self, f)))
    free = rng.random(len(H)) < 0.7
    for flips in (0, 1, 5, 0, 12, 3):
        free[rng.choice(len(H), flips, replace=False)] ^= True
        f = np.flatnonzero(free)
        for b in (rng.normal(size=len(f)), rng.normal(size=(len(f), 3))):
            expected = np.linalg.solve(H[np.ix_(f, f)] + np.diag(ridge[f]), b)
            np.testing.assert_allclose(system.solve(f, b), expected, atol=1e-8 * np.abs(expected).max())
    assert len(factors) == 1
    system.solve(f, b, fresh=True)
    assert len(factors) == 2


# Paths and boxes --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("with_bias", [False, True])
@pytest.mark.parametrize("solver", ["active-set", "osqp"])
def test_path_equals_single_solutions_in_the_order_asked_for(solver, with_bias):
    gammas = [1.0, 0.125, 16.0, 4.0]
    for sigma in (0.25, 4.0):
        H, Y = problem("wine", "consistency", sigma)
        A = Y if with_bias else None
        for gamma, result in zip(gammas, solve_path(H, gammas, A=A, solver=solver)):
            alone = solve_box_qp(H, gamma, A=A, solver=solver)
            assert result.kkt_residual <= 1e-6
            assert ((result.beta > 0) == (alone.beta > 0)).all()
            np.testing.assert_allclose(H @ result.beta, H @ alone.beta, atol=1e-10)


@pytest.mark.parametrize("solver", SOLVERS)
def test_upper_bound_zero_takes_a_sample_out(solver):
    H, _ = problem("iris", "alignment", 1.0)
    kept = np.arange(len(H)) % 5 != 0
    masked = solve_box_qp(H, np.where(kept, 0.5, 0.0), solver=solver)
    alone = solve_box_qp(H[np.ix_(kept, kept)], 0.5, solver=solver)
    assert not masked.beta[~kept].any()
    np.testing.assert_allclose(masked.beta[kept], alone.beta, atol=1e-5)


def test_start_changes_the_way_not_the_end():
    H, _ = problem("glass", "alignment", 2.0)
    cold = solve_box_qp(H, 1.0, solver="active-set")
    rng = np.random.default_rng(0)
    for start in (cold.beta, rng.uniform(-1, 2, len(H)), np.full(len(H), 1.0)):
        warm = solve_box_qp(H, 1.0, solver="active-set", start=start)
        assert ((warm.beta > 0) == (cold.beta > 0)).all()
        np.testing.assert_allclose(H @ warm.beta, H @ cold.beta, atol=1e-11)
    assert solve_box_qp(H, 1.0, solver="active-set", start=cold.beta).iterations <= 2


# What happens when a solver fails ---------------------------------------------------------------------------


def stuck(self, upper, start, nu):
    return np.zeros(len(upper)), np.zeros(0), 7


def test_osqp_steps_in_when_the_active_set_does_not_settle(monkeypatch):
    H, _ = problem("iris", "pm1", 1.0)
    expected = solve_box_qp(H, 1.0, solver="active-set").beta
    monkeypatch.setattr(ActiveSet, "solve", stuck)
    result = solve_box_qp(H, 1.0, solver="active-set")
    assert result.solver == "active-set+osqp"
    assert result.kkt_residual <= 1e-6
    np.testing.assert_allclose(result.beta, expected, atol=1e-4)


@pytest.mark.parametrize("solver", ["active-set", "osqp"])
def test_a_solution_out_of_tolerance_is_warned_about(monkeypatch, solver):
    H, _ = problem("iris", "pm1", 1.0)
    monkeypatch.setattr(ActiveSet, "solve", stuck)
    monkeypatch.setattr(OSQP, "solve", stuck)
    with pytest.warns(ConvergenceWarning, match="KKT residual"):
        assert solve_box_qp(H, 1.0, solver=solver).kkt_residual > 1e-6


def test_a_loose_oracle_is_finished():
    H, _ = problem("iris", "alignment", 4.0)
    qp = BoxQP(H, solver="cvxpy", tol=1e-6)
    qp.backend.solve = lambda upper, start, nu: (np.full(len(upper), 0.5 * upper[0]), np.zeros(0), 1)
    result = qp.solve(1.0)
    assert result.solver == "cvxpy+active-set"
    assert result.kkt_residual <= 1e-6


def test_indefinite_matrix_is_refused():
    with pytest.raises(McLsError, match="positive semi-definite"):
        solve_box_qp(np.array([[1.0, 2.0], [2.0, 1.0]]) - 2 * np.eye(2), 1.0, solver="active-set")


def test_unknown_solver_and_bad_gamma():
    with pytest.raises(McLsError, match="did you mean 'osqp'"):
        solve_box_qp(np.eye(2), 1.0, solver="ospq")
    for gamma in (-1.0, np.nan, np.inf):
        with pytest.raises(McLsError, match="gamma"):
            solve_box_qp(np.eye(2), gamma, solver="active-set")
