"""Faces of a box with equality constraints Aβ = 0: the solution of a neighbour tells the face, one system the rest.

With F free, U at the bound u and the others at zero, the minimiser over the face and its multipliers ν solve

    [M_FF  A_Fᵀ] [x]   [c_F − M_FU u_U]
    [A_F    0  ] [ν] = [   −A_U u_U   ],      M = H + ε,

by the factor of M_FF that the active set keeps. Where x stays inside and the gradient pulls nothing else inside, that
is the solution. From one γ to the next the face of Szedmak's problem mostly stays (its smallest class is at its bound
and holds all the others), and a fold changes little. What violates a bound or a sign changes sides, as long as there
are fewer of them each time: the plain primal–dual active set, which may cycle; then the method of multipliers, which
does not, has to do it.
"""

from __future__ import annotations

import numpy as np

from mcls.solvers.qp.free_system import HAIR, FreeSystem, rounding

Array = np.ndarray

_STEPS = 15


def solve_by_faces(
    system: FreeSystem, A: Array, c: Array, upper: Array, start: Array
) -> tuple[Array, Array, int] | None:
    """β (n,), ν (m,) and the faces seen, from the face of ``start``; None where that does not lead to the solution."""
    side = np.where(start <= 0, -1, np.where(start >= upper, 1, 0))
    fewest = len(upper)
    for step in range(1, _STEPS + 1):
        f = np.flatnonzero(side == 0)
        if not len(f):
            return None
        beta = np.where(side > 0, upper, 0.0)
        A_F = A[:, f]
        x = np.zeros(len(f))
        nu = np.zeros(len(A))
        g = system.gradient(beta, c)
        Y = system.solve(f, np.column_stack([g[f], A_F.T]))
        S, y, Y = A_F @ Y[:, 1:], Y[:, 0], Y[:, 1:]
        for refined in (False, True):
            if refined:
                y = system.solve(f, g[f])
            try:
                more = np.linalg.solve(S, A @ beta - A_F @ y)
            except np.linalg.LinAlgError:
                return None
            nu += more
            x = x - y - Y @ more
            beta[f] = x
            g = system.gradient(beta, c) + A.T @ nu
            # Beside a near duplicate a gradient of 1e-14 decides whether β is zero, and a bias counts what is not.
            tol = rounding(system.lengths, beta, 1e-15)
            inside = (x > HAIR * x.max()) & (x < upper[f] * (1 - HAIR))
            exact = (np.abs(g[f]) <= tol[f]).all() and np.abs(A @ beta).max() <= 1e-14 * np.abs(
                A
            ).max() * beta.sum()
            if exact or not inside.all():
                break
        moved = side.copy()
        moved[f[~inside]] = np.where(x[~inside] > 0.5 * upper[f[~inside]], 1, -1)
        moved[(upper > 0) & (side != 0) & (side * g > tol)] = 0
        wrong = int((moved != side).sum())
        if not wrong:
            return (beta, nu, step) if exact else None
        if wrong >= fewest:
            return None
        side, fewest = moved, wrong
    return None
