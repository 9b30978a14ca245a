"""Classes of many rows by Gaussian scores of few digits, where these cannot change the class.

With landmarks (or training rows) Z and coefficients a (m, ℓ), the scores of x are Σ_j κ(x, z_j) a_j. The kernel is
κ = exp(−q/2σ²), q = ‖x‖² + ‖z‖² − 2xᵀz after centring. In floating numbers of unit roundoff u, standard error analysis
(Higham 2002, Sec. 3.1) bounds the error of the exponent by

    η = (d + 8) u (‖x‖ + max‖z‖)² / 2σ²,

hence that of every kernel value, relatively, by e^η − 1 + 4u, and with products over blocks of B landmarks that of the
score of a class c by

    E_c = ρ Σ_j κ(x, z_j)|a_jc|,   ρ = e^η − 1 + (B + 8) u,

plus what underflows. The sums Σ κ|a| come from the same product. Where s_c − E_c of the largest score exceeds s_b + E_b
of every other class, the class is certain. Numbers of 32 bits are tried first, then those of 64 bits without further
care; what is left is computed as ever.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from mcls.kernels import TINY
from mcls.threads import blas_threads

Array = np.ndarray

#: Landmarks whose products are added up at once.
_SUM = 512
#: Kernel values of a block: what a core's own cache holds.
_VALUES = 2**19
#: From so many kernel values on rows are spread over threads.
_SPREAD = 2**22


def certain_classes(X: Array, Z: Array, a: Array, sigma: float) -> tuple[Array, Array]:
    """Classes (n,) of rows X (n, d), and which of them are certain.

    Parameters
    ----------
    X, Z : arrays (n, d), (m, d)
        New rows, and those that the coefficients belong to.
    a : array (m, ℓ)
        Coefficients of the scores of the classes, the largest of which wins.
    sigma : float
        Width of the Gaussian kernel.
    """
    n, m = len(X), len(Z)
    classes, certain = np.zeros(n, dtype=np.intp), np.zeros(n, dtype=bool)
    threads = (os.cpu_count() or 1) if n * m >= _SPREAD else 1
    centre = Z.mean(axis=0)
    for kind in (np.float32, np.float64):
        way = _Way(Z - centre, a, sigma, kind)
        left = np.flatnonzero(~certain)
        if not len(left):
            break
        # Whether these digits are enough shows on the first rows.
        first, rest = left[:256], left[256:]
        classes[first], certain[first] = way.classes(X[first] - centre)
        if kind is np.float32 and certain[first].mean() < 0.5:
            continue
        parts = np.array_split(rest, threads) if len(rest) else []
        with blas_threads(1), ThreadPoolExecutor(threads) as pool:
            for part, found in zip(parts, pool.map(lambda rows: way.classes(X[rows] - centre), parts)):  # noqa: B023
                classes[part], certain[part] = found
    return classes, certain


class _Way:
    """Scores in numbers of one size."""

    def __init__(self, Z: Array, a: Array, sigma: float, kind: type) -> None:
        self._kind, (self._m, self._d), self._ell = kind, Z.shape, a.shape[1]
        self._scale = 0.5 / (sigma * sigma)
        norms = np.einsum("ij,ij->i", Z, Z)
        self._largest = float(np.sqrt(norms.max(initial=0.0)))
        with np.errstate(over="ignore", under="ignore"):
            self._Zt: Array = np.ascontiguousarray((2 * self._scale * Z).T.astype(kind))  # (d, m)
            self._norms = (-self._scale * norms).astype(kind)
            self._a: Array = np.hstack([a, np.abs(a)]).astype(kind)  # (m, 2ℓ)
            self._lost = max(float(np.finfo(kind).tiny), TINY) * np.abs(a).sum(axis=0)  # what underflows

    def classes(self, X: Array) -> tuple[Array, Array]:
        """Classes of centred rows, and which are certain."""
        step = max(1, _VALUES // self._m)
        K = np.empty((min(step, len(X)), self._m), dtype=self._kind)
        sums = np.zeros((len(X), 2 * self._ell))
        norms = np.einsum("ij,ij->i", X, X)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            for start in range(0, len(X), step):
                rows = slice(start, start + step)
                values = np.matmul(X[rows].astype(self._kind), self._Zt, out=K[: len(X[rows])])
                values += self._norms
                values += (-self._scale * norms[rows, None]).astype(self._kind)
                np.exp(values, out=values)
                for j in range(0, self._m, _SUM):
                    sums[rows] += values[:, j : j + _SUM] @ self._a[j : j + _SUM]
            return self._decided(sums, norms)

    def _decided(self, sums: Array, norms: Array) -> tuple[Array, Array]:
        u = float(np.finfo(self._kind).eps)  # twice the unit roundoff: room for the usual way's own rounding
        scores, sizes = sums[:, : self._ell], sums[:, self._ell :]
        eta = (self._d + 8) * u * (np.sqrt(norms) + self._largest) ** 2 * self._scale
        rho = np.expm1(np.minimum(eta, 1.0)) + (_SUM + 8) * u
        errors = 1.2 * rho[:, None] * sizes + 2 * self._lost  # 1.2: the sums Σ κ|a| have that error too
        best = scores.argmax(axis=1)
        at = np.arange(len(best))
        floor = scores[at, best] - errors[at, best]
        others = scores + errors
        others[at, best] = -np.inf
        return best, (floor > others.max(axis=1)) & (rho < 0.1)
