"""Boards of made-up results: means, bold, marks, tests, ranks, methods, references, export; nothing is computed."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mcls.errors import McLsError
from mcls.evaluation.resampling_tests import corrected_ttest, holm
from mcls.reporting.board import Board, find_board
from mcls.reporting.board_page import write_board
from mcls.reporting.board_tables import PUBLISHED_FILE, board_tables, read_published, write_tables
from mcls.reporting.export import check_suffix, predictions_table, results_table, to_bytes
from mcls.reporting.plots.own import draw_own
from mcls.reporting.render import to_latex, to_markdown
from mcls.reporting.studies import Studies, Study

from .browser import CHROMIUM, Browser
from .made_up import record, texts
from .tex import PDFLATEX, compile_latex

CONFIG = """\
datasets: [iris:sample=60, wine:sample=60, glass:sample=100]
machines: [oneLSM, ovO, {name: voLSSVM, labelbook: [pm1, alignment]}]
protocol: nested
folds: 5
inner_folds: 3
replicates: 2
metric: [error, macro-f1]
grid: {gamma: [0.25, 4], sigma: [0.5, 2]}
"""
ERRORS = {"oneLSM": 0.10, "ovO": 0.30, "voLSSVM": 0.10}


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> Path:
    """A folder of results with the experiment ``lab``, its figures made up."""
    folder = tmp_path_factory.mktemp("lab")
    (folder / "lab.yaml").write_text(CONFIG)
    study = Study(str(folder / "lab.yaml"), folder / "results", False)
    study.experiment.write_plan()
    (study.folder / "config.yaml").write_text(study.experiment.config_as_run())
    for i, cell in enumerate(study.experiment.plan.cells):
        error = ERRORS[cell.machine]
        splits = list(error + 0.01 * np.random.default_rng(i).integers(-3, 4, 5))
        made = record(cell, float(np.mean(splits)), fold_errors=splits)
        for part in ("grid", "errors", "oracle_error"):
            del made["result"][part]
        made["result"]["metrics"] = {"error": made["result"]["error"], "macro-f1": 1 - made["result"]["error"]}
        made["result"]["split_metrics"] = {"error": splits, "macro-f1": [1 - v for v in splits]}
        study.store.write(made)
    return folder / "results"


@pytest.fixture
def board(results) -> Board:
    return find_board(Studies(results), "lab")


def test_the_best_is_bold_and_what_differs_is_marked_in_either_direction(board):
    tables = {table.name: table for table in board_tables(board, "oneLSM")}
    assert list(tables) == ["lab-error", "lab-error-tests", "lab-macro-f1", "lab-macro-f1-tests", "lab-seconds"]
    for name in ("lab-error", "lab-macro-f1"):
        row = texts(tables[name], **{"data set": "iris:sample=60"})
        assert row["ovO"].endswith("⁻")  # significantly worse, whichever way is better
        assert not row["oneLSM"].endswith(("⁻", "⁺"))
        bold = [entry.bold for entry in tables[name].rows[0]]
        means = board.means(board.metric(name.removeprefix("lab-")))[0]
        assert bold[1:] == list(means == means.min())
        assert tables[name].columns == ("data set", "oneLSM", "ovO", "voLSSVM, pm1", "voLSSVM, alignment")
        assert tables[name].foot[0][0].text == "average rank"
    assert "**" in to_markdown(tables["lab-error"])
    assert r"\textbf{" in to_latex(tables["lab-error"])
    turned = board_tables(board, "ovo", ["error"])[0]
    assert texts(turned, **{"data set": "iris:sample=60"})["oneLSM"].endswith("⁺")


def test_the_tests_are_those_of_the_statistics(board):
    metric = board.metric("error")
    found = board.against("oneLSM", metric)
    base = board.rows["wine:sample=60", "oneLSM"].split_values("error").ravel()
    others = [m for m in board.machines if m != "oneLSM"]
    plain = [
        corrected_ttest(board.rows["wine:sample=60", m].split_values("error").ravel(), base, 1 / 5).p
        for m in others
    ]
    assert [found["wine:sample=60", m].p for m in others] == pytest.approx(list(holm(plain)))
    ranks = board.ranking(metric)
    assert ranks.n_datasets == 3
    assert max(ranks.ranks) == ranks.ranks[1] == 4.0


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"against": "ovX"}, "unknown machine of lab 'ovX'"),
        ({"against": "voLSSVM"}, "unknown machine of lab 'voLSSVM'"),  # there are two
        ({"metrics": ["kapa"]}, "unknown metric of lab 'kapa'"),
    ],
)
def test_what_a_board_does_not_have_is_refused(board, arguments, message):
    with pytest.raises(McLsError, match=message):
        board_tables(board, **arguments)


def test_a_missing_cell_has_no_figure_and_no_test(results, tmp_path):
    shutil.copytree(results, tmp_path / "results")
    board = find_board(Studies(tmp_path / "results"), "lab")
    row = board.rows["iris:sample=60", "ovO"]
    row.store.path(row.row.cells[1].key).unlink()
    board = find_board(Studies(tmp_path / "results"), "lab")
    table, tests, *_ = board_tables(board, "oneLSM")
    assert texts(table, **{"data set": "iris:sample=60"})["ovO"] == "1 missing of 2"
    assert table.state == "incomplete"
    assert "mcls run" in table.notes[-1]
    assert ("iris:sample=60", "ovO") not in {(row[0].text, row[1].text) for row in tests.rows}


def test_published_figures_stand_beside_ours(results, tmp_path):
    shutil.copytree(results, tmp_path / "results")
    lines = "dataset,machine,metric,value,source\niris:sample=60,onelsm,,9.5,a paper\nnowhere,ovO,error,3,\n"
    (tmp_path / "results/lab" / PUBLISHED_FILE).write_text(lines)
    table = next(
        t for t in board_tables(find_board(Studies(tmp_path / "results"), "lab")) if "published" in t.name
    )
    row = texts(table, machine="oneLSM")
    assert (row["published"], row["source"]) == ("9.5", "a paper")
    assert float(row["difference"]) == pytest.approx(float(row["ours"]) - 9.5, abs=0.01)
    assert texts(table, **{"data set": "nowhere"})["ours"] == "–"


@pytest.mark.parametrize(
    "text, message",
    [
        ("dataset,machine,value\niris,,3\n", ":2: 'machine' is missing"),
        ("dataset,machine,value\na,b,x\n", "not a number"),
    ],
)
def test_published_figures_with_mistakes_are_refused_by_line(text, message, tmp_path):
    (tmp_path / "mine.published.csv").write_text(text)
    with pytest.raises(McLsError, match=message):
        read_published(tmp_path / "mine.published.csv")


@pytest.mark.skipif(PDFLATEX is None, reason="TeX is not installed")
def test_latex_compiles(board, tmp_path):
    compile_latex([to_latex(table) for table in board_tables(board, "oneLSM")], tmp_path)


@pytest.mark.skipif(PDFLATEX is None, reason="TeX is not installed")
def test_the_papers_tables_compile(tmp_path):
    files = sorted((Path(__file__).parents[2] / "results" / "tables").glob("*.tex"))
    if not files:
        pytest.skip("the results of the papers are not here")
    compile_latex([file.read_text(encoding="utf-8") for file in files], tmp_path)


def test_latex_holds_nothing_that_plain_latex_cannot_set(board):
    text = "\n".join(to_latex(table) for table in board_tables(board, "oneLSM"))
    assert not {letter for letter in text if ord(letter) > 127}
    for begin in ("longtable",):
        assert text.count(rf"\begin{{{begin}}}") == text.count(rf"\end{{{begin}}}") > 3
    assert text.count("{") == text.count("}")


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


def test_export_reads_back(board, tmp_path):
    table = results_table(board)
    assert len(table) == 3 * 4 * 2 * 2
    assert set(table["metric"]) == {"error", "macro-f1"}
    (tmp_path / "r.csv").write_bytes(to_bytes(table, ".csv"))
    back = pd.read_csv(tmp_path / "r.csv", keep_default_na=False)
    mean = back[(back.metric == "error") & (back.machine == "ovO")].groupby("dataset").value.mean()
    for dataset in board.datasets:
        assert 100 * mean[dataset] == pytest.approx(board.rows[dataset, "ovO"].line.mean)
    rows = predictions_table(board)
    assert len(rows) == (60 + 60 + 100) * 4 * 2
    assert (rows["class"] == rows["prediction"]).all()  # as made up
    for name in ("r.xls", "results"):
        with pytest.raises(McLsError, match=r"exported as \.csv or \.parquet"):
            check_suffix(tmp_path / name)


def test_parquet_reads_back(board, tmp_path):
    pytest.importorskip("pyarrow")
    (tmp_path / "r.parquet").write_bytes(to_bytes(results_table(board), ".parquet"))
    assert pd.read_parquet(tmp_path / "r.parquet").equals(results_table(board))


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
