"""Multinomial logistic regression on scores, several weightings of the rows at once: maps from scores to probabilities.

Both problems are convex and solved by Newton's method for B weightings w (B, n) of the same rows side by side: that of
all rows, and those that leave one fold out. A score of −∞ says that a class is impossible; it stays so. Classes come
before rows, (ℓ, n), in all arrays: sums over a few classes are then long vector operations.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray

#: Up to so many parameters the Hessian is formed and solved; beyond, conjugate gradients need its products only.
_DIRECT_UP_TO = 50
#: From so many probabilities on, products with the Hessian are made of 32-bit numbers.
_SHORT_FROM = 2**15
#: Bounds of a temperature for scores of unit size: probabilities that hardly differ, and certainty.
_LEAST, _LARGEST = 1e-3, 1e6


def softmax(Z: Array) -> tuple[Array, Array]:
    """Probabilities (…, ℓ, n) and the logarithms (…, 1, n) of their denominators; columns of −∞ alone are uniform."""
    top = Z.max(axis=-2, keepdims=True)
    top[np.isneginf(top)] = 0.0
    E = np.exp(Z - top)
    total = E.sum(axis=-2, keepdims=True)
    if not total.all():
        E += total == 0.0
        total = E.sum(axis=-2, keepdims=True)
    E /= total
    return E, top + np.log(total)


def temperatures(G: Array, y: Array, w: Array, start: float = 2.0, tol: float = 1e-7) -> Array:
    """The t (B,) that minimise Σ_i w_i (log Σ_c exp(tG_ci) − t m_i), of scores G (ℓ, n) or (B, ℓ, n) of unit size.

    m_i = (1 − ε) G_yi + ε mean_c G_ci with ε = 1 / (1 + Σ w): one further row whose class is spread evenly. Without
    it t has no bound where the largest score is always right (Platt's remedy, for ℓ classes). The derivative

        Σ_i w_i (Σ_c p_ci G_ci − m_i)

    increases in t; its root is found by Newton's steps in log t, kept in a bracket, until a step is smaller than
    ``tol``: what remains is of the order of its square.
    """
    finite = np.isfinite(G)
    H = np.where(finite, G, 0.0)
    rows = np.arange(len(y))
    w = w * finite[..., y, rows]  # a row whose class was impossible says nothing of t
    eps = 1.0 / (1.0 + w.sum(axis=-1, keepdims=True))
    m = (1.0 - eps) * H[..., y, rows] + eps * H.sum(axis=-2) / np.maximum(finite.sum(axis=-2), 1)
    m_sum = (w * m).sum(axis=-1)  # (B,)
    low, high = (np.full(len(w), np.log(end)) for end in (_LEAST, _LARGEST))
    u = np.full(len(w), np.log(start))
    for _ in range(60):
        t = np.exp(u)
        P = softmax(t[:, None, None] * G)[0]
        PH = P * H
        mean = PH.sum(axis=-2)
        PH *= H
        slope = (w * mean).sum(axis=-1) - m_sum
        curvature = t * (w * (PH.sum(axis=-2) - mean * mean)).sum(axis=-1)
        low, high = np.where(slope < 0, u, low), np.where(slope < 0, high, u)
        with np.errstate(divide="ignore", invalid="ignore"):
            wanted = u - slope / curvature
        step = np.where((wanted >= low) & (wanted <= high), wanted, 0.5 * (low + high)) - u
        u = u + step
        if np.abs(step).max() < tol:
            break
    return np.exp(u)


def ridge_deviations(A: Array, base: Array, y: Array, w: Array, ridge: float, V: Array, tol: float) -> Array:
    """The V (B, ℓ, a) that minimise Σ_i w_i (log Σ_c exp z_ci − z_yi) + ½ ridge ‖V‖², with Z = base + VAᵀ.

    Parameters
    ----------
    A : array (n, a)
        Regressors.
    base : array (B, ℓ, n)
        Where V = 0 starts from, −∞ for impossible classes.
    y, w : arrays (n,), (B, n)
        Class codes, and weights of the rows; rows of an impossible class are left out.
    V : array (B, ℓ, a)
        Start.
    tol : float
        Decrease per row that marks the last step; what remains after it is of the order of its square.
    """
    rows = np.arange(len(y))
    w = (w * np.isfinite(base[:, y, rows]))[:, None]  # (B, 1, n)
    Y = np.zeros(base.shape[1:])
    Y[y, rows] = 1.0

    def evaluate(V: Array) -> tuple[Array, Array]:
        Z = base + V @ A.T
        P, logs = softmax(Z)
        losses = np.where(w > 0, logs - Z[:, None, y, rows], 0.0)
        return P, (w * losses).sum(axis=(1, 2)) + 0.5 * ridge * np.square(V).sum(axis=(1, 2))

    P, value = evaluate(V)
    solve = _direct if V[0].size <= _DIRECT_UP_TO else _conjugate_gradients
    for _ in range(50):
        gradient = (w * (P - Y)) @ A + ridge * V
        step = solve(A, P, w, ridge, gradient)
        decrease = (gradient * step).sum(axis=(1, 2))
        if decrease.max() <= tol * len(y):
            return V - step
        size = np.ones(len(V))
        for _ in range(30):  # halve the steps that do not reach a tenth of what they promise
            tried = V - size[:, None, None] * step
            P, reached = evaluate(tried)
            short = reached > value - 0.1 * size * decrease + 1e-12 * np.abs(value)
            if not short.any():
                break
            size = np.where(short, 0.5 * size, size)
        V, value = tried, reached
    return V


def _direct(A: Array, P: Array, w: Array, ridge: float, gradient: Array) -> Array:
    """Newton's step by the Hessian Σ_i w_i (diag p_i − p_i p_iᵀ) ⊗ a_i a_iᵀ + ridge I, formed."""
    B, ell, a = gradient.shape
    Q = P[:, :, None, :] * A.T  # (B, ℓ, a, n)
    wQ = w[:, :, None] * Q
    H = -(wQ.reshape(B, ell * a, -1) @ np.swapaxes(Q.reshape(B, ell * a, -1), 1, 2))
    classes, diagonal = np.arange(ell), np.arange(ell * a)
    H.reshape(B, ell, a, ell, a)[:, classes, :, classes] += np.moveaxis(wQ @ A, 1, 0)
    H[:, diagonal, diagonal] += ridge
    return np.linalg.solve(H, gradient.reshape(B, ell * a, 1)).reshape(gradient.shape)


def _conjugate_gradients(A: Array, P: Array, w: Array, ridge: float, gradient: Array) -> Array:
    """Newton's step to a few percent, by conjugate gradients on products with the Hessian.

    The preconditioner takes p_ci (1 − p_ci) at its mean over the rows, which leaves AᵀA for each class.
    """
    values, U = np.linalg.eigh(A.T @ A)
    spread = (w * P * (1.0 - P)).mean(axis=2, keepdims=True)  # (B, ℓ, 1)
    scale = np.maximum(values, 0.0) * spread + ridge  # (B, ℓ, a)
    tiny = np.finfo(float).tiny

    # A few percent are wanted: for many rows 32 bits are plenty, and half the traffic.
    kind = np.float32 if P[0].size >= _SHORT_FROM else np.float64
    A_, At, P_, wP = A.astype(kind), np.ascontiguousarray(A.T, dtype=kind), P.astype(kind), (w * P).astype(kind)

    def product(X: Array) -> Array:
        H = ridge * X
        for b, of in enumerate(X.astype(kind)):  # one weighting after the other: its arrays stay in the cache
            D = of @ At  # (ℓ, n)
            D -= np.einsum("cn,cn->n", P_[b], D)
            D *= wP[b]
            H[b] += D @ A_
        return H

    def dot(X: Array, Y: Array) -> Array:
        return (X * Y).sum(axis=(1, 2), keepdims=True)

    step, residual = np.zeros_like(gradient), gradient
    conditioned = ((residual @ U) / scale) @ U.T
    direction, size = conditioned, dot(residual, conditioned)
    enough = 1e-3 * size
    for _ in range(50):
        H = product(direction)
        length = size / np.maximum(dot(direction, H), tiny)
        step = step + length * direction
        residual = residual - length * H
        conditioned = ((residual @ U) / scale) @ U.T
        before, size = size, dot(residual, conditioned)
        if (size <= enough).all():
            break
        direction = conditioned + size / np.maximum(before, tiny) * direction
    return step
