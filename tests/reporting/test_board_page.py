"""The page of an experiment: methods, references, and in a browser."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from mcls.cli.app import main
from mcls.reporting.board import find_board
from mcls.reporting.board_page import write_board
from mcls.reporting.board_tables import board_tables, write_tables
from mcls.reporting.plots.own import draw_own
from mcls.reporting.studies import Studies

from .browser import CHROMIUM, Browser


@pytest.fixture(scope="module")
def page(results) -> Path:
    board = find_board(Studies(results), "lab")
    drawn = {f"ranks/{stem}": files for stem, files in draw_own("ranks", board, print).items()}
    tables = board_tables(board, "oneLSM")
    write_tables(tables, board)
    return write_board(board, tables, drawn, "oneLSM")


def test_the_page_says_how_it_was_done_and_what_to_cite(page):
    text = page.read_text(encoding="utf-8")
    for words in (
        "stratified nested 5-fold cross-validation, the parameters chosen by 3-fold cross-validation",
        "repeated 2 times with different random splits",
        "iris:sample=60 (60 rows, 3 classes)",
        "corrected resampled t-test",
        "γ ∈ {0.25, 4} and σ ∈ {0.5, 2}",
        "@article{honeine2013,",
        "@article{nadeau2003,",
        "@article{demsar2006,",
        "@misc{data-iris,",
        "@software{mcls,",
        "made-up CPU",
        "protocol: nested",
    ):
        assert words in text, words
    assert "alpaydin" not in text
    assert str(page.parent.parent.parent) not in text
    assert (page.parent / "references.bib").read_text(encoding="utf-8").count("@") >= 6
    assert (page.parent / "tables" / "lab-error.html").read_text(encoding="utf-8").count("<table") == 1


def test_a_table_of_ones_own_that_is_called_as_a_data_set_of_mcls_is_not_cited_as_that(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{i % 7},{i % 5},{'ab'[i % 2]}\n" for i in range(24))
    (tmp_path / "wine.csv").write_text("x,y,c\n" + rows)
    (tmp_path / "mine.yaml").write_text(
        "datasets: [wine.csv, iris]\nmachines: oneLSM\nfolds: 2\nreplicates: 1\ngrid: {gamma: 1, sigma: 1}\n"
    )
    for arguments in (["run", "mine.yaml", "-j", "1"], ["report", "mine"]):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert not ended.value.code
    entries = (tmp_path / "results" / "mine" / "references.bib").read_text(encoding="utf-8")
    assert "@misc{data-iris," in entries
    assert "@misc{data-wine," not in entries


def test_the_page_says_why_cells_failed_and_what_is_odd_about_the_data(results, tmp_path):
    shutil.copytree(results, tmp_path / "results")
    board = find_board(Studies(tmp_path / "results"), "lab")
    row = board.rows["iris:sample=60", "ovO"]
    record = row.store.result(row.row.cells[1])
    row.store.write({**record, "status": "failed", "error": "it broke <b>"})
    plan = row.store.folder.parent / "plan.json"
    plan.write_text(plan.read_text().replace('"notes": []', '"notes": ["iris: odd rows"]'))
    board = find_board(Studies(tmp_path / "results"), "lab")
    text = write_board(board, board_tables(board), {}).read_text(encoding="utf-8")
    assert f'cells/{row.row.cells[1].key}.json">failed</a>' in text
    assert "<p>failed: iris:sample=60 ovO: it broke &lt;b&gt;</p>" in text
    assert "<p>iris: odd rows</p>" in text


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_the_page_in_a_browser_loads_nothing_complains_of_nothing_and_sorts(page, tmp_path):
    with Browser(tmp_path) as browser:
        browser.open(page.as_uri())
        assert browser.complaints == []
        assert [r for r in browser.requests if not r.startswith(("data:", "file:"))] == []
        column = "#lab-error-tests tbody td:nth-child(3)"
        read = f"[...document.querySelectorAll('{column}')].map(c => Number(c.dataset.v))"
        browser.click("#lab-error-tests th:nth-child(3) button")
        assert browser.value(read) == sorted(browser.value(read))
        browser.click("#lab-error-tests th:nth-child(3) button")
        assert browser.value(read) == sorted(browser.value(read), reverse=True)
        missing = "[...document.images].filter(i => !i.complete || !i.naturalWidth).length"
        assert browser.value(missing) == 0
