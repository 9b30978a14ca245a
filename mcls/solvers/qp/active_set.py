"""Active set: a monotone projected Newton method on the box, multipliers for the equality constraints.

The active set is what is at a bound. Fixing it leaves a linear system in the free variables F, solved by a
Cholesky factorisation of H_FF. The plain primal–dual active set takes that solution whole and moves whatever
violates a bound or a sign to the other side; from the right neighbourhood it ends in two or three steps, but
on these problems it cycles for most widths σ ≥ 1/4. The method here takes the same Newton step and makes it
safe, which costs little and makes every step decrease the objective:

1. The free set is the interior plus those variables at a bound which the gradient pulls inside, the strongest
   first, and at most a quarter of the support at once: the free set of a wide kernel stays small.
2. A variable freed at a bound may want to leave the box at once: it is fixed again, and the system solved again.
3. The step is bent along the box (projected) and the best of a dozen lengths is taken. The shortest of them
   reaches the first bound met: the step of the textbook active-set method, which always decreases the objective.

Each free set has one minimiser, the objective strictly decreases, and so the method ends. Started from the
solution of a neighbouring γ or of the whole data set, it needs a handful of steps. H may be singular: the
problem solved is that of H + εI (see ``base``), whose solution is unique.

Equality constraints come by the method of multipliers: minimise with H + ρAᵀA and 1 − Aᵀν over the box, then
move ν along Aβ until Aβ = 0. The step of ν is Newton's on the dual where it is safe, ρAβ otherwise.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from mcls.errors import McLsError
from mcls.solvers.qp.base import RIDGE, independent_rows

Array = np.ndarray

#: The gradient of free variables, and the wrong sign of others, is brought below this (the margin is 1).
_GRADIENT = 1e-13
#: Fewest variables that may be freed at once.
_FREED = 16
#: Lengths tried along the bent step.
_LENGTHS = 12
#: Largest gradient ε‖β‖ that the ridge may leave; beyond (γ in the hundreds) proximal steps take it away.
_RIDGE_GRADIENT = 1e-7


class FreeSystem:
    """(H_FF + εI)x = b for one H and many free sets F, keeping the last factorisation.

    The last free set often comes back: in the last Newton step, with the next multipliers, at the next γ.
    """

    def __init__(self, H: Array) -> None:
        self.H = H
        self.key: tuple[float, bytes] | None = None
        self.factor = np.zeros((0, 0))

    def solve(self, f: Array, ridge: float, b: Array) -> Array:
        """x (|F|,) or (|F|, k) for the sorted indices f (|F|,)."""
        key = (ridge, f.tobytes())
        if key != self.key:
            self.factor, self.key = _factor(self.H[f].take(f, axis=1), ridge), key
        x, _ = dpotrs(self.factor, b, lower=1)
        return x


class ActiveSet:
    """The active-set back-end for one H (n, n) and A (m, n)."""

    name = "active-set"

    def __init__(self, H: Array, A: Array | None = None) -> None:
        self.diagonal = H.diagonal()
        self.U: Array | None = None
        if A is not None and A.size:
            self.U, self.A = independent_rows(A)
            AA = self.A.T @ self.A
            self.rho = float(self.diagonal.max()) / (float(AA.diagonal().max()) or 1.0)
            H = H + self.rho * AA
        self.system = FreeSystem(H)

    def solve(self, upper: Array, start: Array | None, nu: Array | None) -> tuple[Array, Array, int]:
        """See :class:`mcls.solvers.qp.base.Backend`."""
        ridge = RIDGE * float(self.diagonal[upper > 0].max(initial=0.0))
        beta = np.zeros(len(upper)) if start is None else np.clip(start, 0.0, upper)
        centre = np.zeros(len(upper))
        steps = 0
        multipliers = np.zeros(0)
        if self.U is not None:
            multipliers = np.zeros(self.U.shape[1]) if nu is None else self.U.T @ nu
        for _ in range(10):
            # εI pulls towards the centre: first zero, then, where that is felt, the last solution (proximal point)
            c = 1.0 + ridge * centre
            if self.U is None:
                beta, used = projected_newton(self.system, c, upper, ridge, beta)
            else:
                beta, multipliers, used = self._multipliers(c, upper, ridge, beta, multipliers)
            steps += used
            if ridge * np.abs(beta - centre).max(initial=0.0) <= _RIDGE_GRADIENT:
                break
            centre = beta
        return beta, multipliers if self.U is None else self.U @ multipliers, steps

    def _multipliers(
        self, c: Array, upper: Array, ridge: float, beta: Array, nu: Array
    ) -> tuple[Array, Array, int]:
        """Minimise over the box and Aβ = 0 by the method of multipliers: β, ν and the Newton steps taken."""
        A, steps, last = self.A, 0, np.inf
        size = float(np.abs(A).max(initial=0.0))
        for _ in range(200):
            beta, used = projected_newton(self.system, c - A.T @ nu, upper, ridge, beta)
            steps += used
            r = A @ beta
            gap = float(np.abs(r).max())
            nu_plain = nu + self.rho * r  # makes Hβ − c + Aᵀν of the plain H what the augmented one was
            if gap <= 1e-14 * size * beta.sum():
                break
            nu = self._newton_dual(beta, upper, ridge, nu, r) if gap < 0.5 * last else nu_plain
            last = gap
        return beta, nu_plain, steps

    def _newton_dual(self, beta: Array, upper: Array, ridge: float, nu: Array, r: Array) -> Array:
        """ν + S⁻¹r with S = A_F H_FF⁻¹ A_Fᵀ: where β moves by −H_FF⁻¹A_Fᵀδ, this makes Aβ zero at once.

        S is at most 1/ρ. Where it is next to nothing β hardly answers to ν until the free set changes: the
        step is bounded there.
        """
        f = np.flatnonzero((beta > 0) & (beta < upper))
        S = np.zeros((len(nu), len(nu)))
        if len(f):
            A_F = self.A[:, f]
            S = A_F @ self.system.solve(f, ridge, A_F.T)
        eigenvalues, Q = np.linalg.eigh(S)
        floor = 1e-3 / self.rho
        steps = np.where(eigenvalues > floor, 1.0 / np.maximum(eigenvalues, floor), self.rho)
        return nu + Q @ (steps * (Q.T @ r))


def projected_newton(system: FreeSystem, c: Array, upper: Array, ridge: float, beta: Array) -> tuple[Array, int]:
    """Minimise ½βᵀ(H + εI)β − cᵀβ over 0 ≤ β ≤ upper from a point of the box: β (n,) and the steps taken.

    It stops where the gradient is at rounding level, or after a number of steps no problem of ours comes near;
    the caller certifies what is returned.
    """
    H = system.H
    H_largest = float(H.diagonal().max(initial=0.0))
    beta = beta.copy()
    g = H @ beta + ridge * beta - c
    first, still = True, 0
    limit = 1000 + 10 * len(beta)
    for step in range(limit):
        interior = (beta > 0) & (beta < upper)
        pull = np.where(beta <= 0, -g, g)  # at a bound: how strongly the gradient pulls inside
        pull[interior | (upper <= 0)] = 0.0
        tol = max(_GRADIENT, 4 * np.finfo(float).eps * H_largest * float(beta.sum()))
        settled = not interior.any() or float(np.abs(g[interior]).max()) <= tol
        pulled = float(pull.max(initial=0.0)) > tol
        # The free set stands still: one more step on it takes the rounding out of β, a third would find nothing.
        if not pulled and (still >= 2 or (settled and (still >= 1 or not interior.any()))):
            return beta, step
        if not pulled or (first and not settled):
            # The first step keeps the free set of the start: it is what the neighbouring problem knows.
            f = np.flatnonzero(interior)
        else:
            f = _freed(interior, pull, tol, int((beta > 0).sum()))
        first = False
        f, p = _newton_direction(system, g, beta, upper, ridge, f)
        if pulled and settled and interior[f].all():
            # Everything freed wants out again. The strongest alone does not, the interior being at its minimum.
            f = np.sort(np.append(np.flatnonzero(interior), int(pull.argmax())))
            f, p = _newton_direction(system, g, beta, upper, ridge, f)
        moved = _bent_step(H, f, g[f], beta[f], upper[f], p, ridge) if len(f) else None
        if moved is None:  # no decrease above rounding is left
            return beta, step
        d = moved - beta[f]
        beta[f] = moved
        still = still + 1 if not pulled and ((moved > 0) & (moved < upper[f])).all() else 0
        if still:
            g = H @ beta + ridge * beta - c
        else:
            g += d @ H[f]
            g[f] += ridge * d
    return beta, limit


def _freed(interior: Array, pull: Array, tol: float, support: int) -> Array:
    """Indices of the interior and of the strongest pulled variables, at most a quarter of the support."""
    inward = np.flatnonzero(pull > tol)
    most = max(_FREED, support // 4)
    if len(inward) > most:
        inward = inward[np.argpartition(-pull[inward], most)[:most]]
    free = interior.copy()
    free[inward] = True
    return np.flatnonzero(free)


def _newton_direction(
    system: FreeSystem, g: Array, beta: Array, upper: Array, ridge: float, f: Array
) -> tuple[Array, Array]:
    """Newton direction over a free set without the variables that it would push out of the box at once.

    Returns the free set F and p (|F|,); both empty when nothing is left to move.
    """
    while len(f):
        p = -system.solve(f, ridge, g[f])
        b = beta[f]
        out = ((b <= 0) & (p < 0)) | ((b >= upper[f]) & (p > 0))
        if not out.any():
            return f, p
        f = f[~out]
    return f, np.zeros(0)


def _bent_step(H: Array, f: Array, g: Array, b: Array, upper: Array, p: Array, ridge: float) -> Array | None:
    """The best of clip(b + tp) over some 0 < t ≤ 1, or None when none decreases the objective."""
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = np.where(p < 0, -b / p, np.where(p > 0, (upper - b) / p, np.inf))
    nearest = int(reach.argmin())
    t_1 = float(reach[nearest])
    if t_1 >= 1.0:  # the minimiser over the free set lies in the box
        return np.clip(b + p, 0.0, upper) if float(g @ p) < 0 else None
    t = np.append(t_1, np.geomspace(max(t_1, 1e-6), 1.0, _LENGTHS))
    D = np.clip(b[:, None] + p[:, None] * t, 0.0, upper[:, None]) - b[:, None]  # (|F|, lengths)
    HD = H[f].take(f, axis=1) @ D
    change = g @ D + 0.5 * (np.einsum("ij,ij->j", D, HD) + ridge * np.einsum("ij,ij->j", D, D))
    best = int(change.argmin())
    if not change[best] < 0:
        return None
    moved = np.clip(b + t[best] * p, 0.0, upper)
    if best == 0:  # rounding may leave the variable that stops the step a hair inside
        moved[nearest] = 0.0 if p[nearest] < 0 else upper[nearest]
    return moved


def _factor(M: Array, ridge: float) -> Array:
    """Cholesky factor of M + εI; where rounding makes that indefinite, of M plus a little more."""
    for more in (1.0, 1e2, 1e4):
        R = M.T.copy(order="F")  # symmetric: transposed it is in the order that LAPACK wants
        R[np.diag_indices(len(R))] += max(ridge * more, np.finfo(float).tiny)
        R, failed = dpotrf(R, lower=1, clean=0, overwrite_a=1)
        if not failed:
            return R
    raise McLsError(
        "the matrix H of the quadratic programme is not positive semi-definite; "
        "the kernel (and the kernel on the labels) must be"
    )
