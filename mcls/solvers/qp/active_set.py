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
   reaches the first bound met: the step of the textbook active-set method, which never increases the objective.

Each free set has one minimiser, the objective strictly decreases, and so the method ends. Started from the
solution of a neighbouring γ or of the whole data set, it needs a handful of steps. H may be singular: the
problem solved is that of H + ε (see ``base``), whose solution is unique.

Equality constraints: the face of a neighbour's solution may hold this one's (``faces``). Where it does not, they come
by the method of multipliers: minimise with H + ρAᵀA and 1 − Aᵀν over the box, then move ν along Aβ until Aβ = 0. The
step of ν is Newton's on the dual where it is safe, ρAβ otherwise.
"""

from __future__ import annotations

import numpy as np

from mcls.solvers.linear import independent_rows
from mcls.solvers.qp.base import RIDGE
from mcls.solvers.qp.faces import solve_by_faces
from mcls.solvers.qp.free_system import HAIR, FreeSystem, rounding

Array = np.ndarray

#: Fewest variables that may be freed at once.
FREED = 16
#: Largest gradient εβ that the ridge may leave; beyond (γ in the hundreds) proximal steps take it away.
RIDGE_GRADIENT = 1e-7
#: Steps of ν in a row that do not halve Aβ, after which the penalty ρ grows; and how far it may.
_SLOW = 5
_STEEPEST = 32.0**4


class ActiveSet:
    """The active-set back-end for one H (n, n) and A (m, n)."""

    name = "active-set"

    def __init__(self, H: Array, A: Array | None = None) -> None:
        self.H = H
        diagonal = H.diagonal()
        self.largest = float(diagonal.max(initial=0.0)) or 1.0
        self.ridge = RIDGE * np.maximum(diagonal, 1e-9 * self.largest)
        self.U: Array | None = None
        self.rho = 0.0
        if A is not None and A.size:
            self.U, self.A = independent_rows(A)
            self.unit = self.largest / (float(np.square(self.A).sum(axis=0).max(initial=0.0)) or 1.0)
        else:
            self.system = FreeSystem(H, self.ridge)

    def solve(self, upper: Array, start: Array | None, nu: Array | None) -> tuple[Array, Array, int]:
        """See :class:`mcls.solvers.qp.base.Backend`."""
        beta = np.zeros(len(upper)) if start is None else np.clip(start, 0.0, upper)
        centre = np.zeros(len(upper))
        steps = 0
        multipliers = np.zeros(0)
        if self.U is not None:
            multipliers = np.zeros(self.U.shape[1]) if nu is None else self.U.T @ nu
            self._augment(float(upper.max(initial=0.0)))
        for _ in range(10):
            # ε pulls towards the centre: first zero, then, where that is felt, the last solution (proximal point)
            c = 1.0 + self.ridge * centre
            if self.U is None:
                beta, used = projected_newton(self.system, c, upper, beta)
            else:
                by_faces = None if start is None else solve_by_faces(self.system, self.A, c, upper, beta)
                beta, multipliers, used = by_faces or self._multipliers(c, upper, beta, multipliers)
            steps += used
            if (self.ridge * np.abs(beta - centre)).max(initial=0.0) <= RIDGE_GRADIENT:
                break
            centre = beta
        return beta, multipliers if self.U is None else self.U @ multipliers, steps

    def _augment(self, gamma: float) -> None:
        """Set up H + ρAᵀA. Aβ is as small as γ, and ρAβ has to move gradients of size 1: ρ grows as γ falls."""
        rho = self.unit
        while 0 < rho * gamma < self.unit / (32 * self.largest):
            rho *= 32
        if rho != self.rho:
            self._penalise(rho)

    def _penalise(self, rho: float) -> None:
        self.rho = rho
        self.system = FreeSystem(self.H + rho * (self.A.T @ self.A), self.ridge)

    def _multipliers(self, c: Array, upper: Array, beta: Array, nu: Array) -> tuple[Array, Array, int]:
        """Minimise over the box and Aβ = 0 by the method of multipliers: β, ν and the Newton steps taken."""
        A, steps, last, slow = self.A, 0, np.inf, 0
        size = float(np.abs(A).max(initial=0.0))
        for _ in range(200):
            beta, used = projected_newton(self.system, c - A.T @ nu, upper, beta)
            steps += used
            r = A @ beta
            gap = float(np.abs(r).max(initial=0.0))
            nu_plain = nu + self.rho * r  # makes Hβ − c + Aᵀν of the plain H what the augmented one was
            if gap <= 1e-14 * size * beta.sum():
                break
            nu = self._newton_dual(beta, upper, nu, r) if gap < 0.5 * last else nu_plain
            slow = 0 if gap < 0.5 * last else slow + 1
            if slow == _SLOW and self.rho < _STEEPEST * self.unit:  # ν creeps by ρAβ: longer steps
                self._penalise(32 * self.rho)
                slow = 0
            last = gap
        return beta, nu_plain, steps

    def _newton_dual(self, beta: Array, upper: Array, nu: Array, r: Array) -> Array:
        """ν + S⁻¹r with S = A_F H_FF⁻¹ A_Fᵀ: where β moves by −H_FF⁻¹A_Fᵀδ, this makes Aβ zero at once.

        S is at most 1/ρ. Where it is next to nothing β hardly answers to ν until the free set changes: the
        step is bounded there.
        """
        f = np.flatnonzero((beta > 0) & (beta < upper))
        S = np.zeros((len(nu), len(nu)))
        if len(f):
            A_F = self.A[:, f]
            S = A_F @ self.system.solve(f, A_F.T)
        eigenvalues, Q = np.linalg.eigh(S)
        floor = 1e-3 / self.rho
        steps = np.where(eigenvalues > floor, 1.0 / np.maximum(eigenvalues, floor), self.rho)
        return nu + Q @ (steps * (Q.T @ r))


def projected_newton(system: FreeSystem, c: Array, upper: Array, beta: Array) -> tuple[Array, int]:
    """Minimise ½βᵀ(H + ε)β − cᵀβ over 0 ≤ β ≤ upper from a point of the box: β (n,) and the steps taken.

    It stops where the gradient is at rounding level, or after a number of steps no problem of ours comes near;
    the caller certifies what is returned.
    """
    H, lengths = system.H, system.lengths
    beta = beta.copy()
    g = system.gradient(beta, c)
    first, still, idle = True, 0, 0
    limit = 1000 + 10 * len(beta)
    for step in range(limit):
        interior = (beta > 0) & (beta < upper)
        pull = np.where(beta <= 0, -g, g)  # at a bound: how strongly the gradient pulls inside
        pull[interior | (upper <= 0)] = 0.0
        tol = rounding(lengths, beta)
        pull[pull <= tol] = 0.0
        settled = not (np.abs(g[interior]) > tol[interior]).any()
        pulled = bool(pull.any())
        # The free set stands still: one more step on it takes the rounding out of β, a third would find nothing.
        if not pulled and (still >= 2 or (settled and (still >= 1 or not interior.any()))):
            return beta, step
        if not pulled or (first and not settled):
            # The first step keeps the free set of the start: it is what the neighbouring problem knows.
            f = np.flatnonzero(interior)
        else:
            f = _freed(interior, pull, int((beta > 0).sum()))
        first = False
        f, p = _newton_direction(system, g, beta, upper, f, fresh=still >= 1 and not settled)
        if pulled and settled and interior[f].all():
            # Everything freed wants out again. The strongest alone does not, the interior being at its minimum.
            f = np.sort(np.append(np.flatnonzero(interior), int(pull.argmax())))
            f, p = _newton_direction(system, g, beta, upper, f)
        if not len(f):
            return beta, step
        moved, decrease = _bent_step(system, f, g[f], beta[f], upper[f], p)
        # Now and then a step only puts on its bound what was a hair away; one after the other, rounding is at work.
        idle = idle + 1 if decrease <= 1e-15 * float(beta.sum()) else 0
        if idle > 20:
            return beta, step
        d = moved - beta[f]
        beta[f] = moved
        still = still + 1 if not pulled and ((moved > 0) & (moved < upper[f])).all() else 0
        if still:
            g = system.gradient(beta, c)
        else:
            g += d @ H[f]
            g[f] += system.ridge[f] * d
    return beta, limit


def _freed(interior: Array, pull: Array, support: int) -> Array:
    """Indices of the interior and of the strongest pulled variables, at most a quarter of the support."""
    inward = np.flatnonzero(pull)
    most = max(FREED, support // 4)
    if len(inward) > most:
        inward = inward[np.argpartition(-pull[inward], most)[:most]]
    free = interior.copy()
    free[inward] = True
    return np.flatnonzero(free)


def _newton_direction(
    system: FreeSystem, g: Array, beta: Array, upper: Array, f: Array, fresh: bool = False
) -> tuple[Array, Array]:
    """Newton direction over a free set without the variables that it would push out of the box at once.

    Returns the free set F and p (|F|,); both empty when nothing is left to move.
    """
    while len(f):
        p = -system.solve(f, g[f], fresh)
        b = beta[f]
        out = ((b <= 0) & (p < 0)) | ((b >= upper[f]) & (p > 0))
        if not out.any():
            return f, p
        f = f[~out]
    return f, np.zeros(0)


def _bent_step(system: FreeSystem, f: Array, g: Array, b: Array, upper: Array, p: Array) -> tuple[Array, float]:
    """The best of clip(b + tp) over some 0 < t ≤ 1, and by how much it decreases the objective.

    The lengths tried are those at which the first, second, fourth, eighth … variable meets its bound, and 1.
    """
    with np.errstate(all="ignore"):
        reach = np.where(p < 0, -b / p, np.where(p > 0, (upper - b) / p, np.inf))
    met = np.sort(reach[reach < 1.0])
    if not len(met):  # the minimiser over the free set lies in the box
        return _snap(b + p, upper), -0.5 * float(g @ p)
    t = np.append(met[2 ** np.arange(int(np.log2(len(met))) + 1) - 1], [met[-1], 1.0])
    D = np.clip(b[:, None] + p[:, None] * t, 0.0, upper[:, None]) - b[:, None]  # (|F|, lengths)
    HD = system.H[f].take(f, axis=1) @ D + system.ridge[f, None] * D
    change = g @ D + 0.5 * np.einsum("ij,ij->j", D, HD)
    best = int(change.argmin())
    moved = _snap(b + (t[best] if change[best] < 0 else 0.0) * p, upper)
    stopped = reach <= t[0]
    if best == 0 or change[best] >= 0:  # rounding leaves what stops the step a hair inside: put it there
        moved[stopped] = np.where(p[stopped] < 0, 0.0, upper[stopped])
    return moved, -float(change[best])


def _snap(beta: Array, upper: Array) -> Array:
    """Clip to the box, and put on a bound what is within rounding of it."""
    beta = np.clip(beta, 0.0, upper)
    beta[beta <= HAIR * beta.max()] = 0.0  # not of γ, beside which a whole solution may be small
    return np.where(beta >= upper - HAIR * upper, upper, beta)
