"""Summaries: figures from complete rows only, and what is missing said."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest

from mcls.experiments.summary import Line, table, to_csv, to_markdown

from .small import make_experiment


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    experiment = make_experiment(tmp_path_factory.mktemp("out"), machines=["oneLSM", "ovO"], nested=1)
    experiment.run()
    return experiment


def test_figures_are_those_of_the_cells(done):
    line, row = done.summary()[0], done.plan.rows[0]
    results = [done.store.result(cell)["result"] for cell in row.cells]
    errors = [100 * r["error"] for r in results]
    assert line.mean == pytest.approx(sum(errors) / 3)
    assert (line.best, line.worst) == pytest.approx((min(errors), max(errors)))
    assert line.nested == pytest.approx(100 * done.store.result(row.nested[0])["result"]["error"])
    assert line.chosen in [r["chosen"][0] for r in results]
    assert line.time_mean == pytest.approx(line.time_total / 3)
    assert line.state == "complete"


def test_csv_has_times_last_and_reads_back(done):
    rows = list(csv.DictReader(io.StringIO(to_csv(done.summary()))))
    assert list(rows[0])[-2:] == ["time_mean", "time_total"]
    assert [r["machine"] for r in rows] == ["oneLSM", "ovO", "oneLSM", "ovO"]
    assert float(rows[0]["mean"]) == pytest.approx(done.summary()[0].mean, abs=1e-4)
    assert rows[0]["oracle"] == ""


def test_a_missing_cell_takes_the_figures_away(done):
    row = done.plan.rows[1]
    path = done.store.path(row.cells[2].key)
    content = path.read_bytes()
    path.unlink()
    try:
        line = done.summary()[1]
        assert (line.mean, line.best, line.time_total, line.chosen) == (None, None, None, {})
        assert (line.done, line.missing, line.state) == (2, 1, "1 missing of 3")
        page = to_markdown("t", "", done.summary(), 0)
        assert "**Incomplete**: 1 of 4 rows" in page
        assert "1 missing of 3" in page
    finally:
        path.write_bytes(content)


def test_empty_columns_are_left_out_for_people(done):
    columns, rows = table(done.summary())
    assert "oracle" not in columns
    assert "state" not in columns
    assert "nested" in columns
    assert all(len(row) == len(columns) for row in rows)


def test_half_split_has_an_oracle(tmp_path):
    experiment = make_experiment(tmp_path, protocol="half-split", machines="oneLSM", folds=None)
    experiment.run()
    for line in experiment.summary():
        assert line.oracle is not None
        assert line.oracle <= line.mean + 1e-9


def test_words_with_bars_stay_in_their_cell():
    line = Line("a|b", "m", "", "", "nested", 1, 1, 0, 1.0, None, 1.0, 1.0, None, None, {}, 0.1, 0.1)
    assert "a\\|b" in to_markdown("t", "two\nlines", [line], 3)


def test_untuned_beside_tuned_is_said_in_its_own_row(tmp_path):
    fixed = {"gamma": 1.0, "sigma": 1.0}
    experiment = make_experiment(tmp_path, machines=["oneLSM", {"name": "ovO", "options": fixed}], replicates=1)
    experiment.run()
    columns, rows = table(experiment.summary())
    at = columns.index("tuned")
    assert [row[at] for row in rows] == ["", "not tuned"] * 2
    assert [row["tuned"] for row in csv.DictReader(io.StringIO(to_csv(experiment.summary())))] == [
        "True",
        "False",
    ] * 2
    # Nothing to tell where all are alike.
    assert "tuned" not in table(experiment.summary()[1::2])[0]
    assert ",tuned," not in to_csv(experiment.summary()[::2])


def test_names_are_no_formulas_in_csv_and_no_html_in_markdown(done):
    line = replace(done.summary()[0], dataset="=cmd|'/C calc'!A0", options="<img src=x onerror=alert(1)>")
    row = next(csv.DictReader(io.StringIO(to_csv([line]))))
    assert row["dataset"] == "'=cmd|'/C calc'!A0"
    assert row["mean"] == f"{line.mean:.4f}"
    page = to_markdown("t", "p < 0.05 <script>alert(1)</script> <!-- x -->", [line], 0)
    assert "p < 0.05 &lt;script>alert(1)&lt;/script> &lt;!-- x -->" in page
    assert "| &lt;img src=x onerror=alert(1)> |" in page


def test_the_page_has_the_error_of_always_the_largest_class(done):
    iris = next(iter(done.plan.baselines))
    page = (done.folder / "summary.md").read_text()
    assert f"The error of always saying the largest class:\n\n- {iris}: {done.plan.baselines[iris]:.2f}\n" in page
    counts = done.plan.cells[0].dataset.load().counts
    assert done.plan.baselines[iris] == pytest.approx(100 * (1 - max(counts.values()) / sum(counts.values())))
