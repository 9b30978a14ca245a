"""Every published figure gets one verdict, and the counts on the front page add up to them."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest

from mcls.papers import PAPERS
from mcls.reporting.agreement import OUTCOMES, agreement, agreement_tables
from mcls.reporting.published import read
from mcls.reporting.studies import Studies
from mcls.resources import published_files

from .made_up import fill

#: Columns that say what a figure is of; ``features_in_uci`` is our remark beside a figure of the paper.
NAMES = ("dataset", "machine", "labelbook", "kernel", "svm_kernel", "criterion", "experiment", "class", "note")
OTHERS = {
    "honeine2013-table3-datasets": ("features_in_uci",),
    "honeine2013-table6-large": ("n",),
    "keshet2014-examples": ("example", "item"),
}


def figures(file: str) -> set[tuple[int, str]]:
    """(line, column) of every figure of a published table."""
    left_out = (*NAMES, *OTHERS.get(file, ()))
    rows = enumerate(read(file))
    return {(i, column) for i, row in rows for column, text in row.items() if text and column not in left_out}


@pytest.fixture(scope="module")
def stored():
    """The verdicts on the results of this checkout; without them, on an empty store."""
    return agreement(PAPERS.values(), Studies(Path("results")))


def test_every_published_figure_has_exactly_one_verdict(stored):
    counted = Counter((v.file, v.line, v.column) for verdicts in stored.values() for v in verdicts)
    assert set(counted.values()) == {1}
    assert set(counted) == {(file, *figure) for file in published_files() for figure in figures(file)}
    assert {verdict.outcome for verdicts in stored.values() for verdict in verdicts} <= set(OUTCOMES)
    assert all(verdict.why for verdicts in stored.values() for verdict in verdicts)


def test_the_typed_out_tables_hold_as_many_figures_as_the_front_page_counts(stored, shared_dir):
    total = 0
    for path in (shared_dir / "paper_tables").glob("*.csv"):
        with path.open(encoding="utf-8", newline="") as lines:
            rows = list(csv.DictReader(lines))
        left_out = (*NAMES, *OTHERS.get(path.stem, ()))
        total += sum(bool(text) for row in rows for column, text in row.items() if column not in left_out)
    notes = len(stored["keshet2014"])  # typed out from the text of the notes
    assert total + notes == sum(map(len, stored.values()))


def test_the_counts_add_up_to_the_figures(stored):
    counts, reasons = agreement_tables(stored)
    for row in (*counts.rows, *counts.foot):
        assert sum(entry.value for entry in row[2:]) == row[1].value
    assert sum(row[3].value for row in reasons.rows) == counts.foot[0][1].value


@pytest.mark.usefixtures("cache")
def test_an_empty_store_compares_nothing_that_needs_a_run(tmp_path):
    found = agreement(PAPERS.values(), Studies(tmp_path, is_quick=True))
    assert {verdict.outcome for verdict in found["xue2013"]} == {"no comparison"}
    assert {verdict.outcome for verdict in found["keshet2014"]} == {"reproduced"}


@pytest.mark.usefixtures("cache")
def test_verdicts_follow_the_store(tmp_path):
    studies = Studies(tmp_path, is_quick=True)
    fill(studies["honeine2013-table4"], lambda cell: 0.028 if cell.machine == "oneLSM" else 0.9)
    verdicts = {(v.file, v.line, v.column): v for v in PAPERS["honeine2013"].agreement(studies)}
    rows = read("honeine2013-table4-error")
    found = {
        rows[line]["machine"]: verdict.outcome
        for (file, line, column), verdict in verdicts.items()
        if file == "honeine2013-table4-error" and column == "error_mean" and rows[line]["dataset"] == "iris"
    }
    assert (found["oneLSM"], found["ovA"], found["svm-ovA"]) == ("reproduced", "unexplained", "no comparison")
    degenerate = next(v for v in verdicts.values() if "β = 0" in v.why)
    assert degenerate.outcome == "explained"
