"""Choosing on growing samples against the exhaustive search."""

import numpy as np
import pytest

from mcls.evaluation.grid_result import GridResult
from mcls.models import growing, selection
from mcls.models.grids import Ladder

WIDTHS = Ladder.powers((-6.0, 6.0), (-3.0, 3.0), step=1.0, near=1)
STRENGTHS = Ladder.powers((-12.0, 12.0), (-4.0, 4.0), step=2.0, near=2)
LADDERS = {"sigma": WIDTHS, "gamma": STRENGTHS}
GRID = {"sigma": WIDTHS.start, "gamma": STRENGTHS.start}


def bowl(centre, noise=0.002):
    """A sweep whose error is a bowl around a centre of log2 (σ, γ) that depends on the rows; and its calls."""
    calls = []

    def sweep(size, grids):
        s, g = centre(size)
        points = [{"sigma": a, "gamma": b} for grid in grids for a in grid["sigma"] for b in grid["gamma"]]
        calls.append((size, points))
        depth = [
            0.1 + 0.02 * ((np.log2(p["sigma"]) - s) ** 2 + 0.1 * (np.log2(p["gamma"]) - g) ** 2) for p in points
        ]
        rng = np.random.default_rng(0 if size is None else size)
        errors = np.array(depth)[:, None] + noise * rng.normal(size=(len(points), 10))
        none = [np.empty((len(points), 0))] * 10
        return GridResult(
            points, [np.empty(0)] * 10, none, {"error": errors}, 0, int(errors.mean(axis=1).argmin())
        )

    return sweep, calls


def grown(sweep, sizes, most=1000):
    """The choice after samples of these sizes and all rows."""
    growth = growing.Growth(GRID, LADDERS, sweep, {"sigma": 1, "gamma": 1})
    for size in sizes:
        growth.sample(size)
    return growth.complete(most)


@pytest.mark.parametrize(
    "centre",
    [
        lambda size: (0.0, 0.0),
        lambda size: (0.0 if size else -1.0, 0.0),  # all rows bear a narrower kernel
        lambda size: (0.0, 0.0 if size else -8.0),  # and another strength than the sample
        lambda size: (-5.0, 6.0),  # beyond the start of the grid
    ],
)
def test_the_choice_is_that_of_all_points_with_few_widths_on_all_rows(centre):
    sweep, calls = bowl(centre)
    found = grown(sweep, [500, 1500])
    s, g = centre(None)
    assert (np.log2(found.best_point["sigma"]), np.log2(found.best_point["gamma"])) == (s, g)
    assert len({p["sigma"] for size, points in calls for p in points if size is None}) <= 3
    seen = [(size, *p.items()) for size, points in calls for p in points]
    assert len(seen) == len(set(seen))


@pytest.mark.parametrize("most", [1, 3, 9])
def test_few_points_on_all_rows_are_the_best_of_the_sample_and_steps_from_there(most):
    sweep, calls = bowl(lambda size: (0.0, 0.0 if size else -4.0))
    found = grown(sweep, [500, 1500], most)
    assert len(found.points) == sum(len(points) for size, points in calls if size is None) <= most
    assert found.best_point["sigma"] == 1.0
    assert most < 9 or found.best_point["gamma"] == 2.0**-4


def test_widths_that_cannot_be_told_apart_all_stay():
    sweep, calls = bowl(lambda size: (0.0, 0.0), noise=3.0)
    grown(sweep, [500])
    assert len({p["sigma"] for size, points in calls for p in points if size is None}) >= 4


def test_select_grows_and_measures_on_all_rows(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(240, 2)), np.arange(240) % 3
    X[:, 0] += 4 * y
    exhaustive = selection.select(X, y, folds=4)
    monkeypatch.setattr(growing, "SIZES", {60: 100, 120: 200})
    found = selection.select(X, y, folds=4)
    assert len(found.rows) == 240
    assert found.error <= exhaustive.error + 0.02
    assert found.results["sigma"].nunique() < exhaustive.results["sigma"].nunique()
    assert any("samples of 60 and 120 rows" in note for note in found.notes)
    assert "rows" not in " ".join(selection.select(X, y, grid="paper", folds=4).notes)


def test_a_machine_is_given_up_only_where_more_rows_will_not_turn_it():
    rng = np.random.default_rng(0)
    best = 0.2 + 0.05 * rng.normal(size=10)
    slightly, far = best + 0.01 + 0.05 * rng.normal(size=10), best + 0.3
    assert not growing.far_behind(best, slightly, 0.5)
    assert growing.far_behind(best, far, 0.01)
    behind = [growing.far_behind(best, best + 0.03, share) for share in (0.6, 0.3, 0.1, 0.01)]
    assert behind == sorted(behind, reverse=True)  # the smaller the sample, the more it takes
    assert behind[0]
    assert not behind[-1]
    assert not growing.far_behind(best, best, 0.5)
    assert not growing.far_behind(best, np.full(10, np.nan), 0.5)
