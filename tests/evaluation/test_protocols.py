"""Protocols against plain loops over fits, on a part of iris."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from mcls.data import load_dataset
from mcls.errors import McLsError
from mcls.evaluation import protocols
from mcls.evaluation.folds import class_half_split, stratified_folds, stratified_halves
from mcls.evaluation.protocols import PROTOCOLS, Rows, check_splits, hold_out_rows, split_notes
from mcls.evaluation.scaling import to_range
from mcls.evaluation.task import Task
from mcls.machines.lsm import OneLSM
from mcls.packing import pack, unpack
from mcls.seeds import derive
from mcls.solvers.calibration import temperature_losses

GRID = {"gamma": [0.25, 4.0], "sigma": [0.25, 1.0, 4.0]}
SMOOTHER = {"gamma": 1, "sigma": 1}


@pytest.fixture(scope="module")
def data():
    iris = load_dataset("iris")
    rows = np.arange(0, 150, 2)
    return iris.X[rows], iris.y[rows]


@pytest.fixture
def task(data):
    return Task(OneLSM(), *data, grid=GRID, smoother=SMOOTHER)


def fit_error(X, y, train, test, point):
    return np.mean(OneLSM(**point).fit(X[train], y[train]).predict(X[test]) != y[test])


def brute_search(X, y, folds):
    """Mean error of every point, and the chosen one: ties to the widest, then the smoothest."""
    errors = {
        (sigma, gamma): np.mean([fit_error(X, y, *f, {"sigma": sigma, "gamma": gamma}) for f in folds])
        for sigma, gamma in product(GRID["sigma"], GRID["gamma"])
    }
    best = min(errors, key=lambda p: (round(errors[p], 12), -p[0], -p[1]))
    return errors, {"sigma": best[0], "gamma": best[1]}


@pytest.mark.parametrize("engine", ["fast", "refit"])
def test_published_is_the_smallest_error_of_the_grid(task, data, engine):
    X, y = to_range(data[0]), data[1]
    result = protocols.published(replace(task, engine=engine), seed=7, folds=5)
    folds = stratified_folds(y, 5, 7)
    errors, chosen = brute_search(X, y, folds)
    assert result["error"] == pytest.approx(min(errors.values()))
    assert result["chosen"] == [chosen]
    kept = result["grid"]
    mistakes = unpack(kept["fold_mistakes"]) / kept["fold_sizes"]
    order = list(product(*(kept["values"][name] for name in kept["names"])))
    assert kept["names"] == ["sigma", "gamma"]
    assert dict(zip(order, mistakes.mean(axis=1))) == pytest.approx(errors)
    predictions = unpack(result["predictions"])
    assert np.mean([np.mean(predictions[t] != y[t]) for _, t in folds]) == pytest.approx(result["error"])


def test_nested_judges_each_fold_at_a_point_chosen_without_it(task, data):
    X, y = to_range(data[0]), data[1]
    result = protocols.nested(task, seed=3, folds=4, inner_folds=3)
    expected, chosen = [], []
    for i, (train, test) in enumerate(stratified_folds(y, 4, 3)):
        inner = stratified_folds(y[train], 3, derive(3, "inner", i))
        chosen.append(brute_search(X[train], y[train], inner)[1])
        expected.append(fit_error(X, y, train, test, chosen[-1]))
    assert result["chosen"] == chosen
    assert result["fold_errors"] == pytest.approx(expected)
    assert result["error"] == pytest.approx(np.mean(expected))


@pytest.mark.parametrize("protocol", [protocols.nested, protocols.nested_folds], ids=lambda p: p.name)
def test_near_ties_go_to_the_smallest_log_loss_inside_each_fold(task, data, protocol):
    task = replace(task, X=data[0][:, :2])  # two columns tell little: many points are near
    X, y = to_range(task.X), data[1]
    result = protocol(replace(task, near=2.0), seed=3, folds=4)
    outer = stratified_folds(y, 4, 3)
    expected = []
    for i, (train, _) in enumerate(outer):
        folds = [(train[a], train[b]) for a, b in stratified_folds(y[train], 10, derive(3, "inner", i))]
        if protocol is protocols.nested_folds:
            folds = [(np.setdiff1d(train, test), test) for j, (_, test) in enumerate(outer) if j != i]
        tested = np.concatenate([test for _, test in folds])
        seen = {}
        for sigma, gamma in product(GRID["sigma"], GRID["gamma"]):
            scores = [OneLSM(sigma=sigma, gamma=gamma).fit(X[a], y[a]).decision_function(X[b]) for a, b in folds]
            error = np.mean([np.mean(s.argmax(axis=1) != y[b]) for s, (_, b) in zip(scores, folds)])
            seen[sigma, gamma] = error, temperature_losses(np.concatenate(scores)[None], y[tested])[0]
        least = min(error for error, _ in seen.values())
        bound = least + 2.0 * np.sqrt(least * (1 - least) / len(tested)) + 1e-12
        best = min((p for p in seen if seen[p][0] <= bound), key=lambda p: seen[p][1])
        expected.append({"sigma": best[0], "gamma": best[1]})
    assert result["chosen"] == expected
    assert result["chosen"] != protocol(task, seed=3, folds=4)["chosen"]


def test_half_split_reports_the_honest_and_the_oracle_choice(task, data):
    X, y = to_range(data[0]), data[1]
    result = protocols.half_split(task, seed=1)
    train, test = class_half_split(y, 1)
    _, chosen = brute_search(X[train], y[train], stratified_folds(y[train], 5, derive(1, "inner")))
    oracle, _ = brute_search(X, y, [(train, test)])
    assert result["chosen"] == [chosen]
    assert result["error"] == pytest.approx(fit_error(X, y, train, test, chosen))
    assert result["oracle_error"] == pytest.approx(min(oracle.values()))
    assert result["oracle_error"] <= result["error"]
    assert (result["train"], result["test"]) == (36, 39)
    predictions = unpack(result["predictions"])
    assert (predictions[train] == -1).all()
    assert np.mean(predictions[test] != y[test]) == pytest.approx(result["error"])


def test_five_by_two_learns_each_half_and_judges_it_on_the_other(task, data):
    X, y = to_range(data[0]), data[1]
    result = protocols.five_by_two(task, seed=2, inner_folds=3)
    first, second = stratified_halves(y, 2)
    expected = []
    for i, (train, test) in enumerate([(first, second), (second, first)]):
        _, point = brute_search(X[train], y[train], stratified_folds(y[train], 3, derive(2, "inner", i)))
        expected.append(fit_error(X, y, train, test, point))
    assert result["errors"] == pytest.approx(expected)
    assert (unpack(result["predictions"]) >= 0).all()


def test_every_machine_gets_the_same_halves(data):
    halves = []

    class Noted(OneLSM):
        """Notes the kernel matrices it learns from; those of a linear kernel tell the rows."""

        def _fit(self, K, y, n_classes):
            halves[-1].append(K.copy())
            return super()._fit(K, y, n_classes)

    for gamma in (1.0, 0.01):
        halves.append([])
        task = Task(Noted(kernel="linear"), *data, grid={"gamma": [gamma]}, engine="refit")
        assert protocols.five_by_two(task, seed=9)["inner_errors"] == [None, None]  # one point: nothing to choose
    assert len(halves[0]) == len(halves[1]) == 2
    assert all(np.array_equal(one, two) for one, two in zip(*halves))


@pytest.mark.parametrize("scaling", ["fold", "standard", "none"])
def test_scaling_reaches_the_fits(data, scaling):
    X, y = data
    X = X * np.array([1, 10, 0.1, 1])
    result = protocols.hold_out(
        Task(OneLSM(), X, y, grid={"gamma": [0.5], "sigma": [0.5]}, scaling=scaling), seed=0
    )
    train, test = hold_out_rows(y, 0.5, 0, None)
    scaled = {"fold": to_range(X, X[train]), "standard": (X - X.mean(0)) / X.std(0), "none": X}[scaling]
    assert result["error"] == pytest.approx(fit_error(scaled, y, train, test, {"gamma": 0.5, "sigma": 0.5}))


def test_hold_out_rows():
    y = np.repeat([0, 1, 2], [10, 20, 1])
    train, test = hold_out_rows(y, 0.8, 0, None)
    assert np.bincount(y[train]).tolist() == [8, 16, 1]
    assert sorted([*train, *test]) == list(range(31))
    train, test = hold_out_rows(y, 25, 0, None)
    assert train.tolist() == list(range(25))
    declared = np.array(["train", "test"] * 15 + ["train"])
    assert hold_out_rows(y, "declared", 0, declared)[1].tolist() == list(range(1, 30, 2))
    with pytest.raises(McLsError, match="declares no"):
        hold_out_rows(y, "declared", 0, None)
    with pytest.raises(McLsError, match="leave none"):
        hold_out_rows(y, 31, 0, None)
    with pytest.raises(McLsError, match="fraction"):
        hold_out_rows(y, 1.5, 0, None)


@pytest.mark.parametrize("name", PROTOCOLS)
def test_results_are_json_and_repeat(task, name):
    small = replace(task, grid={"gamma": [1.0, 2.0]})
    first, second = (json.dumps(PROTOCOLS[name](small, 5), allow_nan=False) for _ in range(2))
    assert first == second
    assert {"error", "chosen", "predictions"} <= json.loads(first).keys()


def test_unknown_protocol_gets_a_suggestion():
    with pytest.raises(McLsError, match="did you mean 'nested'"):
        protocols.get_protocol("nestd")


def test_packing_keeps_integers_and_refuses_others():
    values = np.array([[-1, 0, 32767], [5, -32768, 9]])
    assert np.array_equal(unpack(json.loads(json.dumps(pack(values)))), values)
    for bad in ([0.5], [40000]):
        with pytest.raises(ValueError, match="16 bits"):
            pack(bad)


def test_hold_out_by_class_draws_so_many_rows_of_each():
    y = np.repeat([0, 1, 2], [10, 20, 30])
    train, test = hold_out_rows(y, [4, 5, 6], seed=1, declared=None)
    assert np.bincount(y[train]).tolist() == [4, 5, 6]
    assert sorted([*train, *test]) == list(range(60))
    again, other = (hold_out_rows(y, [4, 5, 6], seed=s, declared=None)[0] for s in (1, 2))
    assert np.array_equal(train, again)
    assert not np.array_equal(train, other)


@pytest.mark.parametrize("counts", [[4, 5], [4, 5, 30], [0, 5, 6]])
def test_hold_out_by_class_refuses_counts_that_do_not_fit(counts):
    with pytest.raises(McLsError, match="training rows of each class"):
        hold_out_rows(np.repeat([0, 1, 2], [10, 20, 30]), counts, seed=0, declared=None)


@pytest.mark.parametrize("protocol", ["nested", "half-split", "hold-out", "5x2cv"])
def test_rows_too_few_to_choose_from_are_refused_before_anything_runs(protocol):
    settings = {"folds": 10, "inner_folds": 5, "train": 0.5}
    few = np.array([0, 0, 1, 1])
    with pytest.raises(McLsError, match=f"too few for 'protocol: {protocol}'"):
        check_splits(Rows(few), protocol, settings)
    check_splits(Rows(few), protocol, settings, chooses=False)  # nothing to choose: two rows per class will do
    check_splits(Rows(np.repeat([0, 1], 4)), protocol, settings)
    check_splits(Rows(few), "published", settings)


def test_notes_tell_of_fewer_folds_and_of_classes_that_cannot_be_predicted():
    y = np.repeat([0, 1, 2], [5, 4, 1])
    folds, alone = split_notes(Rows(y), ("a", "b", "c"), "published", {"folds": 10})
    assert folds == "5 folds instead of 10: no class has more than 5 rows"
    assert "'c'" in alone
    assert split_notes(Rows(np.repeat([0, 1], 20)), ("a", "b"), "nested", {"folds": 10, "inner_folds": 3}) == []


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_no_protocol_judges_a_row_by_its_own_copy(protocol):
    """Random classes, every row three times: a nearest neighbour finds the copies unless they stay together."""
    rng = np.random.default_rng(0)
    X, y = np.tile(rng.normal(size=(60, 2)), (3, 1)), np.tile(np.arange(60) % 2, 3)
    task = Task(KNeighborsClassifier(), X, y, {"n_neighbors": [1, 2]}, scaling="none")
    apart = PROTOCOLS[protocol](task, 0)
    together = PROTOCOLS[protocol](replace(task, groups=np.tile(np.arange(60), 3)), 0)
    assert apart["error"] < 0.3
    assert together["error"] > 0.35
    for name in ("inner_error", "oracle_error"):
        assert together.get(name, 0.5) > 0.25
    assert min(together.get("inner_errors", [0.5])) > 0.25


def test_groups_count_where_rows_are_too_few():
    y, groups = np.repeat([0, 1], 6), np.repeat([0, 1, 2, 3], 3)  # two different rows of each class
    settings = {"folds": 10, "inner_folds": 5, "train": 0.5}
    check_splits(Rows(y), "nested", settings)
    with pytest.raises(McLsError, match="the largest class has 2 groups of rows in all"):
        check_splits(Rows(y, groups), "nested", settings)
    (note,) = split_notes(Rows(y, groups), ("a", "b"), "published", settings)
    assert note == "2 folds instead of 10: no class has more than 2 groups of rows"
