"""OSQP: the operator-splitting solver, set up once for (H, A); only the bounds change along γ and over folds."""

from __future__ import annotations

import numpy as np
import osqp
from scipy import sparse

from mcls.solvers.linear import independent_rows

Array = np.ndarray

#: Iterations that a guess may take.
_GUESS = 50


class OSQP:
    """The OSQP back-end for one H (n, n) and A (m, n).

    With ``eps`` None it makes a guess: to a hundredth, at most ``_GUESS`` iterations, with one factorisation for every
    γ (a step size that adapts would factorise again). The caller finishes with the active set, which is exact; so
    OSQP's own polishing is off, too. Its word "solved" is no proof; the caller certifies β.
    """

    name = "osqp"

    def __init__(self, H: Array, A: Array | None = None, *, eps: float | None = None) -> None:
        n = len(H)
        self.H = H
        self.U, self.A = np.zeros((0, 0)), np.zeros((0, n))
        rows = sparse.identity(n, format="csc")
        if A is not None and A.size:
            self.U, self.A = independent_rows(A)
            rows = sparse.vstack([rows, sparse.csc_matrix(self.A)], format="csc")
        self.zeros = np.zeros(len(self.A))
        self.lower = np.zeros(n + len(self.zeros))
        how: dict[str, float] = {"eps_abs": 1e-2, "eps_rel": 1e-2, "max_iter": _GUESS}
        how |= {"adaptive_rho": 0, "check_termination": 5}
        if eps is not None:
            how = {"eps_abs": eps, "eps_rel": eps, "max_iter": 4_000}
        self.problem = osqp.OSQP()
        self.problem.setup(
            P=sparse.triu(sparse.csc_matrix(H), format="csc"),
            q=-np.ones(n),
            A=rows,
            l=self.lower,
            u=np.append(np.ones(n), self.zeros),
            polishing=False,
            warm_starting=True,
            verbose=False,
            **how,
        )

    def solve(self, upper: Array, start: Array | None, nu: Array | None) -> tuple[Array, Array, int]:
        """See :class:`mcls.solvers.qp.base.Backend`; without a start OSQP goes on from its own last point."""
        n = len(upper)
        self.problem.update(l=self.lower, u=np.append(upper, self.zeros))
        if start is not None:
            beta = np.clip(start, 0.0, upper)
            multipliers = self.zeros if nu is None or not len(self.A) else self.U.T @ nu
            bounds = 1.0 - self.H @ beta - self.A.T @ multipliers  # what makes the gradient zero
            self.problem.warm_start(x=beta, y=np.append(bounds, multipliers))
        solution = self.problem.solve(raise_error=False)
        beta = np.clip(np.nan_to_num(solution.x), 0.0, upper)
        multipliers = np.nan_to_num(solution.y[n:])
        return beta, self.U @ multipliers if len(self.zeros) else np.zeros(0), int(solution.info.iter)
