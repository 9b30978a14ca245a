"""Solve (G + γH)x = d at many strengths γ of a symmetric positive definite pencil by one Cholesky factor.

With A₀ = G + γ₀H = RRᵀ, B = R⁻¹HR⁻ᵀ and b = R⁻¹d,

    x(γ) = R⁻ᵀ (I + (γ − γ₀)B)⁻¹ b.

One Krylov space of B and b serves every γ (Lanczos): a step is two triangular solves and a product with H, n²
operations instead of n³/3. The eigenvalues of B lie between 0 and 1/γ₀, so those of I + (γ − γ₀)B between 1 and γ/γ₀:
with γ₀ in the middle of the strengths, on a logarithmic scale, few steps are needed. The residual of every γ is known
at every step without forming a solution, from the recurrence of a tridiagonal elimination.

``refinement`` gives back the digits that rounding takes where A₀ is nearly singular: conjugate gradients for the
residuals of all strengths together, preconditioned by the same factor.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas, lapack

Array = np.ndarray

#: Below so many rows, or so few strengths, a factor for each strength is as quick.
FROM_ROWS = 200
FROM_STRENGTHS = 4

#: Strengths that are further apart than this are served by different factors.
_WIDEST = 2.0**8

#: Residuals beside the right-hand side, in the norm of A₀⁻¹: of Lanczos, before a refinement, and after it.
ENOUGH = 1e-13
UNREFINED = 1e-9
REFINED = 1e-10

# Steps before giving up.
_STEPS = 120


def groups(gammas: Array) -> list[Array]:
    """Places of the strengths that one factor serves together, each group spanning no more than ``_WIDEST``.

    >>> [places.tolist() for places in groups(np.array([1.0, 4096.0, 2.0, 0.5]))]
    [[0, 2, 3], [1]]
    """
    order = np.argsort(gammas)
    found: list[list[int]] = []
    for place in order.tolist():
        if not found or gammas[place] > _WIDEST * gammas[found[-1][0]]:
            found.append([])
        found[-1].append(place)
    return [np.sort(np.array(places)) for places in found]


@dataclass(frozen=True)
class Strengths:
    """The factor of A₀ = G + γ₀H, and the strengths that it serves."""

    R: Array  # (n, n) lower triangular, in Fortran order
    H: Array | None  # (n, n) in Fortran order; None: the identity
    gammas: Array  # (g,)
    middle: float  # γ₀
    pivot: float  # the smallest of A₀ scaled to a diagonal of ones, over n

    @classmethod
    def of(cls, G: Array, H: Array | None, gammas: Array) -> Strengths | None:
        """Factor A₀, in the place of a G in Fortran order; None where it is not definite."""
        middle = float(np.sqrt(gammas.min() * gammas.max()))
        if H is None:
            G[np.diag_indices(len(G))] += middle
        else:
            G += middle * H
        diagonal = G.diagonal().copy()
        R, failed = lapack.dpotrf(G, lower=1, clean=0, overwrite_a=1)
        if failed:
            return None
        return cls(R, H, gammas, middle, float((R.diagonal() ** 2 / diagonal).min()) / len(R))

    @property
    def smallest_pivot(self) -> float:
        """About that of the weakest strength: G + γH ⪰ (γ/γ₀)A₀ for γ < γ₀."""
        return self.pivot * float(self.gammas.min()) / self.middle

    def solutions(self, d: Array, enough: float = ENOUGH) -> Array | None:
        """x (g, n) at every strength; None where Lanczos does not get there.

        ``enough`` is the residual beside d, both in the norm of A₀⁻¹.
        """
        shifts = self.gammas - self.middle
        b = blas.dtrsv(self.R, d, lower=1)
        size = np.linalg.norm(b)
        if size == 0.0:
            return np.zeros((len(shifts), len(d)))
        V = np.empty((_STEPS + 1, len(d)))
        V[0] = b / size
        diagonal, beside = np.empty(_STEPS), np.empty(_STEPS)
        pivots, last = (
            np.ones(len(shifts)),
            np.ones(len(shifts)),
        )  # of the elimination; the last entry of the solution
        for k in range(_STEPS):
            v = blas.dtrsv(self.R, V[k], lower=1, trans=1)
            w = blas.dtrsv(self.R, v if self.H is None else blas.dsymv(1.0, self.H, v, lower=1), lower=1)
            diagonal[k] = V[k] @ w
            for _ in range(2):
                w -= (V[: k + 1] @ w) @ V[: k + 1]
            beside[k] = np.linalg.norm(w)
            coupled = shifts * beside[k - 1] if k else np.zeros(len(shifts))
            new = 1.0 + shifts * diagonal[k] - coupled**2 / pivots
            last = last * coupled / new if k else 1.0 / new
            pivots = new
            if np.abs(shifts * beside[k] * last).max() <= enough:
                return self._combined(V[: k + 1], diagonal[: k + 1], beside[:k], shifts, float(size))
            V[k + 1] = w / beside[k]
        return None

    def _combined(self, V: Array, diagonal: Array, beside: Array, shifts: Array, size: float) -> Array:
        """x (g, n) from the basis V (k, n) of the Krylov space and the tridiagonal matrix there."""
        T = np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1)
        values, Q = np.linalg.eigh(T)
        inside = (Q[0] / (1.0 + shifts[:, None] * values)) @ Q.T  # (g, k)
        return blas.dtrsm(size, self.R, (inside @ V).T, lower=1, trans_a=1).T

    def refinement(self, residuals: Array, d: Array) -> Array:
        """What to add (g, n) to solutions for d that have the residuals (g, n)."""
        enough = REFINED * np.linalg.norm(blas.dtrsv(self.R, d, lower=1))
        shifts = self.gammas - self.middle
        x = np.zeros(residuals.shape)  # here and below a strength a row: products with rows are the quicker ones
        r = p = self._whitened(residuals)
        rho = np.square(r).sum(axis=1)
        left = np.arange(len(shifts))  # the strengths that are not there yet
        for _ in range(_STEPS):
            some = np.sqrt(rho) > enough
            if not some.any():
                break
            if not some.all():
                left, r, p, rho = left[some], r[some], p[some], rho[some]
            v = blas.dtrsm(1.0, self.R, p.T, lower=1, trans_a=1).T
            Ap = p + shifts[left, None] * self._whitened(v if self.H is None else v @ self.H)
            step = (rho / (p * Ap).sum(axis=1))[:, None]
            x[left] += step * p
            r = r - step * Ap
            rho, before = np.square(r).sum(axis=1), rho
            p = r + (rho / before)[:, None] * p
        return blas.dtrsm(1.0, self.R, x.T, lower=1, trans_a=1).T

    def _whitened(self, rows: Array) -> Array:
        """R⁻¹ of each row (g, n)."""
        return blas.dtrsm(1.0, self.R, rows.T, lower=1).T
