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
from mcls.experiments.stored import compare_stored, share_tested, stored_tables
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
    pairs, over = stored_tables(found)
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
    ((_, columns, (row, *_)), *_) = stored_tables(found)
    assert row[columns.index("p(5x2cv F)")] in ("identical", "undefined", f"{expected.p:.4g}")


def test_other_splits_have_no_f_test(folder):
    found = compare_stored(folder)
    assert all(pair.ftest is None for pair in found.pairs)
    assert "p(5x2cv F)" not in stored_tables(found)[0][1]


def experiment(out, **changes):
    values = {
        "name": "small",
        "datasets": ["iris:sample=60"],
        "machines": ["oneLSM", "sk:GaussianNB"],
        "folds": 4,
        "replicates": 2,
        "grid": {"gamma": [0.1, 1.0], "sigma": [0.5, 2.0]},
        **changes,
    }
    config = config_from({name: value for name, value in values.items() if value is not None}, "small")
    made = Experiment(config, Path(), out, plan(config))
    assert made.run(jobs=1).ok
    return made


def test_a_published_search_is_compared_on_its_folds(tmp_path):
    made = experiment(tmp_path)
    pair = compare_stored(made.folder).pairs[0]
    errors = []
    for row in made.plan.rows:
        results = [made.store.result(cell)["result"] for cell in row.cells]
        grids = [(unpack(r["grid"]["fold_mistakes"]), r["grid"]["fold_sizes"]) for r in results]
        errors.append(np.concatenate([of[of.sum(axis=1).argmin()] / sizes for of, sizes in grids]))
    assert pair.corrected == mcls.statistics.corrected_ttest(*errors, 1 / 4)


@pytest.mark.parametrize(
    "changes, share",
    [
        ({"folds": 40, "protocol": "nested", "inner_folds": 3}, 1 / 23),  # no class has more rows
        ({"protocol": "nested-folds", "repeats": 3, "replicates": 1}, 1 / 4),
        ({"repeats": 3, "replicates": 1}, 1 / 4),
        ({"protocol": "half-split", "folds": None}, 31 / 60),
    ],
)
def test_the_share_of_the_rows_that_is_tested_is_that_of_the_splits(tmp_path, changes, share):
    made = experiment(tmp_path, **changes)
    cell = made.plan.rows[0].cells[0]
    assert share_tested(cell, made.store.result(cell)["result"]) == pytest.approx(share)


def test_a_metric_that_counts_no_rows_needs_no_half_row_of_difference(tmp_path):
    made = experiment(tmp_path, protocol="5x2cv", metric=["error", "log-loss"], folds=None, replicates=None)
    for row, shift in zip(made.plan.rows, (0.0, 1e-3)):
        for i, cell in enumerate(row.cells):
            record = made.store.result(cell)
            record["result"]["split_metrics"]["log-loss"] = [0.5 + shift + 1e-4 * i * shift, 0.5 + shift / 2]
            made.store.write(record)
    pair = compare_stored(made.folder, metric="log-loss").pairs[0]
    assert not pair.ftest.undefined


def test_machines_are_named_as_in_the_config(folder, tmp_path):
    made = experiment(tmp_path, machines=["oneLSM", "oneLSM:gamma=1", "ovO"])
    assert compare_stored(made.folder, ["oneLSM", "ovO"]).machines == ["oneLSM:labelbook=indicators", "ovO"]
    with_option = compare_stored(made.folder, ["oneLSM:gamma=1", "ovO"]).machines
    assert with_option == ["oneLSM:labelbook=indicators,gamma=1", "ovO"]


def test_what_is_missing_is_counted_and_not_claimed(tmp_path):
    made = experiment(tmp_path, datasets=["iris:sample=60", "wine:sample=60", "glass:sample=60"])
    made.store.path(made.plan.rows[1].cells[0].key).unlink()
    found = compare_stored(made.folder)
    assert (found.left_out, found.complete) == (1, 2)
    assert stored_tables(found)[1][0] == "errors in percent, over 2 data sets"


def test_an_interval_says_the_level_that_it_reaches(folder):
    found = compare_stored(folder)
    _, over = stored_tables(found)
    assert over[2][0][3].endswith(" (50 %)")  # of two data sets
    pairs, over = stored_tables(found, as_csv=True)
    assert [float(row[over[1].index("level")]) for row in over[2]] == [0.5] * 3
    assert all(float(row[pairs[1].index("low")]) <= float(row[pairs[1].index("high")]) for row in pairs[2])


def test_the_sign_of_what_is_better_larger_is_told(folder):
    titles = [title for title, _, _ in stored_tables(compare_stored(folder, metric="macro-f1"))]
    assert all(title.endswith("a difference below zero speaks for A") for title in titles)


def test_splits_that_are_the_same_in_every_replicate_count_once(tmp_path):
    machines = ["oneLSM:sigma=1", "ovO:sigma=1"]
    settings = {"machines": machines, "folds": "loo", "grid": {"gamma": [1.0]}}
    once = experiment(tmp_path / "once", replicates=1, **settings)
    twice = experiment(tmp_path / "twice", replicates=2, **settings)
    repeated = experiment(tmp_path / "repeated", replicates=1, repeats=2, **settings)
    first = compare_stored(once.folder).pairs[0].corrected
    assert len(once.plan.cells) < len(twice.plan.cells)
    for made in (twice, repeated):
        found = compare_stored(made.folder).pairs[0].corrected
        assert (found.p, found.low) == pytest.approx((first.p, first.low))


def test_a_metric_that_tables_show_in_percent_is_in_percent(tmp_path):
    made = experiment(tmp_path, metric=["error", "balanced-error"])
    found = compare_stored(made.folder, metric="balanced-error")
    title, columns, rows = stored_tables(found)[0]
    assert title == "balanced-error in percent, every pair on every data set"
    assert float(rows[0][columns.index("mean A")]) == pytest.approx(100 * found.pairs[0].value_a, abs=0.005)
