"""Box-constrained quadratic programmes: OSQP, an active set, cvxpy as the oracle, and one certificate for all."""

from mcls.solvers.qp.base import SOLVERS, QPResult, box_kkt_residual
from mcls.solvers.qp.grid import solve_grid
from mcls.solvers.qp.solve import BoxQP

__all__ = ["SOLVERS", "BoxQP", "QPResult", "box_kkt_residual", "solve_grid"]
