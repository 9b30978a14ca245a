"""``mcls export``, ``mcls report NAME`` and suites on the command line: a small run, and mistakes in one line."""

from __future__ import annotations

import shutil

import pandas as pd
import pytest

from mcls.reporting.board import find_board
from mcls.reporting.studies import Studies

from ..command import call

SMALL = """\
datasets: [{sets}]
machines: [oneLSM, ovO]
folds: 3
replicates: 1
nested: 1
inner_folds: 2
grid: {{gamma: [0.25, 4], sigma: [0.5, 2]}}
"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """Results of a suite of two configs."""
    folder = tmp_path_factory.mktemp("suite")
    (folder / "one.yaml").write_text(SMALL.format(sets="iris:features=sepal-length+petal-width"))
    (folder / "two.yaml").write_text(SMALL.format(sets="'wine:sample=60'"))
    (folder / "both.yaml").write_text("suite: [one.yaml, two.yaml]\n")
    code, out, err = call("run", folder / "both.yaml", "-j", 1, "--out", folder / "results")
    assert code == 0, err
    assert "both: error, %" in out
    assert "average rank" in out
    assert "one: tests against oneLSM" in out
    return folder / "results"


def test_a_suite_has_a_leaderboard_under_its_name(lab):
    text = (lab / "both" / "report.html").read_text(encoding="utf-8")
    assert "wine:sample=60" in text
    assert "honest beside optimistic" in text
    for args in (("plot", "ranks", "both"), ("tables", "both"), ("report", "both", "--against", "ovO")):
        assert call(*args, "--out", lab)[0] == 0
    assert (lab / "figures" / "both-ranks.svg").is_file()


def test_the_figures_that_need_a_grid_or_a_plane(lab):
    assert "one-sweep-" in call("plot", "sweep", "one", "--machine", "oneLSM", "--out", lab)[1]
    code, out, err = call("plot", "regions", "one", "--machine", "oneLSM", "--out", lab)
    assert code == 0, err
    assert out.count("one-regions-") == 2
    code, _, err = call("plot", "regions", "two", "--out", lab)
    assert code == 2
    assert "need a data set of two features, this one has 13" in err


def test_export_writes_one_row_per_cell_and_metric(lab, tmp_path):
    assert call("export", "both", "-o", tmp_path / "r.csv", "--out", lab)[0] == 0
    table = pd.read_csv(tmp_path / "r.csv")
    assert len(table) == 2 * 2 * 2  # data sets, machines, the protocol and the nested estimate
    assert call("export", "one", "-o", "-", "--predictions", "--out", lab)[1].count("\n") == 1 + 150 * 2


@pytest.mark.parametrize(
    "args, message",
    [
        (["export", "one", "-o", "r.xlsx"], "exported as .csv or .parquet"),
        (["export", "nowhere", "-o", "r.csv"], "unknown experiment 'nowhere'"),
        (["export", "one", "-o", "none/r.csv"], "there is no folder none"),
        (["export", "glass", "-o", "r.csv"], "has no finished cells; to run them: mcls run glass"),
        (["report", "nowhere"], "unknown experiment 'nowhere'"),
        (["report", "one", "--against", "ovX"], "unknown machine of one 'ovX'"),
        (["report", "one", "--quick"], "--quick belongs to the papers' report"),
        (["report", "--against", "ovO"], "--against belongs to the report of an experiment"),
        (["plot", "ranks", "one", "--metric", "kapa"], "unknown metric of one 'kapa'"),
    ],
)
def test_mistakes_are_one_line(args, message, lab, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, err = call(*args, "--out", lab)
    assert code == 2
    assert message in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_published_figures_with_a_mistake_stop_a_run_before_it_begins(tmp_path):
    (tmp_path / "one.yaml").write_text(SMALL.format(sets="iris"))
    (tmp_path / "one.published.csv").write_text("dataset,machine,value\niris,oneLSM,two\n")
    code, _, err = call("run", tmp_path / "one.yaml", "--out", tmp_path / "results")
    assert code == 2
    assert "one.published.csv:2: the value 'two' is not a number" in err


def test_what_export_does_not_overwrite_or_have(lab, tmp_path):
    (tmp_path / "notes.csv").write_text("my notes\n")
    args = ("export", "one", "--out", lab, "-o", tmp_path / "notes.csv")
    code, _, err = call(*args)
    assert code == 2
    assert "or --force to replace it" in err
    assert (tmp_path / "notes.csv").read_text() == "my notes\n"
    assert call(*args, "--predictions", "--force")[0] == 0
    assert len(pd.read_csv(tmp_path / "notes.csv")) == 300
    copy = shutil.copytree(lab, tmp_path / "empty", ignore=shutil.ignore_patterns("cells"))
    code, _, err = call("export", "one", "--out", copy, "-o", tmp_path / "none.csv", "--predictions")
    assert code == 2, err
    assert not (tmp_path / "none.csv").exists()


def test_no_name_is_a_formula_in_csv_and_what_is_no_table_stays(tmp_path):
    rows = "".join(f"{i % 7},{i * 5 % 11},{'=cmd()' if i % 2 else '+'}\n" for i in range(30))
    (tmp_path / "=t.csv").write_text("a,b,kind\n" + rows)
    (tmp_path / "lab.yaml").write_text(
        "name: lab\ndatasets: [{path: '=t.csv'}]\nmachines: oneLSM\nfolds: 3\nreplicates: 1\n"
        "grid: {gamma: [1], sigma: [1]}\n"
    )
    out = ("--out", tmp_path / "results")
    assert call("run", tmp_path / "lab.yaml", "-j", 1, *out)[0] == 0
    assert call("export", "lab", "--predictions", "-o", tmp_path / "r.csv", *out)[0] == 0
    table = pd.read_csv(tmp_path / "r.csv")
    assert set(table["class"]) == {"'=cmd()", "+"}  # a sign alone is no formula
    for name in table.select_dtypes(exclude="number"):
        assert not table[name].str.match(r"[=@]|[+-].").any()
    pytest.importorskip("pyarrow")
    (tmp_path / "r.parquet").write_text("my notes\n")
    args = ("export", "lab", "--predictions", "-o", tmp_path / "r.parquet", *out)
    code, _, err = call(*args)
    assert (code, err.endswith("or --force to replace it\n")) == (2, True)
    for more in (["--force"], []):  # a table replaces a table
        assert call(*args, *more)[0] == 0
    assert set(pd.read_parquet(tmp_path / "r.parquet")["class"]) == {"=cmd()", "+"}


def test_a_suite_is_read_before_it_is_run_and_keeps_different_data_apart(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = SMALL.replace("nested: 1\ninner_folds: 2\n", "")
    for i, name in enumerate(("north", "south")):
        (tmp_path / name).mkdir()
        rows = "".join(f"{j % 7},{(j + i) % 5},{'ab'[j % 2]}\n" for j in range(24))
        (tmp_path / name / "soils.csv").write_text("x,y,c\n" + rows)
        (tmp_path / name / "study.yaml").write_text(text.format(sets="soils.csv"))
    (tmp_path / "both.yaml").write_text("suite: [north/study.yaml, south/study.yaml, absent.yaml]\n")
    code, out, err = call("run", "both.yaml", "-j", 1)
    assert (code, out) == (2, "")
    assert "there is no file absent.yaml" in err
    (tmp_path / "both.yaml").write_text("suite: [north/study.yaml, south/study.yaml]\n")
    for command in ("validate", "run"):
        code, _, err = call(command, "both.yaml")
        assert code == 2
        assert "2 of its configs are called 'study'; give each a 'name' of its own" in err
    assert not (tmp_path / "results").exists()
    for name in ("north", "south"):
        config = tmp_path / name / "study.yaml"
        config.write_text(config.read_text() + f"name: {name}\n")
    code, out, err = call("validate", "both.yaml")
    assert code == 0
    assert out.count(": ok: ") == 2
    code, out, err = call("run", "both.yaml", "-j", 1)
    assert code == 0, err
    assert "soils (north)" in out
    assert "soils (south)" in out
    assert call("plot", "regions", "both", "--dataset", "soils (south)", "--machine", "ovO")[0] == 0


def test_machines_on_different_splits_are_not_tested_against_each_other(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = SMALL.replace("nested: 1\ninner_folds: 2\n", "").format(sets="'iris:sample=60'")
    for i, machine in enumerate(("oneLSM", "ovO")):
        config = "".join(f"{line}\n" for line in text.splitlines() if not line.startswith("machines"))
        (tmp_path / f"{machine}.yaml").write_text(f"{config}machines: {machine}\nseed: {i}\n")
    (tmp_path / "both.yaml").write_text("suite: [oneLSM.yaml, ovO.yaml]\n")
    code, _, err = call("run", "both.yaml", "-j", 1)
    assert code == 0, err
    board = find_board(Studies(tmp_path / "results"), "both")
    assert board.machines == ["oneLSM", "ovO"]
    assert not board.against("oneLSM", board.metric("error"))
