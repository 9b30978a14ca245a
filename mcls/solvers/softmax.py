"""Multinomial logistic regression on scores, several weightings of the rows at once: maps from scores to probabilities.

Both problems are convex and solved by Newton's method for B weightings w (B, n) of the same rows side by side: that of
all rows, and those that leave one fold out. A score of −∞ says that a class is impossible; it stays so. Classes come
before rows, (ℓ, n), in all arrays: sums over a few classes are then long vector operations.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri

Array = np.ndarray
#: A preconditioner, as arrays.
Near = tuple[Array, ...]

#: Up to so many parameters the Hessian is formed and solved at each step; beyond, conjugate gradients need its products
#: only.
_DIRECT_UP_TO = 80
#: Up to so many it is formed once, and its inverse is the preconditioner of all steps.
_FORMED_UP_TO = 160
#: A preconditioner with which a step takes more products than this is made anew.
_STALE = 12
#: Products of a step at most.
_MOST_PRODUCTS = 50
#: Where conjugate gradients end: the square of the residual, as the preconditioner measures it, over that at the start.
_RESIDUAL = 1e-2
#: From so many probabilities on, products with the Hessian are made of 32-bit numbers; so is all else of problems whose
#: tolerance is not smaller than this.
_SHORT_FROM, _SHORT_TOL = 2**12, 1e-4
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
    """The t (B,) that minimise Σ_i w_i (log Σ_c exp(tG_ci) − t m_i), of scores G (ℓ, n) or (p, ℓ, n) of unit size.

    m_i = (1 − ε) G_yi + ε mean_c G_ci with ε = 1 / (1 + Σ w): one further row whose class is spread evenly. Without
    it t has no bound where the largest score is always right (Platt's remedy, for ℓ classes). The derivative

        Σ_i w_i (Σ_c p_ci G_ci − m_i)

    increases in t; its root is found by Newton's steps in log t, kept in a bracket, until a step is smaller than
    ``tol``: what remains is of the order of its square. The class codes y are (n,), or (p, n), and start is one number
    or (p,): each of the p is shared by B/p problems one after the other, which weigh the same rows by w (B, n). Each
    problem ends by itself: what it gives does not depend on the others.
    """
    G, y = _stacked(G, 3), _stacked(y, 2)
    finite = np.isfinite(G)
    H = np.where(finite, G, 0.0)
    w = _weighted(w, _of_class(finite, y))  # a row whose class was impossible says nothing of t
    eps = 1.0 / (1.0 + w.sum(axis=1))
    m_sum = (1.0 - eps) * _sums(w, _of_class(H, y))
    m_sum += eps * _sums(w, H.sum(axis=1) / np.maximum(finite.sum(axis=1), 1))  # (B,)
    low, high = (np.full(len(w), np.log(end)) for end in (_LEAST, _LARGEST))
    u_ = np.log(np.broadcast_to(start, len(G)))  # (p,), later one for each problem
    u = np.repeat(u_, len(w) // len(G))
    todo = np.ones(len(w), dtype=bool)
    for _ in range(60):
        t = np.exp(u_)
        P = softmax(t[:, None, None] * G)[0]
        P *= H
        mean = P.sum(axis=1)
        P *= H
        spread = t[:, None] * (P.sum(axis=1) - mean * mean)
        before = u[todo]
        slope, curvature = _sums(w, mean) - m_sum[todo], _sums(w, spread)
        low[todo], high[todo] = np.where(slope < 0, before, low[todo]), np.where(slope < 0, high[todo], before)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):  # what is not inside is not taken
            wanted = before - slope / curvature
        inside = (wanted >= low[todo]) & (wanted <= high[todo])
        u[todo] = np.where(inside, wanted, 0.5 * (low[todo] + high[todo]))
        further = np.abs(u[todo] - before) >= tol
        if not further.any():
            break
        G, H, w = (_kept(of, further) for of in (G, H, w))
        todo[todo] = further
        u_ = u[todo]
    return np.exp(u)


def ridge_deviations(
    A: Array, base: Array, y: Array, w: Array, ridge: float, V: Array, tol: float, near: Near | None = None
) -> Array:
    """The V (B, ℓ, a) that minimise Σ_i w_i (log Σ_c exp z_ci − z_yi) + ½ ridge ‖V‖², with Z = base + VAᵀ.

    Parameters
    ----------
    A : array (n, a) or (p, n, a)
        Regressors, each shared by B/p problems one after the other.
    base : array (B, ℓ, n)
        Where V = 0 starts from, −∞ for impossible classes.
    y, w : arrays (n,) or (B, n), (B, n)
        Class codes, and weights of the rows; rows of an impossible class are left out.
    V : array (B, ℓ, a)
        Start.
    tol : float
        Decrease per unit of weight that marks the last step of a problem; what remains after it is of the order of its
        square. Each of the B problems ends by itself: what it gives does not depend on the others, but for roundings
        and what conjugate gradients leave.
    near : tuple of arrays, optional
        What ``preconditioner`` made for these regressors, for several calls.
    """
    A, y = _stacked(A, 3), _stacked(y, 2)
    w = (w * np.isfinite(_of_class(base, y)))[:, None]  # (B, 1, n)
    enough = tol * np.maximum(w.sum(axis=(1, 2)), 1.0)
    Y = y[:, None] == np.arange(base.shape[1])[:, None]  # (1 or B, ℓ, n)
    direct = V[0].size <= _DIRECT_UP_TO
    short = not direct and tol >= _SHORT_TOL and base[0].size >= _SHORT_FROM
    kind = np.float32 if short else np.float64
    A, base, w = (np.asarray(of, dtype=kind) for of in (A, base, w))
    found = np.array(V, dtype=float)
    todo = np.arange(len(V))
    known = _product(w * Y, A)  # (B, ℓ, a)
    problem: tuple[Array, ...] = (A, np.ascontiguousarray(np.swapaxes(A, 1, 2)), base, y, w, known)

    def evaluate(V: Array) -> tuple[Array, Array]:
        _, At, base, y, w, _ = problem
        Z = _product(V.astype(kind), At)
        Z += base
        P, logs = softmax(Z)
        losses = logs[:, 0] - _of_class(Z, y)
        losses[w[:, 0] == 0] = 0.0
        return P, (w[:, 0] * losses).sum(axis=1, dtype=float) + 0.5 * ridge * np.square(V).sum(axis=(1, 2))

    V = found
    P, value = evaluate(V)
    for _ in range(50):
        A_, At, _, _, w_, known = problem
        wP = w_ * P
        gradient = _centred(_product(wP, A_) - known) + ridge * V
        if direct:
            step = _solved(_hessian(A_, P, wP, ridge), gradient)
        else:
            near = near or _near(A_, P, wP, ridge)
            step, iterations = _conjugate_gradients(A_, At, P, wP, ridge, gradient, near)
            near = near if iterations <= _STALE else None
        decrease = (gradient * step).sum(axis=(1, 2))
        last = decrease <= enough[todo]
        if last.any():
            found[todo[last]] = V[last] - step[last]
            if last.all():
                return found
            todo = todo[~last]
            V, P, value, step, decrease = (of[~last] for of in (V, P, value, step, decrease))
            problem = tuple(_kept(of, ~last) for of in problem)
            near = near and tuple(_kept(of, ~last) for of in near)
        size = np.ones(len(V))
        for _ in range(30):  # halve the steps that do not reach a tenth of what they promise
            tried = V - size[:, None, None] * step
            P, reached = evaluate(tried)
            missed = reached > value - 0.1 * size * decrease + 1e-12 * np.abs(value)
            if not missed.any():
                break
            size = np.where(missed, 0.5 * size, size)
        V, value = tried, reached
    found[todo] = V
    return found


def _stacked(of: Array, ndim: int) -> Array:
    """An array that all problems share with a first axis of length 1."""
    return of if of.ndim == ndim else of[None]


def _kept(of: Array, problems: Array) -> Array:
    """The parts of the problems where a mask (B,) is true: of one array for all, or of p for B/p problems each."""
    return of if len(of) == 1 else np.repeat(of, len(problems) // len(of), axis=0)[problems]


def _weighted(w: Array, of: Array) -> Array:
    """Weights w (B, n) times what is known (p, n) of the rows of B/p problems one after the other."""
    return (w.reshape(len(of), -1, w.shape[1]) * of[:, None]).reshape(w.shape)


def _sums(w: Array, of: Array) -> Array:
    """The sums (B,) that weights w (B, n) make of what is known (p, n) of the rows."""
    return np.einsum("pbn,pn->pb", w.reshape(len(of), -1, w.shape[1]), of).ravel()


def _product(X: Array, M: Array) -> Array:
    """The products of X (B, ℓ, ·) with M (p, ·, ·), each of which is that of B/p one after the other."""
    return (X.reshape(len(M), -1, X.shape[2]) @ M).reshape(*X.shape[:2], M.shape[2])


def _centred(X: Array) -> Array:
    """X (B, ℓ, a) without what all classes have in common, where that is rounding: only the ridge would hold it."""
    return X - X.mean(axis=1, keepdims=True)


def _of_class(Z: Array, y: Array) -> Array:
    """Of Z (B, ℓ, n) the entries (B, n) of the classes y (B, n), where either B may be 1."""
    if len(y) == 1:
        return Z[:, y[0], np.arange(y.shape[1])]
    return np.take_along_axis(Z, y[:, None], axis=1)[:, 0] if len(Z) > 1 else Z[0][y, np.arange(y.shape[1])]


def _hessian(A: Array, P: Array, wP: Array, ridge: float) -> Array:
    """The Hessian (B, ℓa, ℓa): Σ_i w_i (diag p_i − p_i p_iᵀ) ⊗ a_i a_iᵀ + ridge I.

    Both factors are symmetric: of each row the pairs of classes and those of regressors come once.
    """
    (B, ell), a = P.shape[:2], A.shape[2]
    first, second = np.triu_indices(a)
    AA = A[..., first] * A[..., second]  # (p, n, pairs)
    first, second = np.triu_indices(ell)
    PP = wP[:, first] * -P[:, second]  # (B, pairs, n)
    PP[:, np.flatnonzero(first == second)] += wP
    H = np.take(_product(PP, AA).reshape(B, -1), _unfolded(ell, a), axis=1)
    diagonal = np.arange(ell * a)
    H[:, diagonal, diagonal] += ridge
    return H


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


def _solved(H: Array, gradient: Array) -> Array:
    """Newton's step by a Hessian (B, ℓa, ℓa)."""
    return np.linalg.solve(H, gradient.reshape(*H.shape[:2], 1)).reshape(gradient.shape)


def _inverses(H: Array) -> Array:
    """The inverses of positive definite matrices (B, m, m)."""
    made = np.empty(H.shape)
    for of, inverse in zip(H, made):
        half = np.tril(dpotri(dpotrf(of, lower=1)[0], lower=1)[0])
        inverse[:] = half + np.tril(half, -1).T
    return made


def preconditioner(A: Array, base: Array, w: Array, ridge: float) -> Near | None:
    """What ``ridge_deviations`` of these regressors may share: near the inverse of the Hessian at V = 0, or None.

    It decides how many products a step takes, not where the steps lead.
    """
    if base.shape[1] * A.shape[2] <= _DIRECT_UP_TO:
        return None
    P = softmax(base)[0]
    return _near(A, P, w[:, None] * P, ridge)


def _near(A: Array, P: Array, wP: Array, ridge: float) -> Near:
    """A preconditioner: what stands for the inverse of the Hessian, here and where later steps lead.

    Of so many parameters that it can be formed, it is the inverse itself. Of more, p_ci (1 − p_ci) is taken at its mean
    over the rows, which leaves AᵀA for each class. Weightings of the same rows share that of the first one.
    """
    sharing = len(P) // len(A)
    P, wP = P[::sharing], wP[::sharing]
    if P.shape[1] * A.shape[2] <= _FORMED_UP_TO:
        return (_inverses(_hessian(A.astype(float), P.astype(float), wP.astype(float), ridge)),)
    values, U = np.linalg.eigh(np.swapaxes(A, 1, 2) @ A)  # (p, a), (p, a, a)
    spread = (wP * (1.0 - P)).mean(axis=2, keepdims=True)  # (p, ℓ, 1)
    return U, np.maximum(values, 0.0)[:, None] * spread + ridge


def _conditioned(residual: Array, near: Near) -> Array:
    """The product of ``_near`` and residuals (B, ℓ, a)."""
    if len(near) == 1:
        inverse = near[0]
        return (residual.reshape(len(inverse), -1, inverse.shape[1]) @ inverse).reshape(residual.shape)
    U, scale = near
    turned = _product(residual, U)
    turned /= np.repeat(scale, len(turned) // len(scale), axis=0)
    return _product(turned, np.swapaxes(U, 1, 2))


def _conjugate_gradients(
    A: Array, At: Array, P: Array, wP: Array, ridge: float, gradient: Array, near: Near
) -> tuple[Array, int]:
    """Newton's step to some ten percent, by products with the Hessian, and how many of these it took."""
    # No more is wanted: for many rows 32 bits are plenty, and half the traffic.
    kind: Any = np.float32 if P[0].size >= _SHORT_FROM else np.float64
    A, At, P, wP = (np.asarray(of, dtype=kind) for of in (A, At, P, wP))
    tiny = np.finfo(float).tiny

    def product(X: Array) -> Array:
        D = _product(X.astype(kind), At)  # (B, ℓ, n)
        D -= np.einsum("bcn,bcn->bn", P, D)[:, None]
        D *= wP
        return _centred(_product(D, A)) + ridge * X

    def dot(X: Array, Y: Array) -> Array:
        return np.einsum("bca,bca->b", X, Y)[:, None, None]

    step, residual = np.zeros_like(gradient), gradient
    conditioned = _conditioned(residual, near)
    direction, size = conditioned, dot(residual, conditioned)
    enough = _RESIDUAL * size
    iterations = 0
    while True:
        H = product(direction)
        length = size / np.maximum(dot(direction, H), tiny)
        step = step + length * direction
        residual = residual - length * H
        conditioned = _conditioned(residual, near)
        before, size = size, dot(residual, conditioned)
        iterations += 1
        if (size <= enough).all() or iterations == _MOST_PRODUCTS:
            return step, iterations
        direction = conditioned + size / np.maximum(before, tiny) * direction
