"""Figures: what they show comes from the store, and both files are written the same way twice."""

from __future__ import annotations

import numpy as np
import pytest

from mcls.errors import McLsError
from mcls.packing import pack
from mcls.papers import PAPERS
from mcls.papers.honeine2013.overview import overview
from mcls.reporting.plots import PLOTS, draw, draw_all, drawing, get_plot
from mcls.reporting.studies import Studies

from .made_up import fill, record

pytestmark = pytest.mark.usefixtures("cache")


def test_an_empty_store_draws_only_what_needs_none(tmp_path):
    told = []
    drawn = draw_all(Studies(tmp_path, is_quick=True), told.append)
    assert sorted(stem for stem, files in drawn.items() if files) == [
        "labelbooks",
        "notes-sectors",
        "notes-updates",
        "overview",
        "sets",
    ]
    assert len(told) == len(drawn) - 5


def test_an_unknown_figure_gets_the_nearest_name(tmp_path):
    with pytest.raises(McLsError, match="did you mean 'ranks'"):
        get_plot("rank")


@pytest.mark.parametrize("name", ["errors", "ranks", "regions"])
def test_figures_from_a_made_up_store_say_quick(tmp_path, name):
    studies = Studies(tmp_path, is_quick=True)
    for study in (
        "honeine2013-table4",
        "honeine2013-table4-yeast",
        "honeine2013-borrowed",
        "honeine2013-borrowed-vowel",
        "honeine2013-ftest",
        "noumir2011-iris",
    ):
        fill(studies[study], lambda cell: 0.1 + 0.001 * len(cell.machine))
    for stem, files in draw(PLOTS[name], studies).items():
        if stem in {"regions-pavia", "regions-indian-pines"}:  # their scenes are not here
            assert files == []
        else:
            assert "[QUICK]" in files[1].read_text(encoding="utf-8")


def test_coding_matrices_are_those_of_the_store(tmp_path):
    studies = Studies(tmp_path, is_quick=True)
    study = studies["arvanitopoulos-uci"]
    M = np.array([[1, 0], [-1, 1], [-1, -1]])
    for cell in study.experiment.plan.cells:
        facts = [{"rows": 3, "columns": 2, "code": pack(M), "row_classes": [0, 1, 1]}]
        study.experiment.store.write(record(cell, 0.1, facts=facts))
    (files,) = draw(PLOTS["codes"], studies).values()
    text = files[1].read_text(encoding="utf-8")
    assert all(f"{m}, {c}" in text for m in ("decoc", "sub-ecoc") for c in ("fqmi", "fldr"))


def test_the_overview_has_its_third_panel_where_the_store_holds_table_4(tmp_path):
    studies = Studies(tmp_path, is_quick=True)
    alone = overview(studies)
    assert [ax.get_xlabel() for ax in alone.axes] == ["sepal length, cm", "σ"]
    assert alone.axes[1].texts[0].get_text().replace(".", "").isdigit()  # the error of a grid point
    fill(studies["honeine2013-table4"], lambda cell: 0.02)
    points = overview(studies).axes[2].collections
    assert [c.get_label() for c in points] == ["iris", "wine", "glass", "vowel"]
    paper, mine = np.asarray(points[0].get_offsets())[0]
    assert (paper, mine) == (pytest.approx(2.8), pytest.approx(2.0))  # oneLSM


def test_every_plot_belongs_to_a_section_of_the_report():
    sections = {"overview", "performance", *PAPERS}
    assert {plot.section for plot in PLOTS.values()} == sections - {"xue2013"}


def test_what_another_process_draws_is_what_is_drawn_here(tmp_path):
    names = ["labelbooks", "sets"]
    with drawing(tmp_path / "there", True) as begun:
        there = {name: begun[name].result() for name in begun if name in names}
        assert draw_all(Studies(tmp_path / "there", is_quick=True), lambda text: None, begun).keys()
    for name in there:
        here = draw(PLOTS[name], Studies(tmp_path / "here", is_quick=True))
        for stem, files in here.items():
            assert [path.read_bytes() for path in files] == [path.read_bytes() for path in there[name][stem]]
