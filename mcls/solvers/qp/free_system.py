"""Linear systems of free sets, and what counts as rounding: what every active-set method here is made of."""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs, dtrtrs

from mcls.errors import McLsError
from mcls.solvers.qp.base import product

Array = np.ndarray

#: The gradient of free variables, and the wrong sign of others, is brought below this (the margin is 1).
GRADIENT = 1e-13
#: What is within this of a bound, relative to the largest β or to the bound itself, is on it.
HAIR = 1e-14
#: Smallest free set, and which part of it may have changed, for a border instead of a new factor.
BORDERED, _BORDER = 150, 8


class FreeSystem:
    """(H + ε)_FF x = b for one H, the ridge ε (n,) and many free sets F.

    A free set differs little from the one before: in the last Newton step, with the next multipliers, at the next γ.
    So the factor of one set U is kept, M_UU = RRᵀ, M = H + ε. Where F has the indices a beyond U and lacks r, the
    system is that of U bordered by M_Ua and by the columns e_r, which hold x_r at zero:

        [M_UU  M_Ua  e_r] [x_U]   [b_U]
        [M_aU  M_aa   0 ] [x_a] = [b_a]
        [e_rᵀ   0     0 ] [λ_r]   [ 0 ],

    solved by the Schur complement of M_UU. A border of one column costs |U|² operations, once; a factor |U|³/3.
    """

    def __init__(self, H: Array, ridge: Array) -> None:
        self.H, self.ridge = H, ridge
        self.lengths = np.sqrt(np.maximum(H.diagonal(), 0.0))  # |H_ij| ≤ lengths_i lengths_j
        self.forget()

    def forget(self) -> None:
        """Drop the factor: H is another now."""
        self._keep(np.zeros(0, dtype=np.intp))

    def block(self, f: Array, g: Array) -> Array:
        """H_fg (|f|, |g|)."""
        return self.H[f].take(g, axis=1)

    def gradient(self, beta: Array, c: Array) -> Array:
        """(H + ε)β − c."""
        return product(self.H, beta) + self.ridge * beta - c

    def solve(self, f: Array, b: Array, fresh: bool = False) -> Array:
        """x (|F|,) or (|F|, k) for the sorted indices f (|F|,); ``fresh`` factorises F itself."""
        if f.tobytes() == self.key:
            return dpotrs(self.factor, b, lower=1)[0]
        if not fresh and BORDERED <= len(self.base) and abs(len(self.base) - len(f)) * _BORDER <= len(self.base):
            changed = np.setxor1d(self.base, f, assume_unique=True)
            if len(changed) * _BORDER <= len(self.base):
                return self._bordered(f, b, changed)
        self._keep(f)
        return dpotrs(self.factor, b, lower=1)[0]

    def _keep(self, f: Array) -> None:
        """Factorise (H + ε)_FF and forget all borders."""
        self.base, self.key = f, f.tobytes()
        self.factor = factor(self.block(f, f), self.ridge[f]) if len(f) else np.zeros((0, 0))
        if len(f) >= BORDERED:
            self.place = np.full(len(self.ridge), -1)  # of an index within the base
            self.place[f] = np.arange(len(f))
            self.column = np.full(len(self.ridge), -1)  # of an index within the borders
            self.borders = np.zeros((len(f), 0), order="F")  # R⁻¹[M_Ua, e_r]

    def _bordered(self, f: Array, b: Array, changed: Array) -> Array:
        new = changed[self.column[changed] < 0]
        if len(new):
            border = np.zeros((len(self.base), len(new)), order="F")
            out = self.place[new]
            beyond = out < 0
            border[:, beyond] = self.block(self.base, new[beyond])
            border[out[~beyond], np.flatnonzero(~beyond)] = 1.0
            self.column[new] = self.borders.shape[1] + np.arange(len(new))
            solved = dtrtrs(self.factor, border, lower=1, overwrite_b=1)[0]
            self.borders = np.asfortranarray(np.hstack([self.borders, solved]))
        W = self.borders[:, self.column[changed]]  # (|U|, changed)
        added = self.place[changed] < 0
        a = changed[added]
        S = -(W.T @ W)
        S[np.ix_(added, added)] += self.block(a, a) + np.diag(self.ridge[a])
        many = b if b.ndim == 2 else b[:, None]
        where = self.place[f]  # of F within U
        inside = where >= 0
        b_U = np.zeros((len(self.base), many.shape[1]), order="F")
        b_U[where[inside]] = many[inside]
        u = dtrtrs(self.factor, b_U, lower=1, overwrite_b=1)[0]
        right = -(W.T @ u)
        right[added] += many[~inside]
        try:
            z = np.linalg.solve(S, right)
        except np.linalg.LinAlgError:
            return self.solve(f, b, fresh=True)
        x = np.empty_like(many)
        x[inside] = dtrtrs(self.factor, u - W @ z, lower=1, trans=1)[0][where[inside]]
        x[~inside] = z[added]
        return x if b.ndim == 2 else x[:, 0]


def rounding(lengths: Array, beta: Array, least: float = GRADIENT) -> Array:
    """What counts as a zero of the gradient (..., n): rounding in row i of Hβ is some last places of Σⱼ|H_ij|βⱼ."""
    sums = (lengths * beta).sum(axis=-1, keepdims=True)
    return np.maximum(least, 4 * np.finfo(float).eps * sums * lengths)


def factor(M: Array, ridge: Array) -> Array:
    """Cholesky factor of M + ε; where rounding makes that indefinite, of M plus a little more."""
    for more in (0.0, 1e-13, 1e-11, 1e-9, 1e-7):  # more only shortens the step: the gradient stays exact
        R = M.T.copy(order="F")  # symmetric: transposed it is in the order that LAPACK wants
        R[np.diag_indices(len(R))] += ridge + more * M.diagonal()
        R, failed = dpotrf(R, lower=1, clean=0, overwrite_a=1)
        if not failed:
            return R
    raise McLsError(
        "the matrix H of the quadratic programme is not positive semi-definite; "
        "the kernel (and the kernel on the labels) must be"
    )
