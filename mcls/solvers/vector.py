"""Vector-output least squares on arrays: vo-RLS and vo-LSSVM (honeine2013, Sec. 4.1, 4.2 and 4.4).

One coefficient a sample: f(x) = Σⱼ βⱼ yⱼ κ(xⱼ, x). The labels enter by their Gram matrix L (ℓ, ℓ) alone,
through H = K ∘ L_yy with [L_yy]ᵢⱼ = yᵢᵀyⱼ. The value of class c at x is g_c(x) = Σ_{j∈c} βⱼ κ(xⱼ, x).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcls.solvers.linear import (
    FoldPartition,
    inverse_spd,
    inverse_symmetric,
    left_out_solutions,
    solve_spd,
    solve_symmetric,
)
from mcls.solvers.lsm import add_ridge, indicators

Array = np.ndarray

#: vo-RLS(f) solves with G + γH, singular whenever K is: a ridge of this fraction of its largest diagonal entry
#: is added. It is far above rounding (so that the answer is reproducible) and far below what a score notices.
RLS_F_RIDGE = 1e-10


def class_values(K: Array, beta: Array, y: Array, n_classes: int) -> Array:
    """g (m, ℓ) from K (m, n) and β (n,): g_c = Σ_{j∈c} βⱼ κⱼ."""
    return K @ (indicators(y, n_classes) * beta[:, None])


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
    A, rhs = _bordered(K * (B.T @ B)[np.ix_(y, y)], C[:, y], gamma)
    solution = solve_symmetric(A, rhs)[:, 0]
    return solution[: len(y)], U @ solution[len(y) :]


def _bordered(H: Array, Y: Array, gamma: float) -> tuple[Array, Array]:
    """Matrix and right-hand side of the bordered system, the samples first, then the r entries of the bias."""
    n, r = len(H), len(Y)
    A = np.zeros((n + r, n + r), order="F")
    A[:n, :n] = H
    A[np.arange(n), np.arange(n)] += 1 / gamma
    A[n:, :n] = Y
    A[:n, n:] = Y.T
    rhs = np.zeros((n + r, 1))
    rhs[:n] = 1.0
    return A, rhs


def sweep_lssvm(K: Array, y: Array, L: Array, tests: Sequence[Array], gammas: Sequence[float]) -> list[Array]:
    """Out-of-fold class values (γ, |S|, ℓ) of each fold, from one inverse of H + I/γ per γ."""
    partition = FoldPartition(tests)
    order = partition.order
    K, y = K[np.ix_(order, order)], y[order]
    H = K * L[np.ix_(y, y)]
    values = np.empty((len(gammas), len(y), len(L)))
    for i, gamma in enumerate(gammas):
        M = _inverse_by_blocks(H, y, L, gamma)
        beta = M.sum(axis=1, keepdims=True)  # M 1
        _left_out_class_values(K, y, M, beta, partition, out=values[i])
    return partition.split(values)


def _inverse_by_blocks(H: Array, y: Array, L: Array, gamma: float) -> Array:
    """(H + I/γ)⁻¹; orthogonal labels make H block-diagonal by class, and so its inverse."""
    if np.count_nonzero(L - np.diag(np.diag(L))):
        return inverse_spd(add_ridge(H, 1 / gamma))
    M = np.zeros_like(H)
    for c in range(len(L)):
        rows = np.ix_(y == c, y == c)
        M[rows] = inverse_spd(add_ridge(H[rows], 1 / gamma))
    return M


def _left_out_class_values(
    K: Array, y: Array, M: Array, solution: Array, partition: FoldPartition, out: Array
) -> None:
    """Fill out (n, ℓ) with the class values of each fold's rows from the system solved without the fold."""
    n, ell = out.shape
    members = indicators(y, ell)  # (n, ℓ)
    for start, count, size in partition.groups:
        betas = left_out_solutions(M, solution, start, count, size)[:, :n]  # (k, n, 1)
        rows = K[start : start + count * size].reshape(count, size, n)
        out[start : start + count * size] = np.matmul(rows, betas * members).reshape(-1, ell)


def sweep_lssvm_bias(
    K: Array, y: Array, B: Array, tests: Sequence[Array], gammas: Sequence[float]
) -> tuple[list[Array], Array]:
    """The same for the bordered system: class values of each fold, and the biases (γ, fold, p)."""
    partition = FoldPartition(tests)
    order = partition.order
    K, y = K[np.ix_(order, order)], y[order]
    U, C = independent_labels(B)
    H = K * (B.T @ B)[np.ix_(y, y)]
    n = len(y)
    values = np.empty((len(gammas), n, B.shape[1]))
    biases = np.empty((len(gammas), len(tests), len(U)))
    for i, gamma in enumerate(gammas):
        A, rhs = _bordered(H, C[:, y], gamma)
        M = inverse_symmetric(A)
        solution = M @ rhs
        first = 0
        for start, count, size in partition.groups:
            without = left_out_solutions(M, solution, start, count, size)  # (k, n + r, 1)
            biases[i, first : first + count] = without[:, n:, 0] @ U.T
            first += count
        _left_out_class_values(K, y, M, solution, partition, out=values[i])
    return partition.split(values), biases[:, partition.ranks]


# vo-RLS -----------------------------------------------------------------------------------------------------


def rls_system(K: Array, y: Array, L: Array) -> tuple[Array, Array]:
    """G (n, n) and d (n,) of eq. (13): G = L_yy ∘ (K·K) and dⱼ = Σᵢ yᵢᵀyⱼ κᵢⱼ.

    The paper prints (xⱼᵀx_k)² in [G]ⱼₖ where its derivation gives Σᵢ κᵢⱼκᵢₖ = [K·K]ⱼₖ, used here.
    """
    L_yy = L[np.ix_(y, y)]
    return L_yy * (K @ K), (L_yy * K).sum(axis=0)


def solve_rls(G: Array, d: Array, K: Array, y: Array, L: Array, gamma: float, regularizer: str) -> Array:
    """Solve (G + γI)β = d (14), or (G + γH)β = d (17) with the ridge ``RLS_F_RIDGE``."""
    if regularizer == "beta":
        A = add_ridge(G, gamma)
    else:
        A = np.multiply(K, L[np.ix_(y, y)], order="F")
        A *= gamma
        A += G
        A[np.diag_indices(len(A))] += RLS_F_RIDGE * A.diagonal().max()
    return solve_spd(A, d[:, None])[:, 0]


def fit_rls(K: Array, y: Array, L: Array, gamma: float, regularizer: str) -> Array:
    """β (n,) of vo-RLS with the penalty γ‖β‖² (``"beta"``) or γR(f) (``"f"``)."""
    G, d = rls_system(K, y, L)
    beta = np.empty(len(y))
    for rows in _label_blocks(y, L):
        block = np.ix_(rows, rows)
        beta[rows] = solve_rls(G[block], d[rows], K[block], y[rows], L, gamma, regularizer)
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
    blocks = _label_blocks(y, L)
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
            d = (L_rows * K_rows).sum(axis=0)
            K_test = K[np.ix_(test, rows)]
            for i, gamma in enumerate(gammas):
                beta = solve_rls(G, d, K_rows, y_rows, L, gamma, regularizer)
                values[i] += class_values(K_test, beta, y_rows, len(L))
        results.append(values)
    return results


def _label_blocks(y: Array, L: Array) -> list[Array]:
    """Rows that share a system: all of them, or the rows of each class when the labels are orthogonal."""
    if np.count_nonzero(L - np.diag(np.diag(L))):
        return [np.arange(len(y))]
    return [np.flatnonzero(y == c) for c in range(len(L))]
