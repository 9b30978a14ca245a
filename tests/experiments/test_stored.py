"""Comparing the machines of any experiment from its store, against the tests themselves."""

from pathlib import Path

import numpy as np
import pytest

import mcls
from mcls.errors import McLsError
from mcls.experiments.experiment import Experiment
from mcls.experiments.layout import plan
from mcls.experiments.loading import config_from
from mcls.experiments.plan import Plan
from mcls.experiments.store import Store
from mcls.experiments.stored import compare_stored, stored_tables
from mcls.packing import unpack


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    values = {
        "name": "mine",
        "datasets": ["iris", "wine"],
        "machines": ["oneLSM", "ovO", "sk:GaussianNB"],
        "protocol": "nested-folds",
        "metric": ["error", "macro-f1"],
        "folds": 4,
        "replicates": 2,
        "grid": {"gamma": [0.1, 1.0], "sigma": [0.5, 2.0]},
    }
    out = tmp_path_factory.mktemp("stored")
    config = config_from(values, "mine")
    experiment = Experiment(config, Path(), out, plan(config))
    assert experiment.run(jobs=1).ok
    return experiment.folder


def test_every_test_is_that_of_the_folds(folder):
    found = compare_stored(folder, ["oneLSM", "sk:GaussianNB"], rope=0.02, permutations=50)
    pair = found.pairs[0]
    planned = Plan.read(folder / "plan.json")
    store = Store(folder / "cells")
    rows = {row.machine: row for row in planned.rows if row.dataset == "iris"}
    errors = {
        name: np.concatenate([store.result(cell)["result"]["fold_errors"] for cell in row.cells])
        for name, row in rows.items()
    }
    a, b = errors["oneLSM"], errors["sk:GaussianNB"]
    tests = mcls.statistics
    assert pair.corrected == tests.corrected_ttest(a, b, 0.25)
    assert pair.posterior == tests.bayesian_ttest(a, b, 0.25, 0.02)
    first = [unpack(store.result(rows[name].cells[0])["result"]["predictions"]) for name in rows if name != "ovO"]
    assert pair.permutation == tests.paired_permutation_test(planned.datasets["iris"].y, *first, 50)
    assert pair.value_a == pytest.approx(a.mean())
    assert found.ranks is None


def test_many_machines_and_other_metrics(folder):
    found = compare_stored(folder, metric="macro-f1")
    assert len(found.pairs) == 6
    assert found.ranks.n_datasets == 2
    assert np.array_equal(found.holm, mcls.statistics.pairwise_wilcoxon(-found.table))
    pairs, over = stored_tables(found, 0.05)
    assert len(pairs[2]) == 6
    assert over[1][-1] == "p(Wilcoxon, Holm)"


@pytest.mark.parametrize(
    "machines, settings, message",
    [
        (["oneLSM", "ovX"], {}, "ovO"),
        (["oneLSM", "oneLSM"], {}, "two different machines"),
        ([], {"metric": "kappa"}, "add it to the experiment's 'metric:'"),
        ([], {"metric": "kapa"}, "kappa"),
        ([], {"rope": -1.0}, "practical equivalence"),
    ],
)
def test_what_cannot_be_compared_is_refused(folder, machines, settings, message):
    with pytest.raises(McLsError, match=message):
        compare_stored(folder, machines, **settings)


def test_a_folder_without_a_plan_is_refused(tmp_path):
    with pytest.raises(McLsError, match="holds no plan"):
        compare_stored(tmp_path)


def test_halves_of_5x2cv_have_the_f_test(tmp_path):
    values = {
        "name": "halves",
        "datasets": ["iris"],
        "machines": ["oneLSM", "ovO"],
        "protocol": "5x2cv",
        "inner_folds": 3,
        "grid": {"gamma": [0.1, 1.0], "sigma": [0.5, 2.0]},
    }
    config = config_from(values, "halves")
    experiment = Experiment(config, Path(), tmp_path, plan(config))
    assert experiment.run(jobs=1).ok
    found = compare_stored(experiment.folder)
    store = Store(experiment.folder / "cells")
    rows = Plan.read(experiment.folder / "plan.json").rows
    errors = [[store.result(cell)["result"]["errors"] for cell in row.cells] for row in rows]
    assert np.shape(errors) == (2, 5, 2)
    expected = mcls.statistics.ftest_5x2cv(*errors, 150)
    assert found.pairs[0].ftest == expected
    ((_, columns, (row, *_)), *_) = stored_tables(found, 0.05)
    assert row[columns.index("p(5x2cv F)")] in ("identical", "undefined", f"{expected.p:.4g}")


def test_other_splits_have_no_f_test(folder):
    found = compare_stored(folder)
    assert all(pair.ftest is None for pair in found.pairs)
    assert "p(5x2cv F)" not in stored_tables(found, 0.05)[0][1]
