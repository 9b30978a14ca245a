"""Landmarks: the few rows, or centres, whose kernel functions stand for those of all rows. No labels are looked at.

``uniform`` draws rows. ``rpcholesky`` draws them by a randomly pivoted Cholesky decomposition (Chen, Epperly, Tropp &
Webber 2022): a row is drawn with the probability of what the rows drawn before leave of its κ(x, x), so that rows
which repeat others are hardly ever drawn twice, and K − K_nm K_mm⁻¹ K_mn is close to the smallest possible in
expectation. ``kmeans`` takes the centres of m clusters, which need not be rows.

The last two look at a uniform sample of the rows where there are many: their time and memory do not grow with n.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import lapack as scipy_lapack

from mcls.solvers import lapack

Array = np.ndarray
Kernel = Callable[[Array, Array], Array]

# Rows that ``rpcholesky`` and ``kmeans`` look at: beyond, more of them were not seen to give better landmarks.
_CANDIDATES = 20_000

# Rows drawn at once, as a share of the landmarks: few enough that what one draw repeats is little.
_DRAWS = 10

# What is left of κ(x, x), relative to the largest one, that counts as nothing.
_NOTHING = 1e-12


def _uniform(kernel: Kernel, X: Array, m: int, seed: int) -> Array:
    return X[draw_rows(len(X), m, seed)]


def _rpcholesky(kernel: Kernel, X: Array, m: int, seed: int) -> Array:
    X = X[draw_rows(len(X), max(_CANDIDATES, 2 * m), seed)]
    return X[randomly_pivoted(kernel, X, m, seed)]


def _kmeans(kernel: Kernel, X: Array, m: int, seed: int) -> Array:
    from sklearn.cluster import MiniBatchKMeans

    X = X[draw_rows(len(X), max(_CANDIDATES, 2 * m), seed)]
    different = np.unique(X, axis=0)
    if len(different) <= m:
        return different
    clusters = MiniBatchKMeans(m, random_state=seed, n_init=1, max_iter=5, batch_size=max(2048, m), init="random")
    return np.unique(clusters.fit(different).cluster_centers_, axis=0)


#: How landmarks may be chosen: functions of the kernel, the rows X (n, d), the number m and a seed.
LANDMARKS: dict[str, Callable[[Kernel, Array, int, int], Array]] = {
    "uniform": _uniform,
    "rpcholesky": _rpcholesky,
    "kmeans": _kmeans,
}


def choose_landmarks(how: str, kernel: Kernel, X: Array, n_landmarks: int, seed: int) -> Array:
    """At most ``n_landmarks`` landmarks (m, d) for the rows X (n, d); all rows where there are no more.

    Parameters
    ----------
    how : {"uniform", "rpcholesky", "kmeans"}
        See the head of this module.
    kernel : callable
        Gives the kernel matrix of two arrays of rows.
    X : array (n, d)
        Rows.
    n_landmarks : int
        How many. ``rpcholesky`` stops earlier where those it has span the kernel functions of all rows.
    seed : int
        Everything random comes from it.
    """
    if n_landmarks >= len(X):
        return X
    return LANDMARKS[how](kernel, X, n_landmarks, seed)


def draw_rows(n: int, size: int, seed: int) -> Array:
    """Sorted indices of a uniform sample without replacement; all rows where there are fewer."""
    return np.sort(np.random.default_rng(seed).permutation(n)[:size])


def randomly_pivoted(kernel: Kernel, X: Array, m: int, seed: int) -> Array:
    """Sorted indices of at most m rows of X (n, d) by a randomly pivoted Cholesky decomposition, in blocks.

    With F (n, i) the factor of the rows drawn so far, K − FFᵀ is what is left, and d its diagonal. A block of rows
    is drawn in proportion to d; of those that depend on each other, a pivoted Cholesky keeps the independent ones.
    """
    rng = np.random.default_rng(seed)
    n = len(X)
    left = _diagonal(kernel, X)  # d (n,)
    nothing = _NOTHING * max(float(left.max(initial=0.0)), np.finfo(float).tiny)
    F = np.empty((n, m), order="F")
    drawn: list[int] = []
    while len(drawn) < m:
        left[left < nothing] = 0.0
        total = left.sum()
        if not total > 0:
            break
        i = len(drawn)
        block = np.unique(rng.choice(n, size=min(m - i, max(1, m // _DRAWS)), p=left / total))
        columns = kernel(X, X[block]) - F[:, :i] @ F[block, :i].T  # (n, b) of what is left
        L, pivots, rank, _ = scipy_lapack.dpstrf(columns[block], lower=1, tol=nothing)
        if rank == 0:
            left[block] = 0.0
            continue
        kept = pivots[:rank] - 1
        L = np.tril(L[:rank, :rank])
        new = lapack.dtrsm(1.0, L, np.asfortranarray(columns[:, kept].T), lower=1, overwrite_b=1).T  # (n, rank)
        F[:, i : i + rank] = new
        left -= np.einsum("ij,ij->i", new, new)
        left[block] = 0.0
        drawn += block[kept].tolist()
    return np.sort(np.array(drawn, dtype=np.intp))


def _diagonal(kernel: Kernel, X: Array, block: int = 64) -> Array:
    """κ(x, x) of every row."""
    parts = (X[start : start + block] for start in range(0, len(X), block))
    return np.concatenate([kernel(part, part).diagonal() for part in parts])
