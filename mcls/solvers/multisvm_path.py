"""The duals of Weston & Watkins and of Crammer & Singer by an active set: a path of C, and folds beside each other.

The problem is that of :mod:`mcls.solvers.multisvm`: min ½ tr(AᵀKA) − Δ⟨A, Y⟩, every row of A (n, ℓ) adding up to
zero, lower ≤ A ≤ upper entrywise. The interior-point method there starts afresh for each C and fold and factorises
ℓ matrices of all rows in every iteration. Here a solution starts from a neighbouring one, from which it differs in
a few entries at their bounds, and only the free entries are factorised.

In every row one entry bᵢ far from its bounds is the sum of the others with the sign turned (the label's with Weston &
Watkins, where it has no bound). What is left is a quadratic programme of the other entries (i, m),

    H_(im)(jk) = Kᵢⱼ (e_m − e_bᵢ)ᵀ(e_k − e_bⱼ),     gradient  g_im = G_im − G_ibᵢ,  G = KA − ΔY,

and the method is the monotone projected Newton method of :mod:`mcls.solvers.qp.active_set`, with its borders of one
Cholesky factor: the free set is the interior and the strongest of those that the gradient pulls inside; what wants
out at once is fixed again; of some lengths of the bent step the best is taken. With Crammer & Singer a row of
upper − A lies on a simplex, and bending projects onto it. K carries the ridge ε of :mod:`mcls.solvers.qp.base`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg.lapack import dpotrs

from mcls.solvers.multisvm import MARGINS, Solution, objectives
from mcls.solvers.multisvm import solve as solve_inside
from mcls.solvers.qp.free_system import FreeSystem, factor

Array = np.ndarray

#: Gradients below this part of the margin count as zero.
_GRADIENT = 1e-12
#: What is added to the diagonal of K, as a part of its largest entry.
_RIDGE = 1e-11
#: Fewest entries that may be freed at once.
_FREED = 32
#: A row's basic entry is exchanged when it is this much closer to its bound than the farthest one.
_CLOSE = 0.1
#: A factor of |F|³ operations is worth this many products of K and A; and the iterations' accuracy and number.
_ITERATED, _ITERATION_TOL, _ITERATIONS = 500, 1e-9, 200
#: Accuracy of a direction while the free set still grows.
_ROUGH = 1e-2
#: Newton steps after which a solution is left to the interior-point method.
_STEPS = 400


class RowSystem(FreeSystem):
    """H_FF x = b for the entries F of A, numbered row by row: (i, m) is iℓ + m."""

    def __init__(self, K: Array, basic: Array, n_classes: int) -> None:
        self.K, self.basic, self.unit = K, basic, np.eye(n_classes)
        self.rows_key = b""
        self.rough = False  # whether the free set is not yet the last, and a direction need not be exact
        super().__init__(K, np.zeros(len(K) * n_classes))

    def block(self, f: Array, g: Array) -> Array:
        """H_fg (|f|, |g|)."""
        (i, m), (j, k) = divmod(f, len(self.unit)), divmod(g, len(self.unit))
        return self.K[i].take(j, axis=1) * (
            (self.unit[m] - self.unit[self.basic[i]]) @ (self.unit[k] - self.unit[self.basic[j]]).T
        )

    def solve(self, f: Array, b: Array, fresh: bool = False) -> Array:
        """x (|F|,) for the sorted entries f (|F|,): by a factor, or by iteration where that costs less."""
        if len(f) ** 3 > _ITERATED * len(self.K) ** 2 * len(self.unit):
            return self._iterate(f, b)
        return super().solve(f, b, fresh)

    def _iterate(self, f: Array, b: Array) -> Array:
        """Conjugate gradients on the rows' entries, projected on row sums of zero, preconditioned by K⁻¹.

        Where every entry of every row is free, K⁻¹ is the inverse and one iteration is enough.
        """
        i, m = divmod(f, len(self.unit))
        rows, at = np.unique(i, return_inverse=True)
        if rows.tobytes() != self.rows_key:
            self.K_rows = self.K[rows].take(rows, axis=1)
            self.K_factor = factor(self.K_rows, np.zeros(len(rows)))
            self.rows_key = rows.tobytes()
        mask = np.zeros((len(rows), len(self.unit)))
        mask[at, m] = 1.0
        mask[np.arange(len(rows)), self.basic[rows]] = 1.0
        count = mask.sum(axis=1, keepdims=True)

        def project(V: Array) -> Array:
            V = V * mask
            return V - mask * (V.sum(axis=1, keepdims=True) / count)

        R = np.zeros(mask.shape)
        R[at, m] = b
        X, R = np.zeros(mask.shape), project(R)
        Z = project(dpotrs(self.K_factor, R, lower=1)[0])
        P, rz = Z, float(np.vdot(R, Z))
        wanted = (_ROUGH if self.rough else _ITERATION_TOL) * float(np.abs(R).max(initial=0.0))
        for _ in range(_ITERATIONS if wanted else 0):
            Q = project(self.K_rows @ P)
            length = rz / float(np.vdot(P, Q))
            X, R = X + length * P, R - length * Q
            if float(np.abs(R).max()) <= wanted:
                break
            Z = project(dpotrs(self.K_factor, R, lower=1)[0])
            rz, last = float(np.vdot(R, Z)), rz
            P = Z + (rz / last) * P
        return X[at, m]

    def exchange(self, basic: Array) -> None:
        """Take other basic entries (n,), which makes another H."""
        self.basic = basic
        self.forget()


class MultiSVM:
    """One kernel matrix and labels, solved for many prices of the rows.

    Parameters
    ----------
    K : array (n, n)
        Kernel matrix, positive semi-definite.
    y : array (n,)
        Class codes 0..ℓ−1.
    loss : {"weston-watkins", "crammer-singer"}
    tol : float
        Relative duality gap to reach.
    """

    def __init__(self, K: Array, y: Array, n_classes: int, loss: str, tol: float = 1e-7) -> None:
        self.plain, self.y, self.loss, self.tol = K, y, loss, tol
        self.n_classes, self.rows = n_classes, np.arange(len(y))
        self.K = K + _RIDGE * (float(K.diagonal().max(initial=0.0)) or 1.0) * np.eye(len(K))
        self.margin = MARGINS[loss]
        self.simplex = loss == "crammer-singer"
        self.label = np.zeros((len(y), n_classes), dtype=bool)
        self.label[self.rows, y] = True
        self.system = RowSystem(self.K, y.copy(), n_classes)

    def bounds(self, price: Array) -> tuple[Array, Array]:
        """Lower and upper bounds (n, ℓ) for the prices Cwᵢ (n,) of the rows; a price of zero takes a row out."""
        if self.simplex:
            return np.where(price[:, None] > 0, -np.inf, 0.0) + 0.0 * self.label, price[:, None] * self.label
        free = np.where(price > 0, np.inf, 0.0)[:, None]
        return np.where(self.label, -free, -price[:, None]), np.where(self.label, free, 0.0)

    def solve(self, price: Array, start: Array | None = None) -> Array | None:
        """A (n, ℓ), from a feasible one if given; None where the gap stays above ``tol``."""
        if start is not None:
            A, _ = self.descend(start, *self.bounds(price))
            if self.gap(A, price) <= self.tol:
                return A
        found = self.finished(price)
        return found.A if found.gap <= self.tol else None

    def finished(self, price: Array) -> Solution:
        """The interior-point solution, finished by the active set where that leaves no larger gap."""
        found = self.inside(price)
        A, steps = self.descend(self.settle(found.A, price), *self.bounds(price))
        exact = Solution(A, *objectives(self.plain, A, self.y, 1.0, self.loss, price), found.n_iter + steps)
        return exact if exact.gap <= max(found.gap, self.tol) else found

    def path(
        self, Cs: Sequence[float], w: Array, near: Sequence[Array | None] | None = None
    ) -> list[Array | None]:
        """A (n, ℓ) for every C, from the smallest up, with the weights w (n,) of the rows; None as in ``solve``.

        Each starts from ``near``, the solution of all rows at the same C, or from its own at the C below: the latter
        where fewer entries of ``near`` came to or left a bound since than tell the two apart there. Once no price is
        paid in full it plays no part, and the solution is that of every larger C.
        """
        results: list[Array | None] = [None] * len(Cs)
        inside = (w > 0)[:, None]
        below, last, paid = -1, np.zeros(0), np.zeros(0)  # the last C that was solved, its prices and solution
        for i in map(int, np.argsort(np.asarray(Cs, dtype=float), kind="stable")):
            price = Cs[i] * w
            none_paid = below >= 0 and not (self._sides(last, paid) > 0).any()
            if none_paid and self.gap(paid, price) <= self.tol:  # prices may be paid but for rounding
                results[i] = paid
                continue
            start = self._grown(last, paid, price) if below >= 0 else None
            if near is not None and (now := near[i]) is not None:
                before = near[below] if below >= 0 else None
                if before is None or self._apart(before, last, now, price) > self._apart(before, last, paid, last):
                    start = now * inside
            results[i] = found = self.solve(price, start)
            if found is not None:
                below, last, paid = i, price, found
        return results

    def _apart(self, A: Array, price: Array, other: Array, other_price: Array) -> int:
        """How many entries are at a bound in one of two solutions only."""
        return int((self._sides(price, A) != self._sides(other_price, other)).sum())

    def _sides(self, price: Array, A: Array) -> Array:
        """+1 for entries at the bound that the price is, −1 at the bound zero, 0 elsewhere and in rows left out."""
        paid = self.label & (price[:, None] <= A) if self.simplex else ~self.label & (-price[:, None] >= A)
        return (paid.astype(int) - (~self.label & (A >= 0))) * (price > 0)[:, None]

    def _grown(self, last: Array, A: Array, price: Array) -> Array:
        """A for other prices: what was at a bound stays there."""
        paid = self._sides(last, A) > 0
        if self.simplex:
            return np.where(paid.any(axis=1), price / np.where(last > 0, last, 1.0), 1.0)[:, None] * A
        A = np.where(paid, -price[:, None], A)
        A[self.label] = 0.0
        A[self.label] = -A.sum(axis=1)
        return A

    def gap(self, A: Array, price: Array) -> float:
        """Relative duality gap of a feasible A, by the kernel without ridge."""
        primal, dual = objectives(self.plain, A, self.y, 1.0, self.loss, price)
        return (primal - dual) / (primal or 1.0)

    def inside(self, price: Array) -> Solution:
        """The interior-point solution on the rows of a positive price; A (n, ℓ) is zero in the others."""
        used, C = np.flatnonzero(price > 0), float(price.max())
        K, w = self.plain[np.ix_(used, used)], price[used] / C
        found = solve_inside(K, self.y[used], self.n_classes, C, self.loss, tol=self.tol, weights=w)
        A = np.zeros(self.label.shape)
        A[used] = found.A
        return found._replace(A=A)

    def settle(self, A: Array, price: Array) -> Array:
        """A with the entries on their bounds that are closer to them than their gradient is to zero."""
        lower, upper = self.bounds(price)
        G = self.K @ A - self.margin * self.label
        scale = float(np.abs(A).max(initial=0.0)) or 1.0
        basic = self.y if not self.simplex else (upper - A).argmax(axis=1)
        g = (G - G[self.rows, basic][:, None]) * scale / self.margin
        A = np.where(upper - A < -g, upper, A)
        A = np.where(A - lower < g, lower, A)
        A[self.rows, basic] = 0.0
        A[self.rows, basic] = -A.sum(axis=1)
        return np.clip(A, lower, upper)

    def descend(self, A: Array, lower: Array, upper: Array) -> tuple[Array, int]:
        """Minimise over the bounds from a feasible A (n, ℓ): the solution and the steps, at most ``_STEPS``."""
        A, rows, system = A.copy(), self.rows, self.system
        open_rows = upper.max(axis=1) > 0
        cap = float(upper[np.isfinite(upper)].max(initial=0.0)) or -float(
            lower[np.isfinite(lower)].min(initial=-1.0)
        )
        G = self.K @ A - self.margin * self.label
        first, still, idle = True, 0, 0
        for step in range(_STEPS):
            if self.simplex:
                room = upper - A
                largest = room.max(axis=1)
                tight = room[rows, system.basic] < _CLOSE * largest
                if tight.any():
                    system.exchange(np.where(tight, room.argmax(axis=1), system.basic))
            basic = system.basic
            A[rows, basic] -= A.sum(axis=1)  # rounding
            g = G - G[rows, basic][:, None]
            high, low = upper <= A, A <= lower
            interior = ~high & ~low & open_rows[:, None]
            interior[rows, basic] = False
            tol = max(_GRADIENT * self.margin, 8 * np.finfo(float).eps * float(np.abs(A).sum()) * self._largest)
            pull = np.where(high, g, np.where(low, -g, 0.0)) * open_rows[:, None]
            pull[rows, basic] = 0.0
            pull[pull <= tol] = 0.0
            settled, pulled = not (np.abs(g[interior]) > tol).any(), bool(pull.any())
            if not pulled and (still >= 2 or settled):
                return A, step
            free = interior
            if pulled and not (first and not settled):
                free = _freed(interior, pull)
            first = False
            f, p, system.rough = np.flatnonzero(free), np.zeros(0), pulled
            while len(f):
                p = -system.solve(f, g.ravel()[f], still >= 1 and not settled)
                out = (high.ravel()[f] & (p > 0)) | (low.ravel()[f] & (p < 0))
                if not out.any():
                    break
                f = f[~out]
                if pulled and settled and interior.ravel()[f].all():  # the strongest alone does not want out
                    f = np.union1d(np.flatnonzero(interior), [int(pull.argmax())])
                    pulled = False
            if not len(f):
                return A, step
            used, D, decrease, whole = self._bent(A, G, lower, upper, f, p)
            idle = idle + 1 if decrease <= 1e-15 * self.margin * float(np.abs(A).sum()) else 0
            if idle > 20:
                return A, step
            A[used] += D
            A = np.where(
                np.abs(A - upper) <= 1e-14 * cap, upper, np.where(np.abs(A - lower) <= 1e-14 * cap, lower, A)
            )
            still = still + 1 if whole and not pull.any() else 0
            G = self.K @ A - self.margin * self.label if still else G + self.K[:, used] @ D
        return A, _STEPS

    @property
    def _largest(self) -> float:
        return float(self.K.diagonal().max(initial=0.0))

    def _bent(
        self, A: Array, G: Array, lower: Array, upper: Array, f: Array, p: Array
    ) -> tuple[Array, Array, float, bool]:
        """The best bent step: its rows, D (rows, ℓ), by how much it decreases, and whether it is Newton's whole."""
        direction, moving = np.zeros(A.shape), np.zeros(A.shape, dtype=bool)
        direction.ravel()[f] = p
        moving.ravel()[f] = moving[self.rows, self.system.basic] = True
        direction[self.rows, self.system.basic] -= direction.sum(axis=1)
        used = np.unique(f // self.n_classes)
        P, a, lo, up = direction[used], A[used], lower[used], upper[used]
        with np.errstate(all="ignore"):
            reach = np.where(P < 0, (lo - a) / P, np.where(P > 0, (up - a) / P, np.inf))
        met = np.sort(reach[reach < 1.0])
        if not len(met):
            return used, P, -0.5 * float(np.vdot(G[used], P)), True
        t = np.append(met[2 ** np.arange(int(np.log2(len(met))) + 1) - 1], [met[-1], 1.0])
        moved = np.stack(
            [self._bend(a + length * P, moving[used], a, lo, up, used) for length in t]
        )  # (lengths, rows, ℓ)
        moved[0] = a + t[0] * P
        stopped = reach <= t[0]
        moved[0][stopped] = np.where(P < 0, lo, up)[stopped]
        D = moved - a
        KD = self.K[used].take(used, axis=1) @ D.transpose(1, 0, 2).reshape(len(used), -1)
        KD = KD.reshape(len(used), len(t), -1).transpose(1, 0, 2)
        change = np.tensordot(D, G[used], 2) + 0.5 * (D * KD).sum(axis=(1, 2))
        best = int(change.argmin())
        return used, D[best], -float(change[best]), False

    def _bend(self, moved: Array, moving: Array, a: Array, lo: Array, up: Array, used: Array) -> Array:
        """Rows put back within their bounds, entries that do not move left where they are."""
        basic = self.system.basic[used]
        rows = np.arange(len(used))
        if not self.simplex:
            moved = np.clip(moved, lo, up)
            moved[rows, basic] = 0.0
            moved[rows, basic] = -moved.sum(axis=1)
            return moved
        return up - onto_simplex(np.where(moving, up - moved, -np.inf), (up - a).sum(axis=1))


def onto_simplex(V: Array, total: Array) -> Array:
    """The points of {x ≥ 0, Σx = total} nearest to the rows of V (r, ℓ); −∞ becomes zero."""
    falling = -np.sort(-V, axis=1)
    with np.errstate(invalid="ignore"):
        above = (np.cumsum(falling, axis=1) - total[:, None]) / np.arange(1, V.shape[1] + 1)
        count = np.maximum((falling > above).sum(axis=1), 1)
    return np.maximum(V - above[np.arange(len(V)), count - 1][:, None], 0.0)


def _freed(interior: Array, pull: Array) -> Array:
    """Mask of the interior and of the strongest pulled entries, at most a quarter of the interior."""
    most = max(_FREED, int(interior.sum()) // 4)
    inward = np.flatnonzero(pull)
    if len(inward) > most:
        inward = inward[np.argpartition(-pull.ravel()[inward], most)[:most]]
    free = interior.copy()
    free.ravel()[inward] = True
    return free


def sweep(
    K: Array,
    y: Array,
    n_classes: int,
    folds: Sequence[tuple[Array, Array]],
    Cs: Sequence[float],
    loss: str,
    tol: float,
    w: Array | None = None,
) -> list[Array]:
    """Out-of-fold scores (C, |test|, ℓ) of each fold; NaN where the gap stays above ``tol``.

    All rows are solved first, from the smallest C up; a fold starts from the solution of all rows at its C.
    """
    w = np.ones(len(y)) if w is None else w
    machine = MultiSVM(K, y, n_classes, loss, tol)
    whole = machine.path(Cs, w)
    values = []
    for train, test in folds:
        of_fold = np.zeros(len(y))
        of_fold[train] = w[train]
        path = machine.path(Cs, of_fold, whole)
        values.append(
            np.stack([np.full((len(test), n_classes), np.nan) if A is None else K[test] @ A for A in path])
        )
    return values
