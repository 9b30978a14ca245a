"""Choose parameters on growing samples: widths that few rows rule out are never tried on all of them.

A sweep of n rows costs n² to n³ operations per kernel width, and most widths of an automatic grid are far off. So the
whole grid is searched, exactly, on a stratified sample of 500 rows (300 where all are fewer than 1000); what is not
significantly worse than the best there on 1500, and so on; what is left on all rows. Errors of two widths are compared
on the same folds: a width stays if its smallest error is within one standard error of the best one, the standard error
being that of the difference over the folds, or of the best error where that is larger. More rows bear narrower kernels,
so the next narrower width stays too.

The strength γ of the regularisation weighs against a sum over the rows, and is not carried from a sample to all rows:
at each step the strengths around the good ones are swept again, and further ones where the best lies at the end. On
samples of more than 2500 rows, and where all rows are so many that only few points can be afforded, the best strength
of each of the best widths is tried, and from the best of these the search goes on step by step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mcls.evaluation.grid_result import GridResult, choose
from mcls.models.grids import Ladder, as_grid, extend

Array = np.ndarray
Point = dict[str, Any]
#: Searches some grids on a stratified sample of so many rows; None: on all of them.
Sweep = Callable[[int | None, Sequence[Mapping[str, list[Any]]]], GridResult]

WIDTH = "sigma"
#: Operations that the points on all rows may take together: some ten seconds.
OPERATIONS = 5e11
#: So many points and more on all rows are a grid rather than a few steps.
MANY = 24
#: Widths that are tried on all rows where points are few.
_WIDTHS = 3

# Samples up to which all strengths that may be good are swept; on more rows, one per width and steps from the best.
_GRID_ROWS = 2500

#: Rows of the samples. Each is three times the one before: together they cost little beside the last.
SIZES = (500, 1500, 4500)
# The only sample where there are fewer rows than two of those.
_FEW = 300


def sizes_below(n: int) -> list[int]:
    """The samples that are worth their time before n rows are searched.

    >>> sizes_below(4000), sizes_below(900), sizes_below(600)
    ([500, 1500], [300], [])
    """
    return [size for size in SIZES if 2 * size <= n] or [size for size in (_FEW,) if 2 * size < n]


def grow(
    grid: Mapping[str, list[Any]],
    ladders: Mapping[str, Ladder],
    sizes: Sequence[int],
    sweep: Sweep,
    smoother: Mapping[str, int],
    most: int = MANY,
) -> GridResult:
    """Search an automatic grid on samples of growing size and what is left of it on all rows.

    Parameters
    ----------
    grid : dict
        Values of every parameter to begin with.
    ladders : dict
        The values that each automatic parameter may take; the width ``sigma`` among them.
    sizes : list of int
        Rows of the samples.
    sweep : callable
        Searches some grids on a sample of so many rows, or on all of them.
    smoother : dict
        Direction of each parameter, as ``mcls.evaluation.grid.choose`` takes it.
    most : int
        Points on all rows, at least one; ``MANY`` or more are not counted.

    Returns
    -------
    GridResult
        Of the last step alone, on all rows.
    """
    points: Sequence[Mapping[str, list[Any]]] = [grid]
    tried: set[float] = set()  # widths that some step has judged

    def climb(size: int | None, most: int) -> GridResult:
        """Sweep the points, and beside the best of them as long as that lies at an end of what is known."""
        found = sweep(size, points)
        tried.update(point[WIDTH] for point in found.points)
        while True:
            found = replace(found, best=choose(found.points, found.losses, smoother))
            further = _further(found, ladders, tried, 1 if most < MANY else 2)
            if not further or (most < MANY and len(found.points) + len(further) > most):
                return found
            tried.update(point[WIDTH] for point in further)
            found = found.joined(sweep(size, [as_grid(point) for point in further]))

    first, *later = sizes
    found = extend(sweep(first, points), ladders, lambda grids: sweep(first, grids), smoother)
    tried.update(point[WIDTH] for point in found.points)
    for size in later:
        if size > _GRID_ROWS:
            points = _leading(found, ladders)
            found = climb(size, MANY - 1)
        else:
            found = sweep(size, _left(found, ladders))
            tried.update(point[WIDTH] for point in found.points)
    points = _left(found, ladders)
    if most < MANY:
        points = [as_grid(point) for point in _leaders(found)[: min(most, _WIDTHS)]]
    return climb(None, most)


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
