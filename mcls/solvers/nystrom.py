"""Kernel least squares on landmarks (Nyström): m rows stand for all n, in m² memory instead of n².

With landmarks Z (m rows), f(x) = Σ_j β_j κ(z_j, x) is the minimiser of

    Σᵢ wᵢ‖f(xᵢ) − yᵢ‖² + γ‖f‖²   over that span:   (K_mn W K_nm + γ K_mm) β = K_mn W Y,

which is the exact machine of the kernel Q = K_nm K_mm⁻¹ K_mn; with every row a landmark, Q = K. The normal
equations square the condition of K_mm, so they are not solved as they stand: with K_mm = LLᵀ, the rows
P = K_nm L⁻ᵀ (n, m) are features with Q = PPᵀ, and

    (G + γI) c = R,   G = PᵀWP,   R = PᵀWY,   β = L⁻ᵀ c.

P is made block by block and never held: memory is a few m² whatever n. Time is 2nm² + 2m³/3 operations.

**Cross-validation.** G and R are sums over rows. So rows that are in the same training sets are summed once, as a
cell: the cells of k folds are the folds, and training without fold f is

    (G − G_f + γI) c = R − R_f,

added up of the other folds. One pass over the rows gives every fold and every γ, each for one Cholesky factorisation of
m³/3 operations; a second one, of kernel values alone, scores the test rows. In nested cross-validation, G − G_f − G_g.
It is the same least squares problem as that of a fit to the training rows, with the same landmarks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from mcls.errors import McLsError
from mcls.solvers import lapack
from mcls.solvers.linear import add_ridge, solve_spd

Array = np.ndarray
Fold = tuple[Array, Array]  # (train, test) row indices
Kernel = Callable[[Array, Array], Array]

# Added to the diagonal of K_mm, relative to its mean: rows that repeat make K_mm singular.
_JITTER = 1e-10

# Sums of so many cells cost little beside the factorisations, and more where these are many or large.
_FEW_CELLS = 256

# Numbers in the Gram matrices that are held at once (2 GB): 16 cells of 4000 landmarks, 67 of 2000.
_GRAM_VALUES = 2**28


def fit(
    kernel: Kernel,
    X: Array,
    Y: Array,
    Z: Array,
    gammas: Sequence[float],
    block: int,
    w: Array | None = None,
) -> Array:
    """Coefficients β (γ, m, r) of the landmarks Z (m, d) for the rows X (n, d) with targets Y (n, r).

    ``kernel(A, B)`` gives the kernel matrix of two arrays of rows; ``block`` rows of X are handled at once. All γ
    share the products of P: each adds only a factorisation.
    """
    L = factor(kernel(Z, Z))
    G, R = _gram_sums(kernel, X, Y, Z, L, np.zeros(len(X), dtype=np.intp), block, w)
    return coefficients(G[0], R[0], L, gammas)


def sweep(
    kernel: Kernel,
    X: Array,
    Y: Array,
    Z: Array,
    folds: Sequence[Fold],
    gammas: Sequence[float],
    block: int,
    w: Array | None = None,
) -> list[Array]:
    """Out-of-fold values (γ, |test|, r) of each fold, all on the landmarks Z: see the head of this module."""
    L = factor(kernel(Z, Z))
    results: list[Array] = []
    for some, cells, members in _fold_cells(folds, len(X), max(2, _GRAM_VALUES // len(Z) ** 2)):
        G, R = _gram_sums(kernel, X, Y, Z, L, cells, block, w)
        sizes = np.bincount(cells, minlength=members.shape[1])
        whole = G.sum(axis=0), R.sum(axis=0)
        for (_, test), inside in zip(some, members, strict=True):
            outside = ~inside
            # A landmark among the rows that are left out may be far from all others: of a difference rounding is left.
            adds_up = inside.sum() <= max(_FEW_CELLS, len(Z) * len(gammas))
            if adds_up or sizes[outside].sum() > sizes[inside].sum():
                own = total_of(G, inside), total_of(R, inside)
            else:
                own = whole[0] - total_of(G, outside), whole[1] - total_of(R, outside)
            beta = coefficients(own[0], own[1], L, gammas)  # (γ, m, r)
            flat = beta.transpose(1, 0, 2).reshape(len(Z), -1)
            scores = np.empty((len(test), flat.shape[1]))
            for start in range(0, len(test), block):
                rows = slice(start, start + block)
                scores[rows] = kernel(X[test[rows]], Z) @ flat
            results.append(scores.reshape(len(test), len(gammas), -1).transpose(1, 0, 2))
    return results


def total_of(parts: Array, which: Array) -> Array:
    """The sum of the parts (k, ...) where a mask (k,) is true, none of which is copied."""
    total = np.zeros(parts.shape[1:])
    for part in np.flatnonzero(which):
        total += parts[part]
    return total


def _fold_cells(folds: Sequence[Fold], n: int, most: int) -> Iterator[tuple[Sequence[Fold], Array, Array]]:
    """Folds in runs with at most ``most`` cells of rows that the same training sets of the run hold.

    Yields the folds, the cell (n,) of each row, and whether each training set holds each cell (folds, cells). A run
    has at least one fold, whose rows are of two cells at most.
    """
    start = 0
    while start < len(folds):
        cells, members = np.zeros(n, dtype=np.intp), np.empty((0, 1), dtype=bool)
        stop = start
        while stop < len(folds):
            inside = np.zeros(n, dtype=bool)
            inside[folds[stop][0]] = True
            pairs, finer = np.unique(2 * cells + inside, return_inverse=True)
            if len(pairs) > most and stop > start:
                break
            members = np.vstack([members[:, pairs // 2], pairs % 2 == 1])
            cells = finer
            stop += 1
        yield folds[start:stop], cells, members
        start = stop


def _gram_sums(
    kernel: Kernel, X: Array, Y: Array, Z: Array, L: Array, cells: Array, block: int, w: Array | None
) -> tuple[Array, Array]:
    """G (cells, m, m), the lower triangles alone being filled, and R (cells, m, r), in one pass over the rows."""
    m, count = len(Z), int(cells.max(initial=0)) + 1
    G, R = np.zeros((count, m, m)), np.zeros((count, m, Y.shape[1]))
    order = np.argsort(cells, kind="stable")
    bounds = np.concatenate([[0], np.cumsum(np.bincount(cells, minlength=count))])
    for start in range(0, len(X), block):
        rows = order[start : start + block]
        # Pᵀ of the block (m, b) by one triangular solve.
        Pt = lapack.dtrsm(1.0, L, np.asfortranarray(kernel(X[rows], Z).T), lower=1, overwrite_b=1)
        targets = Y[rows]
        if w is not None:
            root = np.sqrt(w[rows])
            Pt *= root
            targets = targets * root[:, None]
        for cell in range(cells[rows[0]], cells[rows[-1]] + 1):
            part = slice(max(bounds[cell] - start, 0), bounds[cell + 1] - start)
            # The upper triangle of the transposed, in Fortran order, is the lower one of G.
            lapack.dsyrk(1.0, Pt[:, part], beta=1.0, c=G[cell].T, lower=0, overwrite_c=1)
            R[cell] += Pt[:, part] @ targets[part]
    return G, R


def coefficients(G: Array, R: Array, L: Array, gammas: Sequence[float]) -> Array:
    """β (γ, m, r) from the lower triangle of G and from R."""
    m = len(L)
    G = np.tril(G)
    G += np.tril(G, -1).T
    C = np.hstack([solve_spd(add_ridge(G, gamma), R) for gamma in gammas])  # (m, γ·r)
    beta = lapack.dtrsm(1.0, L, np.asfortranarray(C), lower=1, trans_a=1)
    return beta.reshape(m, len(gammas), -1).transpose(1, 0, 2)


def factor(K: Array) -> Array:
    """Cholesky factor L (m, m) of K_mm with the smallest jitter, by factors of 100, that rounding allows."""
    jitter = _JITTER * max(float(np.mean(np.diag(K))), np.finfo(float).tiny)
    for _ in range(4):  # up to 1e-4: beyond rounding, of single precision too
        A = np.array(K, order="F")
        A[np.diag_indices(len(A))] += jitter
        L, not_definite = lapack.dpotrf(A, lower=1, overwrite_a=1)
        if not not_definite:
            return L
        jitter *= 100.0
    raise McLsError("landmarks need a positive semi-definite kernel, and this one is not; use solver='exact'")
