"""Vector-output least squares on arrays: vo-RLS and vo-LSSVM (honeine2013, Sec. 4.1, 4.2 and 4.4).

One coefficient a sample: f(x) = Σⱼ βⱼ yⱼ κ(xⱼ, x). The labels enter by their Gram matrix L (ℓ, ℓ) alone,
through H = K ∘ L_yy with [L_yy]ᵢⱼ = yᵢᵀyⱼ. The value of class c at x is g_c(x) = Σ_{j∈c} βⱼ κ(xⱼ, x).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import linprog

from mcls.errors import McLsError
from mcls.solvers.linear import FoldPartition, Spectrum, solve_spd
from mcls.solvers.lsm import add_ridge, indicators

Array = np.ndarray

#: vo-RLS(f) solves with G + γH, singular whenever K is: a ridge of this fraction of its largest diagonal entry
#: is added. It is far above rounding (so that the answer is reproducible) and far below what a score notices.
RLS_F_RIDGE = 1e-10


def class_values(K: Array, beta: Array, y: Array, n_classes: int) -> Array:
    """g (m, ℓ) from K (m, n) and β (n,): g_c = Σ_{j∈c} βⱼ κⱼ."""
    return K @ (indicators(y, n_classes) * beta[:, None])


# Labelbooks with a bias (Sec. 4.4) --------------------------------------------------------------------------


def is_degenerate(B: Array, *, signed: bool) -> bool:
    """Whether Yβ = 0 (21) leaves nothing to learn with the label vectors B (p, ℓ); ``signed``: β may be negative.

    *Signed* (vo-LSSVM): where some b has y_cᵀb = 1 for every class c, that bias alone meets every constraint without
    error, and β = 0. So it is with indicators (b = 1), and with ±1 for ℓ > 2.

    *β ≥ 0* (vo-SVM): the class sums s_c = Σ_{i∈c} βᵢ ≥ 0 satisfy Bs = 0. Every class can have support vectors if
    and only if Bs = 0 has a solution with all s_c > 0. Zero-sum labelbooks have s = 1. Indicators have s = 0
    only; with ±1, each s_c is half the total, which for ℓ > 2 leaves s = 0 too.

    >>> is_degenerate(np.eye(3), signed=True), is_degenerate(np.eye(3) - 1 / 3, signed=True)
    (True, False)
    >>> is_degenerate(np.array([[1.0, 2.0]]), signed=True), is_degenerate(np.array([[1.0, 2.0]]), signed=False)
    (False, True)
    """
    _, singular, Vt = np.linalg.svd(B)
    rank = int((singular > 1e-10 * singular.max(initial=0.0)).sum())
    N = Vt[rank:].T  # (ℓ, ℓ − rank), a basis of the solutions of Bs = 0
    if signed:
        return bool(np.abs(N.sum(axis=0)).max(initial=0.0) < 1e-10)  # 1 is a combination of the rows of B
    if not N.shape[1]:
        return True
    found = linprog(np.zeros(N.shape[1]), A_ub=-N, b_ub=-np.ones(len(N)), bounds=(None, None))
    return not found.success


def refuse_degenerate(B: Array, *, signed: bool) -> None:
    """Raise for a labelbook that the vo-LSSVM (``signed``) or the vo-SVM with a bias cannot carry."""
    if is_degenerate(B, signed=signed):
        raise McLsError(
            f"the {'vo-LSSVM' if signed else 'vo-SVM'} with a bias is degenerate with this labelbook: its constraint "
            f"sum_i beta_i y_i = 0 leaves only beta = 0{'' if signed else ' for some class'}, so nothing is learned; "
            "use a zero-sum labelbook (alignment, consistency or mincorr), or bias=False"
        )


# vo-LSSVM ---------------------------------------------------------------------------------------------------


def independent_labels(B: Array) -> tuple[Array, Array]:
    """Orthonormal basis U (p, r) of the span of the label vectors B (p, ℓ), and their coordinates UᵀB (r, ℓ).

    A zero-sum labelbook has dependent entries; the constraint Yβ = 0 (21) is taken in r = rank(B) of them.
    """
    U, s, _ = np.linalg.svd(B, full_matrices=False)
    U = U[:, s > 1e-10 * s[0]]
    return U, U.T @ B


def fit_lssvm(K: Array, y: Array, L: Array, gamma: float) -> Array:
    """Solve (H + I/γ)β = 1 for β (n,)."""
    return solve_spd(add_ridge(K * L[np.ix_(y, y)], 1 / gamma), np.ones((len(y), 1)))[:, 0]


def fit_lssvm_bias(K: Array, y: Array, B: Array, gamma: float) -> tuple[Array, Array]:
    """Solve the bordered system of Sec. 4.4 for β (n,) and the bias b (p,).

    [ 0   Y       ] [b]   [0]
    [ Yᵀ  H + I/γ ] [β] = [1]
    """
    U, C = independent_labels(B)
    right = np.column_stack([np.ones(len(y)), C[:, y].T])  # (n, 1 + r)
    u = solve_spd(add_ridge(K * (B.T @ B)[np.ix_(y, y)], 1 / gamma), right)
    beta, b = _eliminate_bias(u, C[:, y])
    return beta, U @ b


def _eliminate_bias(u: Array, Y: Array) -> tuple[Array, Array]:
    """β (..., n) and b (..., r) from u (..., n, 1 + r), the solutions of (H + I/γ)u = [1 Yᵀ], with Yβ = 0.

    β = u₁ − U_Y b, so Yβ = 0 gives (Y U_Y) b = Y u₁.
    """
    Yu = Y @ u  # (..., r, 1 + r)
    b = np.linalg.solve(Yu[..., 1:], Yu[..., :1])  # (..., r, 1)
    return u[..., 0] - np.matmul(u[..., 1:], b)[..., 0], b[..., 0]


def sweep_lssvm(
    K: Array, y: Array, B: Array, L: Array, tests: Sequence[Array], gammas: Sequence[float], bias: bool
) -> tuple[list[Array], Array | None]:
    """Out-of-fold class values (γ, |S|, ℓ) of each fold, and the biases (γ, fold, p) where asked for.

    One eigendecomposition of H serves every γ and fold; a bias adds its r columns to the right-hand side.
    """
    partition = FoldPartition(tests)
    order = partition.order
    K, y = K[np.ix_(order, order)], y[order]
    n, ell = len(y), len(L)
    members = indicators(y, ell)  # (n, ℓ)
    spectrum = Spectrum.of(K * L[np.ix_(y, y)], label_blocks(y, L))
    U, C = independent_labels(B)
    right = np.column_stack([np.ones(n), C[:, y].T]) if bias else np.ones((n, 1))
    shifts = 1 / np.asarray(gammas, dtype=float)
    solutions = spectrum.solve(shifts, right)  # (γ, n, 1 or 1 + r)
    values = np.empty((len(gammas), n, ell))
    biases = np.empty((len(gammas), len(tests), len(U)))
    for i in range(len(gammas)):
        fold, point = 0, slice(i, i + 1)
        for run in partition.groups:
            start, count, size = run
            without = spectrum.left_out_solutions(shifts[point], solutions[point], run)[0]  # (k, n, 1 or 1 + r)
            beta = without[:, :, 0]
            if bias:
                beta, b = _eliminate_bias(without, C[:, y])
                biases[i, fold : fold + count] = b @ U.T
            rows = slice(start, start + count * size)
            weighted = beta[:, :, None] * members  # (k, n, ℓ)
            values[i, rows] = np.matmul(K[rows].reshape(count, size, n), weighted).reshape(-1, ell)
            fold += count
    return partition.split(values), biases[:, partition.ranks] if bias else None


# vo-RLS -----------------------------------------------------------------------------------------------------


def rls_system(K: Array, y: Array, L: Array) -> tuple[Array, Array]:
    """G (n, n) and d (n,) of eq. (13): G = L_yy ∘ (K·K) and dⱼ = Σᵢ yᵢᵀyⱼ κᵢⱼ.

    The paper prints (xⱼᵀx_k)² in [G]ⱼₖ where its derivation gives Σᵢ κᵢⱼκᵢₖ = [K·K]ⱼₖ, used here.
    """
    L_yy = L[np.ix_(y, y)]
    return L_yy * (K @ K), (L_yy * K).sum(axis=0)


def solve_rls(G: Array, d: Array, H: Array, gamma: float, regularizer: str) -> Array:
    """Solve (G + γI)β = d (14), or (G + γH)β = d (17) with the ridge ``RLS_F_RIDGE``; H = L_yy ∘ K."""
    if regularizer == "beta":
        A = add_ridge(G, gamma)
    else:
        A = np.multiply(H.T, gamma, order="F")
        A += G.T
        A[np.diag_indices(len(A))] += RLS_F_RIDGE * A.diagonal().max()
    return solve_spd(A, d[:, None])[:, 0]


def fit_rls(K: Array, y: Array, L: Array, gamma: float, regularizer: str) -> Array:
    """β (n,) of vo-RLS with the penalty γ‖β‖² (``"beta"``) or γR(f) (``"f"``)."""
    G, d = rls_system(K, y, L)
    H = L[np.ix_(y, y)] * K
    beta = np.empty(len(y))
    for rows in label_blocks(y, L):
        block = np.ix_(rows, rows)
        beta[rows] = solve_rls(G[block], d[rows], H[block], gamma, regularizer)
    return beta


def sweep_rls(
    K: Array,
    y: Array,
    L: Array,
    folds: Sequence[tuple[Array, Array]],
    gammas: Sequence[float],
    regularizer: str,
) -> list[Array]:
    """Out-of-fold class values (γ, |S|, ℓ) of each fold.

    K·K sums over the training points, so a fold S changes every entry of G; but
    K₋S,₋S K₋S,₋S = [K·K]₋S,₋S − K₋S,S K_S,₋S, and the same of d. What remains is one Cholesky factorisation
    a fold and γ (for nine γ an eigendecomposition a fold is dearer). Orthogonal labels make G and H
    block-diagonal by class: ℓ small systems.
    """
    KK = K @ K
    blocks = label_blocks(y, L)
    results = []
    for train, test in folds:
        values = np.zeros((len(gammas), len(test), len(L)))
        for block in blocks:
            rows = train[np.isin(train, block)]
            y_rows = y[rows]
            K_rows = K[np.ix_(rows, rows)]
            L_rows = L[np.ix_(y_rows, y_rows)]
            outside = np.setdiff1d(np.arange(len(y)), train)
            K_out = K[np.ix_(outside, rows)]
            G = L_rows * (KK[np.ix_(rows, rows)] - K_out.T @ K_out)
            H = L_rows * K_rows
            d = H.sum(axis=0)
            K_test = K[np.ix_(test, rows)]
            for i, gamma in enumerate(gammas):
                beta = solve_rls(G, d, H, gamma, regularizer)
                values[i] += class_values(K_test, beta, y_rows, len(L))
        results.append(values)
    return results


def label_blocks(y: Array, L: Array) -> list[Array]:
    """Rows that share a system: all of them, or the rows of each class when the labels are orthogonal."""
    if np.count_nonzero(L - np.diag(np.diag(L))):
        return [np.arange(len(y))]
    return [np.flatnonzero(y == c) for c in range(len(L))]
