"""Solving and certifying: no β leaves here without a residual computed from H itself."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mcls.errors import McLsError, unknown_name
from mcls.solvers.qp.active_set import ActiveSet
from mcls.solvers.qp.base import SOLVERS, Backend, QPResult, box_kkt_residual
from mcls.solvers.qp.cvxpy_oracle import Cvxpy
from mcls.solvers.qp.osqp_backend import OSQP

Array = np.ndarray


class BoxQP:
    """min ½βᵀHβ − 1ᵀβ over boxes 0 ≤ β ≤ γ (and Aβ = 0): set up once, solved for many γ, every β certified.

    A guess of OSQP's is finished by the active set, so that what is at a bound is exactly there and every
    solver ends at the same β. On a grid OSQP guesses for the whole data set; a fold differs from it in a few rows
    and is finished from its solution (``grid``). Where the active set does not reach ``tol`` (it has not been seen
    to), OSQP is asked; where OSQP does not, it runs again to a tighter tolerance; if that fails too, a
    ``ConvergenceWarning`` says so. Clarabel's β is left as it comes unless it misses ``tol``: it is the oracle.

    Parameters
    ----------
    H : array (n, n)
        Symmetric, positive semi-definite.
    A : array (m, n), optional
        Equality constraints; rows may depend on each other.
    solver : {"osqp", "active-set", "cvxpy"}
    tol : float
        Largest :func:`box_kkt_residual` accepted.

    Examples
    --------
    >>> result = BoxQP(np.array([[2.0, 0.0], [0.0, 0.5]]), solver="active-set").solve(1.0)
    >>> result.beta, result.kkt_residual < 1e-8
    (array([0.5, 1. ]), True)
    """

    def __init__(self, H: Array, A: Array | None = None, *, solver: str = "osqp", tol: float = 1e-6) -> None:
        if solver not in SOLVERS:
            raise unknown_name("QP solver", str(solver), SOLVERS)
        self.H, self.A, self.tol, self.solver = H, A, tol, solver
        self.active_set = ActiveSet(H, A)
        #: Whether it is a box alone, solved by the active set, from OSQP's guess or without one.
        self.plain = not (A is not None and A.size) and solver != "cvxpy"

    @cached_property
    def backend(self) -> Backend:
        """What solves, or begins; set up when first asked."""
        backends = {"osqp": OSQP, "cvxpy": Cvxpy}
        return self.active_set if self.solver == "active-set" else backends[self.solver](self.H, self.A)

    def solve(
        self, gamma: float | Array, start: Array | None = None, nu: Array | None = None, begun: str | None = None
    ) -> QPResult:
        """Solve for an upper bound, or for one per sample, from β and ν of a neighbouring problem if given.

        ``begun`` names what solved that problem where it is as good as OSQP's guess: the active set goes on from it.
        """
        upper = np.array(np.broadcast_to(np.asarray(gamma, dtype=float), len(self.H)))
        if not (np.isfinite(upper).all() and (upper >= 0).all()):
            raise McLsError(f"the upper bound gamma must be finite and not negative, got {gamma}")
        if begun is not None and self.solver == "osqp":
            result = replace(self._run(self.active_set, upper, start, nu), solver=begun)
        else:
            result = self._run(self.backend, upper, start, nu)
        if result.kkt_residual > self.tol:
            result = self._refine(result, upper)
        if result.kkt_residual > self.tol:
            warnings.warn(
                f"{self.backend.name} left a KKT residual of {result.kkt_residual:.1e} (wanted {self.tol:.0e}) "
                f"at gamma = {upper.max():g}: try another solver, or scale the features",
                ConvergenceWarning,
                stacklevel=3,
            )
        return result

    def path(
        self, gammas: Sequence[float], weights: Array | None = None, near: Sequence[QPResult] | None = None
    ) -> list[QPResult]:
        """Solve for every γ from the smallest up, each βᵢ up to γwᵢ: ``weights`` (n,), zero for samples left out.

        Each starts from the γ below it, and from ``near`` where given: solutions of a neighbouring problem at the
        same γ (the whole data set, for a fold; see ``_carried``). Once no β reaches its bound it plays no part, and
        the solution is that of every larger γ.
        """
        w = np.ones(len(self.H)) if weights is None else np.asarray(weights, dtype=float)
        results: dict[int, QPResult] = {}
        last: tuple[int, Array, QPResult] | None = None  # which γ, its bounds and its solution
        for i in map(int, np.argsort(np.asarray(gammas, dtype=float), kind="stable")):
            upper = gammas[i] * w
            start = nu = None
            if last is not None:
                below, bounds, result = last
                start, nu = np.where(result.beta >= bounds, upper, result.beta), result.nu
            found = None if last is None else self.unbounded(result, bounds, upper)
            if found is None:
                if near is not None:
                    start, nu = np.where(w > 0, near[i].beta, 0.0), near[i].nu
                    if last is not None:
                        start, nu = _carried(result, bounds, near[below], near[i], upper)
                found = self.solve(upper, start, nu, None if near is None else near[i].solver)
            results[i], last = found, (i, upper, found)
        return [results[i] for i in range(len(gammas))]

    def unbounded(self, last: QPResult, bounds: Array, upper: Array) -> QPResult | None:
        """The solution at some bounds (n,) as that at larger ones, ``upper``, where no β is at its bound, else None.

        A bound that is met but for rounding plays its part: the certificate tells.
        """
        if (last.beta >= bounds)[upper > 0].any():
            return None
        found = self.certify(last.beta, last.nu, upper, 0, last.solver)
        return found if found.kkt_residual <= self.tol else None

    def _run(self, backend: Backend, upper: Array, start: Array | None, nu: Array | None) -> QPResult:
        beta, multipliers, iterations = backend.solve(upper, start, nu)
        result = self.certify(beta, multipliers, upper, iterations, backend.name)
        return self._finish(result, upper) if isinstance(backend, OSQP) else result

    def snap(self, beta: Array, upper: Array, nu: Array | None = None) -> Array:
        """Put β on a bound where it is closer to that than its gradient is to zero."""
        scale = float(beta.max(initial=0.0)) or 1.0
        gradient = self.H @ beta - 1.0
        if self.A is not None and self.A.size and nu is not None:
            gradient += self.A.T @ nu
        start = np.where(beta < scale * gradient, 0.0, beta)
        return np.where(upper - beta < -scale * gradient, upper, start)

    def certify(self, beta: Array, nu: Array, upper: Array, iterations: int, solver: str) -> QPResult:
        """β with the residual that is computed from it here."""
        residual = box_kkt_residual(self.H, beta, upper, self.A, nu)
        return QPResult(beta, nu, residual, iterations, solver)

    def _finish(self, guess: QPResult, upper: Array) -> QPResult:
        """Let the active set finish what another solver began; the better of the two."""
        beta, nu, _ = self.active_set.solve(upper, self.snap(guess.beta, upper, guess.nu), guess.nu)
        finished = self.certify(beta, nu, upper, guess.iterations, f"{guess.solver}+active-set")
        return finished if finished.kkt_residual <= max(guess.kkt_residual, self.tol) else guess

    def _refine(self, result: QPResult, upper: Array) -> QPResult:
        if isinstance(self.backend, Cvxpy):
            return self._finish(result, upper)
        eps = 1e-10 if isinstance(self.backend, OSQP) else 1e-7
        again = self._run(OSQP(self.H, self.A, eps=eps), upper, result.beta, result.nu)
        if again.kkt_residual >= result.kkt_residual:
            return result
        return again if isinstance(self.backend, OSQP) else replace(again, solver="active-set+osqp")


def _carried(
    last: QPResult, bounds: Array, near_last: QPResult, near: QPResult, upper: Array
) -> tuple[Array, Array]:
    """Where to start at the bounds ``upper`` (n,), from the last solution and the last and present ones of a neighbour.

    Where fewer samples of the neighbour came to or left a bound than tell this problem from it, this problem's last
    solution follows the neighbour's change; otherwise the neighbour's present solution is the better start.
    """
    inside = upper > 0
    before, now = (_sides(result.beta, box) for result, box in ((near_last, bounds), (near, upper)))
    own, moved = _sides(last.beta, bounds), before != now
    if (moved & inside).sum() > ((own != before) & inside).sum():
        return np.where(inside, near.beta, 0.0), near.nu
    follows = np.where(own > 0, upper, np.where(own < 0, 0.0, last.beta + near.beta - near_last.beta))
    start = np.where(moved, near.beta, follows)
    return np.where(inside, start, 0.0), last.nu + near.nu - near_last.nu


def _sides(beta: Array, upper: Array) -> Array:
    """+1 at the upper bound, −1 at zero, 0 between (n,)."""
    return (beta >= upper).astype(int) - (beta <= 0)
