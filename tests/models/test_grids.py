"""Grids of ``select``: the values it starts with, how they are extended around the choice, what is said of them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from mcls import OneLSM, select
from mcls.data import load_dataset
from mcls.errors import McLsError
from mcls.evaluation import grid as evaluation
from mcls.evaluation import task
from mcls.evaluation.folds import stratified_folds
from mcls.evaluation.parameter_grids import check_values
from mcls.evaluation.scaling import to_range
from mcls.machines.registry import MACHINES, Machine, Tuned
from mcls.models import candidates, grids, searching
from mcls.models.selected import AS_FLAGS, IN_PYTHON
from mcls.parameters import Number
from mcls.seeds import derive

IRIS = load_dataset("iris")
X, Y = to_range(IRIS.X), IRIS.y


def stripes(n=80):
    """Two far clusters of narrow stripes: the median distance between rows says nothing of the stripes."""
    x = np.random.default_rng(0).uniform(0, 8, size=n)
    return np.column_stack([x + 60 * (np.arange(n) % 2), x]), np.floor(x / 2).astype(int) % 2


def test_the_automatic_grid_surrounds_the_median_distance():
    width = grids.median_distance(X)
    assert width == pytest.approx(np.median(pdist(X)[pdist(X) > 0]))
    one = grids.ladders(MACHINES["oneLSM"], X)
    assert np.allclose(np.array(one["sigma"].start) / width, 2.0 ** np.arange(-4, 2.1, 0.75))
    assert np.allclose(np.array(one["sigma"].values) / width, 2.0 ** np.arange(-7, 5.1, 0.75))
    assert one["gamma"].start == [2.0**e for e in range(-10, 5, 2)]
    assert (one["gamma"].values[0], one["gamma"].values[-1]) == (2.0**-30, 2.0**14)
    inverse = grids.ladders(MACHINES["voLSSVM"], X)["gamma"]
    assert inverse.values == [1 / value for value in reversed(one["gamma"].values)]
    assert inverse.start == [1 / value for value in reversed(one["gamma"].start)]
    assert set(one["gamma"].start) <= set(one["gamma"].values)
    assert set(one["sigma"].start) <= set(one["sigma"].values)
    assert grids.median_distance(np.ones((5, 2))) == 1.0


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e153])
def test_rows_that_no_width_fits_are_refused(size):
    with pytest.raises(
        McLsError, match=r"the distance between rows is .*, and widths from .*: scale the features"
    ):
        select(size * X, Y, folds=3)


def test_a_coarse_grid_has_every_second_value():
    fine, coarse = (grids.ladders(MACHINES[name], X) for name in ("oneLSM", "rfm"))
    for name in ("sigma", "gamma"):
        assert coarse[name].start == fine[name].start[::2]
        assert set(coarse[name].start) <= set(coarse[name].values) <= set(fine[name].values)
        assert len(coarse[name].values) <= len(fine[name].values) / 2 + 1
    assert coarse["gamma"].around(2.0**-10, 1) == [2.0**-14, 2.0**-10, 2.0**-6]


def table(values):
    """A search's result from errors {(sigma, gamma): error}, and the sweep that gives more of them."""
    asked = []

    def sweep(several):
        points = [dict(zip(grid, point)) for grid in several for point in zip(*grid.values())]
        asked.extend(tuple(point.values()) for point in points)
        errors = np.array([[values(point["sigma"], point["gamma"])] for point in points])
        codes = [np.zeros((len(points), 1), dtype=np.int16)]
        return evaluation.GridResult(points, [np.array([0])], codes, {"error": errors}, 1, 0)

    start = [{"sigma": [s], "gamma": [g]} for s in STEPS["sigma"].start for g in STEPS["gamma"].start]
    return sweep(start), sweep, asked


STEPS = {"sigma": grids.WIDTHS, "gamma": grids.STRENGTHS[1]}
SMOOTHER = {"gamma": 1, "sigma": 1}


@pytest.mark.parametrize("sigma, gamma", [(0.0, -8.0), (2.0, -10.0), (-5.5, 4.0), (4.25, -24.0), (0.5, 12.0)])
def test_the_grid_goes_on_until_the_smallest_error_lies_inside(sigma, gamma):
    def error(s, g):
        return abs(np.log2(s) - sigma) + abs(np.log2(g) - gamma)

    found = grids.extend(*_of(table(error)))
    best = min(error(s, g) for s in STEPS["sigma"].values for g in STEPS["gamma"].values)
    assert found.best_error == pytest.approx(best)
    tried = {(p["sigma"], p["gamma"]) for p in found.points}
    s, g = (STEPS[name].values.index(found.best_point[name]) for name in ("sigma", "gamma"))
    for i, j in ((s - 1, g), (s + 1, g), (s, g - 1), (s, g + 1)):
        assert (STEPS["sigma"].values[i], STEPS["gamma"].values[j]) in tried


def _of(made):
    found, sweep, _ = made
    return found, STEPS, sweep, SMOOTHER


@pytest.mark.parametrize("direction", [1, -1])
def test_it_ends_at_the_limits_and_tries_no_point_twice(direction):
    found, sweep, asked = table(lambda s, g: -direction * (np.log2(s) + np.log2(g)))
    found = grids.extend(found, STEPS, sweep, SMOOTHER)
    assert found.best_point == {name: ladder.values[-(direction > 0)] for name, ladder in STEPS.items()}
    assert len(asked) == len(set(asked)) == len(found.points) < len(grids.WIDTHS.values) * 23
    assert grids.remarks(
        found.best_point, {n: s.values for n, s in STEPS.items()}, STEPS, SMOOTHER, "m", "{grid}"
    )[-1].startswith("the choice lies at the limit of the automatic grid (the ")


def test_an_equal_error_inside_is_enough():
    found, sweep, asked = table(lambda s, g: float(s < 0.5))
    before = len(asked)
    assert grids.extend(found, STEPS, sweep, SMOOTHER).best_point == {"sigma": 2.0**1.25, "gamma": 4.0}
    assert len(asked) == before


@pytest.mark.parametrize("name", ["iris", "wine", "glass", "ecoli", "balance", "thyroid", "tae"])
def test_the_choice_on_real_tables_lies_inside_the_automatic_grid(name):
    data = load_dataset(name)
    found = select(to_range(data.X), data.y)
    for parameter, value in found.best_params.items():
        assert min(found.grid[parameter]) < value < max(found.grid[parameter])
    assert not any("limit" in note or "edge" in note for note in found.notes)
    assert found.extended == (name == "balance")
    assert found.extended == any(note.startswith("the automatic grid was extended") for note in found.notes)


@pytest.mark.parametrize("machine", ["oneLSM", "voLSSVM", "oneLSM:solver=nystrom,n_landmarks=20"])
def test_an_extended_search_is_the_search_of_all_its_points(machine, monkeypatch):
    A, y = stripes()
    swept = []

    def recorded(*args, **settings):
        found = evaluation.search(*args, **settings)
        swept.extend(tuple(sorted(point.items())) for point in found.points)
        return found

    monkeypatch.setattr(task, "search", recorded)
    found = select(A, y, machine, folds=5)
    assert found.extended
    assert len(swept) == len(set(swept)) == len(found.results) > 72
    assert found.grid == {name: sorted(found.results[name].unique()) for name in ("gamma", "sigma")}
    points = found.results[list(found.best_params)].to_dict("records")
    folds = stratified_folds(y, 5, derive(0, "folds"))
    whole = evaluation.search(
        candidates.named_machine(machine)[1], A, y, [grids.as_grid(p) for p in points], folds
    )
    errors = {tuple(sorted(p.items())): e for p, e in zip(whole.points, whole.errors)}
    for row, point in zip(found.results.itertuples(), points):
        assert row.error == pytest.approx(errors[tuple(sorted(point.items()))], abs=1e-12)
    assert found.results.equals(select(A, y, machine, folds=5).results)  # nothing is left to chance


def test_nested_searches_the_extended_grid(monkeypatch):
    A, y = stripes(40)
    seen = []
    outcomes = searching.NestedFolds.outcomes

    def watched(nested, found, *rest):
        seen.append(found.points)
        return outcomes(nested, found, *rest)

    monkeypatch.setattr(searching.NestedFolds, "outcomes", watched)
    found = select(A, y, folds=3, nested=True)
    assert found.extended
    points = found.results[list(found.best_params)].to_dict("records")
    assert sorted(str(sorted(point.items())) for point in seen[0]) == sorted(
        str(sorted(p.items())) for p in points
    )


@pytest.mark.parametrize("grid", ["paper", {"gamma": [1.0, 2.0, 4.0]}, "gamma=2^0..2^2,sigma=2^0..2^2"], ids=str)
def test_other_grids_are_never_extended(grid):
    A, y = stripes()
    found = select(A, y, grid=grid, folds=3)
    assert not found.extended
    expected = (
        {"gamma": 9, "sigma": 9} if grid == "paper" else {"gamma": 3, "sigma": 9 if "sigma" not in grid else 3}
    )
    assert {name: len(values) for name, values in found.grid.items()} == expected
    assert len(found.results) == expected["gamma"] * expected["sigma"]


def test_a_parameter_that_is_fixed_is_not_extended():
    A, y = stripes()
    found = select(A, y, "oneLSM:gamma=0.5", folds=3)
    assert list(found.grid) == ["sigma"]
    assert list(select(A, y, "oneLSM:kernel=linear", folds=3).grid) == ["gamma"]
    assert list(select(A, y, "oneLSM:kernel=laplace", folds=3).grid) == ["gamma", "sigma"]


def test_in_python_the_advice_is_python_and_on_the_command_line_flags():
    best, grid = {"gamma": 4.0, "sigma": 1.0}, {"gamma": [1.0, 2.0, 4.0], "sigma": [0.5, 1.0, 2.0]}
    arguments = best, grid, {}, SMOOTHER, "oneLSM:labelbook=pm1"
    (python,) = grids.remarks(*arguments, IN_PYTHON)
    (flags,) = grids.remarks(*arguments, AS_FLAGS)
    told = "the choice lies at the edge of the grid (the largest gamma); to widen it: "
    assert python == told + 'machine="oneLSM:labelbook=pm1", grid="gamma=2^0..2^6,sigma=2^-1..2^1"'
    assert flags == told + "--machine oneLSM:labelbook=pm1 --grid gamma=2^0..2^6,sigma=2^-1..2^1"


def test_the_choice_is_fitted_with_the_extended_value():
    A, y = stripes()
    found = select(A, y, folds=5)
    again = OneLSM(**found.best_params).fit(A, y)
    assert np.array_equal(found.estimator.decision_function(A), again.decision_function(A))


class Shared(OneLSM):
    """A machine with a share, which has a check, and a depth, which has none."""

    checks = {"share": Number(1e-9, 0.5, "a share of at most one half")}  # noqa: RUF012

    def __init__(self, gamma=1.0, sigma=1.0, share=0.25, depth=1.0):
        super().__init__(gamma=gamma, sigma=sigma)
        self.share, self.depth = share, depth


def test_an_automatic_grid_stays_within_what_the_checks_allow(monkeypatch):
    tuned = {"gamma": Tuned("2^-4..2^4"), "share": Tuned("2^-3..2^-1"), "depth": Tuned("2^0..2^1")}
    entry = Machine("shared", f"{__name__}:Shared", "", "", tuned=tuned)
    made = grids.ladders(entry, X)
    assert set(made) == {"gamma", "share"}  # what depth may be, nobody but its author knows
    assert made["share"].start == [2.0**e for e in range(-10, 0, 2)]
    assert made["share"].values == [2.0**e for e in range(-28, 0, 2)]
    assert made["gamma"].values[-1] == 2.0**14
    check_values(Shared(), {"depth": [3.0], "share": [0.5]})
    with pytest.raises(McLsError, match="a share of at most one half"):
        check_values(Shared(), {"share": [0.75]})
    monkeypatch.setitem(MACHINES, "shared", entry)
    found = select(X[::3], Y[::3], machine="shared:gamma=1", folds=3, nested=False)
    assert set(found.results["depth"]) == {1.0, 2.0}
    assert found.results["share"].max() == 0.25
