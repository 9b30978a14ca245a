"""Certified out-of-fold classes of (K + γI)α = Y for many rows, by block Lanczos: no decomposition, no factorisation.

**Galerkin.** Let A = K + γI be the system of the training rows of a fold and V an orthonormal basis of the Krylov space
that starts from the class indicators, with T = VᵀKV. One basis serves *every* γ: α̂ = V(T + γI)⁻¹VᵀY. T is a band, so
a γ costs next to nothing; and the bases of all folds advance together, by one product of K with a wide block. The
residual r = Y − Aα̂ is that of the last block, known without a product.

**Certificate.** For a row x outside the fold, with κ_x its kernel values to the training rows and t = Vᵀκ_x, put
g = V(T + γI)⁻¹t. Since Vᵀr = 0, the error of the score is

    κ_xᵀ(α − α̂) = κ_xᵀA⁻¹r = (κ_x − Ag)ᵀA⁻¹r.

In the norm of A⁻¹, ‖κ_x − Ag‖² = κ_xᵀA⁻¹κ_x − κ_xᵀg ≤ κ(x, x) − tᵀ(T + γI)⁻¹t for a positive semi-definite
kernel, and ‖r‖² ≤ rᵀr/γ. In the plain norm, ‖κ_x − Ag‖² = ‖κ_x‖² − ‖t‖² + ‖Bs‖², where s is the last block of
(T + γI)⁻¹t and B the next block of T. Hence

    |f̂(x) − f(x)| ≤ ‖r‖ · min( √(κ(x,x) − tᵀ(T + γI)⁻¹t) / √γ,  ‖κ_x − Ag‖ / γ ).

Where the scores of two classes differ by more than the bound of their difference, the exact scores have the same
order: the class *is* the exact machine's. The second term follows κ_x, so that the tiny scores of a narrow kernel are
certified as well as large ones. Blocks are added until every class is certified; a fold that is done leaves the
product. The scores themselves are as close as the classes need, and no closer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import LinAlgError, qr, solveh_banded

from mcls.solvers import inverse, lapack
from mcls.threads import spread

Array = np.ndarray

#: Fewer rows are decomposed as quickly (``python -m benchmarks certified`` measures where they are).
FROM_ROWS = 2500

# An operation here is slower than one of a large product: blocks are narrow, and are made orthogonal.
_SLOWER = 1.5

# Blocks at most: the bases must be held.
_BLOCKS = 80

# Blocks whose columns are nearer to each other are made orthogonal step by step.
_DEPENDENT = 1e-5

# Directions smaller than this, relative to K, are dropped; what they hold counts as residual.
_NEGLIGIBLE = 1e-11

# Blocks with smaller directions, relative to K, are made orthogonal to those before once more.
_SMALL = 1e-3

# Rounding of the products, relative to K: no bound is taken to be smaller.
_ROUNDING = 1e-13

# Blocks between two certificates, as a share of those there are.
_CHECK_EVERY = 0.2

# A γ tells how it goes on once less than this share of its labels is open.
_BEGUN = 0.9

# Numbers of the bases that are held at once (2 GB).
_BASIS_VALUES = 2**28


@dataclass
class Certified:
    """Asks a sweep for the exact classes rather than the exact scores, and counts what was certified."""

    labels: int = 0
    certain: int = 0
    direct: int = 0  # γ that were solved directly

    def note(self, certain: Sequence[Array], direct: int) -> None:
        """Count the classes of a sweep, and the γ that it left to the direct way."""
        self.labels += sum(each.size for each in certain)
        self.certain += sum(int(each.sum()) for each in certain)
        self.direct += direct


def blocks_worth(n: int, n_classes: int, n_folds: int, n_gammas: int) -> int:
    """How many blocks cost what the other ways do: a decomposition, or one Cholesky factor per γ.

    >>> blocks_worth(10_000, 26, 10, 9), blocks_worth(10_000, 26, 10, 1), blocks_worth(2500, 26, 10, 3)
    (62, 8, 5)
    """
    worth = min(inverse.DECOMPOSITION, inverse.OPERATIONS * n_gammas) * n**3
    blocks, spent = 0, 0.0
    while blocks < min(_BLOCKS, n // (2 * n_classes)):
        spent += _block_operations(n, n_classes, n_folds * n_classes, blocks)
        if spent > worth:
            break
        blocks += 1
    return blocks


def _block_operations(n: int, n_classes: int, columns: int, blocks: int) -> float:
    """What one more block costs, for so many columns of all folds and after so many blocks."""
    return _SLOWER * (2.0 * n * n * columns + 6.0 * n * columns * n_classes * blocks)


def _is_worth_going_on(counts: Array, total: int, blocks: int, one_more: float, direct: float) -> bool | None:
    """Whether further blocks cost less than solving the γ directly that they would certify; None: too early to tell.

    Parameters
    ----------
    counts : array (2, γ)
        Labels that are not certain, at an earlier look and some ``blocks`` later. Once they have begun to, they become
        fewer by about the same factor with every block, which tells how many more blocks a γ needs.
    total : int
        All labels of a γ.
    one_more, direct : float
        Operations of one more block, and of one γ.

    Examples
    --------
    >>> _is_worth_going_on(np.array([[800, 900], [10, 890]]), 1000, 2, 1.0, 8.0)
    True
    >>> _is_worth_going_on(np.array([[800, 900], [700, 890]]), 1000, 2, 1.0, 8.0)
    False
    """
    before, now = counts[:, (counts[0] <= _BEGUN * total) & (counts[1] > 0)]
    if not len(now):
        return None
    with np.errstate(divide="ignore"):
        needed = np.sort(blocks * (np.log(now) + 1) / np.log(before / now))
    return bool((needed * one_more <= np.arange(1, len(needed) + 1) * direct).any())


@dataclass
class _Basis:
    """The Krylov space of one fold: V (n, D), zero on the rows left out, and T = VᵀKV in blocks."""

    test: Array  # the rows left out
    Y: Array  # (n, ℓ), zero on them
    V: Array  # (n, most), Fortran order
    seen: Array  # K_S V (|S|, most)
    widths: list[int] = field(default_factory=list)  # columns of each block
    diagonal: list[Array] = field(default_factory=list)
    below: list[Array] = field(default_factory=list)  # block j + 1 beside block j
    dropped: float = 0.0  # norm of the directions that were dropped
    done: bool = False

    @property
    def size(self) -> int:
        return sum(self.widths)

    @property
    def last(self) -> slice:
        return slice(self.size - self.widths[-1], self.size)

    def start(self) -> None:
        counts = np.sqrt(np.einsum("ij,ij->j", self.Y, self.Y))
        self.V[:, : len(counts)] = self.Y / counts
        self.widths.append(len(counts))

    def extend(self, W: Array, scale: float) -> None:
        """Take in W = K V_last (n, b), and add the next block, if there is one and room for it."""
        last = self.last
        self.seen[:, last] = W[self.test]
        W[self.test] = 0.0
        V = self.V[:, : self.size]
        if self.below:
            W -= self.V[:, last.start - self.widths[-2] : last.start] @ self.below[-1].T
        block = self.V[:, last].T @ W
        W -= self.V[:, last] @ block
        again = V.T @ W  # all blocks once more: rounding grows with every block that is skipped
        W -= V @ again
        block += again[last]
        self.diagonal.append((block + block.T) / 2)
        made = _orthonormal(W, _NEGLIGIBLE * scale)
        if made is None:
            Q, R, pivots = qr(W, mode="economic", pivoting=True, check_finite=False)
            rank = int((np.abs(R.diagonal()) > _NEGLIGIBLE * scale).sum())
            self.dropped = float(np.hypot(self.dropped, np.linalg.norm(R[rank:])))
            below = np.empty((rank, W.shape[1]))
            below[:, pivots] = R[:rank]
            Q, sizes = Q[:, :rank], R.diagonal()[:rank]
        else:
            Q, below = made
            rank, sizes = W.shape[1], below.diagonal()
        if rank and np.abs(sizes).min() < _SMALL * scale:  # what was rounding beside W is more beside Q
            Q, once_more = qr(Q - V @ (V.T @ Q), mode="economic", check_finite=False)
            below = once_more @ below
        self.below.append(below)
        Q[self.test] = 0.0
        room = min(rank, self.V.shape[1] - self.size)
        if room == rank and rank:
            self.V[:, self.size : self.size + rank] = Q
            self.widths.append(rank)

    def band(self) -> Array:
        """The lower band of T over all blocks but one that has no diagonal block yet."""
        widths = self.widths[: len(self.diagonal)]
        D, reach = sum(widths), 2 * max(widths)
        ab = np.zeros((reach, D))
        at = 0
        for j, b in enumerate(widths):
            tall = np.vstack([self.diagonal[j], self.below[j]]) if j + 1 < len(widths) else self.diagonal[j]
            for i in range(b):
                column = tall[i:, i]
                ab[: len(column), at + i] = column
            at += b
        return ab


def _orthonormal(W: Array, negligible: float) -> tuple[Array, Array] | None:
    """Q (n, b) and R (b, b) with W = QR, by Cholesky's factor of WᵀW, twice.

    None where W is nearly dependent or has a negligible column.

    Twice is as good as Householder's way if the condition of W is below 10⁷, and it is made of products.
    """
    total = np.eye(W.shape[1])
    for least in (negligible, 0.0):
        S = W.T @ W
        scale = np.sqrt(S.diagonal())
        if not (scale > least).all():
            return None
        R, failed = lapack.dpotrf(S / np.outer(scale, scale), lower=0, clean=1)
        if failed or R.diagonal().min() < _DEPENDENT:
            return None
        R *= scale
        W = lapack.dtrsm(1.0, R, W, side=1)
        total = R @ total
    return W, total


def sweep(
    K: Array,
    y: Array,
    n_classes: int,
    tests: Sequence[Array],
    gammas: Sequence[float],
    gram: Array,
    most: int,
    direct: float = np.inf,
) -> tuple[list[Array], list[Array]]:
    """Out-of-fold values of folds that train on all the rows but S, and which classes they certify.

    Parameters
    ----------
    K : array (n, n)
        Positive semi-definite.
    y : array (n,)
        Class codes; every fold trains on every class.
    tests : list of arrays
        The rows that each fold leaves out, and scores.
    gammas : list of float
        Shifts of the diagonal.
    gram : array (ℓ, ℓ)
        Gram matrix L of the labels: the class of a row is the largest of f(x)L.
    most : int
        Blocks at most; with fewer than three nothing is tried.
    direct : float
        Operations of solving for one γ in another way: there are no further blocks where that costs less.

    Returns
    -------
    values : list of arrays (γ, |S|, ℓ)
        K_(S,−S) α̂^(−S) with the class indicators on the right-hand side.
    certain : list of bool arrays (γ, |S|)
        Whether the class is that of the exact solution.
    """
    n = len(K)
    values = [np.full((len(gammas), len(test), n_classes), np.nan) for test in tests]
    certain = [np.zeros((len(gammas), len(test)), dtype=bool) for test in tests]
    most = min(most, n // n_classes)
    if most < 3:
        return values, certain
    at_once = max(1, _BASIS_VALUES // (n * most * n_classes))
    scale = float(np.abs(K).sum(axis=1).max())
    for start in range(0, len(tests), at_once):
        some = range(start, min(start + at_once, len(tests)))
        _advance(
            K, y, n_classes, [tests[i] for i in some], gammas, gram, most, direct, scale, values, certain, start
        )
    return values, certain


def _advance(
    K: Array,
    y: Array,
    n_classes: int,
    tests: Sequence[Array],
    gammas: Sequence[float],
    gram: Array,
    most: int,
    direct: float,
    scale: float,
    values: list[Array],
    certain: list[Array],
    first: int,
) -> None:
    """Advance the bases of some folds until all classes are certified, or there are ``most`` blocks."""
    n = len(K)
    bases = []
    for test in tests:
        Y = np.eye(n_classes)[y]
        Y[test] = 0.0
        basis = _Basis(
            test, Y, np.empty((n, most * n_classes), order="F"), np.empty((len(test), most * n_classes), order="F")
        )
        basis.start()
        bases.append(basis)
    sizes = [_sizes(K, test) for test in tests]
    rows = np.array_split(np.arange(n), max(1, n // 1024))
    total = sum(map(len, tests))
    open_labels = np.full(len(gammas), total)
    next_check, last_check = 3, 0

    def certify(i: int) -> None:
        place = first + i
        open_ = ~certain[place].all(axis=1)
        found = _certify(bases[i], np.asarray(gammas)[open_], K.diagonal()[tests[i]], *sizes[i], gram, scale)
        values[place][open_], certain[place][open_] = found
        bases[i].done = bool(certain[place].all()) or len(bases[i].widths) == len(bases[i].diagonal)

    for j in range(1, most + 1):
        active = [i for i, basis in enumerate(bases) if not basis.done]
        if not active:
            return
        block = np.hstack([bases[i].V[:, bases[i].last] for i in active])
        ends = np.cumsum([0, *(bases[i].widths[-1] for i in active)])
        # Every fold in one product, its rows and then the folds shared by the threads.
        product = np.concatenate(spread(lambda some: K[some[0] : some[-1] + 1] @ block, rows))  # noqa: B023
        spread(lambda a: bases[active[a]].extend(product[:, ends[a] : ends[a + 1]], scale), range(len(active)))  # noqa: B023
        if j < next_check and j < most:
            spread(certify, [i for i in active if len(bases[i].widths) == len(bases[i].diagonal)])
            continue
        spread(certify, active)
        before, open_labels = open_labels, sum((~certain[first + i]).sum(axis=1) for i in range(len(tests)))
        costs = _block_operations(n, n_classes, block.shape[1], j), direct * len(tests) / len(certain)
        worth = _is_worth_going_on(np.array([before, open_labels]), total, j - last_check, *costs)
        if worth is False or (worth is None and j > most // 2):
            return
        next_check, last_check = j + max(1, int(_CHECK_EVERY * j)), j


def _sizes(K: Array, test: Array) -> tuple[Array, Array]:
    """The largest entry m (|S|,) of each κ_x in size, and ‖κ_x/m‖²: squares of the tiny ones would be zero."""
    rows = K[test]
    rows[:, test] = 0.0
    largest = np.abs(rows).max(axis=1, initial=0.0)
    largest[largest == 0.0] = 1.0
    rows /= largest[:, None]
    return largest, np.einsum("ij,ij->i", rows, rows)


def _certify(
    basis: _Basis, gammas: Array, own: Array, largest: Array, norms: Array, gram: Array, scale: float
) -> tuple[Array, Array]:
    """Values (γ, |S|, ℓ) and whether their class is certain (γ, |S|).

    ``own`` is κ(x, x), the others as ``_sizes`` gives them (|S|,). In here κ_x is divided by its largest entry.
    """
    ab = basis.band()
    D, ell = ab.shape[1], basis.Y.shape[1]
    seen, below = basis.seen[:, :D] / largest[:, None], basis.below[-1]
    with np.errstate(over="ignore"):
        own = own / largest / largest
    last = slice(D - below.shape[1], D)
    right = np.zeros((D, ell + len(seen)))
    right[:ell, :ell] = np.diag(np.sqrt(np.einsum("ij,ij->j", basis.Y, basis.Y)))
    right[:, ell:] = seen.T
    spread = np.einsum("ij,ij->i", seen, seen)
    values = np.full((len(gammas), len(seen), ell), np.nan)
    certain = np.zeros((len(gammas), len(seen)), dtype=bool)
    for g, gamma in enumerate(gammas):
        shifted = ab.copy()
        shifted[0] += gamma
        try:
            solved = solveh_banded(shifted, right, lower=True, check_finite=False)
        except LinAlgError:
            continue
        c, h = solved[:, :ell], solved[:, ell:]
        F = seen @ c
        values[g] = largest[:, None] * F
        lost = (basis.dropped + _ROUNDING * scale) * np.linalg.norm(solved, axis=0)
        residual = np.linalg.norm(below @ c[last], axis=0) + lost[:ell]  # (ℓ,)
        kept = np.einsum("ij,ji->i", seen, h)
        # So much h loses, beside which the difference may be nothing.
        rounding = max(_ROUNDING, np.finfo(float).eps * (scale + gamma) / gamma)
        energy = np.sqrt(np.maximum(own - kept, 0.0) + rounding * own) / np.sqrt(gamma)
        rest = np.maximum(norms - spread, 0.0) + _ROUNDING * norms
        plain = (np.sqrt(rest + (np.linalg.norm(below @ h[last], axis=0) + lost[ell:]) ** 2)) / gamma
        bound = np.minimum(energy, plain)  # (|S|,)
        scores = F @ gram
        best = scores.argmax(axis=1)
        # The difference of two scores is f(x) times a difference of two columns of L.
        reach = np.abs(gram[:, :, None] - gram[:, None, :])  # (ℓ, ℓ, ℓ)
        slack = np.einsum("cab,c->ab", reach, residual)[best] * bound[:, None]  # (|S|, ℓ)
        margin = scores.max(axis=1)[:, None] - scores - slack - 1e-14 * np.abs(scores).max(axis=1)[:, None]
        margin[np.arange(len(best)), best] = np.inf
        certain[g] = (margin > 0).all(axis=1)
    return values, certain
