"""cvxpy's interior point beside the other solvers."""

import numpy as np
import pytest

from mcls.solvers.qp import BoxQP
from tests.solvers.corners import CORNERS, problem, solve_box_qp
from tests.solvers.enumeration import objective


@pytest.mark.parametrize("name, labelbook", [("iris", "pm1"), ("wine", "alignment"), ("glass", "indicators")])
@pytest.mark.parametrize("with_bias", [False, True])
def test_clarabel_agrees(name, labelbook, with_bias):
    for sigma, gamma in CORNERS:
        H, Y = problem(name, labelbook if not with_bias else "consistency", sigma)
        A = Y if with_bias else None
        a, c = (solve_box_qp(H, gamma, A=A, solver=solver) for solver in ("active-set", "cvxpy"))
        assert max(a.kkt_residual, c.kkt_residual) <= 1e-6
        assert objective(H, c.beta) == pytest.approx(objective(H, a.beta), rel=1e-6)


def test_a_loose_oracle_is_finished():
    H, _ = problem("iris", "alignment", 4.0)
    qp = BoxQP(H, solver="cvxpy", tol=1e-6)
    qp.backend.solve = lambda upper, start, nu: (np.full(len(upper), 0.5 * upper[0]), np.zeros(0), 1)
    result = qp.solve(1.0)
    assert result.solver == "cvxpy+active-set"
    assert result.kkt_residual <= 1e-6
