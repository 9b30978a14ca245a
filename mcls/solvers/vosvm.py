"""Vector-output SVM on arrays (honeine2013, Sec. 4.3; with a bias, Sec. 4.4, it is Szedmak's model).

The coefficients β (n,) of f(x) = Σⱼ βⱼ yⱼ κ(xⱼ, x) solve the quadratic programme (19)–(21) with
H = K ∘ L_yy, [L_yy]ᵢⱼ = yᵢᵀyⱼ. As in ``vector``, a class c has the value g_c(x) = Σ_{j∈c} βⱼ κ(xⱼ, x) at x.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcls.solvers.lsm import indicators
from mcls.solvers.qp import BoxQP, solve_grid
from mcls.solvers.vector import label_blocks

Array = np.ndarray

#: A support vector is a sample whose coefficient exceeds this fraction of the largest. At a solution of the
#: active set a coefficient is exactly zero or well above; the margin is for the dust of other solvers.
SUPPORT = 1e-6


@dataclass(frozen=True)
class VoSVMFit:
    """β (n,), the bias b (p,) or None, the certified KKT residual, the iterations and the solver used."""

    beta: Array
    bias: Array | None
    kkt_residual: float
    iterations: int
    solver: str


#: What stands in for Yβ = 0 and the bias of Sec. 4.4: the constraint held or dropped, and the bias averaged over all
#: support vectors or, as textbooks do, over those below their bound.
CONSTRAINTS, AVERAGES = ("exact", "none"), ("support", "free")


def support(beta: Array) -> Array:
    """Mask (..., n) of the support vectors: βᵢ > ``SUPPORT`` · maxⱼ βⱼ."""
    return beta > SUPPORT * beta.max(axis=-1, keepdims=True, initial=0.0)


def fit(
    K: Array,
    y: Array,
    B: Array,
    L: Array,
    gamma: float,
    bias: bool = False,
    solver: str = "osqp",
    tol: float = 1e-6,
    w: Array | None = None,
    constraint: str = "exact",
    averaged: str = "support",
) -> VoSVMFit:
    """Solve the dual for one γ.

    Parameters
    ----------
    K : array (n, n)
        Kernel matrix.
    y : array (n,)
        Class codes 0..ℓ−1.
    B, L : arrays (p, ℓ), (ℓ, ℓ)
        Label vectors and their Gram matrix (or a kernel on the labels; B matters only with a bias).
    gamma : float
        Upper bound of the coefficients.
    bias : bool
        Whether to impose Yβ = 0 and to average the bias over the support vectors.
    solver : {"osqp", "active-set", "cvxpy"}
    tol : float
        Largest certified KKT residual accepted without a ``ConvergenceWarning``.
    w : array (n,), optional
        Weights of the rows: the bound of each coefficient is γwᵢ.
    constraint, averaged : str
        With a bias: whether Yβ = 0 is imposed, and what the bias is averaged over (``CONSTRAINTS``, ``AVERAGES``).
    """
    w = np.ones(len(y)) if w is None else w
    beta, parts = np.zeros(len(y)), []
    for rows, problem in _problems(K, y, B, L, bias and constraint == "exact", solver, tol):
        result = problem.solve(gamma * w[rows])
        beta[rows] = result.beta
        parts.append(result)
    return VoSVMFit(
        beta,
        average_bias(K, y, B, beta[None], w, [gamma] if averaged == "free" else None)[0] if bias else None,
        max(part.kkt_residual for part in parts),
        sum(part.iterations for part in parts),
        parts[0].solver,
    )


def sweep(
    K: Array,
    y: Array,
    B: Array,
    L: Array,
    folds: Sequence[tuple[Array, Array]],
    gammas: Sequence[float],
    bias: bool = False,
    solver: str = "osqp",
    tol: float = 1e-6,
    w: Array | None = None,
    constraint: str = "exact",
    averaged: str = "support",
) -> tuple[list[Array], Array | None]:
    """Out-of-fold class values (γ, |test|, ℓ) of each fold, and the biases (γ, fold, p) where asked for.

    A fold is the problem of all samples with the upper bound zero on those left out, so one H, set up once,
    serves every fold and γ (see :func:`mcls.solvers.qp.solve_grid`).
    """
    n = len(y)
    w = np.ones(n) if w is None else w
    betas = np.zeros((len(folds), len(gammas), n))
    of_folds = np.zeros((len(folds), n))
    for of_fold, (train, _) in zip(of_folds, folds):
        of_fold[train] = w[train]
    problems = _problems(K, y, B, L, bias and constraint == "exact", solver, tol)
    of_rows, boxes = [rows for rows, _ in problems], [box for _, box in problems]
    found = solve_grid(boxes, gammas, [w[rows] for rows in of_rows], [of_folds[:, rows] for rows in of_rows])
    for rows, of_box in zip(of_rows, found):
        betas[:, :, rows] = [[result.beta for result in path] for path in of_box]
    members_of = indicators(y, len(L))  # (n, ℓ)
    values = []
    for (_, test), beta in zip(folds, betas):
        weights = beta.T[:, :, None] * members_of[:, None, :]  # (n, γ, ℓ)
        g = K[test] @ weights.reshape(n, -1)
        values.append(g.reshape(len(test), len(gammas), -1).transpose(1, 0, 2))
    if not bias:
        return values, None
    bounds = gammas if averaged == "free" else None
    biases = [average_bias(K, y, B, beta, w, bounds) for beta in betas]  # (γ, p) of each fold
    return values, np.asarray(biases).transpose(1, 0, 2)


def average_bias(
    K: Array, y: Array, B: Array, betas: Array, w: Array, gammas: Sequence[float] | None = None
) -> Array:
    """b (γ, p) for β (γ, n): the mean, with weights w (n,), over the support vectors of bᵢ = yᵢ − Σⱼ βⱼ yⱼ κ(xⱼ, xᵢ).

    This is the bias of Sec. 4.4. With ``gammas`` only those below their bound γwᵢ count, where there are any.
    """
    counted = support(betas)  # (γ, n)
    s = np.flatnonzero(counted.any(axis=0))
    Y = B[:, y[s]].T  # (|s|, p)
    f = K[np.ix_(s, s)] @ (betas[:, s].T[:, :, None] * Y[:, None, :]).reshape(len(s), -1)
    each = Y[:, None, :] - f.reshape(len(s), len(betas), -1)  # (|s|, γ, p)
    b = np.zeros((len(betas), len(B)))
    for i, beta in enumerate(betas[:, s]):
        kept = counted[i, s]
        free = kept if gammas is None else kept & (beta < gammas[i] * w[s] * (1 - SUPPORT))
        kept = free if free.any() else kept
        if kept.any():
            b[i] = np.average(each[kept, i], axis=0, weights=w[s][kept])
    return b


def _problems(
    K: Array, y: Array, B: Array, L: Array, bias: bool, solver: str, tol: float
) -> list[tuple[Array, BoxQP]]:
    """The quadratic programmes to solve and their rows: one, or with orthogonal labels one per class."""
    if bias:
        return [(np.arange(len(y)), BoxQP(K * L[np.ix_(y, y)], B[:, y], solver=solver, tol=tol))]
    problems = []
    for rows in label_blocks(y, L):
        block = np.ix_(rows, rows)
        problems.append((rows, BoxQP(K[block] * L[np.ix_(y[rows], y[rows])], solver=solver, tol=tol)))
    return problems
