"""The certificate and the back-ends: against enumeration, against each other, on the data sets of the papers."""

import numpy as np
import pytest

from tests.solvers.corners import CORNERS, problem, solve_box_qp
from tests.solvers.enumeration import objective

BOOKS = ["pm1", "indicators", "alignment", "consistency", "mincorr"]


# The certificate --------------------------------------------------------------------------------------------


# Against brute force ----------------------------------------------------------------------------------------


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


# Paths and boxes --------------------------------------------------------------------------------------------


# What happens when a solver fails ---------------------------------------------------------------------------
