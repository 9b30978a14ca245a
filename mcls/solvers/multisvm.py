"""The single-machine SVMs of Weston & Watkins and of Crammer & Singer: one interior-point method, certified.

Both machines score class m by f_m(x) = Σᵢ A_im κ(xᵢ, x) and have the same dual, up to its bounds. With
Y (n, ℓ) the indicators of the labels and every row of A (n, ℓ) adding up to zero,

    min over A   ½ tr(Aᵀ K A) − Δ ⟨A, Y⟩        subject to  Σ_m A_im = 0  and

    Weston–Watkins,  Δ = 2:   −C ≤ A_im ≤ 0 for m ≠ yᵢ
    Crammer–Singer,  Δ = 1:   A_im ≤ C if m = yᵢ, A_im ≤ 0 otherwise.

Dividing A by C leaves C in the linear term alone, μ = Δ/C, and bounds of −1, 0 and 1: that is what is solved. Row
weights wᵢ make the price of row i Cwᵢ, and its bounds −wᵢ, 0 and wᵢ.

**The method.** A primal–dual interior-point method (Mehrotra's predictor and corrector). The bounds are entrywise
and the quadratic term treats every class alike, so the Newton system is one (n, n) block a class, tied together by
the n row sums alone:

    (K + diag D_m) ΔA_m + Δν = R_m  (m = 1..ℓ),    Σ_m ΔA_m = 0,

with D (n, ℓ) > 0 the barrier's curvature. Eliminating gives Δν = (Σ_m S_m)⁻¹ Σ_m S_m R_m, S_m = (K + diag D_m)⁻¹:
ℓ factorisations of size n where the plain dual would need one of size n(ℓ−1). Five to twenty-five iterations
reach a relative gap of 1e-7 whatever the kernel width; first-order and coordinate methods need thousands of passes
when the kernel is wide, because K is then nearly of rank one. Every C starts afresh: nothing depends on the path.

**Cost.** O(ℓ n³) time an iteration, O(ℓ n²) memory.

**The certificate.** For any feasible A the primal objective at its W and the dual objective bracket the optimum;
their difference, recomputed from K A, is the duality gap that is returned.

References
----------
J. Weston and C. Watkins, Support vector machines for multi-class pattern recognition, ESANN 1999.
K. Crammer and Y. Singer, On the algorithmic implementation of multiclass kernel-based vector machines,
JMLR 2, 2002.
S. Mehrotra, On the implementation of a primal-dual interior point method, SIAM J. Optimization 2, 1992.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import blas, lapack

from mcls.errors import McLsError

Array = np.ndarray

#: Margin Δ asked between the label's score and another class's, as each paper writes it.
MARGINS = {"weston-watkins": 2.0, "crammer-singer": 1.0}

# Least curvature of the barrier, in units of K's largest entry: the first that lets the block be
# factorised. It only bends the direction, for the residual is recomputed from K A at every iteration.
_FLOORS = (1e-10, 1e-8, 1e-6)

_STEP = 0.995  # fraction of the way to the nearest bound
_PATIENCE = 8  # iterations without a smaller gap, after which rounding has the last word


class Solution(NamedTuple):
    """Coefficients A (n, ℓ), the primal and dual objectives (as maximised) and the iterations taken."""

    A: Array
    primal: float
    dual: float
    n_iter: int

    @property
    def gap(self) -> float:
        """Duality gap relative to the primal objective."""
        return (self.primal - self.dual) / self.primal


def objectives(
    K: Array, A: Array, y: Array, C: float, loss: str, weights: Array | None = None
) -> tuple[float, float]:
    """Primal and dual objectives at the feasible coefficients A (n, ℓ).

    The primal is ½ Σ_m ‖w_m‖² + C Σᵢ Lᵢ with the violations v_im = Δ + f_m(xᵢ) − f_yᵢ(xᵢ), m ≠ yᵢ:
    Lᵢ = Σ_m max(0, v_im) for Weston–Watkins, max(0, max_m v_im) for Crammer–Singer. With ``weights`` (n,), each Lᵢ
    is multiplied by its own.
    """
    weights = np.ones(len(y)) if weights is None else weights
    quadratic, linear, slack = _terms(K @ A, A, y, MARGINS[loss], loss, weights)
    return 0.5 * quadratic + C * slack, linear - 0.5 * quadratic


def solve(
    K: Array,
    y: Array,
    n_classes: int,
    C: float,
    loss: str,
    *,
    tol: float = 1e-7,
    max_iter: int = 100,
    weights: Array | None = None,
) -> Solution:
    """Minimise to a relative duality gap of ``tol``.

    Parameters
    ----------
    K : array (n, n)
        Kernel matrix, positive semi-definite.
    y : array (n,)
        Class codes 0..ℓ−1.
    C : float
        Price of a violated margin.
    loss : {"weston-watkins", "crammer-singer"}
    weights : array (n,), optional
        Factor of C for each row.
    """
    weights = np.ones(len(y)) if weights is None else weights
    n, rows = len(y), np.arange(len(y))
    scale = float(np.abs(K).max()) or 1.0
    K = np.asfortranarray(K / scale)
    mu = MARGINS[loss] / (C * scale)
    Y = np.zeros((n, n_classes))
    Y[rows, y] = 1.0
    if loss == "weston-watkins":
        A = weights[:, None] * (0.5 * (n_classes * Y - 1.0))
        lower = np.broadcast_to(-weights[:, None], Y.shape)
        bounds = [_Bound(+1, Y == 0, 0.0), _Bound(-1, Y == 0, lower[Y == 0])]
    else:
        A = weights[:, None] * (Y - 1.0 / n_classes)
        bounds = [_Bound(+1, Y >= 0, (weights[:, None] * Y).ravel())]
    count = sum(len(bound.limit) for bound in bounds)

    nu = np.empty(0)
    best = Solution(A, np.inf, -np.inf, 0)
    for iteration in range(max_iter + 1):
        F = K @ A  # (n, ℓ) scores of the training rows
        quadratic, linear, slack = _terms(F, A, y, mu, loss, weights)
        primal, dual = 0.5 * quadratic + slack, linear - 0.5 * quadratic
        if primal - dual < best.primal - best.dual:
            best = Solution(A, primal, dual, iteration)
        if primal - dual <= tol * primal or iteration in (max_iter, best.n_iter + _PATIENCE):
            break
        G = F - mu * Y  # gradient; optimality: G + ν1ᵀ + Σ_bounds sign·multiplier = 0
        if iteration == 0:
            nu = _first_multipliers(bounds, G, y, lift=primal / count)
            for bound in bounds:
                bound.slack = bound.sign * (bound.limit - A[bound.where])
        complementarity = sum(float(b.multiplier @ b.slack) for b in bounds) / count
        D = np.sum([b.spread(b.multiplier / b.slack) for b in bounds], axis=0)  # (n, ℓ)
        system = _NewtonSystem(K, D)

        # Predictor: straight to the bounds. Its progress decides how much the corrector centres.
        dA, _, moves, length = _direction(system, bounds, G, nu, [0.0 for _ in bounds])
        ahead = sum(
            float((b.multiplier + length * dm) @ (b.slack + length * ds)) for b, (dm, ds) in zip(bounds, moves)
        )
        centre = complementarity * (ahead / count / complementarity) ** 3
        dA, dnu, moves, length = _direction(system, bounds, G, nu, [centre - dm * ds for dm, ds in moves])
        length *= _STEP
        A, nu = A + length * dA, nu + length * dnu
        A[rows, y] -= A.sum(axis=1)  # rounding
        for bound, (dmultiplier, dslack) in zip(bounds, moves):
            bound.multiplier = bound.multiplier + length * dmultiplier
            bound.slack = bound.slack + length * dslack
    unit = C * C * scale
    return Solution(C * best.A, unit * best.primal, unit * best.dual, iteration)


class _Bound:
    """A ≤ limit (sign +1) or A ≥ limit (sign −1) on the entries ``where`` (n, ℓ); slack and multiplier stay > 0."""

    def __init__(self, sign: int, where: Array, limit: Array | float) -> None:
        self.sign, self.where = sign, where
        self.limit = np.broadcast_to(limit, where.sum())  # (k,) for the k entries
        self.slack = self.multiplier = np.empty(0)  # (k,)

    def spread(self, values: Array) -> Array:
        """The k values at their places in a zero (n, ℓ) matrix."""
        full = np.zeros(self.where.shape)
        full[self.where] = values
        return full


def _first_multipliers(bounds: list[_Bound], G: Array, y: Array, lift: float) -> Array:
    """Set positive multipliers that satisfy optimality exactly and return ν: complementarity is then the gap."""
    label = G[np.arange(len(y)), y]  # (n,)
    h = label[:, None] - G  # (n, ℓ)
    if len(bounds) == 2:  # Weston–Watkins: the label's column has no bound, which fixes ν
        for bound in bounds:
            bound.multiplier = np.maximum(bound.sign * h[bound.where], 0.0) + lift
        return -label
    lowest = h.min(axis=1) - lift
    bounds[0].multiplier = (h - lowest[:, None]).ravel()
    return lowest - label


def _direction(
    system: _NewtonSystem, bounds: list[_Bound], G: Array, nu: Array, targets: list[Array | float]
) -> tuple[Array, Array, list[tuple[Array, Array]], float]:
    """Newton step towards multiplier∘slack = target: ΔA, Δν, (Δmultiplier, Δslack) a bound, longest step."""
    R = -G - nu[:, None]
    for bound, target in zip(bounds, targets):
        R -= bound.spread(bound.sign * target / bound.slack)
    dA, dnu = system.solve(R)
    moves, length = [], 1.0
    for bound, target in zip(bounds, targets):
        dslack = -bound.sign * dA[bound.where]
        dmultiplier = (target - bound.multiplier * dslack) / bound.slack - bound.multiplier
        moves.append((dmultiplier, dslack))
        length = min(length, _longest(bound.slack, dslack), _longest(bound.multiplier, dmultiplier))
    return dA, dnu, moves, length


def _longest(v: Array, dv: Array) -> float:
    """Largest step in [0, 1] that keeps v + step·dv ≥ 0."""
    shrinking = dv < 0
    return float(np.min(v[shrinking] / -dv[shrinking], initial=1.0))


def _terms(F: Array, A: Array, y: Array, margin: float, loss: str, weights: Array) -> tuple[float, float, float]:
    """tr(AᵀKA), Δ⟨A, Y⟩ and the summed violations, from the scores F = KA (n, ℓ)."""
    rows = np.arange(len(y))
    violations = F - F[rows, y][:, None] + margin
    violations[rows, y] = 0.0
    np.maximum(violations, 0.0, out=violations)
    of_row = violations.sum(axis=1) if loss == "weston-watkins" else violations.max(axis=1)
    slack = weights @ of_row
    return float(np.vdot(A, F)), margin * float(A[rows, y].sum()), float(slack)


class _NewtonSystem:
    """(K + diag D_m) ΔA_m + Δν = R_m for every class m, with Σ_m ΔA_m = 0."""

    def __init__(self, K: Array, D: Array) -> None:
        self.S = [_inverse(K, D[:, m]) for m in range(D.shape[1])]  # lower triangles, (n, n) each
        total = self.S[0].copy(order="F")
        for S_m in self.S[1:]:
            total += S_m
        self.schur, info = lapack.dpotrf(total, lower=1, overwrite_a=1)
        if info:
            raise McLsError(
                "the multiclass SVM's linear system is singular; is the kernel positive semi-definite?"
            )

    def solve(self, R: Array) -> tuple[Array, Array]:
        """ΔA (n, ℓ) and Δν (n,)."""
        dnu = lapack.dpotrs(self.schur, self._apply(R).sum(axis=1), lower=1)[0]
        dA = self._apply(R - dnu[:, None])
        return dA - dA.mean(axis=1, keepdims=True), dnu  # the mean is rounding

    def _apply(self, R: Array) -> Array:
        """S_m R_m, column by column."""
        return np.stack([blas.dsymv(1.0, S_m, R[:, m], lower=1) for m, S_m in enumerate(self.S)], axis=1)


def _inverse(K: Array, d: Array) -> Array:
    """Lower triangle of (K + diag d)⁻¹; the diagonal is raised as far as the factorisation needs."""
    diagonal = np.arange(len(K))
    for floor in _FLOORS:
        block = K.copy(order="F")
        block[diagonal, diagonal] += np.maximum(d, floor)
        factor, info = lapack.dpotrf(block, lower=1, overwrite_a=1)
        if info == 0:
            return lapack.dpotri(factor, lower=1, overwrite_c=1)[0]
    raise McLsError("a multiclass SVM needs a positive semi-definite kernel; this kernel matrix is not")
