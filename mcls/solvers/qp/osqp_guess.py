"""A first guess for a whole path by OSQP: every H in one problem, large ones by their leading columns.

Only where the active set begins depends on it, so H may be rough: H ≈ VVᵀ + D with V (n, r) from a pivoted Cholesky
factorisation and D the diagonal that is left. With z = Vᵀβ the quadratic form βᵀDβ + zᵀz is diagonal, and a
factorisation costs nr² operations, not n³/3; an iteration 4nr. One set-up serves every γ: only bounds change.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import osqp
from scipy import sparse

Array = np.ndarray

#: Iterations that a guess may take, and how often OSQP looks whether they are enough.
ITERATIONS, CHECKED = 20, 5
#: What a guess is solved to.
TOLERANCE = 1e-2
#: A smaller H is given as it is; a larger one by at most so many columns.
_DENSE, _COLUMNS = 100, 30


class Guess:
    """min ½βᵀHβ − 1ᵀβ over boxes, for block-diagonal H, roughly."""

    def __init__(self, blocks: Sequence[Array]) -> None:
        self.ends = np.cumsum([len(H) for H in blocks])
        n = int(self.ends[-1])
        P, V = [], []
        for H in blocks:
            if len(H) <= _DENSE:
                P.append(sparse.csc_matrix(H))
                V.append(np.zeros((len(H), 0)))
            else:
                columns = leading_columns(H, _COLUMNS, TOLERANCE)
                P.append(sparse.diags(np.maximum(H.diagonal() - np.square(columns).sum(axis=1), 0.0)))
                V.append(columns)
        r = sum(columns.shape[1] for columns in V)
        I = sparse.identity  # noqa: E741
        Z = sparse.hstack([sparse.block_diag(V).T, -I(r)]) if r else sparse.csc_matrix((0, n))
        self.zeros = np.zeros(r)
        self.problem = osqp.OSQP()
        self.problem.setup(
            P=sparse.triu(sparse.block_diag([*P, I(r)]), format="csc"),
            q=np.append(-np.ones(n), self.zeros),
            A=sparse.vstack([sparse.hstack([I(n), sparse.csc_matrix((n, r))]), Z], format="csc"),
            l=np.zeros(n + r),
            u=np.append(np.ones(n), self.zeros),
            eps_abs=TOLERANCE,
            eps_rel=TOLERANCE,
            max_iter=ITERATIONS,
            check_termination=CHECKED,
            adaptive_rho=0,  # a step size that adapts would factorise again
            polishing=False,
            warm_starting=True,
            verbose=False,
        )

    def solve(self, uppers: Sequence[Array]) -> list[Array]:
        """β (n_b,) of each block for its bounds, from OSQP's last point."""
        upper = np.concatenate(uppers)
        self.problem.update(l=np.zeros(len(upper) + len(self.zeros)), u=np.append(upper, self.zeros))
        solution = self.problem.solve(raise_error=False)
        beta = np.clip(np.nan_to_num(solution.x[: len(upper)]), 0.0, upper)
        return np.split(beta, self.ends[:-1])


def leading_columns(H: Array, most: int, tol: float) -> Array:
    """V (n, r) of a Cholesky factorisation whose pivot is the largest diagonal entry left, until that is small."""
    left = H.diagonal().copy()
    enough = tol * left.max(initial=0.0)
    V = np.zeros((len(H), min(most, len(H))), order="F")
    for j in range(V.shape[1]):
        pivot = int(left.argmax())
        if left[pivot] <= enough:
            return V[:, :j]
        V[:, j] = (H[pivot] - V[:, :j] @ V[pivot, :j]) / np.sqrt(left[pivot])
        left -= np.square(V[:, j])
    return V
