"""Metrics, groups and costs in configs: keys, the store, summaries, and what is refused."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

from mcls.cli.app import main
from mcls.experiments.loading import find_config, load_config
from mcls.experiments.plan import Plan

from .small import make_experiment

ONE = {"datasets": ["iris:sample=60"], "machines": ["oneLSM"], "replicates": 2}


def rows(experiment):
    return list(csv.DictReader(io.StringIO((experiment.folder / "summary.csv").read_text())))


def test_keys_change_only_where_another_metric_chooses(tmp_path):
    def keys(**changes):
        return [cell.key for cell in make_experiment(tmp_path, **{**ONE, **changes}).plan.cells]

    assert keys() == keys(metric="error") == keys(metric=["error", "auc", "log-loss"])
    assert keys() != keys(metric="balanced-error")
    assert keys(metric="balanced-error") == keys(metric=["Balanced-Error", "error"])


def test_a_cell_that_lacks_a_metric_is_computed_again_and_an_old_one_stays_valid(tmp_path):
    assert make_experiment(tmp_path, **ONE).run().computed == 2
    more = make_experiment(tmp_path, **ONE, metric=["error", "log-loss", "balanced-error"])
    assert more.summary()[0].done == 0
    assert more.run().computed == 2
    (row,) = rows(more)
    assert 0 < float(row["log-loss"]) < 1
    assert 0 < float(row["balanced-error"]) < 20  # percent
    assert row["balanced-error_std"]
    page = (more.folder / "summary.md").read_text()
    assert "`balanced-error`: mean over the classes of the error of their rows in percent" in page
    assert "| log-loss |" in page
    again = Plan.read(more.folder / "plan.json")
    assert [cell.key for cell in again.cells] == [cell.key for cell in more.plan.cells]
    assert again.cells[0].metrics == ("error", "log-loss", "balanced-error")
    assert make_experiment(tmp_path, **ONE).run().computed == 0


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
