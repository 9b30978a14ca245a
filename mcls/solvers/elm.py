"""Extreme learning machine: a random hidden layer, and ridge outputs for every C from one SVD.

With H (n, L) the outputs of the hidden layer and T (n, ℓ) the ±1 targets, the output weights solve

    min over β   ½‖β‖² + (C/2) ‖Hβ − T‖²,     β = (HᵀH + I/C)⁻¹ HᵀT = V diag(s / (s² + 1/C)) Uᵀ T,   H = U diag(s) Vᵀ.

The hidden layer does not depend on C, so one SVD serves the whole grid. In the dual, β = Hᵀ(HHᵀ + I/C)⁻¹T: with the
kernel HHᵀ, or any other in its place (the "kernel ELM"), this is oneLSM with γ = 1/C (honeine2013, eq. 24).

References
----------
G.-B. Huang, H. Zhou, X. Ding and R. Zhang, Extreme learning machine for regression and multiclass classification,
IEEE Transactions on Systems, Man, and Cybernetics B 42, 2012.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import svd
from scipy.special import expit

from mcls.errors import McLsError

Array = np.ndarray


def draw_layer(n_features: int, n_hidden: int, random: np.random.RandomState) -> tuple[Array, Array]:
    """Weights (d, L) uniform in [−1, 1] and biases (L,) uniform in [0, 1]."""
    return random.uniform(-1.0, 1.0, (n_features, n_hidden)), random.uniform(0.0, 1.0, n_hidden)


def hidden(X: Array, weights: Array, biases: Array) -> Array:
    """Outputs of the hidden layer, 1/(1 + exp(−(aᵀx + b))); shape (n, L)."""
    with np.errstate(over="ignore", invalid="ignore"):
        inputs = X @ weights + biases
    if not np.isfinite(inputs).all():
        raise McLsError(f"the hidden layer overflows: features as large as {np.abs(X).max():.3g}; scale them")
    return expit(inputs)


def fit(H: Array, y: Array, n_classes: int, prices: Sequence[float], w: Array | None = None) -> Array:
    """Output weights β for every C; shape (prices, L, ℓ). With row weights w (n,), Σᵢ wᵢ‖βᵀh(xᵢ) − tᵢ‖² is fitted."""
    T = np.full((len(y), n_classes), -1.0)
    T[np.arange(len(y)), y] = 1.0
    if w is not None:
        root = np.sqrt(w)[:, None]
        H, T = root * H, root * T
    U, s, Vt = svd(H, full_matrices=False)
    gains = s / (s**2 + 1.0 / np.asarray(prices, dtype=float)[:, None])  # (prices, r)
    return Vt.T @ (gains[:, :, None] * (U.T @ T))
