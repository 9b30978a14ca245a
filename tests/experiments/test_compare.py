"""Comparisons from stored cells: the tests see the same splits for every machine."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mcls.data import load_dataset
from mcls.evaluation.metrics import get_metric
from mcls.evaluation.statistics import (
    McNemarResult,
    TestResult,
    average_ranks,
    friedman,
    ftest_5x2cv,
    mcnemar,
    ttest_5x2cv,
)
from mcls.experiments import compare
from mcls.packing import unpack

MACHINES = ["oneLSM:sigma=1", "OVA:sigma=1", "oneLSM:kernel=linear"]


@pytest.fixture(scope="module")
def experiment(tmp_path_factory):
    made = compare.comparison(
        MACHINES, ["iris:sample=90", "wine:sample=90"], 0, "fast", tmp_path_factory.mktemp("o")
    )
    assert made.run().computed == 30
    return made


def test_machines_that_are_one_are_identical(experiment):
    pair = experiment.pairs()[0]
    assert (pair.a, pair.b) == ("oneLSM:sigma=1", "ovA:sigma=1")
    for test in ("f", "t", "mcnemar"):
        assert getattr(pair, test).p == 1.0
        assert pair.verdict(test, 0.05) == "identical"


def test_statistics_are_those_of_the_cells(experiment):
    pair = experiment.pairs()[1]
    results = [[experiment.store.result(c)["result"] for c in experiment.plan.rows[i].cells] for i in (0, 2)]
    errors = [[r["errors"] for r in of] for of in results]
    assert pair.f == ftest_5x2cv(*errors, 90)
    assert pair.t == ttest_5x2cv(*errors, 90)
    y = load_dataset("iris", sample=90).y
    assert pair.mcnemar == mcnemar(y, *(unpack(of[0]["predictions"]) for of in results))
    assert pair.value_a == pytest.approx(100 * np.mean(errors[0]))


def test_verdicts():
    pair = compare.Pair("d", "a", "b", 1.0, 2.0, TestResult(9.0, 0.01), TestResult(0.1, 0.9), None)
    assert pair.verdict("f", 0.05) == "a better"
    assert replace(pair, value_a=3.0).verdict("f", 0.05) == "b better"
    assert pair.verdict("f", 0.001) == pair.verdict("t", 0.05) == "not significant"
    assert pair.verdict("mcnemar", 0.05) == "not complete"


def test_a_verdict_follows_the_differences_that_its_test_looked_at():
    means_for_a = compare.Pair(
        "d",
        "a",
        "b",
        value_a=1.0,
        value_b=2.0,
        f=TestResult(9.0, 0.01),
        t=TestResult(4.0, 0.01),
        mcnemar=McNemarResult(0.0, 0.03, False, only_a_wrong=6, only_b_wrong=0),
    )
    assert means_for_a.verdict("f", 0.05) == "a better"
    assert means_for_a.verdict("t", 0.05) == means_for_a.verdict("mcnemar", 0.05) == "b better"
    equal = replace(means_for_a, value_b=1.0 + 1e-15)
    assert equal.verdict("f", 0.05) == "they differ, equal on average"
    # McNemar's test sees one replication: machines that agree there are not the same for that.
    agree = replace(means_for_a, mcnemar=McNemarResult(0.0, 1.0, True))
    assert agree.verdict("mcnemar", 0.05) == "not significant"


def test_an_undefined_test_says_why_and_has_no_figures():
    undefined = ftest_5x2cv(np.full((5, 2), 0.1), np.full((5, 2), 0.2))
    pair = compare.Pair("d", "a", "b", 1.0, 2.0, undefined, undefined, McNemarResult(0.0, 1.0))
    for test in ("f", "t"):
        assert pair.verdict(test, 0.05) == f"undefined: {undefined.undefined}"
        assert pair.figures(test, ".3f") == ["", ""]
    assert pair.verdict("mcnemar", 0.05) == "not significant"


def test_one_order_everywhere_has_an_exact_p():
    words = compare.ranking_words(["a", "b", "c"], friedman([[1.0, 2.0, 3.0], [2.0, 3.0, 9.0]]))
    assert "chi2 = 4.000, p = 0.1353; the same order on all of them has p = 0.1667, exactly" in words[0]
    assert "inf" not in words[0]


def test_ranking_over_data_sets(experiment):
    names, errors = experiment.values()
    assert names == ["iris:sample=90", "wine:sample=90"]
    result = compare.ranking(errors, 0.05)
    assert result.ranks == tuple(average_ranks(errors))
    assert result.ranks[0] == result.ranks[1]
    assert compare.ranking(errors[:1], 0.05) is None


def test_missing_cells_give_no_verdict(experiment):
    path = experiment.store.path(experiment.plan.rows[0].cells[0].key)
    content = path.read_bytes()
    path.unlink()
    try:
        pair = experiment.pairs()[0]
        assert pair.f is None
        assert pair.value_a is None
        assert pair.verdict("f", 0.05) == "not complete"
        assert np.isnan(experiment.values()[1]).any()
    finally:
        path.write_bytes(content)


@pytest.mark.parametrize("metric", ["log-loss", "macro-f1"])
def test_another_metric_chooses_and_is_tested(tmp_path, metric):
    machines = ["oneLSM:sigma=0.5+2,gamma=0.1", "oneLSM:kernel=linear,gamma=0.1"]
    made = compare.comparison(machines, ["wine:sample=60"], 0, "fast", tmp_path, metric=metric)
    assert made.run().computed == 10
    (pair,) = made.pairs()
    of = [[made.store.result(c)["result"] for c in row.cells] for row in made.plan.rows]
    values = [np.array([r["split_metrics"][metric] for r in results]) for results in of]
    sign = -1 if metric == "macro-f1" else 1  # a difference is one of losses
    assert pair.f == ftest_5x2cv(sign * values[0], sign * values[1])
    assert pair.t == ttest_5x2cv(sign * values[0], sign * values[1])
    assert (pair.value_a, pair.value_b) == tuple(float(v.mean()) for v in values)
    better = replace(pair, f=TestResult(9.0, 0.01)).verdict("f", 0.05)
    assert better == f"{pair.a if sign * (values[0] - values[1]).mean() < 0 else pair.b} better"
    head = (made.folder / "summary.csv").read_text().splitlines()[0]
    assert f"{metric.replace('-', '_')}_a" in head
    plain = compare.comparison(machines, ["wine:sample=60"], 0, "fast", tmp_path)
    assert plain.folder != made.folder
    assert plain.plan.rows[0].cells[0].key != made.plan.rows[0].cells[0].key


def test_a_metric_that_a_half_leaves_undefined_has_no_test(experiment):
    records = [experiment.store.result(c) for c in experiment.plan.rows[0].cells]
    for record in records:
        record["result"]["split_metrics"] = {"auc": [0.9, None]}
    y = load_dataset("iris", sample=90).y
    pair = compare._pair("iris", "a", "b", y, records, records, get_metric("auc"))
    assert pair.verdict("f", 0.05) == "undefined: auc is not defined on some half"
    assert pair.figures("t", ".3f") == ["", ""]
