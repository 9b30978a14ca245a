"""The grid as a heat map."""

from __future__ import annotations

import re

import numpy as np
import pytest

from mcls.errors import McLsError
from mcls.packing import pack
from mcls.reporting.board import find_board
from mcls.reporting.plots.heatmap import choices, grid_errors, heatmap, power
from mcls.reporting.plots.own import draw_own
from mcls.reporting.studies import Studies

from .made_up import record

pytestmark = pytest.mark.usefixtures("cache")


def test_grid_errors_have_one_axis_a_parameter():
    mistakes = np.arange(12).reshape(6, 2)  # 2 × 3 points, two folds
    grid = {"names": ["sigma", "gamma"], "values": {"sigma": [1, 2], "gamma": [1, 2, 4]}, "fold_sizes": [10, 20]}
    errors = grid_errors({"grid": {**grid, "fold_mistakes": pack(mistakes)}})
    assert errors.shape == (2, 3)
    assert errors[1, 2] == pytest.approx(100 * (10 / 10 + 11 / 20) / 2)


def test_the_heat_map_marks_the_chosen_point(tmp_path):
    studies = Studies(tmp_path, is_quick=True)
    study = studies["honeine2013-table4"]
    found = study.one(dataset="iris", machine="oneLSM")
    cell = found.row.cells[0]
    study.experiment.store.write(record(cell, 0.1, chosen=[{"sigma": 8.0, "gamma": 0.125}]))
    study.refresh()
    figure = heatmap(study.one(dataset="iris", machine="oneLSM"))
    ax = figure.axes[0]
    assert [tuple(line.get_xydata()[0]) for line in ax.lines] == [(2.0, 0.0)]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["2⁻³", "2⁰", "2³"]
    # The record's points count up in the order sigma, gamma: gamma runs fastest.
    shown = np.asarray(ax.images[0].get_array())
    stored = grid_errors(found.store.result(cell)["result"])  # (sigma, gamma)
    np.testing.assert_allclose(shown, stored.T)


def test_a_heat_map_of_a_cell_that_is_missing_is_a_mistake(tmp_path):
    studies = Studies(tmp_path, is_quick=True)
    one = {"dataset": "iris", "machine": "oneLSM"}
    with pytest.raises(McLsError, match=f"to run it: mcls tables --all --quick --out {re.escape(str(tmp_path))}$"):
        draw_own("grid", find_board(studies, "honeine2013-table4"), print, **one)
    with pytest.raises(McLsError, match="to run it: mcls run honeine2013-table4 --out"):
        draw_own("grid", find_board(Studies(tmp_path), "honeine2013-table4"), print, **one)
    with pytest.raises(McLsError, match="has the replicates 0 to"):
        draw_own("grid", find_board(studies, "honeine2013-table4"), print, **one, replicate=99)
    with pytest.raises(McLsError, match="has no row 'iris svm-ovA'"):
        draw_own("grid", find_board(studies, "honeine2013-table4"), print, "iris", "svm-ovA")


def test_choices_are_counted_over_all_replicates(tmp_path):
    studies = Studies(tmp_path, is_quick=True)
    study = studies["honeine2013-ftest"]
    first, other = {"sigma": 8.0, "gamma": 0.125}, {"sigma": 1.0, "gamma": 8.0}
    found = study.one(dataset="iris", machine="oneLSM")
    for cell in found.row.cells:
        study.experiment.store.write(record(cell, 0.1, chosen=[first, other if cell.replicate == 2 else first]))
    study.refresh()
    found = study.one(dataset="iris", machine="oneLSM")
    values = found.row.cells[0].grid
    expected = np.zeros((3, 3), dtype=int)
    expected[values["gamma"].index(0.125), values["sigma"].index(8.0)] = 9
    expected[values["gamma"].index(8.0), values["sigma"].index(1.0)] = 1
    ax = choices(found).axes[0]
    assert np.array_equal(np.asarray(ax.images[0].get_array()), expected)
    assert [tuple(line.get_xydata()[0]) for line in ax.lines] == [(values["sigma"].index(8.0), 0.0)]
    assert np.asarray(choices(found, 2).axes[0].images[0].get_array()).sum() == 2


def test_powers_of_two_are_written_as_such():
    assert [power(v) for v in (0.25, 1.0, 3.0, 0.3, "linear")] == ["2⁻²", "2⁰", "3", "0.3", "linear"]
