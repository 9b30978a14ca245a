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
to its values Φw is linear, t ↦ S_c t, and ∂/∂b = 0 gives b = 1ᵀN_c t / 1ᵀN_c 1 with N_c = I − S_c.

**Whitening.** With ρ = λ₁, τ = λ₂ (LSSVM: ρ = λ₁⁻¹, τ = λ₂/λ₁), g = (s + ρ)^(−½) and Ṽ_c = diag(g) V_c,

    w = diag(g) (I + τṼ_cṼ_cᵀ)⁻¹ diag(g) Φᵀy.

With a small ρ, S_c is nearly the identity and N_c must not be a difference. Write W = diag(g√s) Uᵀ; then

    N_c = (I − UUᵀ) + U diag(ρ/(s + ρ)) Uᵀ + τ WᵀṼ_cṼ_cᵀ(I + τṼ_cṼ_cᵀ)⁻¹W,

three positive semi-definite terms, the first of them zero where K has full rank.

No entry of diag(g√s) exceeds 1, so the eigenvalues of the matrix to invert lie in [1, 1 + τ max_c n_cν_c²]
whatever the scale of the features and however small ρ is: raw features need no care of their own.

**Sweep.** Every target and every Ṽ_c is made of the ℓ columns of T = diag(g√s) UᵀZ, Z the class indicators
(n, ℓ). With T = QR (Q (r, k), R (k, ℓ), k ≤ ℓ), and P diag(σ) Oᵀ the singular value decomposition of those
columns of R, times their norms, that penalise class c,

    (I + τṼ_cṼ_cᵀ)⁻¹ T = Q P diag(1/(1 + τσ²)) Pᵀ R:

a division for each λ₂, k×k algebra for each class and λ₁, one decomposition of K for all of them. Nothing is
subtracted. (The Woodbury form of the same update subtracts, and loses its digits where the penalty leaves a
millionth of the scores.)

**Weights.** With row weights W every sum over rows is weighted, those of the penalty too. In terms of W^½Φ and W^½Z
that is the problem above: B = W^½KW^½ takes the place of K, and the columns of Z hold the roots of the weights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from scipy.linalg import eigh, svd

from mcls.solvers.linear import LARGEST_CONDITION, SMALLEST_RCOND, add_ridge, solve_spd, warn_of_lost_digits
from mcls.solvers.lsm import BIAS_DECIMALS, indicators, least_difference
from mcls.solvers.spectrum import Spectrum, pivoted_factor
from mcls.solvers.weights import weigh

Array = np.ndarray
Lambdas = Sequence[tuple[float, float]]  # the (λ₁, λ₂) of each point


def spectrum(K: Array) -> tuple[Array, Array]:
    """Eigenvectors U (n, r) and eigenvalues s (r,) > 0 of a positive semi-definite K (n, n) of numerical rank r.

    A pivoted Cholesky K = LLᵀ finds the rank; where that is small (linear kernel, wide Gaussian), the thin
    L (n, r) is decomposed instead of K, at n·r² operations. A K that is not semi-definite has no feature space: the
    nearest matrix that is takes its place, K without its negative eigenvalues.
    """
    n = len(K)
    eps = np.finfo(float).eps
    L = pivoted_factor(K, n * eps * max(np.diag(K).max(), 0.0), n // 3)
    if L is not None:
        if not L.shape[1]:  # K = 0: no feature at all
            return L, np.empty(0)
        U, roots, _ = svd(L, full_matrices=False)
        return U, roots**2
    s, U = eigh(K, driver="evd")
    largest = max(s[-1], 0.0)
    kept = s > -n * eps * largest
    # A direction whose eigenvalue drowns in rounding is kept: the features of new rows there are its square root.
    return U[:, kept], np.maximum(s[kept], 2 * eps * largest)


def is_semidefinite(K: Array) -> bool:
    """Whether K is positive semi-definite to rounding, and so its own feature space; n³/3 operations."""
    try:
        np.linalg.cholesky(add_ridge(K, 10 * len(K) * np.finfo(float).eps * max(np.diag(K).max(), 0.0)))
    except np.linalg.LinAlgError:
        return False
    return True


def _weighed(K: Array, y: Array, n_classes: int, w: Array | None) -> tuple[Array, Array, Array]:
    """W^½KW^½, W^½Z (n, ℓ) and the roots (n,) of the weights, for the class indicators Z of y."""
    B, root = weigh(K, w)
    return B, indicators(y, n_classes) * root[:, None], root


def fit_rlsc(K: Array, y: Array, norms: Array, lambda1: float, lambda2: float, w: Array | None = None) -> Array:
    """Coefficients α (n, ℓ) of OLC-RLSC, equation (5): the estimated codeword of a row is K_t α.

    ``norms`` (ℓ,) are those of the codewords; λ₂ = 0 is RLSC.
    """
    B, Z, root = _weighed(K, y, len(norms), w)
    solve = _WhitenedFit(*spectrum(B), Z, norms, lambda1, lambda2)
    return root[:, None] * np.column_stack([norms[c] * solve(c, Z[:, c : c + 1]) for c in range(len(norms))])


def fit_lssvm(
    K: Array, y: Array, norms: Array, lambda1: float, lambda2: float, w: Array | None = None
) -> tuple[Array, Array]:
    """Coefficients α (n, ℓ) and biases b (ℓ,) of OLC-LSSVM, equation (9): the outputs of a row are K_t α + b."""
    B, Z, root = _weighed(K, y, len(norms), w)
    U, s = spectrum(B)
    rho, tau = 1 / lambda1, lambda2 / lambda1
    solve = _WhitenedFit(U, s, Z, norms, rho, tau)
    left, left_of_one = _left_over(U, Z)(s, rho)
    alpha, b = np.empty(Z.shape), np.empty(len(norms))
    for c in range(len(norms)):
        targets = np.column_stack([2 * Z[:, c] - root, root])  # t and 1
        whitened = solve.whiten(targets)  # (r, 2)
        V, solved = solve.penalised(c), solve.shrink(c, whitened)
        penalty = tau * (V.T @ whitened[:, 1]) @ (V.T @ solved)  # (2,)
        b[c] = (2 * left[c] - left_of_one + penalty[0]) / (left_of_one + penalty[1])
        b[c] = np.round(b[c], BIAS_DECIMALS)
        alpha[:, c] = root * solve.colour(solved[:, 0] - b[c] * solved[:, 1])
    return alpha, b


def fit_one(K: Array, y: Array, n_classes: int, gamma: float, lambda2: float, w: Array | None = None) -> Array:
    """Coefficients α (n, ℓ) for the class indicators of oneLSM with label correction.

    The penalty ½λ₂ Σ_c ‖Σ_{i∈c} (f(x_i) − y_i)‖² weighs the residuals by H = I + λ₂ZZᵀ, the same for every
    output, so that (K + γH⁻¹)α = Z; in the feature space [diag(s) + γI + λ₂ΦᵀZZᵀΦ]w = ΦᵀHZ with
    HZ = Z diag(1 + λ₂n_c).
    """
    B, Z, root = _weighed(K, y, n_classes, w)
    solve = _WhitenedFit(*spectrum(B), Z, np.ones(n_classes), gamma, lambda2)
    return root[:, None] * solve(None, Z * (1 + lambda2 * np.square(Z).sum(axis=0)))


class _WhitenedFit:
    """Coefficients of ridge regression with the class sums of the other classes penalised: target → α."""

    def __init__(self, U: Array, s: Array, Z: Array, norms: Array, rho: float, tau: float) -> None:
        if rho < SMALLEST_RCOND * s.max(initial=0.0):
            warn_of_lost_digits()
        self._U, self._tau = U, tau
        self._whiten = np.sqrt(s / (s + rho))
        self._colour = 1 / np.sqrt(s * (s + rho))
        self._V = self.whiten(Z * norms)  # (r, ℓ)

    def __call__(self, c: int | None, targets: Array) -> Array:
        """Coefficients (n, q) for the targets (n, q) of class c; for None every class is penalised."""
        return self.colour(self.shrink(c, self.whiten(targets)))

    def whiten(self, targets: Array) -> Array:
        """W t (r, q) of targets (n, q)."""
        return self._whiten[:, None] * (self._U.T @ targets)

    def penalised(self, c: int | None) -> Array:
        """Ṽ_c (r, ·)."""
        return self._V if c is None else np.delete(self._V, c, axis=1)

    def shrink(self, c: int | None, w: Array) -> Array:
        """(I + τṼ_cṼ_cᵀ)⁻¹ w (r, q)."""
        V = self.penalised(c)
        return solve_spd(np.eye(len(w)) + self._tau * (V @ V.T), w) if self._tau > 0 and len(w) else w

    def colour(self, w: Array) -> Array:
        """Coefficients α (n, ...) of the function with the whitened weights w (r, ...)."""
        return self._U @ (self._colour * w.T).T


def _left_over(U: Array, Z: Array) -> Callable[[Array, float], tuple[Array, float]]:
    """1ᵀNZ (ℓ,) and 1ᵀN1 with N = (I − UUᵀ) + U diag(ρ/(s + ρ)) Uᵀ, what ridge regression leaves, from s and ρ."""
    sums = U.T @ Z  # (r, ℓ)
    ones = sums.sum(axis=1)
    one = Z.sum(axis=1)  # the target 1; with weights their roots
    outside = one - U @ ones
    # The constant lies in the feature space:
    if len(ones) == len(Z) or np.linalg.norm(outside) < 1e-14 * len(Z) * one.max():
        outside[:] = 0.0

    def of(s: Array, rho: float) -> tuple[Array, float]:
        weighted = ones * (rho / (s + rho))
        return weighted @ sums + outside @ Z, float(weighted @ ones + outside @ one)

    return of


def sweep_rlsc(K: Array, K_test: Array, y: Array, norms: Array, path: Lambdas, w: Array | None = None) -> Array:
    """Estimated codewords (points, m, ℓ) of the rows of K_test (m, n) at every (λ₁, λ₂) of the path."""
    out = np.full((len(path), len(K_test), len(norms)), np.nan)
    B, Z, root = _weighed(K, y, len(norms), w)
    for at, _, tau, D, R in _whitened_path(*spectrum(B), K_test * root, Z, path, svm=False):
        P, sigma2 = _penalised(R, norms)
        q = np.einsum("cij,ic->cj", P, R * norms)  # Pᵀ r_c, (ℓ, k)
        shrunk = q / (1 + tau[:, None, None] * sigma2)  # (λ₂, ℓ, k)
        out[at] = D @ np.einsum("cij,acj->aic", P, shrunk)
    return out


def sweep_lssvm(K: Array, K_test: Array, y: Array, norms: Array, path: Lambdas, w: Array | None = None) -> Array:
    """Outputs (points, m, ℓ) of the rows of K_test (m, n) at every (λ₁, λ₂) of the path, biases included."""
    B, Z, root = _weighed(K, y, len(norms), w)
    U, s = spectrum(B)
    left_over = _left_over(U, Z)
    out = np.full((len(path), len(K_test), len(norms)), np.nan)
    for at, rho, tau, D, R in _whitened_path(U, s, K_test * root, Z, path, svm=True):
        P, sigma2 = _penalised(R, norms)
        ones = R.sum(axis=1)  # the target 1 = Z1
        q_t = np.einsum("cij,ic->cj", P, 2 * R - ones[:, None])  # the target t = 2z_c − 1, (ℓ, k)
        q_1 = np.einsum("cij,i->cj", P, ones)
        penalty = tau[:, None, None] * sigma2  # (λ₂, ℓ, k)
        shrink = 1 / (1 + penalty)
        left, left_of_one = left_over(s, rho)
        b = (2 * left - left_of_one + (penalty * shrink * (q_1 * q_t)).sum(axis=2)) / (
            left_of_one + (penalty * shrink * q_1**2).sum(axis=2)
        )
        b = np.round(b, BIAS_DECIMALS)  # (λ₂, ℓ)
        shrunk = shrink * (q_t - b[:, :, None] * q_1)
        out[at] = D @ np.einsum("cij,acj->aic", P, shrunk) + b[:, None, :]
    return out


def sweep_without_penalty(
    K: Array, y: Array, n_classes: int, tests: Sequence[Array], lambdas: Sequence[float], w: Array | None = None
) -> list[Array]:
    """Outputs (λ₁, |S|, ℓ) of LSSVM, λ₂ = 0, of folds that train on all rows but S: one decomposition serves them all.

    Without a penalty N = ρ(K + ρI)⁻¹, so that b = 1ᵀMt / 1ᵀM1 with M = (K + ρI)⁻¹. With the solutions u = Mt and
    v = M1 of all rows, e = M_SS⁻¹u_S (``mcls.solvers.spectrum``), leaving S out gives 1ᵀu⁽⁻ˢ⁾ = 1ᵀu − v_Sᵀe, since
    u − M₋,S e is zero on S; and the values of t and of 1 on S are t_S − e_t and 1 − e_1, or a product where these lose
    their digits, as in ``mcls.solvers.lsm.sweep``. What loses its digits is NaN.
    """
    largest = 1.0 if w is None else w.max()
    B, Z, root = _weighed(K, y, n_classes, None if w is None else w / largest)
    targets = np.column_stack([2 * Z - root[:, None], root])  # (n, ℓ + 1): t of each class, and 1
    whole = Spectrum.of(B)
    shifts = 1 / (largest * np.asarray(lambdas, dtype=float))
    kept = np.flatnonzero(whole.keeps_digits(shifts))
    results = [np.full((len(shifts), len(test), n_classes), np.nan) for test in tests]
    if not len(kept):
        return results
    smallest = least_difference(whole.conditions(shifts[kept]).max())
    for part, solved in whole.solved(shifts[kept], targets, tests):
        totals = root @ solved.U  # (λ, ℓ + 1)
        for places, rows in solved.runs:
            e = solved.left_out(rows, places)  # (λ, k, s, ℓ + 1)
            sums = totals[:, None] - np.einsum("aks,aksr->akr", solved.U[:, rows, -1], e)
            sums[sums[:, :, -1] < 1e-3 * totals[:, None, -1]] = np.nan  # the rows left out were most of it
            b = np.round(sums[:, :, None, :-1] / sums[:, :, None, -1:], BIAS_DECIMALS)  # (λ, k, 1, ℓ)
            G = targets[rows] - e
            lost = (np.abs(G).max(axis=3) < smallest).any(axis=0)  # (k, s)
            for i in np.flatnonzero(lost.any(axis=1)).tolist():
                S, some = rows[i], lost[i]
                G[:, i, some] = solved.left_out_products(S, e[:, i], B[S[some]])
            F = (G[..., :-1] - b * G[..., -1:]) / root[rows][:, :, None] + b
            for i, place in enumerate(places):
                results[place][kept[part]] = F[:, i]
    return results


def sweep_one(K: Array, K_test: Array, y: Array, n_classes: int, path: Lambdas, w: Array | None = None) -> Array:
    """Values (points, m, ℓ) of oneLSM with label correction at every (γ, λ₂), the indicators as targets."""
    B, Z, root = _weighed(K, y, n_classes, w)
    counts = np.square(Z).sum(axis=0)
    out = np.full((len(path), len(K_test), n_classes), np.nan)
    for at, _, tau, D, R in _whitened_path(*spectrum(B), K_test * root, Z, path, svm=False):
        P, sigma, _ = np.linalg.svd(R)
        sigma2 = np.zeros(len(R))
        sigma2[: len(sigma)] = sigma**2
        shrunk = (P.T @ R) / (1 + tau[:, None, None] * sigma2[:, None])  # (λ₂, k, ℓ)
        out[at] = D @ (P @ shrunk) * (1 + tau[:, None, None] * counts)
    return out


def _whitened_path(
    U: Array, s: Array, K_test: Array, Z: Array, path: Lambdas, *, svm: bool
) -> Iterator[tuple[Array, float, Array, Array, Array]]:
    """Yield for each λ₁ its places in the path, ρ, their τ, the test rows D (m, k) and the class sums R (k, ℓ).

    D is what a vector of the compressed space is multiplied by: features times diag(g) times Q. A λ₁ at which the
    order of these operations costs digits is left out.
    """
    sums = U.T @ Z  # (r, ℓ)
    features = (K_test @ U) / np.sqrt(s)  # (m, r)
    first, second = np.array(path, dtype=float).reshape(-1, 2).T
    for lambda1 in np.unique(first):
        at = np.flatnonzero(first == lambda1)
        rho, tau = (1 / lambda1, second[at] / lambda1) if svm else (lambda1, second[at])
        if s.max(initial=0.0) > LARGEST_CONDITION * rho:
            continue
        Q, R = np.linalg.qr(np.sqrt(s / (s + rho))[:, None] * sums)
        yield at, rho, tau, (features / np.sqrt(s + rho)) @ Q, R


def _penalised(R: Array, norms: Array) -> tuple[Array, Array]:
    """Left singular vectors P (ℓ, k, k) and squared singular values (ℓ, k) of each class's penalised columns."""
    ell, k = len(norms), len(R)
    others = np.array([np.delete(np.arange(ell), c) for c in range(ell)])  # (ℓ, ℓ−1)
    P, sigma, _ = np.linalg.svd((R * norms)[:, others].transpose(1, 0, 2))
    sigma2 = np.zeros((ell, k))
    sigma2[:, : sigma.shape[1]] = sigma**2
    return P, sigma2
