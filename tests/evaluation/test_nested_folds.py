"""Nested folds, label by label against refitting, and the choice inside each fold against plain loops."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from mcls import TableClassifier, select
from mcls.data import load_dataset
from mcls.errors import McLsError
from mcls.evaluation import protocols
from mcls.evaluation.folds import make_folds, stratified_folds
from mcls.evaluation.grid import search
from mcls.evaluation.metrics import get_metric, read_metrics
from mcls.evaluation.protocols import NestedFolds, nested_fold_outcomes, partitions_of
from mcls.evaluation.protocols.nested_folds import search_with_nested
from mcls.evaluation.scaling import to_range
from mcls.evaluation.task import Task
from mcls.machines.lsm import OneLSM
from mcls.machines.registry import MACHINES
from mcls.packing import unpack
from mcls.seeds import derive
from mcls.solvers import inverse, spectrum
from tests.evaluation.by_hand import GRID

# Every machine whose sweep is more than one fit per fold and point, bias or not.
SHORTCUTS = [
    *(("oneLSM", {}), ("ovA", {}), ("ovO", {}), ("voLSSVM", {}), ("voLSSVM", {"labelbook": "alignment"})),
    *(("voLSSVM", {"labelbook": "alignment", "bias": True}), ("rlsc", {}), ("lssvm", {})),
    *(("olc-rlsc", {}), ("olc-lssvm", {}), ("oneLSM", {"labelbook": "fisher"})),
]
POWERS = [2.0**p for p in range(-4, 5)]


def load(name, step=1):
    data = load_dataset(name)
    return to_range(data.X)[::step], data.y[::step]


def labels_that_differ(machine, options, X, y, values, sigmas, k=10, weights=None):
    """How many labels of any outer fold, inner fold and grid point a refit contradicts, and how many there are."""
    estimator = MACHINES[machine].create(**options)
    strength = "lambda1" if "lambda1" in estimator.get_params() else "gamma"
    grid = {strength: values, "sigma": sigmas, **({"lambda2": [0.5]} if machine.startswith("olc") else {})}
    nested = NestedFolds.of([stratified_folds(y, k, seed=5)], len(y))
    fast, refit = (
        search(estimator, X, y, grid, nested.folds, engine=engine, weights=weights) for engine in ("fast", "refit")
    )
    pairs = list(zip(fast.fold_predictions, refit.fold_predictions, strict=True))
    assert len(pairs) == k * k
    return sum(int((a != b).sum()) for a, b in pairs), sum(a.size for a, _ in pairs)


@pytest.mark.parametrize("machine, options", SHORTCUTS, ids=str)
def test_every_label_equals_brute_force(machine, options):
    X, y = load("glass", 2)
    assert labels_that_differ(machine, options, X, y, [2.0**-4, 16.0], [2.0**-4, 0.5, 16.0], k=4)[0] == 0


def test_every_label_equals_brute_force_where_the_kernel_has_blocks_or_a_low_rank():
    X, y = load("vowel")  # 528 or 990 rows: narrow kernels fall into blocks, wide ones have a low rank
    X = np.concatenate([X, X[:200] + 1e-3])
    y = np.concatenate([y, y[:200]])
    assert labels_that_differ("oneLSM", {}, X, y, [2.0**-2], [2.0**-5, 16.0], k=3)[0] == 0


@pytest.mark.parametrize("machine", ["oneLSM", "ovA"])
def test_every_label_equals_brute_force_where_each_strength_has_a_factor(machine, monkeypatch):
    monkeypatch.setattr(inverse, "FROM_ROWS", 50)
    monkeypatch.setattr(spectrum.Spectrum, "of", None)  # nothing is decomposed
    X, y = load("glass", 2)
    X[:3] += 50.0  # far from all others: their scores are tiny
    assert labels_that_differ(machine, {}, X, y, [2.0**-4, 16.0], [2.0**-4, 0.5, 8.0], k=4)[0] == 0


def test_weights_count_in_every_fold():
    X, y = load("glass", 2)
    w = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    assert labels_that_differ("oneLSM", {}, X, y, [0.25], [0.25, 2.0], k=4, weights=w)[0] == 0


@pytest.mark.full
@pytest.mark.parametrize("name", ["iris", "wine", "glass", "vowel"])
@pytest.mark.parametrize("machine, options", SHORTCUTS, ids=str)
def test_every_label_equals_brute_force_on_the_papers_grid(name, machine, options):
    assert labels_that_differ(machine, options, *load(name), POWERS, POWERS)[0] == 0


@pytest.mark.full
@pytest.mark.parametrize("machine", ["oneLSM", "voLSSVM", "ovO"])
def test_every_label_equals_brute_force_on_yeast(machine):
    some = [2.0**-4, 1.0, 2.0**4]
    assert labels_that_differ(machine, {}, *load("yeast"), some, some)[0] == 0


# The choice and the judgement -------------------------------------------------------------------------------------


@pytest.mark.parametrize("scaling", ["dataset", "fold"])
def test_each_fold_is_judged_at_the_point_that_the_others_choose(task, scaling):
    task = replace(task, scaling=scaling)
    result = protocols.nested_folds(task, seed=3, folds=5)
    folds = stratified_folds(task.y, 5, 3)
    for i, (train, test) in enumerate(folds):
        inner = [(np.setdiff1d(train, other), other) for j, (_, other) in enumerate(folds) if j != i]
        found = replace(task, engine="refit").search(task.scaled(), inner)
        assert result["chosen"][i] == found.best_point
        assert result["inner_errors"][i] == pytest.approx(found.best_error)
        judged = replace(task, engine="refit").search(task.scaled(), [(train, test)], at=found.best_point)
        assert result["fold_errors"][i] == pytest.approx(judged.best_error)
        assert np.array_equal(unpack(result["predictions"])[test], judged.fold_predictions[0][0])
    assert result["error"] == pytest.approx(np.mean(result["fold_errors"]))


def test_repetitions_are_what_each_gives_alone(task):
    partitions = [make_folds(task.y, 5, seed) for seed in (1, 2, 3)]
    together = nested_fold_outcomes(task, partitions)
    for alone, part in zip(partitions, together, strict=True):
        (expected,) = nested_fold_outcomes(task, [alone])
        assert [(o.error, o.point) for o in part] == [(o.error, o.point) for o in expected]
    assert [len(p) for p in partitions_of([f for p in partitions for f in p])] == [5, 5, 5]
    result = protocols.nested_folds(task, seed=3, folds=5, repeats=3)
    assert len(result["errors"]) == 3
    assert result["error"] == pytest.approx(np.mean(result["errors"]))
    assert result["errors"][0] == pytest.approx(protocols.nested_folds(task, seed=3, folds=5)["error"])


def test_published_repeats_too(task):
    result = protocols.published(task, seed=3, folds=5, repeats=3)
    assert len(result["grid"]["fold_sizes"]) == 15
    assert (unpack(result["predictions"]) >= 0).all()


def test_any_metric_chooses_inside_and_is_judged_outside(task):
    task = replace(task, metrics=(get_metric("log-loss"), get_metric("error")))
    result = protocols.nested_folds(task, seed=3, folds=4)
    folds = stratified_folds(task.y, 4, 3)
    for i, (train, test) in enumerate(folds):
        inner = [(np.setdiff1d(train, other), other) for j, (_, other) in enumerate(folds) if j != i]
        found = task.search(task.scaled(), inner)
        assert result["chosen"][i] == found.best_point
        outside = task.search(
            task.scaled(), [(train, test), *inner], at=found.best_point, calibrators={0: range(1, 4)}
        )
        assert result["split_metrics"]["log-loss"][i] == pytest.approx(outside.best_values["log-loss"])


@pytest.mark.parametrize("folds", [2, "loo"])
def test_too_few_or_too_many_folds_are_refused(folds):
    y = np.repeat([0, 1], 60)
    task = Task(OneLSM(), np.zeros((120, 1)), y, grid=GRID)
    with pytest.raises(McLsError, match=r"at least 3|at most 100"):
        protocols.nested_folds(task, seed=0, folds=folds)


@pytest.mark.parametrize("metric", ["error", "log-loss"])
def test_one_search_gives_the_flat_and_the_nested_result(metric):
    X, y = load("iris")
    grid = {"gamma": [0.01, 1.0], "sigma": [0.5, 2.0]}
    task = Task(OneLSM(), X, y, grid, "none", metrics=read_metrics(metric))
    folds = make_folds(y, 5, seed=1)
    nested = NestedFolds.of([folds], len(y))
    flat, part = search_with_nested(task, X, folds, nested, keep_scores=True)
    alone = task.search(X, folds, keep_scores=True)
    assert flat.best == alone.best
    for name, values in alone.fold_values.items():
        np.testing.assert_allclose(flat.fold_values[name], values, rtol=1e-9)
    for here, there in zip(flat.scores[flat.best], alone.scores[alone.best], strict=True):
        np.testing.assert_allclose(here, there, atol=1e-10)
    ((*outcomes,),) = nested.outcomes(part, task)
    ((*wanted,),) = nested_fold_outcomes(task, [folds], keep_scores=True)
    for outcome, want, (train, _) in zip(outcomes, wanted, folds, strict=True):
        assert outcome.point == want.point
        assert (outcome.predictions == want.predictions).all()
        assert outcome.inside.scores == pytest.approx(want.inside.scores, abs=1e-9)
        assert sorted(outcome.inside.rows) == sorted(train)
        # The scores that calibrate a fold come from machines that have not seen it.
        inner = [test for _, test in folds if test is not outcome.test]
        rest = np.setdiff1d(train, inner[0])
        fitted = OneLSM(**outcome.point).fit(X[rest], y[rest])
        of_first = outcome.inside.inner_scores[outcome.inside.folds == 0]
        assert of_first == pytest.approx(fitted.decision_function(X[inner[0]]), abs=1e-8)


TABLE_GRID = {"gamma": [0.01, 1.0], "sigma": [0.3, 1.0, 3.0]}
RULES = {"missing": "impute", "groups": None, "grid": TABLE_GRID, "ordinal": ["size=S<M<L"]}


@pytest.fixture
def frame():
    rng = np.random.default_rng(1)
    n = 60
    y = rng.integers(0, 3, n)
    made = pd.DataFrame(
        {
            "x": np.exp(rng.normal(size=n) + y),  # its range changes from fold to fold
            "few": rng.normal(size=n) + y,
            "size": np.array(["S", "M", "L"])[rng.integers(0, 3, n)],
            "hue": np.where(rng.random(n) < 0.8, np.array(["r", "g", "b"])[y], "g"),
            "when": (pd.Timestamp("2024-01-31") + pd.to_timedelta(200 * y + rng.integers(0, 90, n), "D")),
            "kind": np.array(["a", "b", "c"])[y],
        }
    )
    made["size"] = made["size"].astype(object)
    made.loc[7, "hue"] = "once"  # in one row: in its fold it is a text that training did not have
    made.loc[[11, 12], "hue"] = None
    made.loc[rng.permutation(n)[:12], "x"] = np.nan
    made.loc[[3, 20, 41], "few"] = np.nan  # 5 % of all rows, more or less of those of a fold
    made.loc[[5, 30], "when"] = pd.NaT
    made.loc[2, "size"] = None
    return made.drop(columns="kind"), made["kind"].to_numpy()


@pytest.mark.filterwarnings("ignore:texts that the training table")
@pytest.mark.parametrize("probabilities", [None, "temperature"])
def test_nested_errors_prepare_each_fold_as_a_fit_to_its_training_rows_does(frame, probabilities):
    X, y = frame
    found = TableClassifier(folds=5, nested=True, calibration=probabilities, **RULES).fit(X, y).selection_
    codes = np.unique(y, return_inverse=True)[1]
    folds = make_folds(codes, 5, derive(0, "folds"))
    errors = []
    for train, test in folds:
        place = np.full(len(y), -1)
        place[train] = np.arange(len(train))
        inner = [(np.setdiff1d(train, other), other) for _, other in folds if other is not test]
        inner = [(place[a], place[b]) for a, b in inner]
        fitted = TableClassifier(folds=inner, **RULES).fit(X.iloc[train], y[train])
        predicted = fitted.predict(X.iloc[test])
        assert (found.nested_predictions[test] == predicted).all()
        errors.append((predicted != y[test]).mean())
    assert found.nested_error == pytest.approx(np.mean(errors))
    if probabilities:
        assert found.nested_probabilities.shape == (60, 3)


@pytest.mark.filterwarnings("ignore:texts that the training table")
def test_splits_of_your_own_prepare_too(frame):
    X, y = frame
    folds = [(np.arange(20, 60), np.arange(20)), (np.arange(0, 40), np.arange(40, 60))]
    found = TableClassifier("oneLSM:gamma=1,sigma=1", folds=folds, nested=True, **{**RULES, "grid": "auto"})
    nested = found.fit(X, y).selection_.nested_predictions
    for k, (train, test) in enumerate(folds):
        fitted = TableClassifier("oneLSM:gamma=1,sigma=1", folds=2, **{**RULES, "grid": "auto"})
        assert (nested[20 * k : 20 * k + 20] == fitted.fit(X.iloc[train], y[train]).predict(X.iloc[test])).all()


def test_scaling_says_where_columns_are_learnt(frame):
    X, y = frame
    whole = X[["few"]].assign(z=np.arange(60) % 7.0).drop(columns="few").assign(w=np.arange(60) ** 2 % 11.0)
    facts = [
        TableClassifier(nested=True, scaling=scaling, folds=3, grid=TABLE_GRID).fit(whole, y).model_.facts.scaling
        for scaling in (None, "fold")
    ]
    assert facts == ["dataset", "fold"]
    assert TableClassifier(folds=3, **RULES).fit(X, y).model_.facts.scaling == "fold"
    with pytest.raises(McLsError, match="did you mean 'fold'"):
        TableClassifier(scaling="folds").fit(whole, y)


def test_select_asks_for_the_features_of_each_fold():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), np.arange(30) % 2
    asked = []

    def prepare(train):
        asked.append(len(train))
        return X - X[train].mean(axis=0)

    select(X, y, grid=TABLE_GRID, folds=3, nested=True, prepare=prepare)
    assert asked == [20, 20, 20]


def test_the_test_against_chance_prepares_every_fold_and_lets_the_map_decide():
    rng = np.random.default_rng(0)
    X, y = (
        rng.normal(size=(60, 2)),
        (np.arange(60) % 5 == 0).astype(int),
    )  # noise, a fifth of it in the second class
    asked = []

    def prepare(train):
        asked.append(len(train))
        return X - X[train].mean(axis=0)

    grid = {"gamma": [0.01], "sigma": [0.2]}
    by_scores = select(X, y, grid=grid, folds=3, permutations=9, prepare=prepare).chance
    assert asked == [40] * 27
    by_map = select(X, y, grid=grid, folds=3, permutations=9, calibration="decide").chance
    # The largest score of a narrow machine errs more often than always the larger class; the map knows the sizes.
    assert by_map.expected < by_scores.expected - 0.02
