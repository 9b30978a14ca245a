"""Metrics, probabilities, sets, weights and groups on the command line, and what is refused in one line."""

from __future__ import annotations

import csv
import io
import json
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import balanced_accuracy_score, log_loss

import mcls
from mcls.cli.app import main
from mcls.data.formats import ColumnRules
from mcls.models.fitting import fit_table

CLASSES = ("a", "b", "c")


def call(capsys, *args):
    with pytest.raises(SystemExit) as ended:
        main([str(arg) for arg in args])
    out, err = capsys.readouterr()
    assert ended.value.code in (0, None), err
    return out


def refused(capsys, told, *args):
    with pytest.raises(SystemExit) as ended:
        main([str(arg) for arg in args])
    err = capsys.readouterr().err
    assert ended.value.code == 2
    assert told in err
    assert len([line for line in err.splitlines() if not line.startswith("note:")]) == 1


def write_table(path, seed, n=90):
    rng = np.random.default_rng(seed)
    lines = ["x,z,who,count,none,kind"]
    for i in range(n):
        x, z = rng.normal(size=2) + 1.5 * np.eye(3)[i % 3][:2]
        lines.append(f"{x:.5f},{z:.5f},g{i // 3 % 5},{1 + i % 2},0,{CLASSES[i % 3]}")
    path.write_text("\n".join(lines) + "\n")
    return path


GRID = ("--grid", "gamma=0.1+1,sigma=0.5+1", "--folds", 3)
DROP = ("--drop", "who", "--drop", "count", "--drop", "none")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A training table, a test table and a model with probabilities."""
    folder = tmp_path_factory.mktemp("made")
    train, test = write_table(folder / "train.csv", 0), write_table(folder / "test.csv", 1)
    with pytest.raises(SystemExit):
        main([str(a) for a in ("fit", train, "-o", folder / "m.mcls", *GRID, *DROP, "--test", test)])
    return train, test, folder / "m.mcls"


def test_probabilities_and_sets_of_a_table(made, capsys):
    _, test, model = made
    rows = list(csv.DictReader(io.StringIO(call(capsys, "predict", model, test, "--proba", "--coverage", "0.8"))))
    P = np.array([[float(row[f"probability {name}"]) for name in CLASSES] for row in rows])
    assert P.sum(axis=1) == pytest.approx(1)
    assert [CLASSES[j] for j in P.argmax(axis=1)] == [row["prediction"] for row in rows]
    sets = [row["classes at 0.8"].split(" | ") for row in rows]
    assert all(names[0] == row["prediction"] for names, row in zip(sets, rows))
    assert np.mean([row["kind"] in names for names, row in zip(sets, rows)]) > 0.7
    loaded = mcls.load(model)
    table = {name: [row[name] for row in rows] for name in rows[0]}
    assert loaded.predict_proba(table) == pytest.approx(P, abs=1e-12)
    assert [list(names) for names in loaded.predict_set(table, 0.8)] == sets


def test_evaluate_prints_every_metric_and_draws_what_the_probabilities_are_worth(made, capsys, tmp_path):
    _, test, model = made
    out = call(capsys, "evaluate", model, test, "--picture", tmp_path / "all.png")
    rows = list(csv.DictReader(io.StringIO(call(capsys, "predict", model, test, "--proba"))))
    y, predicted = [row["kind"] for row in rows], [row["prediction"] for row in rows]
    P = np.array([[float(row[f"probability {name}"]) for name in CLASSES] for row in rows])
    assert f"balanced-error {100 * (1 - balanced_accuracy_score(y, predicted)):.2f} %" in out
    assert f"log-loss {log_loss(y, P):.4f}" in out
    for name in ("macro-f1", "kappa", "brier", "auc", "top2-error"):
        assert f"{name} " in out
    assert "reliability and ROC curves drawn" in out
    assert (tmp_path / "all.png").read_bytes().startswith(b"\x89PNG")


def test_a_test_table_is_judged_as_evaluate_judges_it(made, capsys, tmp_path):
    train, test, _ = made
    piped = (
        tmp_path / "piped.csv"
    )  # a delimiter that is not looked for: what is said of the table holds for the test
    piped.write_text(train.read_text().replace(",", "|"))
    fit = ("fit", piped, "-o", tmp_path / "p.mcls", *GRID, *DROP, "--delimiter", "pipe", "--force")
    other = tmp_path / "other.csv"
    other.write_text(test.read_text().replace(",", "|"))
    told = json.loads(call(capsys, *fit, "--test", other, "--json"))["test"]
    judged = json.loads(call(capsys, "evaluate", tmp_path / "p.mcls", other, "--delimiter", "pipe", "--json"))
    assert {"schema": judged["schema"], **told} == judged
    assert not told["training_table"]
    assert "the model was fitted to these very rows" in call(capsys, *fit, "--test", piped)
    pd.read_csv(test).to_parquet(tmp_path / "other.parquet")  # which has no delimiter
    again = json.loads(call(capsys, *fit, "--test", tmp_path / "other.parquet", "--json"))["test"]
    assert again == {**told, "table": "other.parquet"}
    (tmp_path / "other.xls").write_bytes(b"\xd0\xcf\x11\xe0" + bytes(500))
    args = (*fit[:3], tmp_path / "never.mcls", *fit[4:], "--test", tmp_path / "other.xls")
    refused(capsys, "is a workbook", *args)
    assert not (tmp_path / "never.mcls").exists()  # refused before the search


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize(("lacks", "told"), [("kind", "no class column 'kind'"), ("z", "column 'z' is missing")])
def test_a_test_table_that_lacks_a_column_is_refused_before_the_search(
    lacks, told, large, made, capsys, tmp_path, monkeypatch
):
    train, test, _ = made
    pd.read_csv(test).drop(columns=lacks).to_csv(tmp_path / "less.csv", index=False)
    monkeypatch.setattr("mcls.models.fitting.select", None)
    monkeypatch.setattr("mcls.models.large._Fit.worth", None)
    options = ["--target", "kind", "-o", tmp_path / "never.mcls", *DROP, "--machine", "oneLSM"]
    options += ["--memory", "1GB"] * large
    refused(capsys, told, "fit", train, *options, "--test", tmp_path / "less.csv")
    assert not (tmp_path / "never.mcls").exists()


def test_fit_prints_the_error_of_a_test_table_and_the_metric_that_chose(made, capsys, tmp_path):
    train, test, model = made
    options = ("-o", tmp_path / "n.mcls", *GRID, *DROP, "--metric", "log-loss,auc", "--test", test)
    out = call(capsys, "fit", train, *options)
    assert "chosen by log-loss; cross-validated: log-loss 0." in out
    assert re.search(r"; nested: log-loss \d\.\d{4}, auc 0\.\d{4}\n", out)
    assert f"{test.name}: error " in out
    plain = tmp_path / "plain.mcls"
    call(capsys, "fit", train, "-o", plain, *GRID, *DROP, "--no-probabilities")
    assert not mcls.load(plain).has_probabilities
    refused(capsys, "has no probabilities; fit", "predict", plain, test, "--proba")
    refused(capsys, "has no probabilities", "predict", plain, test, "--coverage", "0.9")
    for coverage in ("0", "1", "90", "nan"):
        refused(capsys, "between 0 and 1", "predict", model, test, "--coverage", coverage)


def test_a_model_decides_by_the_least_expected_cost(made, capsys, tmp_path):
    train, test, _ = made
    costs = tmp_path / "costs.csv"
    costs.write_text("a,b,c\n0,1,1\n1,0,1\n20,20,0\n")
    model = tmp_path / "costly.mcls"
    call(capsys, "fit", train, "-o", model, *GRID, *DROP, "--metric", "cost", "--costs", costs)
    rows = list(csv.DictReader(io.StringIO(call(capsys, "predict", model, test, "--proba"))))
    P = np.array([[float(row[f"probability {name}"]) for name in CLASSES] for row in rows])
    matrix = np.array([[0, 1, 1], [1, 0, 1], [20, 20, 0]])
    assert [CLASSES[j] for j in (P @ matrix).argmin(axis=1)] == [row["prediction"] for row in rows]
    assert np.mean([row["prediction"] == "c" for row in rows]) > 0.6


def test_weights_count_as_repeated_rows_and_groups_stay_whole(made, tmp_path):
    train = made[0]
    head, *lines = train.read_text().splitlines()
    twice = tmp_path / "twice.csv"
    twice.write_text("\n".join([head, *(line for line in lines for _ in range(int(line.split(",")[3])))]) + "\n")
    point = {"gamma": [0.1], "sigma": [1.0]}
    weighed = fit_table(train, -1, grid=point, rules=ColumnRules(["who", "none"]), weight="count", folds=3)
    repeated = fit_table(twice, -1, grid=point, rules=ColumnRules(["who", "none", "count"]), folds=3)
    X = np.random.default_rng(0).normal(size=(20, 2))
    assert weighed.model.class_scores(X) == pytest.approx(repeated.model.class_scores(X), abs=1e-6)
    grouped = fit_table(train, -1, grid=point, rules=ColumnRules(["none", "count"]), group="who", folds="logo")
    assert grouped.selection.folds == 5
    assert (grouped.model.facts.group, weighed.model.facts.weight) == ("who", "count")
    balanced = fit_table(
        train, -1, grid=point, rules=ColumnRules(["who", "none", "count"]), class_weight="balanced"
    )
    assert balanced.model.estimator.class_weight == "balanced"


def test_bad_input_is_refused_in_one_line(made, capsys, tmp_path):
    train = made[0]
    head, *lines = train.read_text().splitlines()
    bad = tmp_path / "bad.csv"
    bad.write_text("\n".join([f"minus,one,{head}", *(f"-1,1,{line}" for line in lines)]) + "\n")
    (tmp_path / "short.csv").write_text("0,1,2,3,4\n1,0,2,3,4\n")
    (tmp_path / "words.csv").write_text("0,1,2\n1,0,much\n1,1,0\n")
    fit = ("fit", bad, "-o", tmp_path / "m.mcls", *GRID)
    for told, *options in [
        ("got -1", "--weight", "minus"),
        ("every sample_weight is zero", "--weight", "none"),
        ("must hold weights, which are numbers", "--weight", "who"),
        ("holds one group only", "--group", "one"),
        ("did you mean 'who'?", "--group", "whom"),
        ("name the column of the groups", "--folds", "logo"),
        ("did you mean 'balanced-error'?", "--metric", "balanced-eror"),
        ("needs a cost matrix", "--metric", "cost"),
        ("which is not asked for", "--costs", tmp_path / "short.csv"),
        ("a cost matrix of 3 classes has 3 rows", "--metric", "cost", "--costs", tmp_path / "short.csv"),
        ("a cost must be a finite number", "--metric", "cost", "--costs", tmp_path / "words.csv"),
        ("no weights", "--machine", "perceptron", "--class-weight", "balanced"),
        ("class_weight", "--class-weight", "equal"),
        ("nowhere.csv", "--test", "nowhere.csv"),
    ]:
        refused(capsys, told, *fit, *options)
    assert not (tmp_path / "m.mcls").exists()
