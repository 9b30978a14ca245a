"""Kernels: linear, polynomial, and those of a distance: Gaussian, Laplace and Matérn; distances once, many widths.

The Gaussian kernel is κ(x, x') = exp(−‖x − x'‖² / 2σ²) (honeine2013, Sec. 2). With r = ‖x − x'‖ the Laplace kernel is
exp(−r/σ) (Matérn with ν = 1/2), and ``matern`` is the one with ν = 3/2, (1 + √3 r/σ) exp(−√3 r/σ): its functions have
one derivative, Laplace's none, the Gaussian's all. ``laplace-l1`` is exp(−‖x − x'‖₁/(σ√d)), a product over the d
columns: it sees each column by itself, as trees do. Over √d, the sum of differences is of the size of a Euclidean
distance, and widths mean the same. A grid search over σ needs the squared distances once:
``D2 = RADIAL[kernel].distances(X)``, then ``RADIAL[kernel].value(D2, sigma)`` for each width.

Two more look at the columns of the rows that are learned from, and so do not depend on the units of a column:
``gaussian-standard`` and ``laplace-l1-standard`` divide each by its standard deviation there, and ``laplace-l1-ranks``
takes the place of a value among those, from −1 to 1: any increasing function of a column gives the same kernel, as it
gives the same trees. The rows that are learned from are the second argument of the distances, Z, or X alone. The kernel
matrix of a cross-validation is that of all its rows: deviations and ranks come from all of them, without their labels.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack
from scipy.spatial.distance import cdist

from mcls.errors import McLsError, unknown_name
from mcls.parameters import is_allowed, width

Array = np.ndarray
KernelFunction = Callable[[Array, Array], Array]

#: The one whose matrix the user gives.
PRECOMPUTED = "precomputed"


#: Parameters that change the kernel matrix itself; every other parameter of a machine is swept at a fixed K.
KERNEL_PARAMETERS = ("kernel", "sigma", "degree", "coef0")

_check_width = width()

#: Smaller kernel values are zero: subnormal numbers are 10–100 times slower in every product, and at σ = 2⁻⁴ many
#: values are that small.
TINY = 1e-290

# Machines multiply two kernel values, and a sum of such products must stay a number.
_LARGEST = 1e150

# Rows handled at once, so that temporaries stay small beside the matrix itself.
_BLOCK = 512


def squared_distances(X: Array, Z: Array | None = None) -> Array:
    """Squared Euclidean distances between the rows of X (n, d) and of Z (m, d; X itself when None); (n, m).

    Identical rows are at distance exactly zero and the one-argument form is exactly symmetric.
    ‖x‖² + ‖z‖² − 2xᵀz is one fast product but loses the digits of a small distance between long vectors:
    the rows are centred first, and a distance that still cancels is computed again by differences.
    """
    reference = X if Z is None else Z
    with np.errstate(over="ignore", invalid="ignore"):
        centre = reference.mean(axis=0)
        B = reference - centre  # (m, d)
        A = B if Z is None else X - centre  # (n, d)
        norms_b = np.einsum("ij,ij->i", B, B)
        norms_a = norms_b if Z is None else np.einsum("ij,ij->i", A, A)
        bound = 2.0 * (norms_a.max(initial=0.0) + norms_b.max(initial=0.0))  # ‖a − b‖² ≤ 2‖a‖² + 2‖b‖²
    if not np.isfinite(bound):
        raise _overflow(X, reference)
    D2 = A @ B.T  # (n, m); exactly symmetric when A is B (BLAS computes one triangle)
    for start in range(0, len(A), _BLOCK):
        block = slice(start, start + _BLOCK)
        norms = norms_a[block, None] + norms_b[None, :]
        D2[block] *= -2.0
        D2[block] += norms
        rows, columns = np.nonzero(D2[block] < 1e-6 * norms)
        if 16 * len(rows) > D2[block].size:
            D2[block] = cdist(A[block], B, "sqeuclidean")
        else:
            difference = A[block][rows] - B[columns]
            D2[block][rows, columns] = np.einsum("ij,ij->i", difference, difference)
    return D2


def squared_l1_distances(X: Array, Z: Array | None = None) -> Array:
    """‖x − z‖₁²/d for the rows of X (n, d) and of Z (m, d; X itself when None); (n, m)."""
    reference = X if Z is None else Z
    with np.errstate(over="ignore", invalid="ignore"):
        D2 = cdist(X, reference, "cityblock")
        np.square(D2, out=D2)
        D2 /= X.shape[1]
    if not np.isfinite(D2.max(initial=0.0)):
        raise _overflow(X, reference)
    return D2


def standardised(X: Array, reference: Array) -> Array:
    """The rows X (n, d) with each column centred and divided by its deviation in the reference rows (m, d).

    A column that is constant there is zero everywhere: it has no unit.

    >>> standardised(np.array([[3.0, 7.0]]), np.array([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]])).round(3)
    array([[1.225, 0.   ]])
    """
    with np.errstate(over="ignore", invalid="ignore"):
        centre, deviation = reference.mean(axis=0), reference.std(axis=0)
        constant = reference.min(axis=0) == reference.max(axis=0)
        made = (X - centre) / np.where(constant, np.inf, deviation)
    if not (np.isfinite(deviation).all() and np.abs(made).max(initial=0.0) < _LARGEST):
        raise _overflow(X, reference)
    return made


def ranks(X: Array, reference: Array) -> Array:
    """The place of each value of X (n, d) among those of its column in the reference rows (m, d): from −1 to 1.

    Equal values have the mean of their places, and those between two have a place between theirs.

    >>> ranks(np.array([[2.0], [15.0], [99.0]]), np.array([[1.0], [2.0], [2.0], [20.0]])).ravel()
    array([0.        , 0.54166667, 0.75      ])
    """
    made = np.empty(X.shape)
    for j, column in enumerate(reference.T):
        values, counts = np.unique(column, return_counts=True)
        places = (2.0 * np.cumsum(counts) - counts) / len(column) - 1.0  # of the middle of equal ones
        made[:, j] = np.interp(X[:, j], values, places)
    return made


def _of_columns(
    see: Callable[[Array, Array], Array], distances: Callable[..., Array], X: Array, Z: Array | None = None
) -> Array:
    """Squared distances (n, m) of columns as the rows that are learned from make them."""
    if Z is None:
        return distances(see(X, X))
    return distances(see(X, Z), see(Z, Z))


def gaussian(D2: Array, sigma: float) -> Array:
    """Gaussian kernel from squared distances: exp(−D2 / 2σ²), values below 1e-290 set to zero.

    >>> gaussian(np.array([[0.0, 2.0]]), sigma=1.0)
    array([[1.        , 0.36787944]])
    """
    _check_width("sigma", sigma)
    with np.errstate(over="ignore"):  # exp(−∞) is the zero it should be
        K = np.multiply(D2, -0.5 / (sigma * sigma))
    np.exp(K, out=K)
    return _cut(K)


def laplace(D2: Array, sigma: float) -> Array:
    """Laplace kernel from squared distances: exp(−√D2 / σ), values below 1e-290 set to zero.

    >>> laplace(np.array([[0.0, 4.0]]), sigma=2.0)
    array([[1.        , 0.36787944]])
    """
    K = _distances(D2, -1.0, sigma)
    np.exp(K, out=K)
    return _cut(K)


def matern(D2: Array, sigma: float) -> Array:
    """Matérn kernel with ν = 3/2 from squared distances: (1 + √(3 D2)/σ) exp(−√(3 D2)/σ), tiny values set to zero."""
    K = _distances(D2, -np.sqrt(3.0), sigma)
    for start in range(0, len(K), _BLOCK):
        block = K[start : start + _BLOCK]
        block[:] = np.exp(block) * (1.0 - np.maximum(block, -1e300))  # 0 · ∞ is the zero it should be
    return _cut(K)


def _gaussian_slope(D2: Array, sigma: float) -> Array:
    return gaussian(D2, sigma) / (sigma * sigma)


def _laplace_slope(D2: Array, sigma: float) -> Array:
    W = laplace(D2, sigma)  # at distance zero there is no slope, and the mean over all directions is zero
    distances = sigma * np.sqrt(D2)
    return np.divide(W, distances, out=np.zeros_like(W), where=distances > 0)


def _matern_slope(D2: Array, sigma: float) -> Array:
    W = _distances(D2, -np.sqrt(3.0), sigma)
    np.exp(W, out=W)
    return _cut(W) * (3.0 / (sigma * sigma))


class Radial(NamedTuple):
    """A kernel φ(r) of a distance r: its squared distances, and from these and a width its values and slopes −φ'(r)/r.

    With the slopes w of a Euclidean distance, the gradient of κ(x, z) with respect to x is w·(z − x). A kernel without
    slopes sees columns as the rows that are learned from make them (``see``): only where these are all at hand does it
    mean the same.
    """

    distances: Callable[..., Array]
    value: Callable[[Array, float], Array]
    slope: Callable[[Array, float], Array] | None = None
    see: Callable[[Array, Array], Array] | None = None


def _seen_by(
    see: Callable[[Array, Array], Array], distances: Callable[..., Array], value: Callable[[Array, float], Array]
) -> Radial:
    return Radial(partial(_of_columns, see, distances), value, see=see)


#: The kernels that have a width.
RADIAL = {
    "gaussian": Radial(squared_distances, gaussian, _gaussian_slope),
    "laplace": Radial(squared_distances, laplace, _laplace_slope),
    "matern": Radial(squared_distances, matern, _matern_slope),
    "laplace-l1": Radial(squared_l1_distances, laplace, _laplace_slope),
    "gaussian-standard": _seen_by(standardised, squared_distances, gaussian),
    "laplace-l1-standard": _seen_by(standardised, squared_l1_distances, laplace),
    "laplace-l1-ranks": _seen_by(ranks, squared_l1_distances, laplace),
}
#: Those of them that depend on the rows that are learned from, beside the two between which they stand.
COLUMN_KERNELS = tuple(name for name, radial in RADIAL.items() if radial.see is not None)
KERNELS = ("linear", "polynomial", *RADIAL, PRECOMPUTED)


def _distances(D2: Array, factor: float, sigma: float) -> Array:
    """factor · √D2 / σ."""
    _check_width("sigma", sigma)
    K = np.sqrt(D2)
    with np.errstate(over="ignore"):
        K *= factor / sigma
    return K


def _cut(K: Array) -> Array:
    """Set subnormal values to zero, in place."""
    for start in range(0, len(K), _BLOCK):
        block = K[start : start + _BLOCK]
        block[block < TINY] = 0.0
    return K


def linear(X: Array, Z: Array) -> Array:
    """Linear kernel xᵀz; shape (n, m)."""
    with np.errstate(over="ignore", invalid="ignore"):
        K = X @ Z.T
    _refuse_overflow(K, X, Z)
    return K


def polynomial(X: Array, Z: Array, degree: int = 3, coef0: float = 1.0) -> Array:
    """Polynomial kernel (xᵀz + coef0)^degree; shape (n, m)."""
    if degree < 1:
        raise McLsError(f"degree must be at least 1, got {degree}")
    with np.errstate(over="ignore", invalid="ignore"):
        K = (X @ Z.T + coef0) ** degree
    _refuse_overflow(K, X, Z)
    return K


def _refuse_overflow(K: Array, X: Array, Z: Array) -> None:
    # NaN is the largest and the smallest of all; min and max need no second matrix.
    if not -_LARGEST <= K.min(initial=0.0) <= K.max(initial=0.0) <= _LARGEST:
        raise _overflow(X, Z)


def _overflow(X: Array, Z: Array) -> McLsError:
    largest = max(float(np.abs(rows).max()) for rows in (X, Z))
    return McLsError(f"the kernel overflows: features as large as {largest:.3g}; scale them")


def scale_width(X: Array, w: Array | None = None, *, kernel: str | KernelFunction = "gaussian") -> float:
    """The width σ = √(d · Var(X) / 2) of rows X (n, d), whose values are counted w (n,) times each.

    A kernel that sees columns in another way has the width of what it sees.

    Then 1/2σ² is 1/(d · Var(X)), which is ``gamma="scale"`` of scikit-learn's SVC; of rows that are all alike too.

    >>> scale_width(np.array([[-2.0, 2.0], [2.0, -2.0]]))
    2.0
    """
    if kernel in COLUMN_KERNELS and (see := RADIAL[str(kernel)].see) is not None:
        X = see(X, X)
    with np.errstate(over="ignore", invalid="ignore"):
        centred = X - np.average(X, axis=0, weights=w).mean()
        variance = float(np.average(centred * centred, axis=0, weights=w).mean())
    if not np.isfinite(variance):
        raise _overflow(X, X)
    found = float(np.sqrt(X.shape[1] * variance / 2))
    if isinstance(kernel, str) and kernel in RADIAL and (found or centred.any()):
        check_width_of_rows("the width that fits the rows", found)
    return found or float(np.sqrt(0.5))


def check_width_of_rows(what: str, found: float) -> None:
    """Refuse a width that comes from the rows where no kernel can have it: nobody has given it."""
    if not is_allowed(_check_width, "sigma", found):
        raise McLsError(f"{what} is {found:.3g}, and widths from 1e-150 to 1e150 are possible: scale the features")


def kernel_matrix(
    X: Array,
    Z: Array | None = None,
    *,
    kernel: str | KernelFunction = "gaussian",
    sigma: float = 1.0,
    degree: int = 3,
    coef0: float = 1.0,
) -> Array:
    """Kernel matrix between the rows of X (n, d) and Z (m, d; X itself when None), by name or by a callable.

    >>> X = np.array([[0.0], [1.0]])
    >>> kernel_matrix(X, kernel="linear")
    array([[0., 0.],
           [0., 1.]])
    """
    if callable(kernel):
        K = np.asarray(kernel(X, X if Z is None else Z), dtype=float)
        expected = (len(X), len(X) if Z is None else len(Z))
        if K.shape != expected:
            raise McLsError(f"the kernel function returned shape {K.shape}, expected {expected}")
        if not np.isfinite(K).all():
            raise McLsError("the kernel function returned values that are not finite numbers")
        return K
    if kernel in RADIAL:
        return RADIAL[kernel].value(RADIAL[kernel].distances(X, Z), sigma)
    if kernel == "linear":
        return linear(X, X if Z is None else Z)
    if kernel == "polynomial":
        return polynomial(X, X if Z is None else Z, degree, coef0)
    raise unknown_name("kernel", str(kernel), KERNELS)


def check_precomputed(K: Array, *, tol: float = 1e-8) -> None:
    """Refuse a training kernel matrix that is not square, symmetric and (numerically) positive semi-definite."""
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise McLsError(
            f"Precomputed matrix must be a square matrix. Input is a {'x'.join(map(str, K.shape))} matrix."
        )
    scale = float(np.abs(K).max(initial=0.0)) or 1.0
    if scale > _LARGEST:
        raise McLsError(
            f"a precomputed kernel matrix must not exceed {_LARGEST:g}, and this one reaches {scale:.3g}"
        )
    if np.abs(K - K.T).max(initial=0.0) > tol * scale:
        raise McLsError("a precomputed kernel matrix must be symmetric")
    shift = tol * scale * len(K)
    _, not_definite = lapack.dpotrf(K + shift * np.eye(len(K)), lower=1)  # cheaper than the eigenvalues
    if not_definite:
        smallest = float(np.linalg.eigvalsh(K)[0])
        raise McLsError(
            f"a precomputed kernel matrix must be positive semi-definite; smallest eigenvalue {smallest:.3g}"
        )
