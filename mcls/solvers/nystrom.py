"""Kernel least squares on landmarks (Nyström): m rows stand for all n, in m² memory instead of n².

With landmarks Z (m rows of the data), f(x) = Σ_j β_j κ(z_j, x) is the minimiser of

    Σᵢ ‖f(xᵢ) − yᵢ‖² + γ‖f‖²   over that span:   (K_mn K_nm + γ K_mm) β = K_mn Y,

which is the exact machine of the kernel Q = K_nm K_mm⁻¹ K_mn; with every row a landmark, Q = K. The normal
equations square the condition of K_mm, so they are not solved as they stand: with K_mm = LLᵀ, the rows
P = K_nm L⁻ᵀ (n, m) are features with Q = PPᵀ, and

    (PᵀP + γI) c = PᵀY,   β = L⁻ᵀ c.

P is made block by block and never held: memory is a few m² whatever n. Time is 3nm² + 2m³/3 operations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.linalg import lapack, solve_triangular

from mcls.errors import McLsError
from mcls.solvers.linear import solve_spd
from mcls.solvers.lsm import add_ridge

Array = np.ndarray

# Added to the diagonal of K_mm, relative to its mean: rows that repeat make K_mm singular.
_JITTER = 1e-10


def draw_landmarks(n: int, n_landmarks: int, seed: int) -> Array:
    """Sorted indices of the landmarks: seeded, uniform, without replacement; all rows where there are fewer."""
    return np.sort(np.random.default_rng(seed).permutation(n)[:n_landmarks])


def fit(
    kernel: Callable[[Array, Array], Array],
    X: Array,
    Y: Array,
    Z: Array,
    gammas: Sequence[float],
    block: int,
    w: Array | None = None,
) -> Array:
    """Coefficients β (γ, m, r) of the landmarks Z (m, d) for the rows X (n, d) with targets Y (n, r).

    ``kernel(A, B)`` gives the kernel matrix of two arrays of rows; ``block`` rows of X are handled at once. All γ
    share the products of P: each adds only a factorisation. Row weights w (n,) multiply the rows of P and Y by
    their roots.
    """
    root = np.ones(len(X)) if w is None else np.sqrt(w)
    L = _factor(kernel(Z, Z))
    m = len(Z)
    PP, PY = np.zeros((m, m), order="F"), np.zeros((m, Y.shape[1]))
    for start in range(0, len(X), block):
        rows = slice(start, start + block)
        # Pᵀ of the block (m, b) by one triangular solve.
        Pt = solve_triangular(L, kernel(X[rows], Z).T, lower=True, overwrite_b=True, check_finite=False)
        if w is not None:
            Pt *= root[rows]
        PP += Pt @ Pt.T
        PY += Pt @ (root[rows, None] * Y[rows])
    C = np.hstack([solve_spd(add_ridge(PP, gamma), PY) for gamma in gammas])  # (m, γ·r)
    beta = solve_triangular(L, C, lower=True, trans="T", check_finite=False)
    return beta.reshape(m, len(gammas), -1).transpose(1, 0, 2)


def _factor(K: Array) -> Array:
    """Cholesky factor L (m, m) of K_mm with the smallest jitter, by factors of 100, that rounding allows."""
    jitter = _JITTER * max(float(np.mean(np.diag(K))), np.finfo(float).tiny)
    for _ in range(4):  # up to 1e-4: beyond rounding, of single precision too
        A = np.array(K, order="F")
        A[np.diag_indices(len(A))] += jitter
        L, not_definite = lapack.dpotrf(A, lower=1, overwrite_a=1)
        if not not_definite:
            return L
        jitter *= 100.0
    raise McLsError("landmarks need a positive semi-definite kernel, and this one is not; use solver='exact'")
