"""Many small boxes at once: the projected Newton method of ``active_set``, one step of every problem together.

The classes, folds and γ of a grid give hundreds of problems min ½βᵀ(H + ε)β − 1ᵀβ over 0 ≤ β ≤ uᵢ with the same few
H, each with a start near its solution. One by one they cost a dozen short calls a step, and each reads the whole of H
for its gradient. Here a problem is a row of β (p, n): the gradients of all with one H are one product, bounds, pulls
and step lengths are arrays (p, n), and small free sets are solved in one stack. The steps are those of
``projected_newton``: every one of them decreases the objective of its problem, and a problem leaves once it is solved.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg.lapack import dpotrs

from mcls.solvers.qp.active_set import FREED
from mcls.solvers.qp.free_system import HAIR, factor, rounding

Array = np.ndarray

#: Steps after which what is not solved is left to the method for one problem.
_STEPS = 400
#: Largest free set that is solved in a stack (by LU, twice the work of Cholesky but one call for all).
_STACKED = 48
#: Entries of one stack of matrices: it should stay in the cache.
_ENTRIES = 400_000


def solve_together(systems: Systems, block: Array, upper: Array, start: Array) -> tuple[Array, Array]:
    """β (p, n) and the steps (p,) that each took, from ``start`` (p, n), for the bounds ``upper`` (p, n).

    ``block`` (p,) says which H a problem has. The caller certifies what is returned.
    """
    solution, steps = np.clip(start, 0.0, upper), np.zeros(len(upper), dtype=int)
    live = np.arange(len(upper))
    beta, u = solution.copy(), upper
    still, idle = np.zeros(len(upper), dtype=int), np.zeros(len(upper), dtype=int)
    for step in range(_STEPS):
        g = systems.products(block, beta) + systems.ridge[block] * beta - 1.0
        interior = (beta > 0) & (beta < u)
        tol = rounding(systems.lengths[block], beta)
        pull = np.where(beta <= 0, -g, g)  # at a bound: how strongly the gradient pulls inside
        pull[interior | (u <= 0) | (pull <= tol)] = 0.0
        settled = ~((np.abs(g) > tol) & interior).any(axis=1)
        pulled = pull.any(axis=1)
        done = ~pulled & ((still >= 2) | (settled & ((still >= 1) | ~interior.any(axis=1)))) | (idle > 20)
        free = interior.copy()
        opened = pulled & settled if step == 0 else pulled  # the first step keeps the free set of the start
        _free_strongest(free, pull, (beta > 0).sum(axis=1), np.flatnonzero(opened & ~done))
        free[done] = False
        p = systems.directions(block, free, g, beta, u)
        again = np.flatnonzero(pulled & settled & ~done & ~(free & ~interior).any(axis=1))
        if len(again):  # everything freed wants out again: the strongest alone does not
            single = interior[again]
            single[np.arange(len(again)), pull[again].argmax(axis=1)] = True
            p[again] = systems.directions(block[again], single, g[again], beta[again], u[again])
            free[again] = single
        moved, decrease = systems.bent_steps(block, free, g, beta, u, p)
        stands = ~pulled & (~free | ((moved > 0) & (moved < u))).all(axis=1)
        still = np.where(stands, still + 1, 0)
        idle = np.where(decrease <= 1e-15 * beta.sum(axis=1), idle + 1, 0)
        ended = ~free.any(axis=1)
        solution[live], steps[live] = moved, step + ~ended
        go_on = ~ended
        if not go_on.any():
            break
        if ended.any():
            live, still, idle = live[go_on], still[go_on], idle[go_on]
            block, u, moved = block[go_on], u[go_on], moved[go_on]
        beta = moved
    return solution, steps


def _free_strongest(free: Array, pull: Array, support: Array, rows: Array) -> None:
    """Add to the free sets (p, n) of ``rows`` the strongest pulled variables, at most a quarter of the support."""
    if not len(rows):
        return
    pull = pull[rows]
    most = np.maximum(FREED, support[rows] // 4)
    weakest = np.zeros(len(rows))
    many = np.flatnonzero((pull > 0).sum(axis=1) > most)
    if len(many):
        weakest[many] = -np.sort(-pull[many], axis=1)[np.arange(len(many)), most[many] - 1]
    free[rows] |= (pull > 0) & (pull >= weakest[:, None])


class Systems:
    """Matrices H_b (n_b, n_b) and the systems (H + ε)_FF of many free sets F, some of them solved in one stack.

    A row of an array (p, n) is of one block, and zero where that is smaller; the free sets of a stack are filled up
    to a common size with rows of the identity.
    """

    def __init__(self, blocks: Sequence[Array], ridges: Sequence[Array]) -> None:
        sizes = [len(H) for H in blocks]
        self.n = max(sizes)
        self.blocks, self.ridges = blocks, ridges
        self.ridge, self.lengths = np.zeros((len(blocks), self.n)), np.zeros((len(blocks), self.n))
        self.M = np.zeros((len(blocks), self.n + 1, self.n + 1))  # H + ε; index n stands for nothing
        for b, (H, ridge) in enumerate(zip(blocks, ridges)):
            self.ridge[b, : len(H)] = ridge
            self.lengths[b, : len(H)] = np.sqrt(np.maximum(H.diagonal(), 0.0))
            self.M[b, : len(H), : len(H)] = H
            self.M[b, np.arange(len(H)), np.arange(len(H))] += ridge

    def products(self, block: Array, beta: Array) -> Array:
        """Hβ (p, n) of each row."""
        if len(self.blocks) == 1:
            return beta @ self.blocks[0]
        found = np.zeros(beta.shape)
        for b, H in enumerate(self.blocks):
            rows = np.flatnonzero(block == b)
            found[rows, : len(H)] = beta[rows, : len(H)] @ H
        return found

    def directions(self, block: Array, free: Array, g: Array, beta: Array, upper: Array) -> Array:
        """Newton directions (p, n) over the free sets (p, n), from which goes what would leave the box at once."""
        p = np.zeros(free.shape)
        rows = np.flatnonzero(free.any(axis=1))
        while len(rows):
            for part, index in self._stacks(free, rows):
                if index.shape[1] <= _STACKED:
                    self._solve_stack(block, part, index, g, p)
                else:
                    self._solve_each(block, part, free, g, p)
            of_rows, b = p[rows], beta[rows]
            out = free[rows] & (((b <= 0) & (of_rows < 0)) | ((b >= upper[rows]) & (of_rows > 0)))
            free[rows] &= ~out
            rows = rows[out.any(axis=1)]
            p[rows] = 0.0
            rows = rows[free[rows].any(axis=1)]
        return p

    def bent_steps(
        self, block: Array, free: Array, g: Array, beta: Array, upper: Array, p: Array
    ) -> tuple[Array, Array]:
        """Where each problem goes (p, n), and by how much its objective decreases: the best of some bent steps."""
        with np.errstate(all="ignore"):
            reach = np.where(p < 0, -beta / p, np.where(p > 0, (upper - beta) / p, np.inf))
        moved = beta + p
        decrease = -0.5 * np.einsum("ij,ij->i", g, p)
        bent = np.flatnonzero((reach < 1.0).any(axis=1))
        for part, index in self._stacks(free, bent):
            place = part[:, None]
            inside = index.clip(max=self.n - 1)
            real = index < self.n
            f_p, f_b = np.where(real, p[place, inside], 0.0), np.where(real, beta[place, inside], 0.0)
            f_u, f_g = np.where(real, upper[place, inside], 0.0), np.where(real, g[place, inside], 0.0)
            f_reach = np.where(real, reach[place, inside], np.inf)
            met = (f_reach < 1.0).sum(axis=1)
            powers = 2 ** np.arange(int(met.max()).bit_length()) - 1  # the first, second, fourth, eighth … met
            which = np.minimum(np.append(powers, met.max() - 1), met[:, None] - 1)
            t = np.take_along_axis(np.sort(f_reach, axis=1), which, axis=1)
            t = np.hstack([t, np.ones((len(part), 1))])  # (r, lengths)
            to = np.clip(f_b[:, :, None] + f_p[:, :, None] * t[:, None, :], 0.0, f_u[:, :, None])
            D = to - f_b[:, :, None]  # (r, m, lengths)
            MD = np.matmul(self._gathered(block[part], index), D)
            change = np.einsum("rm,rmt->rt", f_g, D) + 0.5 * np.einsum("rmt,rmt->rt", D, MD)
            best = change.argmin(axis=1)
            row = np.arange(len(part))
            good = change[row, best] < 0
            new = np.where(good[:, None], to[row, :, best], f_b)
            # rounding leaves what stops the step a hair inside: put it there
            stopped = (f_reach <= t[:, :1]) & ((best == 0) | ~good)[:, None]
            new = np.where(stopped, np.where(f_p < 0, 0.0, f_u), new)
            moved[np.broadcast_to(place, index.shape)[real], index[real]] = new[real]
            decrease[part] = -change[row, best]
        moved = np.clip(moved, 0.0, upper)
        moved[moved <= HAIR * moved.max(axis=1, initial=0.0, keepdims=True)] = 0.0
        return np.where(free, np.where(moved >= upper - HAIR * upper, upper, moved), beta), decrease

    def _stacks(self, free: Array, rows: Array) -> list[tuple[Array, Array]]:
        """The rows in parts of like size, and their padded indices (r, m)."""
        sizes = free[rows].sum(axis=1)
        order = np.argsort(sizes, kind="stable")[::-1]
        rows, sizes = rows[order], sizes[order]
        parts, begin = [], 0
        while begin < len(rows):
            m = int(sizes[begin])
            end = begin + max(1, _ENTRIES // max(m * m, 1))
            end = min(end, begin + int((sizes[begin:] >= 0.75 * m - 4).sum()), len(rows))
            part = rows[begin:end]
            index = np.full((len(part), m), self.n)
            place, column = np.nonzero(free[part])
            starts = np.cumsum(sizes[begin:end]) - sizes[begin:end]
            index[place, np.arange(len(place)) - starts[place]] = column
            parts.append((part, index))
            begin = end
        return parts

    def _gathered(self, block: Array, index: Array) -> Array:
        """(H + ε) at the padded indices (r, m): (r, m, m)."""
        return self.M[block[:, None, None], index[:, :, None], index[:, None, :]]

    def _solve_stack(self, block: Array, part: Array, index: Array, g: Array, p: Array) -> None:
        real = index < self.n
        M = self._gathered(block[part], index)
        place, column = np.nonzero(~real)
        M[place, column, column] = 1.0
        right = np.where(real, g[part[:, None], index.clip(max=self.n - 1)], 0.0)
        x = np.linalg.solve(M, right[:, :, None])[:, :, 0]
        p[np.broadcast_to(part[:, None], index.shape)[real], index[real]] = -x[real]

    def _solve_each(self, block: Array, part: Array, free: Array, g: Array, p: Array) -> None:
        for i in part.tolist():
            f, H, ridge = np.flatnonzero(free[i]), self.blocks[block[i]], self.ridges[block[i]]
            R = factor(H[f].take(f, axis=1), ridge[f])
            p[i, f] = -dpotrs(R, g[i, f], lower=1)[0]
