"""The quadratic programme of the vector-output SVM, its certificate, and what every back-end promises.

    min_β ½βᵀHβ − 1ᵀβ   subject to   0 ≤ β ≤ γ,   and, in the model with a bias,   Aβ = 0

(honeine2013, eq. (19)–(21), with A = Y). H is positive semi-definite. When it is singular β need not be
unique, but Hβ is, and with it every score of the machine. The back-ends agree on one β all the same: the one
of H + diag(ε), with εᵢ = ``RIDGE`` · H_ii, which is far above rounding and far below what the certificate
notices.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

Array = np.ndarray

SOLVERS = ("osqp", "active-set", "cvxpy")

#: ε as a fraction of the diagonal of H.
RIDGE = 1e-9


@dataclass(frozen=True)
class QPResult:
    """A solution with its certificate.

    Attributes
    ----------
    beta : array (n,)
        Within the box; what is at a bound is exactly there.
    nu : array (m,)
        Multipliers of Aβ = 0 (empty without A): the gradient of the Lagrangian is Hβ − 1 + Aᵀν.
    kkt_residual : float
        :func:`box_kkt_residual` of this very solution, computed from H, not reported by a solver.
    iterations : int
        Of the back-end that was asked for.
    solver : str
        Where β comes from: the name of a back-end; ``"osqp+active-set"`` when a guess of OSQP's was finished
        by the active set; ``"active-set+osqp"`` when the active set did not settle and OSQP stepped in.
    """

    beta: Array
    nu: Array
    kkt_residual: float
    iterations: int
    solver: str


class Backend(Protocol):
    """One problem (H, A) set up once, solved for many boxes."""

    name: str

    def solve(self, upper: Array, start: Array | None, nu: Array | None) -> tuple[Array, Array, int]:
        """Return β (n,), ν (m,) and the iterations for 0 ≤ β ≤ upper (n,), started near β and ν if given."""
        ...


def box_kkt_residual(
    H: Array, beta: Array, gamma: float | Array, A: Array | None = None, nu: Array | None = None
) -> float:
    """How far β is from optimal: zero exactly at a solution, the same number in whatever units β is measured.

    With g = Hβ − 1 + Aᵀν and s = max β (but at least 1e-9 γ: β may be zero) it is the larger of

        max_i |βᵢ/s − clip(βᵢ/s − gᵢ, 0, γ/s)|   and   max_r |(Aβ)_r| / (s max|A|).

    The first is the natural residual of the box problem. The margin 1 gives g its unit; β has none of its own
    (H/t and tγ give tβ), so it is measured by its largest entry. γ would be no good measure: when it is large,
    any small β would look as if it were at its bound.

    Parameters
    ----------
    H : array (n, n)
    beta : array (n,)
    gamma : float or array (n,)
        Upper bound, or one per sample (zero takes the sample out).
    A, nu : arrays (m, n) and (m,), optional
        Equality constraints and their multipliers.
    """
    upper = np.broadcast_to(np.asarray(gamma, dtype=float), beta.shape)
    gradient = product(H, beta) - 1.0
    if A is None or not A.size:
        return float(natural_residuals(beta, gradient, upper))
    gradient += A.T @ (np.zeros(len(A)) if nu is None else nu)
    infeasible = np.abs(A @ beta).max() / (_scales(beta, upper)[0] * (np.abs(A).max() or 1.0))
    residual = max(float(natural_residuals(beta, gradient, upper)), float(infeasible))
    return residual if np.isfinite(residual) else np.inf


def product(H: Array, beta: Array) -> Array:
    """Hβ of a symmetric H; where β (n,) is mostly zero only the rows of the others are read."""
    support = np.flatnonzero(beta)
    return beta[support] @ H[support] if 4 * len(support) < len(beta) else H @ beta


def natural_residuals(beta: Array, gradient: Array, upper: Array) -> Array:
    """The first part of :func:`box_kkt_residual`, for β, its gradient and its bounds (..., n)."""
    scale = _scales(beta, upper)
    natural = np.abs(beta / scale - np.clip(beta / scale - gradient, 0.0, upper / scale)).max(axis=-1, initial=0.0)
    return np.where(np.isfinite(natural), natural, np.inf)


def _scales(beta: Array, upper: Array) -> Array:
    """The unit (..., 1) in which β (..., n) is measured."""
    scale = np.maximum(
        beta.max(axis=-1, initial=0.0, keepdims=True), 1e-9 * upper.max(axis=-1, initial=0.0, keepdims=True)
    )
    return np.where(scale > 0, scale, 1.0)
