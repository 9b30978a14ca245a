"""All boxes of a grid: every fold and γ of one or many H, small problems in lockstep, large ones along paths.

A fold is the problem of all samples with the bound zero on those left out. The whole data set is solved first, from the
smallest γ up; each fold then starts from the whole data set's solution at its γ, from which it differs in a few members
of the active set.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcls.solvers.qp.active_set import RIDGE_GRADIENT
from mcls.solvers.qp.base import QPResult, natural_residuals, product
from mcls.solvers.qp.free_system import BORDERED
from mcls.solvers.qp.lockstep import Systems, solve_together
from mcls.solvers.qp.osqp_guess import Guess
from mcls.solvers.qp.solve import BoxQP

Array = np.ndarray

#: From so many matrices on, small ones go along γ together rather than one after the other.
_MANY = 3


def solve_grid(
    boxes: Sequence[BoxQP], gammas: Sequence[float], whole: Sequence[Array], folds: Sequence[Array]
) -> list[list[list[QPResult]]]:
    """Certified solutions ``found[box][fold][γ]``.

    Parameters
    ----------
    boxes : sequence of BoxQP
        One per H (n_b, n_b), all of one solver.
    gammas : sequence of float
        The bound of sample i is γ times its weight.
    whole : sequence of arrays (n_b,)
        Weights of all samples of each H.
    folds : sequence of arrays (k, n_b)
        Weights of the samples in each fold, zero for those left out.
    """
    if not all(box.plain for box in boxes):
        found = []
        for box, w, of_folds in zip(boxes, whole, folds):
            near = box.path(gammas, w)
            found.append([box.path(gammas, of_fold, near) for of_fold in of_folds])
        return found
    return _Grid(boxes, gammas).solve(whole, folds)


class _Grid:
    """The problems of some boxes without equality constraints; a problem is (box, fold, γ) by their numbers."""

    def __init__(self, boxes: Sequence[BoxQP], gammas: Sequence[float]) -> None:
        self.boxes, self.gammas = boxes, gammas
        self.systems = Systems([box.H for box in boxes], [box.active_set.ridge for box in boxes])

    def solve(self, whole: Sequence[Array], folds: Sequence[Array]) -> list[list[list[QPResult]]]:
        """See :func:`solve_grid`."""
        near = self._whole(whole)
        found: list[list[dict[int, QPResult]]] = [[{} for _ in of_folds] for of_folds in folds]
        first, later = [], []
        for b, of_folds in enumerate(folds):
            # Large free sets are better solved one after the other, by borders of the factor that the last one left.
            small = [i for i, result in enumerate(near[b]) if _n_free(result) < BORDERED]
            large = [i for i in range(len(self.gammas)) if i not in small]
            if large:
                gammas, of_whole = [self.gammas[i] for i in large], [near[b][i] for i in large]
                for of_fold, w in zip(found[b], of_folds):
                    of_fold.update(zip(large, self.boxes[b].path(gammas, w, of_whole)))
            if small:
                top = max(small, key=lambda i: self.gammas[i])
                first += [(b, k, top) for k in range(len(of_folds))]
                later += [(b, k, i) for k in range(len(of_folds)) for i in small if i != top]
        tops = dict(zip(((b, k) for b, k, _ in first), self._folds(first, folds, near)))
        for b, k, top in first:
            found[b][k][top] = tops[b, k]
        rest = []
        for b, k, i in later:
            largest, upper = tops[b, k], self.gammas[i] * folds[b][k]
            # Where β stays below a smaller bound, too, that bound plays no part.
            if (largest.beta < upper)[upper > 0].all():
                found[b][k][i] = self.boxes[b].certify(largest.beta, largest.nu, upper, 0, largest.solver)
            else:
                rest.append((b, k, i))
        for (b, k, i), result in zip(rest, self._folds(rest, folds, near)):
            found[b][k][i] = result
        return [[[of_fold[i] for i in range(len(self.gammas))] for of_fold in of_box] for of_box in found]

    def _whole(self, weights: Sequence[Array]) -> list[list[QPResult]]:
        """The path of each box from the smallest γ up, each γ from the one below or from OSQP's guess.

        The guess is rough: of the two that of the lower objective is the start.
        """
        guess = Guess([box.H for box in self.boxes]) if self.boxes[0].solver == "osqp" else None
        name = "active-set" if guess is None else "osqp+active-set"
        bs = range(len(self.boxes))
        found: dict[int, list[QPResult]] = {}
        last: list[tuple[QPResult, Array]] = []
        for i in map(int, np.argsort(np.asarray(self.gammas, dtype=float), kind="stable")):
            uppers = [self.gammas[i] * w for w in weights]
            starts = [np.zeros(len(upper)) for upper in uppers]
            if last:
                starts = [
                    np.where(old.beta >= bound, upper, old.beta) for (old, bound), upper in zip(last, uppers)
                ]
            # Once no β is at its bound the solution is that of every larger γ.
            carried = {b: self.boxes[b].unbounded(*of, uppers[b]) for b, of in enumerate(last)}
            results = {b: result for b, result in carried.items() if result is not None}
            todo = [b for b in bs if b not in results]
            if guess is not None and todo:
                guessed = guess.solve(uppers)
                for b in todo:
                    H, rough = self.boxes[b].H, self.boxes[b].snap(guessed[b], uppers[b])
                    if _objective(H, rough) < _objective(H, starts[b]):
                        starts[b] = rough
            if len(todo) >= _MANY and self.systems.n < BORDERED:
                box_of = [uppers[b] for b in todo], [starts[b] for b in todo]
                solved = self._together(todo, *box_of, [name] * len(todo))
            else:
                solved = [self.boxes[b].solve(uppers[b], starts[b], None, name) for b in todo]
            results |= zip(todo, solved)
            found[i] = [results[b] for b in bs]
            last = list(zip(found[i], uppers))
        return [[found[i][b] for i in range(len(self.gammas))] for b in bs]

    def _folds(
        self, problems: Sequence[tuple[int, int, int]], folds: Sequence[Array], near: Sequence[Sequence[QPResult]]
    ) -> list[QPResult]:
        """Solutions of problems (box, fold, γ), each started from that of the whole data set."""
        uppers = [self.gammas[i] * folds[b][k] for b, k, i in problems]
        starts = [near[b][i].beta for b, _, i in problems]
        return self._together(
            [b for b, _, _ in problems], uppers, starts, [near[b][i].solver for b, _, i in problems]
        )

    def _together(
        self, bs: Sequence[int], uppers: Sequence[Array], starts: Sequence[Array], names: Sequence[str]
    ) -> list[QPResult]:
        """Certified solutions for the boxes ``bs``, in lockstep; what does not come out of it well is solved alone."""
        if not bs:
            return []
        block = np.asarray(bs)
        upper, start = np.zeros((len(bs), self.systems.n)), np.zeros((len(bs), self.systems.n))
        for row, (u, s) in enumerate(zip(uppers, starts)):
            upper[row, : len(u)], start[row, : len(s)] = u, s
        beta, steps = solve_together(self.systems, block, upper, start)
        gradient = self.systems.products(block, beta) - 1.0
        residuals = natural_residuals(beta, gradient, upper)
        # ε pulls β towards zero; where that is felt, the method for one problem takes it away (proximal steps).
        good = (self.systems.ridge[block] * beta).max(axis=1) <= RIDGE_GRADIENT
        good &= residuals <= [self.boxes[b].tol for b in bs]
        results = []
        for row, (b, u, name) in enumerate(zip(bs, uppers, names)):
            of_row = beta[row, : len(u)]
            if good[row]:
                results.append(QPResult(of_row, np.zeros(0), float(residuals[row]), int(steps[row]), name))
            else:
                results.append(self.boxes[b].solve(u, of_row, None, name))
        return results


def _objective(H: Array, beta: Array) -> float:
    return float(0.5 * beta @ product(H, beta) - beta.sum())


def _n_free(result: QPResult) -> int:
    """How many β are neither zero nor the largest."""
    return int(((result.beta > 0) & (result.beta < result.beta.max(initial=0.0))).sum())
