"""Choose parameters on growing samples: widths that few rows rule out are never tried on all of them.

A sweep of n rows costs n² to n³ operations per kernel width, and most widths of an automatic grid are far off. So the
whole grid is searched, exactly, on a stratified sample of 300 rows; what is not significantly worse than the best there
on 500, and so on; what is left on all rows. Errors of two widths are compared on the same folds: a width stays if its
smallest error is within one standard error of the best one, the standard error being that of the difference over the
folds, or of the best error where that is larger. More rows bear narrower kernels, so the next narrower width stays too.
After each sample the search can be left, as ``mcls.models.ranking`` does where another machine is far ahead.

The strength γ of the regularisation weighs against a sum over the rows, and is not carried from a sample to all rows:
at each step the strengths around the good ones are swept again, and further ones where the best lies at the end. On
samples of more than 2500 rows, and where all rows are so many that not all these points can be afforded, the best
strength of each of the best widths is tried, and from the best of these the search goes on step by step.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mcls.evaluation.grid_result import GridResult, choose
from mcls.models.grids import Ladder, Point, as_grid, extend

Array = np.ndarray
#: Searches some grids on a stratified sample of so many rows; None: on all of them.
Sweep = Callable[[int | None, Sequence[Mapping[str, list[Any]]]], GridResult]

WIDTH = "sigma"
#: Operations that the points on all rows may take together: some five seconds.
OPERATIONS = 2.5e11
#: Widths that are tried on all rows where points are few.
_WIDTHS = 2

# Points that steps on a large sample may take.
_MOST_STEPS = 23

# Samples up to which all strengths that may be good are swept; on more rows, one per width and steps from the best.
_GRID_ROWS = 2500

#: Rows of the samples, and from how many rows on each of them is worth its time.
SIZES = {300: 600, 500: 800, 1500: 3000, 4500: 9000}


def sizes_below(n: int) -> list[int]:
    """The samples that are worth their time before n rows are searched.

    >>> sizes_below(4000), sizes_below(900), sizes_below(599)
    ([300, 500, 1500], [300, 500], [])
    """
    return [size for size, rows in SIZES.items() if n >= rows]


class Growth:
    """The search of an automatic grid on growing samples, step by step.

    Parameters
    ----------
    grid : dict
        Values of every parameter to begin with.
    ladders : dict
        The values that each automatic parameter may take; the width ``sigma`` among them.
    sweep : callable
        Searches some grids on a sample of so many rows, or on all of them.
    smoother : dict
        Direction of each parameter, as ``mcls.evaluation.grid_result.choose`` takes it.
    """

    def __init__(
        self,
        grid: Mapping[str, list[Any]],
        ladders: Mapping[str, Ladder],
        sweep: Sweep,
        smoother: Mapping[str, int],
    ) -> None:
        self._grid, self._ladders, self._sweep, self._smoother = grid, ladders, sweep, smoother
        self._found: GridResult | None = None
        self._tried: set[float] = set()  # widths that some step has judged

    def sample(self, size: int) -> GridResult:
        """Search a sample of so many rows: the first one the whole grid, each further one what is left of it."""
        if self._found is None:
            found = self._sweep(size, [self._grid])
            found = extend(found, self._ladders, lambda grids: self._sweep(size, grids), self._smoother)
        elif size > _GRID_ROWS:
            found = self._climb(size, _leading(self._found, self._ladders), _MOST_STEPS)
        else:
            found = self._sweep(size, _left(self._found, self._ladders))
        self._tried.update(point[WIDTH] for point in found.points)
        self._found = found
        return found

    def complete(self, most: int) -> GridResult:
        """Search what is left on all rows, at no more than so many points if that is a few steps, at least one."""
        assert self._found is not None
        left = _left(self._found, self._ladders)
        if sum(math.prod(map(len, grid.values())) for grid in left) <= most:
            return self._climb(None, left, None)
        few = [as_grid(point) for point in _leaders(self._found)[: min(most, _WIDTHS)]]
        return self._climb(None, few, most)

    def _climb(self, size: int | None, points: Sequence[Mapping[str, list[Any]]], most: int | None) -> GridResult:
        """Sweep the points, and beside the best of them as long as that lies at an end of what is known."""
        found = self._sweep(size, points)
        self._tried.update(point[WIDTH] for point in found.points)
        while True:
            found = replace(found, best=choose(found.points, found.losses, self._smoother))
            further = _further(found, self._ladders, self._tried, 2 if most is None else 1)
            if not further or (most is not None and len(found.points) + len(further) > most):
                return found
            self._tried.update(point[WIDTH] for point in further)
            found = found.joined(self._sweep(size, [as_grid(point) for point in further]))


def far_behind(best: Array, other: Array, share: float) -> bool:
    """Whether losses (folds,) on a share of all rows are so much larger than the best that more rows will not turn it.

    That is by more than half a standard error, and one more for each doubling of the rows that is still to come: of
    the difference over the folds, or of the best where that is larger.

    >>> best, other = np.array([0.1, 0.2, 0.1, 0.2]), np.array([0.2, 0.2, 0.1, 0.3])
    >>> far_behind(best, other, share=0.6), far_behind(best, other, share=0.2)
    (True, False)
    """
    excess = other - best
    known = ~np.isnan(excess)
    if known.sum() < 2:
        return False
    error = max(np.std(excess[known]), np.std(best[known])) / np.sqrt(known.sum() - 1)
    return bool(np.mean(excess[known]) > (0.5 - np.log2(share)) * error + 1e-12)


def _good(found: GridResult) -> Array:
    """Which points (p,) are not significantly worse than the best."""
    losses = found.metric.as_loss(found.fold_values[found.metric.name])  # (points, folds)
    best = losses[found.losses.argmin()]
    excess = losses - best
    known = (~np.isnan(excess)).sum(axis=1)
    # The difference over few folds may happen to be steady: never less than the standard error of the best itself.
    error = np.maximum(np.nanstd(excess, axis=1), np.nanstd(best)) / np.sqrt(np.maximum(known - 1, 1))
    good: Array = np.nanmean(excess, axis=1) <= error + 1e-12
    return good


def _left(found: GridResult, ladders: Mapping[str, Ladder]) -> list[dict[str, list[Any]]]:
    """Grids of the points that may be best with more rows: one per width that stays.

    Each has the strengths around its own good points; the next narrower width those of the narrowest.
    """
    good = [found.points[i] for i in np.flatnonzero(_good(found))]
    widths = sorted({point[WIDTH] for point in good})
    grids = []
    for width in widths:
        own = [point for point in good if point[WIDTH] == width]
        values = {name: sorted({point[name] for point in own}) for name in good[0]}
        for name, ladder in ladders.items():
            if name != WIDTH:
                values[name] = sorted({step for value in values[name] for step in ladder.around(value, 1)})
        grids.append(values)
    narrower = ladders[WIDTH].around(widths[0], 1)[0]
    return grids if narrower == widths[0] else [{**grids[0], WIDTH: [narrower]}, *grids]


def _leaders(found: GridResult) -> list[Point]:
    """The best point of each of the widths that may be best, the best one first."""
    good = _good(found)
    leaders: dict[float, Point] = {}
    for i in np.argsort(found.losses, kind="stable").tolist():
        if good[i]:
            leaders.setdefault(found.points[i][WIDTH], found.points[i])
    return list(leaders.values())


def _leading(found: GridResult, ladders: Mapping[str, Ladder]) -> list[dict[str, list[Any]]]:
    """The leaders as grids of one point, and the narrowest of them with the next narrower width."""
    leaders = _leaders(found)
    narrowest = min(leaders, key=lambda point: point[WIDTH])
    narrower = ladders[WIDTH].around(narrowest[WIDTH], 1)[0]
    if narrower != narrowest[WIDTH]:
        leaders.append({**narrowest, WIDTH: narrower})
    return [as_grid(point) for point in leaders]


def _further(found: GridResult, ladders: Mapping[str, Ladder], tried: set[float], reach: int) -> list[Point]:
    """What to sweep beside the best point: strengths beyond those swept at its width, and widths never tried."""
    best = found.best_point
    known = {tuple(point.items()) for point in found.points}
    beside = []
    for name, ladder in ladders.items():
        near = [value for value in ladder.around(best[name], 1) if value != best[name]]
        if name == WIDTH:
            strengths = [p for p in found.points if p[WIDTH] == best[WIDTH]]
            beside += [{**point, WIDTH: width} for width in near if width not in tried for point in strengths]
        elif any(tuple({**best, name: value}.items()) not in known for value in near):
            beside += [{**best, name: value} for value in ladder.around(best[name], reach)]
    return [point for point in beside if tuple(point.items()) not in known]
