"""An experiment laid out: rows and cells, grids of machines, tables of the user's own."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mcls.cli.app import main
from mcls.errors import McLsError
from mcls.experiments.layout import plan
from mcls.experiments.loading import config_from, find_config, load_config

from .small import make_experiment


def plan_of(folder: Path = Path(), **values):
    base = {"name": "lab", "datasets": "iris", "machines": "oneLSM", "replicates": 2}
    return plan(config_from({**base, **values}, "lab"), folder)


def test_replicates_and_data_sets_and_machines_multiply():
    laid = plan_of(datasets=["iris", "wine"], machines=["oneLSM", "ovO", "voLSSVM"], replicates=4)
    assert len(laid.rows) == 6
    assert len(laid.cells) == 24
    # One replicate after the other: a run that is stopped has whole replicates.
    assert [cell.replicate for cell in laid.cells] == [r for r in range(4) for _ in range(6)]


def test_rows_that_differ_in_their_grids_alone_say_which_is_which():
    wide = {"name": "oneLSM", "grid": {"sigma": "2^0..2^2"}}
    rows = plan_of(machines=["oneLSM", wide, "oneLSM:kernel=laplace,sigma=1+2", "ovO:sigma=1+2"]).rows
    assert [row.options for row in rows] == ["", "sigma=2^0..2^2", "kernel=laplace", ""]


def test_a_linear_kernel_has_no_width_to_tune():
    cell = plan_of(machines="oneLSM:kernel=linear").cells[0]
    assert list(cell.grid) == ["gamma"]


def test_the_common_grid_goes_to_machines_that_have_the_parameter():
    entry = {"name": "ovO", "grid": {"gamma": 3}}
    rows = plan_of(machines=["oneLSM", entry], grid={"label_sigma": [1, 2], "gamma": [1, 2]}).rows
    assert rows[0].cells[0].grid["label_sigma"] == [1, 2]
    assert rows[0].cells[0].grid["gamma"] == [1, 2]
    assert "label_sigma" not in rows[1].cells[0].grid
    assert rows[1].cells[0].grid["gamma"] == [3]


def test_a_table_is_found_beside_the_config_and_must_not_change(tmp_path):
    table = tmp_path / "my.csv"
    rows = [f"{i % 7},{i * 3 % 5},{'ab'[i % 2]}" for i in range(30)]
    table.write_text("u,v,kind\n" + "\n".join(rows) + "\n")
    values = {"datasets": {"path": "my.csv", "target": "kind"}, "folds": 3, "grid": {"gamma": 1, "sigma": 1}}
    cell = plan_of(tmp_path, **values).cells[0]
    assert 0 <= cell.compute()["error"] <= 1
    with pytest.raises(McLsError, match="has changed since"):
        replace(cell, fingerprint="0" * 64).compute()
    with pytest.raises(McLsError, match=r"lab: datasets\[0\]: .*none.csv"):
        plan_of(tmp_path, datasets="none.csv")


def test_a_number_names_the_class_column_that_is_called_that(tmp_path):
    (tmp_path / "my.csv").write_text("1,2,3\n" + "".join(f"{i % 7},{'ab'[i % 2]},{i**2}\n" for i in range(20)))
    data = plan_of(tmp_path, datasets="my.csv:target=2").cells[0].dataset.load()
    assert data.classes == ("a", "b")
    assert data.feature_names == ("1", "3")


def test_declared_rows_must_be_declared():
    with pytest.raises(McLsError, match="declares no training and test rows"):
        plan_of(protocol="hold-out", train="declared")
    cell = plan_of(datasets="vowel:rows=all", protocol="hold-out", train="declared").cells[0]
    fixed = replace(cell, grid={"gamma": [0.1], "sigma": [0.5]})
    assert fixed.compute()["train"] == 528


def test_columns_are_left_out_or_kept_by_the_config(tmp_path):
    rows = "".join(f"{i},{i % 7},{i % 5},{'xy'[i % 2]}\n" for i in range(40))
    (tmp_path / "t.csv").write_text("id,a,b,kind\n" + rows)
    with pytest.raises(McLsError, match="column 'id' counts the rows"):
        plan_of(tmp_path, datasets="t.csv:target=kind")
    for entry, names in (
        ("t.csv:target=kind,drop=id", ("a", "b")),
        ({"path": "t.csv", "drop": ["id", "a"]}, ("b",)),
        ({"path": "t.csv", "keep": "id"}, ("id", "a", "b")),
    ):
        datasets = entry if isinstance(entry, str) else [entry]
        assert plan_of(tmp_path, datasets=datasets, folds=2).cells[0].dataset.load().feature_names == names


def test_a_column_without_a_name_is_left_out_by_the_config_as_a_refusal_says(tmp_path):
    rows = "".join(f"{i % 7},9,{i % 5},{'xy'[i % 2]}\n" for i in range(40))
    (tmp_path / "t.csv").write_text("a,,b,kind\n" + rows)
    with pytest.raises(McLsError, match=r"column 1 has no name in the header; .* leave it out with --drop ''"):
        plan_of(tmp_path, datasets="t.csv:target=kind")
    for drop in ("", [""], ["", "a"]):
        datasets = [{"path": "t.csv", "target": "kind", "drop": drop}]
        names = ("b",) if "a" in drop else ("a", "b")
        assert plan_of(tmp_path, datasets=datasets, folds=2).cells[0].dataset.load().feature_names == names


def rows(experiment):
    return list(csv.DictReader(io.StringIO((experiment.folder / "summary.csv").read_text())))


def test_costs_come_from_a_file_beside_the_config(tmp_path):
    names = ("setosa", "versicolor", "virginica")
    (tmp_path / "costs.csv").write_text("\n".join([",".join(names), "0,1,1", "9,0,1", "1,1,0"]))
    config = tmp_path / "lab.yaml"
    config.write_text(
        "datasets: iris:sample=60\nmachines: oneLSM\nmetric: [{cost: costs.csv}, error]\nreplicates: 1\nfolds: 3\n"
        "grid: {gamma: [0.1, 1], sigma: 1}\n"
    )
    with pytest.raises(SystemExit) as ended:
        main(["run", str(config), "-j", "1", "--out", str(tmp_path / "out")])
    assert ended.value.code in (0, None)
    (row,) = csv.DictReader((tmp_path / "out/lab/summary.csv").open())
    assert float(row["cost"]) > 0
    as_run = load_config(find_config(str(tmp_path / "out/lab/config.yaml")))
    assert (tmp_path / "out/lab" / as_run.costs).resolve() == tmp_path / "costs.csv"


def table(tmp_path, group=lambda i: i % 4):
    rng = np.random.default_rng(0)
    lines = [
        f"{rng.normal() + i % 2:.4f},{rng.normal():.4f},g{group(i)},{1 + i % 3},{'ab'[i % 2]}" for i in range(40)
    ]
    (tmp_path / "t.csv").write_text("\n".join(["x,z,who,count,kind", *lines]))


def test_groups_of_a_column_are_never_split(tmp_path):
    table(tmp_path)
    path = str(tmp_path / "t.csv")
    entry = {"path": path, "target": "kind", "group": "who", "drop": "count"}
    made = make_experiment(tmp_path, datasets=entry, machines="oneLSM", folds="logo", replicates=None)
    assert len(made.plan.cells) == 1  # nothing is drawn
    made.run()
    (row,) = rows(made)
    assert row["done"] == "1"
    record = made.store.result(made.plan.cells[0])
    assert record["result"]["grid"]["fold_sizes"] == [10, 10, 10, 10]


@pytest.mark.parametrize(
    "text, told",
    [
        ("metric: eror\n", "metric[0].name: unknown metric 'eror'; did you mean 'error'?"),
        ("metric: [auc, AUC]\n", "lists auc twice"),
        ("metric: cost\n", "needs the file of its matrix"),
        ("metric: {auc: costs.csv}\n", "takes no file"),
        ("metric: {cost: nowhere.csv}\n", "nowhere.csv"),
        ("metric: {cost: short.csv}\n", "a cost matrix of 2 classes has 2 rows"),
        ("metric: {cost: words.csv}\n", "a cost must be a finite number"),
        ("folds: logo\n", "name the column of the groups"),
    ],
)
def test_bad_metrics_are_refused_in_one_line(tmp_path, capsys, text, told):
    table(tmp_path)
    (tmp_path / "short.csv").write_text("0,1,1,2\n1,0,1,2\n")
    (tmp_path / "words.csv").write_text("0,much\n1,0\n")
    refuse(tmp_path, capsys, "{path: t.csv, drop: [who, count]}", text, told)


@pytest.mark.parametrize(
    "entry, told",
    [
        ("group: whom", "did you mean 'who'?"),
        ("group: one", "holds one group only"),
        ("weight: who", "must hold weights, which are numbers"),
        ("weight: minus", "got -1"),
        ("weight: zero", "every sample_weight is zero"),
        ("group: who, weight: who", "both the group and the weight"),
    ],
)
def test_bad_groups_and_weights_are_refused_in_one_line(tmp_path, capsys, entry, told):
    table(tmp_path)
    head, *lines = (tmp_path / "t.csv").read_text().splitlines()
    changed = [f"one,zero,minus,{head}", *(f"1,0,-1,{line}" for line in lines)]
    (tmp_path / "t.csv").write_text("\n".join(changed))
    refuse(tmp_path, capsys, f"{{path: t.csv, {entry}}}", "", told)


def refuse(tmp_path, capsys, dataset, text, told):
    (tmp_path / "lab.yaml").write_text(f"datasets: {dataset}\nmachines: oneLSM\n{text}")
    with pytest.raises(SystemExit) as ended:
        main(["validate", str(tmp_path / "lab.yaml")])
    err = capsys.readouterr().err
    assert ended.value.code == 2
    assert told in err
    assert err.count("\n") == 1
