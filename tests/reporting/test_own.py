"""Figures of any experiment."""

from __future__ import annotations

import shutil

import pytest

from mcls.cli.app import main
from mcls.errors import McLsError
from mcls.reporting.board import find_board
from mcls.reporting.plots.own import draw_own
from mcls.reporting.studies import Studies


def test_the_figures(board, tmp_path):
    board.out = tmp_path
    for kind in ("intervals", "ranks", "confusion", "errors"):
        drawn = draw_own(kind, board, print)
        assert all(path.is_file() for files in drawn.values() for path in files)
    assert len(draw_own("confusion", board, print, dataset="iris:sample=60", machine="ovO")) == 1
    with pytest.raises(McLsError, match="only the protocol 'published' stores the error of every grid point"):
        draw_own("sweep", board, print)
    with pytest.raises(McLsError, match="regions are drawn by: mcls plot regions NAME"):
        draw_own("regions", board, print)
    with pytest.raises(McLsError, match="go with grid, sweep, confusion, regions"):
        draw_own("ranks", board, print, dataset="iris:sample=60")
    svg = (tmp_path / "figures" / "lab-ranks.svg").read_text(encoding="utf-8")
    assert "CD = " in svg


@pytest.fixture
def two_tables(tmp_path, monkeypatch):
    """A study of two tables of two features whose names differ in a letter that is not ASCII, or in a sign."""
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{i % 7},{i % 5},{'ab'[i % 2]}\n" for i in range(24))
    for name in ("süd", "söd", "s+d"):
        (tmp_path / f"{name}.csv").write_text("x,y,c\n" + rows, encoding="utf-8")
    (tmp_path / "mine.yaml").write_text(
        "description: 'It''s a long one: " + "word " * 40 + "end'\n"
        "datasets: [süd.csv, {path: söd.csv, name: s-d}, s+d.csv]\nmachines: [oneLSM, ovO]\nfolds: 2\n"
        "replicates: 1\ngrid: {gamma: [1], sigma: [1]}\n",
        encoding="utf-8",
    )
    with pytest.raises(SystemExit) as ended:
        main(["run", "mine.yaml", "-j", "1"])
    assert not ended.value.code
    return tmp_path


def test_a_table_with_a_name_of_its_own_is_fitted_again_and_every_picture_has_a_file(two_tables):
    with pytest.raises(SystemExit) as ended:
        main(["plot", "regions", "mine", "--machine", "oneLSM"])
    assert not ended.value.code
    drawn = draw_own("confusion", find_board(Studies(two_tables / "results"), "mine"), print)
    assert list(drawn) == ["mine-confusion-süd", "mine-confusion-s-d", "mine-confusion-s-d-2"]


def test_a_long_description_is_told_whole(two_tables):
    with pytest.raises(SystemExit):
        main(["report", "mine"])
    text = (two_tables / "results" / "mine" / "report.html").read_text(encoding="utf-8")
    assert "<p>It&#39;s a long one: word" in text
    assert "word end</p>" in text


def test_dollar_signs_are_no_formulas(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{i % 7},{i % 5},{('5$ to 10$', '$^$')[i % 2]}\n" for i in range(24))
    (tmp_path / "t.csv").write_text("x,y,c\n" + rows)
    sets = "{path: t.csv, name: '$a_b$'}, {path: t.csv, name: b}"
    (tmp_path / "mine.yaml").write_text(
        f"datasets: [{sets}]\nmachines: [oneLSM, ovO]\nfolds: 2\nreplicates: 2\n"
        "grid: {gamma: [1, 2], sigma: [1, 2]}\n"
    )
    with pytest.raises(SystemExit):
        main(["run", "mine.yaml", "-j", "1"])
    board = find_board(Studies(tmp_path / "results"), "mine")
    for kind in ("errors", "intervals", "confusion", "grid", "sweep", "ranks"):
        assert draw_own(kind, board, print)
    svg = (tmp_path / "results" / "figures" / "mine-confusion-a-b.svg").read_text(encoding="utf-8")
    for text in ("$a_b$", "5$ to 10$", "$^$"):
        assert f">{text}" in svg


def test_what_a_figure_leaves_out_is_told(results, tmp_path):
    shutil.copytree(results, tmp_path / "results")
    board = find_board(Studies(tmp_path / "results"), "lab")
    row = board.rows["iris:sample=60", "ovO"]
    row.store.path(row.row.cells[1].key).unlink()
    board = find_board(Studies(tmp_path / "results"), "lab")
    for kind in ("errors", "ranks", "intervals", "confusion"):
        told: list[str] = []
        draw_own(kind, board, told.append)
        assert [text.startswith("left out: ovO on iris:sample=60: 1 missing of 2") for text in told] == [True]
    told = []
    draw_own("confusion", board, told.append, dataset="wine:sample=60")
    assert told == []
