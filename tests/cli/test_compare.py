"""``mcls compare``: two machines, many machines, a table of the user's own."""

from __future__ import annotations

import csv
import io
import re
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import pandas as pd
import pytest

from mcls.cli.app import main
from mcls.experiments.loading import load_config

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
    head = ["data set", "oneLSM:sigma=1", "ovO:sigma=0.2", "f", "p(f)", "verdict(f)", "t", "p(t)", "verdict(t)"]
    assert list(rows[0]) == [*head, "only A wrong", "only B wrong", "p(McNemar)", "verdict(mcnemar)"]
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
    assert len(pd.read_csv(io.StringIO(out))) == 6  # a row per data set and pair, and nothing else


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


def _written(err: str) -> Path:
    """The folder that the command names at its end."""
    return Path(err.split("see ")[1].splitlines()[0]).parent


def test_every_figure_printed_is_in_the_summary(call):
    machines = ["oneLSM:sigma=1", "ovO:sigma=0.2", "oneLSM:kernel=linear"]
    _, out, err = call(*machines, *SETS, "--ftest", "--ttest", "--mcnemar", "--alpha", "0.3", "--csv")
    printed = list(csv.DictReader(io.StringIO(out)))
    stored = list(csv.DictReader((_written(err) / "summary.csv").open()))
    page = (_written(err) / "summary.md").read_text()
    assert len(stored) == len(printed) == 6
    names = {"data set": "dataset", "A": "machine_a", "B": "machine_b", "p(f)": "p_f", "p(t)": "p_t"}
    names |= {"only A wrong": "only_a_wrong", "only B wrong": "only_b_wrong", "p(McNemar)": "p_mcnemar"}
    names |= {f"verdict({test})": f"verdict_{test}" for test in ("f", "t", "mcnemar")}
    assert any(row["verdict_f"].endswith(" better") for row in stored)
    for row, kept in zip(printed, stored, strict=True):
        assert {name: row[name] for name in names} == {name: kept[names[name]] for name in names}
        for name, key in (("error A", "error_a"), ("error B", "error_b"), ("f", "f"), ("t", "t")):
            assert float(kept[key] or 0) == pytest.approx(float(row[name] or 0), abs=0.006)
        assert kept["alpha"] == "0.3"
        assert "| " + " | ".join(row.values()) + " |" in page
    # Ranks and Friedman's test, as printed without --csv, stand there too.
    _, out, _ = call(*machines, *SETS, "--alpha", "0.3")
    for sentence in (line for line in out.splitlines() if line.startswith(("Friedman", "Nemenyi"))):
        assert sentence in page
    assert "| average rank |" in page
    machine_rows = list(csv.DictReader((_written(err) / "machines.csv").open()))
    assert [row["machine"] for row in machine_rows] == ["oneLSM", "ovO", "oneLSM"] * 2


def test_a_test_without_variance_is_undefined_on_the_screen_and_in_the_files(call, monkeypatch):
    from mcls.experiments.runner import compute

    def alike(cell):
        record = compute(cell)
        more = 1 / 30 if cell.machine == "ovO" and cell.replicate == 0 else 0.0
        return {**record, "result": {**record["result"], "errors": [0.1 + more, 0.1 + more]}}

    monkeypatch.setattr("mcls.experiments.runner.compute", alike)
    args = ["oneLSM:sigma=1", "ovO:sigma=1", *SETS[:2], "-j", "1", "--ftest", "--ttest"]
    code, out, err = call(*args, "--csv")
    assert code == 0
    (row,) = csv.DictReader(io.StringIO(out))
    (kept,) = csv.DictReader((_written(err) / "summary.csv").open())
    assert (row["f"], row["p(f)"], row["t"], row["p(t)"]) == (kept["f"], kept["p_f"], kept["t"], kept["p_t"])
    assert kept["f"] + kept["p_f"] + kept["t"] + kept["p_t"] == ""
    for verdict in (row["verdict(f)"], row["verdict(t)"], kept["verdict_f"], kept["verdict_t"]):
        assert verdict.startswith("undefined: no variance")
    _, out, _ = call(*args)
    assert out.count("undefined: no variance") == 2
    assert "undefined: no variance" in (_written(err) / "summary.md").read_text()


def test_common_classifiers_of_scikit_learn_are_tuned_and_the_others_say_that_they_are_not(call):
    args = ["oneLSM:sigma=1", "sk:KNeighborsClassifier", "sk:NearestCentroid", *SETS[:2], "-j", "1"]
    code, out, err = call(*args)
    assert code == 0
    rows = [line for line in out.splitlines() if line.startswith(" iris") and "NearestCentroid" in line]
    assert len(rows) == 2
    assert all("sk:NearestCentroid (not tuned)" in row for row in rows)
    assert "KNeighborsClassifier (not tuned)" not in out
    assert "oneLSM:sigma=1 (not tuned)" not in out
    stored = list(csv.DictReader((_written(err) / "summary.csv").open()))
    assert [row["tuned_a"] for row in stored] == ["true", "true", "true"]
    assert [row["tuned_b"] for row in stored] == ["true", "false", "false"]
    machines = list(csv.DictReader((_written(err) / "machines.csv").open()))
    assert [row["tuned"] for row in machines] == ["True", "True", "False"]
    assert machines[1]["chosen_n_neighbors"] in {"1", "3", "5", "9", "15"}
    assert "sk:NearestCentroid: not tuned; a range or a list gives a grid" in err


def test_a_classifier_that_tunes_itself_is_not_called_untuned(call):
    machines = ["sk:TableClassifier:folds=2,machine=oneLSM", "sk:NearestCentroid"]
    code, out, err = call(*machines, "--dataset", "lenses", "-j", "1")
    assert code == 0, err
    assert "sk:NearestCentroid (not tuned)" in out
    assert "oneLSM (not tuned)" not in out


def test_a_grid_on_the_command_line(call):
    tuned = ["oneLSM:gamma=0.25,sigma=2^-1..2^1", "sk:SVC:C=1+10+1e+2,gamma=0.5"]
    code, out, err = call(*tuned, *SETS[:2], "-j", "1", "--csv")
    assert code == 0
    (row,) = csv.DictReader(io.StringIO(out))
    assert {tuned[0], "sk:SVC:gamma=0.5,C=1+10+100"} <= set(row)
    folder = _written(err)
    config = load_config(folder / "config.yaml")
    assert [entry.grid for entry in config.machines] == [{"sigma": "2^-1..2^1"}, {"C": [1, 10, 100.0]}]
    machines = list(csv.DictReader((folder / "machines.csv").open()))
    assert machines[0]["chosen_sigma"] in {"0.5", "1", "2"}
    assert machines[1]["chosen_C"] in {"1", "10", "100"}


def test_powers_of_two_are_whole_numbers_where_a_classifier_wants_them(call):
    args = ["sk:KNeighborsClassifier:n_neighbors=2^0..2^2", "sk:DecisionTreeClassifier:min_samples_leaf=2^0..2^2"]
    code, _, err = call(*args, *SETS[:2], "-j", "1")
    assert code == 0, err
    machines = list(csv.DictReader((_written(err) / "machines.csv").open()))
    assert {machines[0]["chosen_n_neighbors"], machines[1]["chosen_min_samples_leaf"]} <= {"1", "2", "4"}


def test_a_table_too_small_for_the_largest_value_of_a_grid_has_the_others(call, tmp_path):
    rows = [f"{i % 2 + i / 100},{i * 3 % 5},{'ab'[i % 2]}" for i in range(20)]
    (tmp_path / "my.csv").write_text("u,v,kind\n" + "\n".join(rows) + "\n")
    args = ["oneLSM:sigma=1", "sk:KNeighborsClassifier", "--dataset", f"{tmp_path}/my.csv:target=kind", "-j", "1"]
    code, out, err = call(*args)
    assert code == 0, err
    assert "my " in out
    assert "left out of the grid: {'n_neighbors': 15}" in err or "left out of the grid: {'n_neighbors': 9}" in err
    assert len(err.splitlines()) <= 4


def test_classifiers_that_do_not_converge_are_told_in_one_line(call):
    machines = ["sk:LogisticRegression:max_iter=2", "sk:MLPClassifier:max_iter=2"]
    code, _, err = call(*machines, *SETS[:2], "-j", "1")
    assert code == 0
    told = [line for line in err.splitlines() if "onverge" in line]
    assert len(told) == 1
    assert told[0].startswith("10 cells came with warnings")
    assert len([line for line in err.splitlines() if not re.match(r"\d+/\d+ cells", line)]) <= 3


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
        (["oneLSM:sigma=1+2", "oneLSM:sigma=1+2"], "lists oneLSM:sigma=1+2 twice"),
        (["oneLSM", "sk:SVC:C=2^-2..3^2"], "both ends of a range need one positive base"),
        (["oneLSM", "sk:SVC:C=1..4"], "'1..4' is not a range; write it like 2^-4..2^4"),
        (["oneLSM", "sk:SVC:C=1+x"], "sk:SVC: The 'C' parameter of SVC must be a float"),
        (["oneLSM", "sk:SVC:C=-1+1"], "sk:SVC: The 'C' parameter of SVC must be a float"),
        (["oneLSM", "sk:SVC:c=1+2"], "unknown parameter of SVC in its grid: 'c'; did you mean 'C'?"),
        (["oneLSM", "sk:KNeighborsClassifier:n_neighbors=2^-1..2^1"], "must be an int in the range [1, inf)"),
        (["ovO", "oneLSM:sigma=1+-2"], "sigma must be a positive number"),
        (["ovO", "oneLSM:sigma=1+1"], "'sigma' lists a value twice"),
        (["oneLSM", "ovO", "--dataset", "none.csv"], "none.csv"),
        (["oneLSM", "ovO", "--rope", "-1"], "--rope must be zero or more, such as 0.01; got -1"),
        (["oneLSM", "ovO", "--rope", "nan"], "--rope must be zero or more"),
        (
            ["oneLSM", "ovO", "--permutations", "0"],
            "--permutations must be a whole number from 1 to 1000000; got 0",
        ),
        (["oneLSM", "ovO", "--metric", "kapa"], "did you mean 'kappa'?"),
        (["oneLSM", "ovO", "--metric", "cost"], "--metric cost and --costs COSTS.csv go together"),
        (["oneLSM", "ovO", "--costs", "costs.csv"], "--metric cost and --costs COSTS.csv go together"),
        (["oneLSM", "ovO", "--metric", "cost", "--costs", "no.csv", *SETS[:2]], "no.csv"),
        (
            ["oneLSM", "ovO", "--metric", "auc", "--permutations", "9"],
            "--permutations exchanges predicted classes",
        ),
        (["oneLSM", "ovO", *["--dataset", "a/t.csv"] * 2], "(compare F.csv:name=x)"),
        (["--from", "nowhere"], "nowhere holds no plan.json: give the folder of an experiment"),
        (["--from", "nowhere", "--ftest"], "leave out --dataset, --costs, --fresh and the tests of 5x2cv"),
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


def test_costs_decide_and_are_compared(call, tmp_path):
    costs = tmp_path / "costs.csv"
    costs.write_text("0,1,9\n1,0,9\n1,1,0\n")
    args = ["oneLSM:sigma=1,gamma=1", "oneLSM:kernel=linear,gamma=1", *SETS[:2], "-j", "1", "--metric", "cost"]
    code, out, _ = call(*args, "--costs", str(costs))
    assert code == 0
    assert "5x2cv, cost, F-test" in out
    costs.write_text("0,1\n1,0\n")
    code, _, err = call(*args, "--costs", str(costs))
    assert code == 2
    assert "a cost matrix of 3 classes has 3 rows" in err


def test_further_tests_as_csv_are_tables_of_their_own_and_what_is_missing_is_told(call, tmp_path):
    code, out, _ = call("oneLSM:sigma=1,gamma=1", "ovO:sigma=1,gamma=1", *SETS, "--rope", "0.01", "--csv")
    assert code == 0
    first, pairs, over = (pd.read_csv(io.StringIO(text)) for text in out.split("\n\n"))
    assert len(first) == len(pairs) == 2
    assert (pairs["low"] <= pairs["high"]).all()
    assert {"low", "high", "level"} <= set(over.columns)
    (folder,) = (path.parent for path in (tmp_path / "out" / "compare").glob("*/plan.json"))
    next((folder.parent / "cells").iterdir()).unlink()  # all comparisons share their cells
    _, _, err = call("--from", str(folder))
    assert err == "note: 1 pair left out: cells are missing or failed, run the experiment to its end\n"
