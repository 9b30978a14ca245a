"""Orthogonality-based label correction on arrays (xue2013): RLSC and LSSVM, fitted at one point or swept.

**One feature space for every kernel.** Write K = U diag(s) Uᵀ with the r eigenvalues s > 0, and Φ = U diag(√s)
(n, r), so that K = ΦΦᵀ. A kernel machine here *is* the paper's linear machine on X = Φᵀ; new rows have the
features K_t U diag(1/√s), and a weight vector w is the same function as the coefficients α = U diag(1/√s) w.
With the linear kernel r ≤ d: this is the primal form, whatever n is.

**RLSC.** Let y⁽ᶜ⁾ (n,) be the row of (1) that belongs to class c: the norm ν_c of its codeword on the rows of
the class, zero elsewhere; let B_c hold the columns y⁽ᶜ'⁾, c' ≠ c, and V_c = ΦᵀB_c. Equation (5) is

    [diag(s) + λ₁I + λ₂V_cV_cᵀ] w_c = Φᵀy⁽ᶜ⁾.

**LSSVM.** With t = ±1 in the constraints of (6), e² = (t − Φw − b)²; dividing (6) by λ₁,

    min ½‖t − Φw − b1‖² + ½λ₁⁻¹‖w‖² + ½λ₁⁻¹λ₂‖V_cᵀw‖²:

equation (5) for the target t − b1 with λ₁⁻¹ in the place of λ₁ and λ₂/λ₁ in that of λ₂. The map from a target
to its values Φw is linear, t ↦ S_c t, and ∂/∂b = 0 gives b = 1ᵀ(t − S_c t) / 1ᵀ(1 − S_c 1).

**Whitening.** With ρ = λ₁, τ = λ₂ (LSSVM: ρ = λ₁⁻¹, τ = λ₂/λ₁), g = (s + ρ)^(−½) and Ṽ_c = diag(g) V_c,

    w = diag(g) (I + τṼ_cṼ_cᵀ)⁻¹ diag(g) Φᵀy.

No entry of diag(g√s) exceeds 1, so the eigenvalues of the matrix to invert lie in [1, 1 + τ max_c n_cν_c²]
whatever the scale of the features and however small ρ is: raw features need no care of their own.

**Sweep.** Every target and every Ṽ_c is made of the ℓ columns of T = diag(g√s) UᵀZ, Z the class indicators
(n, ℓ). With T = QR (Q (r, k), R (k, ℓ), k ≤ ℓ), and P diag(σ) Oᵀ the singular value decomposition of those
columns of R, times their norms, that penalise class c,

    (I + τṼ_cṼ_cᵀ)⁻¹ T = Q P diag(1/(1 + τσ²)) Pᵀ R:

a division for each λ₂, k×k algebra for each class and λ₁, one decomposition of K for all of them. Nothing is
subtracted. (The Woodbury form of the same update subtracts, and loses its digits where the penalty leaves a
millionth of the scores.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.linalg import eigh, lapack, svd

from mcls.solvers.linear import solve_spd
from mcls.solvers.lsm import indicators

Array = np.ndarray
Path = Sequence[tuple[float, float]]  # the (λ₁, λ₂) of each point

# In a narrow kernel classes of one size have equal biases: at full precision rounding would order them.
_BIAS_DECIMALS = 12


def spectrum(K: Array) -> tuple[Array, Array]:
    """Eigenvectors U (n, r) and eigenvalues s (r,) > 0 of a positive semi-definite K (n, n) of numerical rank r.

    A pivoted Cholesky K = LLᵀ finds the rank; where that is small (linear kernel, wide Gaussian), the thin
    L (n, r) is decomposed instead of K, at n·r² operations.
    """
    n = len(K)
    eps = n * np.finfo(float).eps
    factor, pivots, rank, _ = lapack.dpstrf(K, lower=1, tol=eps * max(np.diag(K).max(), 0.0))
    if rank <= n // 3:
        L = np.empty((n, rank))
        L[pivots - 1] = np.tril(factor[:, :rank])
        if rank == 0:  # K = 0: no feature at all
            return L, np.empty(0)
        U, roots, _ = svd(L, full_matrices=False)
        return U, roots**2
    s, U = eigh(K, driver="evd")
    kept = s > eps * s[-1]
    return U[:, kept], s[kept]


def fit_rlsc(K: Array, y: Array, norms: Array, lambda1: float, lambda2: float) -> Array:
    """Coefficients α (n, ℓ) of OLC-RLSC, equation (5): the estimated codeword of a row is K_t α.

    ``norms`` (ℓ,) are those of the codewords; λ₂ = 0 is RLSC.
    """
    U, s = spectrum(K)
    Z = indicators(y, len(norms))
    solve = _WhitenedFit(U, s, Z, norms, lambda1, lambda2)
    return np.column_stack([norms[c] * solve(c, Z[:, c : c + 1]) for c in range(len(norms))])


def fit_lssvm(K: Array, y: Array, norms: Array, lambda1: float, lambda2: float) -> tuple[Array, Array]:
    """Coefficients α (n, ℓ) and biases b (ℓ,) of OLC-LSSVM, equation (9): the outputs of a row are K_t α + b."""
    U, s = spectrum(K)
    Z = indicators(y, len(norms))
    solve = _WhitenedFit(U, s, Z, norms, 1 / lambda1, lambda2 / lambda1)
    alpha, b = np.empty(Z.shape), np.empty(len(norms))
    for c in range(len(norms)):
        targets = np.column_stack([2 * Z[:, c] - 1, np.ones(len(y))])  # t and 1
        coefficients = solve(c, targets)  # (n, 2)
        residuals = (targets - U @ (s[:, None] * (U.T @ coefficients))).sum(axis=0)  # 1ᵀ(t − S_c t), 1ᵀ(1 − S_c 1)
        b[c] = np.round(residuals[0] / residuals[1], _BIAS_DECIMALS)
        alpha[:, c] = coefficients[:, 0] - b[c] * coefficients[:, 1]
    return alpha, b


def fit_one(K: Array, y: Array, n_classes: int, gamma: float, lambda2: float) -> Array:
    """Coefficients α (n, ℓ) for the class indicators of oneLSM with label correction.

    The penalty ½λ₂ Σ_c ‖Σ_{i∈c} (f(x_i) − y_i)‖² weighs the residuals by H = I + λ₂ZZᵀ, the same for every
    output, so that (K + γH⁻¹)α = Z; in the feature space [diag(s) + γI + λ₂ΦᵀZZᵀΦ]w = ΦᵀHZ with
    HZ = Z diag(1 + λ₂n_c).
    """
    U, s = spectrum(K)
    Z = indicators(y, n_classes)
    solve = _WhitenedFit(U, s, Z, np.ones(n_classes), gamma, lambda2)
    return solve(None, Z * (1 + lambda2 * Z.sum(axis=0)))


class _WhitenedFit:
    """Coefficients of ridge regression with the class sums of the other classes penalised: target → α."""

    def __init__(self, U: Array, s: Array, Z: Array, norms: Array, rho: float, tau: float) -> None:
        self._U, self._tau = U, tau
        self._whiten = np.sqrt(s / (s + rho))
        self._colour = 1 / np.sqrt(s * (s + rho))
        self._V = self._whiten[:, None] * (U.T @ (Z * norms))  # (r, ℓ)

    def __call__(self, c: int | None, targets: Array) -> Array:
        """Coefficients (n, q) for the targets (n, q) of class c; for None every class is penalised."""
        V = self._V if c is None else np.delete(self._V, c, axis=1)
        w = self._whiten[:, None] * (self._U.T @ targets)
        if self._tau > 0 and len(w):
            w = solve_spd(np.eye(len(w)) + self._tau * (V @ V.T), w)
        return self._U @ (self._colour[:, None] * w)


def sweep_rlsc(K: Array, K_test: Array, y: Array, norms: Array, path: Path) -> Array:
    """Estimated codewords (points, m, ℓ) of the rows of K_test (m, n) at every (λ₁, λ₂) of the path."""
    out = np.empty((len(path), len(K_test), len(norms)))
    for at, tau, D, R in _whitened_path(K, K_test, y, len(norms), path, svm=False):
        P, sigma2 = _penalised(R, norms)
        q = np.einsum("cij,ic->cj", P, R * norms)  # Pᵀ r_c, (ℓ, k)
        shrunk = q / (1 + tau[:, None, None] * sigma2)  # (λ₂, ℓ, k)
        out[at] = D @ np.einsum("cij,acj->aic", P, shrunk)
    return out


def sweep_lssvm(K: Array, K_test: Array, y: Array, norms: Array, path: Path) -> Array:
    """Outputs (points, m, ℓ) of the rows of K_test (m, n) at every (λ₁, λ₂) of the path, biases included."""
    n, ell = len(K), len(norms)
    counts = np.bincount(y, minlength=ell)
    out = np.empty((len(path), len(K_test), ell))
    for at, tau, D, R in _whitened_path(K, K_test, y, ell, path, svm=True):
        P, sigma2 = _penalised(R, norms)
        ones = R.sum(axis=1)  # the target 1 = Z1
        q_t = np.einsum("cij,ic->cj", P, 2 * R - ones[:, None])  # the target t = 2z_c − 1, (ℓ, k)
        q_1 = np.einsum("cij,i->cj", P, ones)
        shrink = 1 / (1 + tau[:, None, None] * sigma2)  # (λ₂, ℓ, k)
        b = ((2 * counts - n) - (shrink * (q_1 * q_t)).sum(axis=2)) / (n - (shrink * q_1**2).sum(axis=2))
        b = np.round(b, _BIAS_DECIMALS)  # (λ₂, ℓ)
        shrunk = shrink * (q_t - b[:, :, None] * q_1)
        out[at] = D @ np.einsum("cij,acj->aic", P, shrunk) + b[:, None, :]
    return out


def sweep_one(K: Array, K_test: Array, y: Array, n_classes: int, path: Path) -> Array:
    """Values (points, m, ℓ) of oneLSM with label correction at every (γ, λ₂), the indicators as targets."""
    counts = np.bincount(y, minlength=n_classes)
    out = np.empty((len(path), len(K_test), n_classes))
    for at, tau, D, R in _whitened_path(K, K_test, y, n_classes, path, svm=False):
        P, sigma, _ = np.linalg.svd(R)
        sigma2 = np.zeros(len(R))
        sigma2[: len(sigma)] = sigma**2
        shrunk = (P.T @ R) / (1 + tau[:, None, None] * sigma2[:, None])  # (λ₂, k, ℓ)
        out[at] = D @ (P @ shrunk) * (1 + tau[:, None, None] * counts)
    return out


def _whitened_path(
    K: Array, K_test: Array, y: Array, n_classes: int, path: Path, *, svm: bool
) -> Iterator[tuple[Array, Array, Array, Array]]:
    """Yield for each λ₁ its places in the path, their τ, the test rows D (m, k) and the class sums R (k, ℓ).

    D is what a vector of the compressed space is multiplied by: features times diag(g) times Q.
    """
    U, s = spectrum(K)
    sums = U.T @ indicators(y, n_classes)  # (r, ℓ)
    features = (K_test @ U) / np.sqrt(s)  # (m, r)
    first, second = np.array(path, dtype=float).reshape(-1, 2).T
    for lambda1 in np.unique(first):
        at = np.flatnonzero(first == lambda1)
        rho, tau = (1 / lambda1, second[at] / lambda1) if svm else (lambda1, second[at])
        Q, R = np.linalg.qr(np.sqrt(s / (s + rho))[:, None] * sums)
        yield at, tau, (features / np.sqrt(s + rho)) @ Q, R


def _penalised(R: Array, norms: Array) -> tuple[Array, Array]:
    """Left singular vectors P (ℓ, k, k) and squared singular values (ℓ, k) of each class's penalised columns."""
    ell, k = len(norms), len(R)
    others = np.array([np.delete(np.arange(ell), c) for c in range(ell)])  # (ℓ, ℓ−1)
    P, sigma, _ = np.linalg.svd((R * norms)[:, others].transpose(1, 0, 2))
    sigma2 = np.zeros((ell, k))
    sigma2[:, : sigma.shape[1]] = sigma**2
    return P, sigma2
