"""Multinomial logistic regression on scores, several weightings of the rows at once: maps from scores to probabilities.

Both problems are convex and solved by Newton's method for B weightings w (B, n) of the same rows side by side: that of
all rows, and those that leave one fold out. A score of −∞ says that a class is impossible; it stays so. Classes come
before rows, (ℓ, n), in all arrays: sums over a few classes are then long vector operations.
"""

from __future__ import annotations

from functools import cache

import numpy as np

Array = np.ndarray

#: Up to so many parameters the Hessian is formed and solved; beyond, conjugate gradients need its products only.
_DIRECT_UP_TO = 80
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


def temperatures(G: Array, y: Array, w: Array, start: Array | float = 2.0, tol: float = 1e-7) -> Array:
    """The t (B,) that minimise Σ_i w_i (log Σ_c exp(tG_ci) − t m_i), of scores G (ℓ, n) or (B, ℓ, n) of unit size.

    m_i = (1 − ε) G_yi + ε mean_c G_ci with ε = 1 / (1 + Σ w): one further row whose class is spread evenly. Without
    it t has no bound where the largest score is always right (Platt's remedy, for ℓ classes). The derivative

        Σ_i w_i (Σ_c p_ci G_ci − m_i)

    increases in t; its root is found by Newton's steps in log t, kept in a bracket, until a step is smaller than
    ``tol``: what remains is of the order of its square. The class codes y are (n,), or (B, n) of problems side by side,
    each of which ends by itself: what it gives does not depend on the others.
    """
    G, y = _stacked(G, 3), _stacked(y, 2)
    finite = np.isfinite(G)
    H = np.where(finite, G, 0.0)
    w = w * _of_class(finite, y)  # a row whose class was impossible says nothing of t
    eps = 1.0 / (1.0 + w.sum(axis=1, keepdims=True))
    m = (1.0 - eps) * _of_class(H, y) + eps * H.sum(axis=1) / np.maximum(finite.sum(axis=1), 1)
    m_sum = (w * m).sum(axis=1)  # (B,)
    low, high = (np.full(len(w), np.log(end)) for end in (_LEAST, _LARGEST))
    u = np.full(len(w), np.log(start))
    todo = np.arange(len(w))
    for _ in range(60):
        G_, H_, w_, u_ = _some(G, todo), _some(H, todo), _some(w, todo), u[todo]
        t = np.exp(u_)
        P = softmax(t[:, None, None] * G_)[0]
        P *= H_
        mean = P.sum(axis=1)
        slope = np.einsum("bn,bn->b", w_, mean) - m_sum[todo]
        P *= H_
        curvature = t * np.einsum("bn,bn->b", w_, P.sum(axis=1) - mean * mean)
        low[todo], high[todo] = np.where(slope < 0, u_, low[todo]), np.where(slope < 0, high[todo], u_)
        with np.errstate(divide="ignore", invalid="ignore"):
            wanted = u_ - slope / curvature
        inside = (wanted >= low[todo]) & (wanted <= high[todo])
        u[todo] = np.where(inside, wanted, 0.5 * (low[todo] + high[todo]))
        todo = todo[np.abs(u[todo] - u_) >= tol]
        if not len(todo):
            break
    return np.exp(u)


def ridge_deviations(A: Array, base: Array, y: Array, w: Array, ridge: float, V: Array, tol: float) -> Array:
    """The V (B, ℓ, a) that minimise Σ_i w_i (log Σ_c exp z_ci − z_yi) + ½ ridge ‖V‖², with Z = base + VAᵀ.

    Parameters
    ----------
    A : array (n, a) or (B, n, a)
        Regressors.
    base : array (B, ℓ, n)
        Where V = 0 starts from, −∞ for impossible classes.
    y, w : arrays (n,) or (B, n), (B, n)
        Class codes, and weights of the rows; rows of an impossible class are left out.
    V : array (B, ℓ, a)
        Start.
    tol : float
        Decrease per unit of weight that marks the last step of a problem; what remains after it is of the order of its
        square. Each of the B problems ends by itself: what it gives does not depend on the others.
    """
    A, y = _stacked(A, 3), _stacked(y, 2)
    w = (w * np.isfinite(_of_class(base, y)))[:, None]  # (B, 1, n)
    Y = (y[:, None] == np.arange(base.shape[1])[:, None]).astype(float)  # (1 or B, ℓ, n)
    enough = tol * np.maximum(w.sum(axis=(1, 2)), 1.0)
    direct = V[0].size <= _DIRECT_UP_TO
    solve = _direct if direct else _conjugate_gradients
    found = np.array(V, dtype=float)
    todo = np.arange(len(V))
    problem: tuple[Array, ...] = (A, base, y, w, Y, _pairs(A) if direct else A)

    def evaluate(V: Array) -> tuple[Array, Array]:
        A, base, y, w, *_ = problem
        Z = V @ np.swapaxes(A, 1, 2)
        Z += base
        P, logs = softmax(Z)
        losses = logs[:, 0] - _of_class(Z, y)
        losses[w[:, 0] == 0] = 0.0
        return P, np.einsum("bn,bn->b", w[:, 0], losses) + 0.5 * ridge * np.square(V).sum(axis=(1, 2))

    V = found
    P, value = evaluate(V)
    for _ in range(50):
        A_, _, _, w_, Y_, regressors = problem
        gradient = (w_ * (P - Y_)) @ A_ + ridge * V
        step = solve(regressors, P, w_, ridge, gradient)
        decrease = (gradient * step).sum(axis=(1, 2))
        last = decrease <= enough[todo]
        if last.any():
            found[todo[last]] = V[last] - step[last]
            if last.all():
                return found
            todo = todo[~last]
            V, P, value, step, decrease = (of[~last] for of in (V, P, value, step, decrease))
            problem = tuple(_some(of, ~last) for of in problem)
        size = np.ones(len(V))
        for _ in range(30):  # halve the steps that do not reach a tenth of what they promise
            tried = V - size[:, None, None] * step
            P, reached = evaluate(tried)
            short = reached > value - 0.1 * size * decrease + 1e-12 * np.abs(value)
            if not short.any():
                break
            size = np.where(short, 0.5 * size, size)
        V, value = tried, reached
    found[todo] = V
    return found


def _stacked(of: Array, ndim: int) -> Array:
    """An array that all problems share with a first axis of length 1."""
    return of if of.ndim == ndim else of[None]


def _some(of: Array, problems: Array) -> Array:
    """The parts of some problems; what all share stays shared."""
    return of if len(of) == 1 else of[problems]


def _of_class(Z: Array, y: Array) -> Array:
    """Of Z (B, ℓ, n) the entries (B, n) of the classes y (B, n), where either B may be 1."""
    if len(y) == 1:
        return Z[:, y[0], np.arange(y.shape[1])]
    return np.take_along_axis(Z, y[:, None], axis=1)[:, 0] if len(Z) > 1 else Z[0][y, np.arange(y.shape[1])]


def _pairs(A: Array) -> Array:
    """The products (…, n, a(a + 1)/2) of every two regressors A (…, n, a)."""
    first, second = np.triu_indices(A.shape[-1])
    return A[..., first] * A[..., second]


def _direct(AA: Array, P: Array, w: Array, ridge: float, gradient: Array) -> Array:
    """Newton's step by the Hessian Σ_i w_i (diag p_i − p_i p_iᵀ) ⊗ a_i a_iᵀ + ridge I, formed.

    Both factors are symmetric: of each row the pairs of classes and those of regressors, ``_pairs``, come once.
    """
    B, ell, a = gradient.shape
    first, second = np.triu_indices(ell)
    PP = P[:, first] * P[:, second]  # (B, pairs, n)
    PP *= -w
    own = np.flatnonzero(first == second)
    PP[:, own] += w * P
    H = np.take((PP @ AA).reshape(B, -1), _unfolded(ell, a), axis=1)  # (B, ℓa, ℓa)
    diagonal = np.arange(ell * a)
    H[:, diagonal, diagonal] += ridge
    return np.linalg.solve(H, gradient.reshape(B, ell * a, 1)).reshape(gradient.shape)


@cache
def _unfolded(ell: int, a: int) -> Array:
    """Where the entries of the Hessian (ℓa, ℓa) are among pairs of classes × pairs of regressors."""

    def places(n: int) -> Array:
        of = np.zeros((n, n), dtype=np.intp)
        of[np.triu_indices(n)] = np.arange(n * (n + 1) // 2)
        return np.maximum(of, of.T)

    of_classes, of_regressors = places(ell), places(a)
    both = of_classes[:, None, :, None] * (a * (a + 1) // 2) + of_regressors[None, :, None, :]
    return both.reshape(ell * a, ell * a)


def _conjugate_gradients(A: Array, P: Array, w: Array, ridge: float, gradient: Array) -> Array:
    """Newton's step to a few percent, by conjugate gradients on products with the Hessian.

    The preconditioner takes p_ci (1 − p_ci) at its mean over the rows, which leaves AᵀA for each class.
    """
    At = np.swapaxes(A, 1, 2)
    values, U = np.linalg.eigh(At @ A)  # (1 or B, a), (1 or B, a, a)
    Ut = np.swapaxes(U, 1, 2)
    spread = (w * P * (1.0 - P)).mean(axis=2, keepdims=True)  # (B, ℓ, 1)
    scale = np.maximum(values, 0.0)[:, None] * spread + ridge  # (B, ℓ, a)
    tiny = np.finfo(float).tiny

    # A few percent are wanted: for many rows 32 bits are plenty, and half the traffic.
    kind = np.float32 if P[0].size >= _SHORT_FROM else np.float64
    A_, At = A.astype(kind), np.ascontiguousarray(At, dtype=kind)
    P_, wP = P.astype(kind), (w * P).astype(kind)

    def product(X: Array) -> Array:
        H = ridge * X
        for b, of in enumerate(X.astype(kind)):  # one weighting after the other: its arrays stay in the cache
            shared = b % len(A_)  # 0 where all have the same regressors
            D = of @ At[shared]  # (ℓ, n)
            D -= np.einsum("cn,cn->n", P_[b], D)
            D *= wP[b]
            H[b] += D @ A_[shared]
        return H

    def dot(X: Array, Y: Array) -> Array:
        return (X * Y).sum(axis=(1, 2), keepdims=True)

    step, residual = np.zeros_like(gradient), gradient
    conditioned = ((residual @ U) / scale) @ Ut
    direction, size = conditioned, dot(residual, conditioned)
    enough = 1e-3 * size
    for _ in range(50):
        H = product(direction)
        length = size / np.maximum(dot(direction, H), tiny)
        step = step + length * direction
        residual = residual - length * H
        conditioned = ((residual @ U) / scale) @ Ut
        before, size = size, dot(residual, conditioned)
        if (size <= enough).all():
            break
        direction = conditioned + size / np.maximum(before, tiny) * direction
    return step
