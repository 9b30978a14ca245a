"""Boards of made-up results: means, bold, marks, tests, ranks, methods, references, export; nothing is computed."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import pytest

from mcls.errors import McLsError
from mcls.evaluation.resampling_tests import corrected_ttest, holm
from mcls.experiments.stored import compare_stored
from mcls.reporting.board import find_board
from mcls.reporting.board_tables import board_tables
from mcls.reporting.render import to_latex
from mcls.reporting.studies import Studies

from .made_up import texts
from .tex import PDFLATEX, compile_latex


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


def test_what_runs_the_missing_cells_can_be_pasted(results, tmp_path):
    shutil.copytree(results, tmp_path / "my results")
    board = find_board(Studies(tmp_path / "my results"), "lab")
    place = tmp_path / "my results"
    assert shlex.split(board.command) == ["mcls", "run", str(place / "lab" / "config.yaml"), "--out", str(place)]


@pytest.mark.parametrize(
    "text, label",
    [
        ("ovo", "ovO"),
        ("voLSSVM, pm1", "voLSSVM, pm1"),
        ("voLSSVM:labelbook=alignment", "voLSSVM, alignment"),
        ("oneLSM:labelbook=indicators", "oneLSM"),
    ],
)
def test_machines_are_named_as_in_a_table_or_a_config(board, text, label):
    assert board.machine(text) == label


def test_what_is_known_can_be_typed(board):
    with pytest.raises(McLsError, match="known: oneLSM, ovO, voLSSVM:labelbook=pm1, voLSSVM:labelbook=alignment"):
        board.machine("voLSSVM")


def test_a_damaged_plan_is_told_and_a_path_to_the_config_as_run_is_the_experiment(results, tmp_path):
    shutil.copytree(results, tmp_path / "results")
    config = tmp_path / "results" / "lab" / "config.yaml"
    assert find_board(Studies(tmp_path / "results"), str(config)).name == "lab"
    config.write_text(config.read_text().replace("oneLSM", "ofAPlugin"))  # which tables do not need
    assert "oneLSM" in find_board(Studies(tmp_path / "results"), str(config)).machines
    (config.parent / "plan.json").write_text("{")
    with pytest.raises(McLsError, match=r"plan\.json is damaged, or of a later version"):
        find_board(Studies(tmp_path / "results"), "lab")
    with pytest.raises(McLsError, match=r"plan\.json is damaged, or of a later version of mcls: run its config"):
        compare_stored(config.parent)
