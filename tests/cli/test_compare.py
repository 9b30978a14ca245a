"""``mcls compare``: two machines, many machines, a table of the user's own."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
from itertools import combinations

import pandas as pd
import pytest

from mcls.cli.app import main
from mcls.cli.compare import _print_ranking
from mcls.evaluation.statistics import friedman

SETS = ["--dataset", "iris:sample=60", "--dataset", "wine:sample=60", "-j", "1"]


@pytest.fixture
def call(tmp_path, capsys):
    def run(*args: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(["compare", *args, "--out", str(tmp_path / "out")])
        captured = capsys.readouterr()
        return int(ended.value.code or 0), captured.out, captured.err

    return run


def test_one_lsm_and_ova_are_identical_without_a_warning(tmp_path):
    # In a process of its own, warnings turned to errors: 0/0 must not even be computed.
    code = "from mcls.cli.app import main; main()"
    args = ["compare", "oneLSM:sigma=1", "ovA:sigma=1", "--ftest", *SETS, "--out", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-c", code, *args], capture_output=True, text=True
    )
    assert done.returncode == 0
    assert done.stdout.count("identical") == 2
    assert "Warning" not in done.stderr + done.stdout
    rows = [line.split() for line in done.stdout.splitlines() if "identical" in line]
    assert all(row[-2] == "1" for row in rows)


def test_all_tests_at_once_as_csv_and_resumed(call):
    args = ["oneLSM:sigma=1", "ovO:sigma=0.2", "--ftest", "--ttest", "--mcnemar", "--csv", *SETS]
    code, out, err = call(*args)
    assert code == 0
    rows = list(csv.DictReader(io.StringIO(out)))
    head = ["data set", "oneLSM:sigma=1", "ovO:sigma=0.2", "f", "p(f)", "t", "p(t)"]
    assert list(rows[0]) == [*head, "only A wrong", "only B wrong", "p(McNemar)", "verdict"]
    assert [row["data set"] for row in rows] == ["iris:sample=60", "wine:sample=60"]
    assert all(0 <= float(row[p]) <= 1 for row in rows for p in ("p(f)", "p(t)", "p(McNemar)"))
    assert "20/20 cells" in err
    code, again, err = call(*args)
    assert again == out
    assert "cells" not in err  # nothing left to compute


def test_many_machines_are_ranked(call):
    machines = ["oneLSM:sigma=1", "ovO:sigma=1", "oneLSM:kernel=linear"]
    code, out, _ = call(*machines, *SETS)
    assert code == 0
    assert "average rank" in out
    assert "Friedman over 2 data sets" in out
    assert "Nemenyi at 0.05" in out
    assert "verdict" not in out
    code, out, _ = call(*machines, *SETS, "--ftest")
    assert out.count("ovO:sigma=1") >= 5  # every pair is tested too
    assert "verdict" in out


def test_with_one_data_set_every_pair_is_tested(call):
    machines = ["oneLSM:sigma=1", "ovO:sigma=1", "oneLSM:kernel=linear"]
    code, out, err = call(*machines, *SETS[:2], "-j", "1")
    assert code == 0
    assert "needs at least two data sets" in out
    assert "level 0.05 for each pair alone" in out
    assert "ranking.csv" not in err
    code, out, _ = call(*machines, *SETS[:2], "-j", "1", "--csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [(row["A"], row["B"]) for row in rows] == list(combinations(machines, 2))
    assert all(0 <= float(row["p(f)"]) <= 1 for row in rows)


def test_csv_of_many_machines_is_one_table_and_the_ranks_are_in_a_file(call):
    machines = ["oneLSM:sigma=1", "ovO:sigma=1", "oneLSM:kernel=linear"]
    code, out, err = call(*machines, *SETS, "--csv")
    assert code == 0
    table = pd.read_csv(io.StringIO(out), index_col="data set")
    assert list(table.index) == ["iris:sample=60", "wine:sample=60", "average rank"]
    path = err.split("ranks and Friedman's test: see ")[1].splitlines()[0]
    ranks = pd.read_csv(path, index_col="machine")
    assert ranks["average_rank"].round(2).to_dict() == table.loc["average rank"].to_dict()
    assert ranks["friedman_p"].nunique() == 1
    _, out, _ = call(*machines, *SETS, "--csv", "--ftest")
    assert len(pd.read_csv(io.StringIO(out))) == 6  # a row a data set and pair, and nothing else


def test_one_order_everywhere_has_an_exact_p(capsys):
    _print_ranking(["a", "b", "c"], friedman([[1.0, 2.0, 3.0], [2.0, 3.0, 9.0]]))
    out = capsys.readouterr().out
    assert "chi2 = 4.000, p = 0.1353; the same order on all of them has p = 0.1667, exactly" in out
    assert "inf" not in out


def test_a_table_of_ones_own(call, tmp_path):
    rows = [f"{i % 2 + i / 100},{i * 3 % 5},{'ab'[i % 2]}" for i in range(40)]
    (tmp_path / "my.csv").write_text("u,v,kind\n" + "\n".join(rows) + "\n")
    code, out, _ = call("oneLSM", "ovA", "--dataset", f"{tmp_path}/my.csv:target=kind", "-j", "1")
    assert code == 0
    assert "my " in out
    assert "identical" in out


def test_a_table_with_a_column_of_text(call, tmp_path):
    rows = [f"{i % 7},{'red' if i % 2 else 'blue'},{'ab'[i % 2]}" for i in range(40)]
    (tmp_path / "my.csv").write_text("size,hue,kind\n" + "\n".join(rows) + "\n")
    args = ["oneLSM:sigma=1", "ovO:sigma=1", "--dataset", f"{tmp_path}/my.csv:target=kind", "--csv", "-j", "1"]
    code, out, _ = call(*args)
    assert code == 0
    (row,) = csv.DictReader(io.StringIO(out))
    assert (row["oneLSM:sigma=1"], row["ovO:sigma=1"]) == ("0.00", "0.00")  # the text tells the class


def test_each_comparison_keeps_its_summary_and_all_share_the_cells(call, tmp_path, capsys):
    sets = [*SETS[:2], "-j", "1"]
    folder = tmp_path / "out" / "compare"
    assert "10/10 cells" in call("oneLSM:sigma=1", "ovO:sigma=1", *sets)[2]
    (first,) = (path.parent for path in folder.glob("*/summary.csv"))
    before = (first / "summary.csv").read_bytes()
    _, _, err = call("oneLSM:sigma=1", "ovO:sigma=2", *sets)
    assert "5/5 cells" in err  # oneLSM's are there
    second = next(path.parent for path in folder.glob("*/summary.csv") if path.parent != first)
    assert f"see {second / 'summary.csv'}" in err
    assert second.name.startswith("oneLSM-sigma-1-ovO-sigma-2-iris-sample-60-")
    assert (first / "summary.csv").read_bytes() == before
    assert "sigma=2" in (second / "summary.csv").read_text()
    # The same question has the same folder; another seed is another question.
    call("onelsm:sigma=1", "ovO:sigma=1", *sets)
    assert len(list(folder.iterdir())) == 3
    call("oneLSM:sigma=1", "ovO:sigma=1", *sets, "--seed", "1")
    assert len(list(folder.iterdir())) == 4
    # The config as run finds the cells too.
    with pytest.raises(SystemExit):
        main(["run", str(first / "config.yaml"), "--out", str(tmp_path / "out")])
    assert "0 cells computed, 10 reused" in capsys.readouterr().out


@pytest.mark.parametrize(
    "args, expected",
    [
        (["oneLSM"], "at least two machines"),
        (["oneLSM", "oneLMS"], "machines[1]: unknown machine 'oneLMS'; did you mean 'oneLSM'?"),
        (["oneLSM", "ovO", "--dataset", "irsi"], "datasets[0]: unknown data set 'irsi'; did you mean 'iris'?"),
        (["oneLSM", "ovO:labelbook=pm1"], "unknown parameter of ovO 'labelbook'"),
        (["oneLSM", "oneLSM"], "lists oneLSM twice"),
        (["oneLSM", "ovO", "--dataset", "none.csv"], "none.csv"),
    ],
)
def test_bad_input_is_one_line(call, args, expected):
    code, _, err = call(*args)
    assert code == 2
    assert expected in err
    assert err.count("\n") == 1


def test_a_failed_cell_gives_no_verdict_and_exit_code_1(call, monkeypatch):
    from mcls.experiments.runner import compute

    def broken(cell):
        record = compute(cell)
        bad = cell.machine == "ovO" and cell.replicate == 3
        return {**record, "status": "failed", "error": "RuntimeError: no"} if bad else record

    monkeypatch.setattr("mcls.experiments.runner.compute", broken)
    code, out, err = call("oneLSM:sigma=1", "ovO:sigma=1", *SETS[:2], "-j", "1")
    assert code == 1
    assert "not complete" in out
    assert "RuntimeError: no" in err
