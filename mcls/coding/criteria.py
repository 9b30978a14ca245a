"""Criteria J(C₁, C₂) for a dichotomy of classes: FQMI and FLDR (arvanitopoulos, Sec. 3 and 4).

Both are evaluated for many partitions of the same classes. All that a partition needs of the samples is summed
over whole classes, so one pass over the data leaves a few numbers per class (or per pair of classes), and the
criterion of any partition is arithmetic on them.

FQMI. With g_ij = exp(−‖x_i − x_j‖² / 4σ²) and the block sums G_ab = Σ_{i∈a, j∈b} g_ij over pairs of classes, the
terms of a dichotomy with sides A, B of J_A and J_B samples, N = J_A + J_B, are

    V_IN  = (G_AA + G_BB) / N²                                            (5)
    V_ALL = ((J_A/N)² + (J_B/N)²) · G_{A∪B, A∪B} / N²                     (6)
    V_BTW = (J_A/N · G_{A∪B, A} + J_B/N · G_{A∪B, B}) / N²                (7)

and I_Q = V_IN + V_ALL − 2 V_BTW (4). The factor (4πσ²)^(−d/2) of the Gaussian is left out: it is common to all
terms and underflows in high dimension.

FLDR. With counts n_a, means m_a and scatters s_a = Σ_{i∈a} ‖x_i − m_a‖² of the classes, the side A has
m_A = Σ_a n_a m_a / n_A and scatter Σ_a s_a + Σ_a n_a ‖m_a − m_A‖², and J' = tr S_b / tr S_w (12) is
‖m_A − m_B‖² over the two scatters together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from mcls.errors import McLsError

Array = np.ndarray
Classes = Sequence[int]

#: J(left, right): the value of a dichotomy of classes; the larger, the better separated.
Criterion = Callable[[Classes, Classes], float]

CRITERIA = ("fldr", "fqmi")

# Rows of a tile of the pairwise pass: a tile of 256² doubles is half a megabyte and stays in the processor's cache.
_TILE = 256


def _sorted_by_class(X: Array, y: Array, n_classes: int) -> tuple[Array, Array]:
    """Rows of X centred and ordered by class, and the class counts (n_classes,)."""
    counts = np.bincount(y, minlength=n_classes)
    return (X - X.mean(axis=0))[np.argsort(y, kind="stable")], counts


def _tile_distances(A: Array, B: Array, same: bool) -> Array:
    """Squared distances (a, b) of two tiles by one BLAS product; the rows are centred beforehand."""
    D2 = np.add.outer(np.einsum("ij,ij->i", A, A), np.einsum("ij,ij->i", B, B))
    D2 -= 2.0 * (A @ B.T)
    np.maximum(D2, 0.0, out=D2)
    if same:
        np.fill_diagonal(D2, 0.0)
    return D2


def largest_distance(X: Array) -> float:
    """Largest Euclidean distance between two rows of X, tile by tile."""
    X = X - X.mean(axis=0)
    starts = range(0, len(X), _TILE)
    largest = max(
        _tile_distances(X[i : i + _TILE], X[j : j + _TILE], i == j).max() for i in starts for j in starts if j >= i
    )
    return float(np.sqrt(largest))


def block_sums(X: Array, y: Array, n_classes: int, sigma: float) -> Array:
    """Class-block sums G (n_classes, n_classes) of exp(−‖x_i − x_j‖² / 4σ²), in one pass over the pairs.

    The pass visits the upper triangle of the pair matrix in tiles, so its memory does not grow with n.
    """
    X, counts = _sorted_by_class(X, y, n_classes)
    members = np.repeat(np.eye(n_classes), counts, axis=0)  # (n, n_classes) one-hot, in the order of X
    G = np.zeros((n_classes, n_classes))
    for i in range(0, len(X), _TILE):
        for j in range(i, len(X), _TILE):
            rows, columns = slice(i, i + _TILE), slice(j, j + _TILE)
            g = _tile_distances(X[rows], X[columns], i == j)
            g *= -1.0 / (4.0 * sigma**2)
            np.exp(g, out=g)
            tile = members[rows].T @ g @ members[columns]
            G += tile if i == j else tile + tile.T
    return G


class FQMI:
    """Quadratic mutual information between the samples and the side of their class, eq. (4).

    Parameters
    ----------
    X : array (n, d)
    y : int array (n,), class codes
    sigma : float, optional
        Width of the Parzen window. By default half the largest distance between two samples of the classes in
        question, so that it follows the scale of the data; block sums are then made once for every set of
        classes that is divided.

    Examples
    --------
    >>> X = np.array([[0.0], [0.1], [1.0], [1.1], [1.2]])
    >>> J = FQMI(X, np.array([0, 0, 1, 1, 2]), sigma=0.5)
    >>> J([0], [1, 2]) > J([1], [0, 2])
    True
    """

    def __init__(self, X: Array, y: Array, sigma: float | None = None) -> None:
        self.X, self.y, self.sigma = X, y, sigma
        self.counts = np.bincount(y)
        self._sums: dict[frozenset[int], Array] = {}

    def _block_sums(self, classes: frozenset[int]) -> Array:
        """Block sums (n_classes, n_classes) that are valid for these classes."""
        if self.sigma is not None:
            classes = frozenset(range(len(self.counts)))  # one σ: one pass serves every subset
        if classes not in self._sums:
            chosen = np.isin(self.y, list(classes))
            X, y = self.X[chosen], self.y[chosen]
            # All samples equal: any width gives the same sums.
            sigma = (largest_distance(X) / 2 or 1.0) if self.sigma is None else self.sigma
            self._sums[classes] = block_sums(X, y, len(self.counts), sigma)
        return self._sums[classes]

    def __call__(self, left: Classes, right: Classes) -> float:
        """Value of the dichotomy; 0 when a side is empty."""
        if not len(left) or not len(right):
            return 0.0
        G = self._block_sums(frozenset(left) | frozenset(right))
        sides = np.zeros((2, len(G)))
        sides[0, list(left)] = sides[1, list(right)] = 1.0
        J_A, J_B = (sides @ self.counts).tolist()
        (G_AA, G_AB), (_, G_BB) = (sides @ G @ sides.T).tolist()
        N = J_A + J_B
        v_in = (G_AA + G_BB) / N**2
        v_all = ((J_A / N) ** 2 + (J_B / N) ** 2) * (G_AA + G_BB + 2 * G_AB) / N**2
        v_btw = (J_A / N * (G_AA + G_AB) + J_B / N * (G_BB + G_AB)) / N**2
        return v_in + v_all - 2 * v_btw


class FLDR:
    """Fisher's linear discriminant ratio of traces, tr S_b / tr S_w, eq. (12).

    Examples
    --------
    >>> X = np.array([[0.0], [0.2], [1.0], [1.2], [1.4]])
    >>> J = FLDR(X, np.array([0, 0, 1, 1, 2]))
    >>> round(J([0], [1, 2]), 6)
    12.1
    """

    def __init__(self, X: Array, y: Array) -> None:
        X, self.counts = _sorted_by_class(X, y, int(y.max()) + 1)
        groups = np.split(X, np.cumsum(self.counts)[:-1])
        nothing = np.zeros(X.shape[1])
        self.means = np.array([rows.mean(axis=0) if len(rows) else nothing for rows in groups])  # (N_c, d)
        self.scatters = np.array([((rows - m) ** 2).sum() for rows, m in zip(groups, self.means, strict=True)])

    def __call__(self, left: Classes, right: Classes) -> float:
        """Value of the dichotomy; 0 when a side is empty, infinity for sides without any scatter."""
        if not len(left) or not len(right):
            return 0.0
        mean_a, scatter_a = self._side(list(left))
        mean_b, scatter_b = self._side(list(right))
        between = float(((mean_a - mean_b) ** 2).sum())
        within = scatter_a + scatter_b
        if within == 0.0:
            return np.inf if between > 0 else 0.0
        return between / within

    def _side(self, classes: list[int]) -> tuple[Array, float]:
        n, means = self.counts[classes], self.means[classes]
        mean = n @ means / n.sum()
        return mean, float(self.scatters[classes].sum() + n @ ((means - mean) ** 2).sum(axis=1))


def make_criterion(name: str, X: Array, y: Array, sigma: float | None = None) -> Criterion:
    """Criterion of a data set by its name, ``fldr`` or ``fqmi``."""
    if name == "fldr":
        return FLDR(X, y)
    if name == "fqmi":
        return FQMI(X, y, sigma)
    raise McLsError(f"unknown criterion '{name}' (known: {', '.join(CRITERIA)})")
