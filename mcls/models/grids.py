"""The grids of ``select``: given by the user, of the paper, or made from the data and extended around the choice."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from mcls.errors import McLsError, unknown_name
from mcls.evaluation.grid_result import GridResult, choose, smallest
from mcls.kernels import COLUMN_KERNELS, RADIAL, check_width_of_rows, squared_distances
from mcls.machines.base import BaseMachine, parameter_checks
from mcls.machines.registry import Machine
from mcls.parameters import Anything, Check, is_allowed
from mcls.seeds import derive
from mcls.specs import parse_spec, split_grid

Array = np.ndarray
Point = dict[str, Any]

GRIDS = ("auto", "paper")


@dataclass(frozen=True)
class Ladder:
    """The values that a parameter may take in an automatic grid.

    Attributes
    ----------
    values : list of float
        All of them, from the one limit to the other.
    start : list of float
        Those that the grid starts with.
    near : int
        How many to each side of the choice are tried where the grid is extended.
    """

    values: list[float]
    start: list[float]
    near: int

    @classmethod
    def powers(cls, limits: tuple[float, float], start: tuple[float, float], step: float, near: int) -> Ladder:
        """Powers of two between limits, given by their exponents."""
        exponents = np.arange(limits[0], limits[1] + step / 2, step)
        inner = exponents[(exponents >= start[0]) & (exponents <= start[1])]
        return cls((2.0**exponents).tolist(), (2.0**inner).tolist(), near)

    def within(self, name: str, check: Check) -> Ladder:
        """The values that a check allows; none where it allows anything, and so says nothing."""
        if isinstance(check, Anything):
            return Ladder([], [], self.near)
        values, start = ([v for v in some if is_allowed(check, name, v)] for some in (self.values, self.start))
        return Ladder(values, start, self.near)

    def coarser(self) -> Ladder:
        """Every second value, the first of the start among them."""
        first = self.values.index(self.start[0])
        return Ladder(self.values[first % 2 :: 2], self.start[::2], -(-self.near // 2))

    def around(self, value: float, reach: int) -> list[float]:
        """The value and up to ``reach`` more on each side."""
        at = self.values.index(value)
        return self.values[max(at - reach, 0) : at + reach + 1]


#: Widths, in units of the median distance between two rows.
WIDTHS = Ladder.powers((-7.0, 5.0), (-4.0, 2.0), step=0.75, near=1)
#: Weights of the regularisation, and of the loss where that is the parameter.
STRENGTHS = {
    +1: Ladder.powers((-30.0, 14.0), (-10.0, 4.0), step=2.0, near=3),
    -1: Ladder.powers((-14.0, 30.0), (-4.0, 10.0), step=2.0, near=3),
}


def ladders(entry: Machine, X: Array, seed: int = 0, kernel: Any = "gaussian") -> dict[str, Ladder]:
    """The automatic grid of a machine: widths by the data, the other parameters by the strength they have.

    ``sigma`` starts with nine steps from 1/16 to 4 times the median distance between two rows, in the columns that the
    kernel sees, and may go from 1/128 to 32 times. A parameter that regularises (``Machine.smoother`` says in which
    direction) starts with 2^-10 to 2^4 and may go from 2^-30 to 2^14, or the reciprocals where smaller is smoother. Of
    these, only values that the parameter's check allows are kept. Any other has no ladder and keeps the registry's
    values, and so has one without a check: nobody but its author knows what else it may be. Of a
    machine with a ``coarse`` grid, all are every second one.
    """
    made: dict[str, Ladder] = {}
    checks = parameter_checks(entry.cls) if issubclass(entry.cls, BaseMachine) else {}
    for name in entry.grid:
        if name == "sigma":
            unit = median_distance(X, seed, kernel)
            made[name] = replace(
                WIDTHS, values=[unit * v for v in WIDTHS.values], start=[unit * v for v in WIDTHS.start]
            )
        elif name in entry.smoother and isinstance(entry.grid[name], str):  # a list holds for any data
            made[name] = STRENGTHS[entry.smoother[name]]
    kept = {name: ladder.within(name, checks.get(name, Anything())) for name, ladder in made.items()}
    kept = {name: ladder for name, ladder in kept.items() if ladder.start}
    return {name: ladder.coarser() for name, ladder in kept.items()} if entry.coarse else kept


def median_distance(X: Array, seed: int = 0, kernel: Any = "gaussian") -> float:
    """Median distance between two different rows of a sample of at most 1000; 1 where all rows are the same."""
    sample = X[np.random.default_rng(derive(seed, "median")).permutation(len(X))[:1000]]
    distances = RADIAL[kernel].distances if kernel in COLUMN_KERNELS else squared_distances
    D2 = distances(sample)[np.triu_indices(len(sample), 1)]
    different = D2[D2 > 0]
    if not len(different) and (sample == sample[0]).all():
        return 1.0
    found = float(np.sqrt(np.median(different))) if len(different) else 0.0
    check_width_of_rows("the distance between rows", found)
    return found


def extend(
    found: GridResult,
    steps: Mapping[str, Ladder],
    sweep: Callable[[Sequence[Mapping[str, list[Any]]]], GridResult],
    smoother: Mapping[str, int],
) -> GridResult:
    """Search the surroundings of the best point of an automatic grid until it lies inside, or at a limit.

    A point lies inside where the next values of each parameter, to both sides, were tried too. Where no point with
    the smallest loss does, what is missing around the choice is swept: one width and three strengths to each
    side, and no point twice. Of equal losses a point inside is chosen before others, then the smoothest.

    Parameters
    ----------
    found : GridResult
        Of the grid that the ladders start with.
    steps : dict
        Ladder of each parameter that may be extended.
    sweep : callable
        Searches several grids on the same folds.
    smoother : dict
        Direction of each parameter, as ``mcls.evaluation.grid.choose`` takes it.
    """
    while True:
        known = {tuple(point.values()) for point in found.points}
        ties = smallest(found.losses).tolist()
        of = [i for i in ties if _is_inside(found.points[i], steps, known)] or ties
        found = replace(found, best=of[choose([found.points[i] for i in of], found.losses[of], smoother)])
        if all(tuple(point.values()) in known for point in _beside(found.best_point, steps)):
            return found
        box = [ladder.around(found.best_point[name], ladder.near) for name, ladder in steps.items()]
        points = [{**found.best_point, **dict(zip(steps, values))} for values in product(*box)]
        found = found.joined(sweep([as_grid(point) for point in points if tuple(point.values()) not in known]))


def _is_inside(point: Point, steps: Mapping[str, Ladder], known: set[tuple[Any, ...]]) -> bool:
    """Whether there is a step to either side along every parameter, and all of them are known."""
    beside = [tuple(each.values()) for each in _beside(point, steps)]
    return len(beside) == 2 * len(steps) and known.issuperset(beside)


def _beside(point: Point, steps: Mapping[str, Ladder]) -> Iterator[Point]:
    """The points one step away along one parameter, as far as the ladders go."""
    for name, ladder in steps.items():
        for value in ladder.around(point[name], 1):
            if value != point[name]:
                yield {**point, name: value}


def as_grid(point: Point) -> dict[str, list[Any]]:
    """A grid of one point."""
    return {name: [value] for name, value in point.items()}


def remarks(
    best: Point,
    grid: Mapping[str, list[Any]],
    steps: Mapping[str, Ladder],
    smoother: Mapping[str, int],
    machine: str,
    advice: str,
) -> list[str]:
    """What the user should know of a grid: how far it was extended, and a choice at its edge.

    ``advice`` is how a ``{machine}`` and a ``{grid}`` are given where the remark is read.
    """
    said = []
    further = [
        text
        for name, ladder in steps.items()
        for text, new in (
            (f"{name} down to {grid[name][0]:.4g}", grid[name][0] < ladder.start[0]),
            (f"{name} up to {grid[name][-1]:.4g}", grid[name][-1] > ladder.start[-1]),
        )
        if new
    ]
    if further:
        said.append(f"the automatic grid was extended around its best point: {', '.join(further)}")
    # The widths and the strengths of regularisation; of two values each is at an end.
    tuned = {name: values for name, values in grid.items() if name in smoother and all(v > 0 for v in values)}
    # An automatic grid was extended as far as its choice asked for: its edges are those of the ladder.
    whole = {name: steps[name].values if name in steps else values for name, values in tuned.items()}
    ends = {name: {min(v): "smallest", max(v): "largest"} for name, v in whole.items() if len(v) > 2}
    at = {name: end[best[name]] for name, end in ends.items() if best[name] in end}
    if at:
        where = " and ".join(f"the {edge} {name}" for name, edge in at.items())
        which = "limit of the automatic grid" if steps else "edge of the grid"
        ranges = ",".join(_wider(name, values, at.get(name)) for name, values in tuned.items())
        said.append(
            f"the choice lies at the {which} ({where}); to widen it: {advice.format(machine=machine, grid=ranges)}"
        )
    return said


def _wider(name: str, values: list[Any], edge: str | None) -> str:
    """Values as a range of powers of two, four more beyond the end that was chosen.

    >>> _wider("gamma", [0.25, 1.0, 5.0], "largest")
    'gamma=2^-2..2^7'
    """
    low, high = math.floor(math.log2(min(values))), math.ceil(math.log2(max(values)))
    return f"{name}=2^{low - 4 * (edge == 'smallest')}..2^{high + 4 * (edge == 'largest')}"


def read_grid(grid: Any, entry: Machine, estimator: Any) -> Mapping[str, Any]:
    """A grid as the user gives it, as parameter → values; "auto" and "paper" are empty."""
    if isinstance(grid, str) and "=" in grid:
        grid = _parse_ranges(grid)
    if isinstance(grid, Mapping):
        for name in grid:
            if name not in estimator.get_params(deep=False):
                raise unknown_name(f"parameter of {entry.name}", name, estimator.get_params(deep=False))
        return grid
    if grid not in GRIDS:
        raise unknown_name("grid", str(grid), GRIDS)
    return {}


def _parse_ranges(text: str) -> dict[str, Any]:
    """Read ``gamma=2^-8..2^2,sigma=0.5+1+2``: ranges, values, or values joined by plus signs."""
    try:
        _, ranges = parse_spec(f"grid:{text}")
    except McLsError:
        raise McLsError(
            f"'{text}' is not a grid; write sigma=2^-2..2^6 for a range and sigma=0.5+1+2 for a list, "
            "and join parameters by commas"
        ) from None
    single, lists = split_grid(ranges)
    return {**single, **lists}
