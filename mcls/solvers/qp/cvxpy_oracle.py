"""cvxpy with Clarabel: an independent interior-point solution, for checking the other back-ends."""

from __future__ import annotations

import numpy as np

from mcls.solvers.linear import independent_rows

Array = np.ndarray


class Cvxpy:
    """The oracle for one H (n, n) and A (m, n): slow, sharing nothing with the others."""

    name = "cvxpy"

    def __init__(self, H: Array, A: Array | None = None) -> None:
        import cvxpy as cp  # slow to import, and needed by nobody else

        n = len(H)
        self.upper = cp.Parameter(n, nonneg=True)
        self.beta = cp.Variable(n)
        self.equal: list[cp.Constraint] = []
        self.U = np.zeros((0, 0))
        if A is not None and A.size:
            self.U, A_r = independent_rows(A)
            self.equal = [A_r @ self.beta == 0]
        objective = 0.5 * cp.quad_form(self.beta, cp.psd_wrap(H)) - cp.sum(self.beta)
        box = [self.beta >= 0, self.beta <= self.upper]
        self.problem = cp.Problem(cp.Minimize(objective), box + self.equal)

    def solve(self, upper: Array, start: Array | None, nu: Array | None) -> tuple[Array, Array, int]:
        """See :class:`mcls.solvers.qp.base.Backend`; an interior-point method has no use for a start."""
        from cvxpy.error import SolverError

        self.upper.value = upper
        for eps in (1e-12, 1e-9):  # the tighter one is sometimes out of reach, and an error for cvxpy
            try:
                self.problem.solve(solver="CLARABEL", tol_gap_abs=eps, tol_gap_rel=eps, tol_feas=eps)
                break
            except SolverError:
                continue
        else:
            return np.zeros(len(upper)), np.zeros(len(self.U)), 0
        beta = np.clip(np.nan_to_num(self.beta.value), 0.0, upper)
        nu = self.U @ np.asarray(self.equal[0].dual_value) if self.equal else np.zeros(0)
        return beta, nu, int(self.problem.solver_stats.num_iters)
