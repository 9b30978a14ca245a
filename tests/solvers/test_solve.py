"""One problem, or a path of strengths: what is solved, warned about and refused."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from mcls.errors import McLsError
from mcls.solvers.qp import SOLVERS, BoxQP
from mcls.solvers.qp.active_set import ActiveSet
from mcls.solvers.qp.osqp_backend import OSQP
from tests.solvers.corners import problem, solve_box_qp


@pytest.mark.parametrize("with_bias", [False, True])
@pytest.mark.parametrize("solver", ["active-set", "osqp"])
def test_path_equals_single_solutions_in_the_order_asked_for(solver, with_bias):
    gammas = [1.0, 0.125, 16.0, 4.0]
    for sigma in (0.25, 4.0):
        H, Y = problem("wine", "consistency", sigma)
        A = Y if with_bias else None
        for gamma, result in zip(gammas, BoxQP(H, A=A, solver=solver).path(gammas)):
            alone = solve_box_qp(H, gamma, A=A, solver=solver)
            assert result.kkt_residual <= 1e-6
            assert ((result.beta > 0) == (alone.beta > 0)).all()
            np.testing.assert_allclose(H @ result.beta, H @ alone.beta, atol=1e-10)


@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solution_of_a_path_is_certified_though_a_solver_stops_a_hair_below_a_bound(solver):
    H, _ = problem("iris", "alignment", 1.0)
    gammas = [0.01, 0.1, 1.0, 10.0]
    for gamma, result in zip(gammas, BoxQP(H, solver=solver).path(gammas)):
        assert result.kkt_residual <= 1e-6
        np.testing.assert_allclose(H @ result.beta, H @ solve_box_qp(H, gamma).beta, atol=1e-5)


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


def test_indefinite_matrix_is_refused():
    with pytest.raises(McLsError, match="positive semi-definite"):
        solve_box_qp(np.array([[1.0, 2.0], [2.0, 1.0]]) - 2 * np.eye(2), 1.0, solver="active-set")


def test_unknown_solver_and_bad_gamma():
    with pytest.raises(McLsError, match="did you mean 'osqp'"):
        solve_box_qp(np.eye(2), 1.0, solver="ospq")
    for gamma in (-1.0, np.nan, np.inf):
        with pytest.raises(McLsError, match="gamma"):
            solve_box_qp(np.eye(2), gamma, solver="active-set")
