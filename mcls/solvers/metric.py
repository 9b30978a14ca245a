"""A learned metric: average gradient outer products of a kernel least-squares machine, round after round.

A metric S, a scale per column (d,) or a matrix (d, r), makes the kernel κ(x, x') = φ(‖Sᵀ(x − x')‖). Recursive feature
machines (Radhakrishnan, Beaglehole, Pandit and Belkin, Science 2024) start from S = I and repeat: fit
f = κ_xᵀ(K + γI)⁻¹Y, take

    A = (1/n) Σᵢ Σ_c ∇f_c(xᵢ) ∇f_c(xᵢ)ᵀ,

whose diagonal says how much f changes along each column, and set SSᵀ = A, or its diagonal. With z = Sᵀx, the slopes
w(r) = −φ'(r)/r of the kernel and the coefficients α (n, ℓ),

    ∇f_c(x) = S Σⱼ α_jc w(‖z − zⱼ‖)(zⱼ − z),

so the gradients of all classes at all rows are one product. (For the L1 distance (zⱼ − z) becomes the signs of its
entries times ‖zⱼ − z‖₁/d, and each column needs a product: gradients of some rows are averaged.) Each new metric is
scaled to leave the mean squared distance between training rows as it was: a width means the same before and after.

What a round learns does not depend on the machine that ends there: its width is half the root of that mean squared
distance, and its γ is the one with the smallest leave-one-out residual, Σᵢ‖eᵢ‖² with eᵢ = αᵢ/[(K + γI)⁻¹]ᵢᵢ, from one
decomposition of the round's kernel matrix. So one path of metrics serves every width and strength of a grid.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mcls.kernels import RADIAL, squared_distances
from mcls.solvers.solved import Solved
from mcls.solvers.spectrum import Spectrum

Array = np.ndarray

#: What a metric may be: a weight per column, or a matrix of few rows.
METRIC_KINDS = ("diagonal", "low-rank")

# A low-rank metric keeps the directions that hold this much of the trace.
_KEPT = 0.99

# The regularisation of a round; kernel values are at most one.
_STRENGTHS = 2.0 ** np.arange(-20.0, 5.0, 2.0)

# Rows whose gradients are averaged where each column needs a product of its own.
_MOST_L1_ROWS = 300

# Numbers of a product of gradients held at once: 32 MB.
_AT_ONCE = 2**22


def transform(X: Array, S: Array) -> Array:
    """Rows Sᵀx (n, d) or (n, r) of X (n, d)."""
    return X * S if S.ndim == 1 else X @ S


def rounds(X: Array, Y: Array, kernel: str, n_rounds: int, metric: str = "diagonal") -> Iterator[Array]:
    """The metrics S learned from the rows X (n, d) with targets Y (n, ℓ), from S = 1 to that of round ``n_rounds``."""
    S, sigma = np.ones(X.shape[1]), typical_distance(X) / 2
    yield S
    for _ in range(n_rounds):
        Z = transform(X, S)
        spectrum = Spectrum.of(RADIAL[kernel].value(RADIAL[kernel].distances(Z), sigma))
        alpha = leave_one_out(spectrum, Y)
        S = _next(X, S, outer_products(kernel, sigma, Z, S, alpha, metric == "diagonal"), metric)
        yield S


def typical_distance(X: Array) -> float:
    """The root of the mean squared distance between two rows of X (n, d); 1 where all are the same."""
    from_mean = X - X.mean(axis=0)
    largest = (
        float(np.abs(from_mean).max(initial=0.0)) or 1.0
    )  # squares of what is left neither overflow nor vanish
    return largest * float(np.sqrt(2.0 * np.square(from_mean / largest).sum() / len(X))) or 1.0


def leave_one_out(spectrum: Spectrum, Y: Array) -> Array:
    """Coefficients (n, ℓ) at the γ with the smallest leave-one-out residual."""
    kept = _STRENGTHS[spectrum.keeps_digits(_STRENGTHS)]
    alphas = spectrum.solve(kept, Y)  # (γ, n, ℓ)
    residuals = Solved(spectrum, kept, alphas, []).left_out(np.arange(len(Y))[:, None])  # (γ, n, 1, ℓ)
    press = np.square(residuals).sum(axis=(1, 2, 3))
    best: Array = alphas[np.argmin(np.where(np.isnan(press), np.inf, press))]
    return best


def gradients(kernel: str, sigma: float, Z_new: Array, Z: Array, S: Array, alpha: Array) -> Array:
    """Gradients (m, ℓ, d) with respect to x of f = κ(x, ·)α at m new rows, given as z = Sᵀx (m, r)."""
    m, (n, r), ell = len(Z_new), Z.shape, alpha.shape[1]
    radial = RADIAL[kernel]
    assert radial.slope is not None  # no other kernel is taken
    D2 = radial.distances(Z_new, Z)
    W = radial.slope(D2, sigma)  # (m, n)
    if radial.distances is squared_distances:
        moved = (W @ (alpha[:, :, None] * Z[:, None, :]).reshape(n, ell * r)).reshape(m, ell, r)
        moved -= (W @ alpha)[:, :, None] * Z_new[:, None, :]
    else:
        W *= np.sqrt(D2 / r)  # ∂(r²)/∂z = 2‖z − zⱼ‖₁ sign/d, and r = ‖z − zⱼ‖₁/√d
        signs = (np.sign(Z[None, :, k] - Z_new[:, k, None]) for k in range(r))
        moved = np.stack([(W * sign) @ alpha for sign in signs], axis=2)
    return moved * S if S.ndim == 1 else moved @ S.T


def outer_products(kernel: str, sigma: float, Z: Array, S: Array, alpha: Array, diagonal: bool) -> Array:
    """The average gradient outer product A (d, d) over the rows Z (n, r) of the machine, or its diagonal (d,)."""
    d, ell = len(S), alpha.shape[1]
    A = np.zeros(d if diagonal else (d, d))
    some = Z if RADIAL[kernel].distances is squared_distances else Z[:: 1 + len(Z) // _MOST_L1_ROWS]
    step = max(1, _AT_ONCE // (len(Z) * Z.shape[1]))  # classes
    for start in range(0, ell, step):
        G = gradients(kernel, sigma, some, Z, S, alpha[:, start : start + step]).reshape(-1, d)
        A += np.einsum("ij,ij->j", G, G) if diagonal else G.T @ G
    return A / len(some)


def _next(X: Array, S: Array, A: Array, metric: str) -> Array:
    """The metric with SSᵀ = A up to a factor: the mean squared distance between rows stays. S itself where A is 0."""
    spread = X - X.mean(axis=0)
    with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
        if metric == "diagonal":
            new = np.sqrt(A / A.max())
        else:
            values, U = np.linalg.eigh(A / np.trace(A)) if np.trace(A) > 0 else (np.zeros(1), A[:, :1])
            order = np.argsort(-values)
            kept = order[: 1 + int(np.searchsorted(np.cumsum(values[order]), _KEPT))]
            new = U[:, kept] * np.sqrt(values[kept])
        size = np.square(spread).sum() / np.square(transform(spread, new)).sum()
        new = new * np.sqrt(size)
    return new if np.isfinite(new).all() else S
