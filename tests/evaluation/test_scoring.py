"""Metrics of a grid search against plain loops: temperatures of other folds, undefined folds, decisions by cost."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import log_loss
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.naive_bayes import GaussianNB

from mcls.data import load_dataset
from mcls.errors import McLsError
from mcls.evaluation import protocols
from mcls.evaluation.folds import make_folds, stratified_folds
from mcls.evaluation.grid import search
from mcls.evaluation.grid_result import choose
from mcls.evaluation.metrics import METRICS, read_metrics
from mcls.evaluation.scaling import to_range
from mcls.evaluation.scoring import Scoring
from mcls.evaluation.task import Task
from mcls.machines.lsm import OneLSM
from mcls.seeds import derive
from mcls.solvers.calibration import calibrate

GRID = {"gamma": [0.01, 1.0], "sigma": [0.3, 2.0]}
COSTS = np.array([[0.0, 1.0, 1.0], [5.0, 0.0, 1.0], [1.0, 2.0, 0.0]])
ALL = [name for name in METRICS if name != "cost"]


@pytest.fixture(scope="module")
def iris():
    data = load_dataset("iris")
    rows = np.arange(0, 150, 2)
    return to_range(data.X[rows]), data.y[rows]


def fold_scores(X, y, point, fold):
    train, test = fold
    return OneLSM(**point).fit(X[train], y[train])._class_scores(X[test])


def softened(F, others, y_others):
    """Probabilities by a temperature of other scores."""
    return calibrate(others, y_others, "temperature")[0].probabilities(F)


@pytest.mark.parametrize("weighted", [False, True])
def test_every_metric_of_every_point_and_fold(iris, weighted):
    X, y = iris
    folds = stratified_folds(y, 4, seed=1)
    w = np.random.default_rng(0).integers(1, 4, len(y)).astype(float) if weighted else None
    metrics = read_metrics([*ALL, "cost"], COSTS)
    scored = [[fold_scores(X, y, p, f) for f in folds] for p in search(OneLSM(), X, y, GRID, folds).points]
    scoring = Scoring(y, [test for _, test in folds], metrics, w)
    found = scoring.judge(scoring.see([np.stack(of_fold) for of_fold in zip(*scored)]))
    for i, of_point in enumerate(scored):
        for k, (_, test) in enumerate(folds):
            rest = [j for j in range(4) if j != k]
            others, rows = np.concatenate([of_point[j] for j in rest]), np.concatenate([folds[j][1] for j in rest])
            fitted = calibrate(others, y[rows], "temperature", None if w is None else w[rows])[0]
            values = {
                "classes": of_point[k].argmax(axis=1),
                "scores": of_point[k],
                "probabilities": fitted.probabilities(of_point[k]),
            }
            for metric in metrics:
                expected = metric(y[test], values[metric.need][None], None if w is None else w[test])[0]
                assert found.values[metric.name][i, k] == pytest.approx(expected, abs=1e-6), metric.name


@pytest.mark.parametrize("scaling", ["none", "fold"])
def test_a_search_chooses_by_its_first_metric_and_keeps_the_scores_of_the_best(iris, scaling):
    X, y = iris
    folds = stratified_folds(y, 3, seed=0)
    found = search(
        OneLSM(), X, y, GRID, folds, scaling=scaling, metrics=read_metrics(["log-loss", "auc"]), keep_scores=True
    )
    assert set(found.fold_values) == {"error", "log-loss", "auc"}
    assert found.best == np.argmin(found.values("log-loss"))
    assert found.frame()["rank"].iloc[0] == 1
    for k, fold in enumerate(folds):
        Z = X if scaling == "none" else to_range(X, X[fold[0]])
        assert found.scores[found.best][k] == pytest.approx(fold_scores(Z, y, found.best_point, fold), abs=1e-9)
    plain = search(OneLSM(), X, y, GRID, folds, scaling=scaling)
    assert np.array_equal(plain.fold_errors, found.fold_errors)
    assert plain.points == found.points


def test_folds_that_only_calibrate_are_not_judged(iris):
    X, y = iris
    folds = stratified_folds(y, 3, seed=0)
    metrics = read_metrics("log-loss")
    found = search(OneLSM(), X, y, GRID, folds, metrics=metrics, calibrators={1: [0]})
    assert [test.tolist() for test in found.tests] == [folds[1][1].tolist()]
    F, others = (fold_scores(X, y, found.best_point, folds[k]) for k in (1, 0))
    expected = log_loss(y[folds[1][1]], softened(F, others, y[folds[0][1]]))
    assert found.fold_values["log-loss"][found.best] == pytest.approx([expected])


def test_no_row_calibrates_its_own_judgement(iris):
    X, y = iris
    tests = [test for _, test in RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0).split(X, y)]
    rows = np.concatenate(tests)
    scoring = Scoring(y, tests, read_metrics("brier"))
    for at, folds in scoring._calibrating:
        assert len(at)
        assert not np.isin(rows[at], np.concatenate([tests[f] for f in folds])).any()
    one_by_one = Scoring(y, [test for _, test in make_folds(y, "loo", 0)], read_metrics("brier"))
    assert len(one_by_one._calibrating) == 20
    with pytest.raises(McLsError, match="at least two folds"):
        Scoring(y, tests[:1], read_metrics("log-loss"))


def test_undefined_folds_are_left_out_of_the_mean_and_undefined_points_are_never_chosen(iris):
    X, y = iris
    folds = [(np.arange(3, len(y)), np.arange(3)), *stratified_folds(y, 3, seed=0)]  # the first has one class
    found = search(OneLSM(), X, y, GRID, folds, metrics=read_metrics("auc"))
    assert np.isnan(found.fold_values["auc"][:, 0]).all()
    assert found.values("auc") == pytest.approx(found.fold_values["auc"][:, 1:].mean(axis=1))
    assert choose([{"a": 1}, {"a": 2}], np.array([np.inf, 3.0])) == 1
    with pytest.raises(McLsError, match="not defined on any fold"):
        search(OneLSM(), X, y, GRID, make_folds(y, "loo", 0), metrics=read_metrics("auc"))


def test_cost_decides_the_class_where_it_chooses(iris):
    X, y = iris
    folds = stratified_folds(y, 3, seed=0)
    beside = search(OneLSM(), X, y, GRID, folds, metrics=read_metrics(["error", "cost"], COSTS))
    first = search(OneLSM(), X, y, GRID, folds, metrics=read_metrics(["cost"], COSTS))
    assert np.array_equal(beside.fold_values["cost"], first.fold_values["cost"])
    assert not np.array_equal(beside.predictions, first.predictions)
    paid = [COSTS[y[test], codes].mean(axis=1) for test, codes in zip(first.tests, first.fold_predictions)]
    assert first.values("cost") == pytest.approx(np.mean(paid, axis=0))


@pytest.mark.parametrize("name", ["published", "nested", "half-split", "hold-out", "5x2cv"])
def test_a_protocol_reports_what_is_asked_for(iris, name):
    X, y = iris
    task = Task(OneLSM(), X, y, GRID, smoother={"gamma": 1, "sigma": 1})
    protocol = protocols.get_protocol(name)
    settings = {s: 3 for s in ("folds", "inner_folds") if s in protocol.settings}
    plain = protocol(task, 5, **settings)
    beside = protocol(replace(task, metrics=read_metrics(["error", "log-loss", "kappa"])), 5, **settings)
    assert set(beside) == set(plain) | {"metrics", "split_metrics"}
    assert {key: beside[key] for key in plain} == plain  # the error still chooses
    assert beside["metrics"]["error"] == pytest.approx(plain["error"])
    for metric, values in beside["split_metrics"].items():
        assert beside["metrics"][metric] == pytest.approx(np.mean(values))


def test_a_held_out_log_loss_is_calibrated_inside_the_training_rows(iris):
    X, y = iris
    task = Task(OneLSM(), X, y, GRID, scaling="none", metrics=read_metrics("log-loss"))
    result = protocols.hold_out(task, 3, inner_folds=3)
    train, test = protocols.hold_out_rows(y, 0.5, 3, None)
    inner = [(train[a], train[b]) for a, b in stratified_folds(y[train], 3, derive(3, "inner"))]
    (point,) = result["chosen"]
    F = np.concatenate([fold_scores(X, y, point, fold) for fold in inner])
    rows = np.concatenate([fold[1] for fold in inner])
    P = softened(fold_scores(X, y, point, (train, test)), F, y[rows])
    assert result["metrics"]["log-loss"] == pytest.approx(log_loss(y[test], P))


class OwnProbabilities(GaussianNB):
    """Declares that its probabilities are calibrated; its decision function is misleading, and fits are counted."""

    calibrates_itself = True
    fits = 0

    def fit(self, X, y, sample_weight=None):
        type(self).fits += 1
        return super().fit(X, y, sample_weight)

    def decision_function(self, X):
        return -self.predict_proba(X)


def test_a_classifier_that_calibrates_itself_is_judged_by_its_probabilities_and_fitted_once(iris):
    X, y = iris
    task = Task(OwnProbabilities(), X, y, {}, scaling="none", metrics=read_metrics(["error", "log-loss"]))
    found = protocols.nested(task, seed=0, folds=3, inner_folds=4)
    assert OwnProbabilities.fits == 3
    for k, (train, test) in enumerate(stratified_folds(y, 3, 0)):
        fitted = GaussianNB().fit(X[train], y[train])
        expected = log_loss(y[test], fitted.predict_proba(X[test]), labels=[0, 1, 2])
        assert found["split_metrics"]["log-loss"][k] == pytest.approx(expected, rel=1e-9)
        assert found["split_metrics"]["error"][k] == pytest.approx(np.mean(fitted.predict(X[test]) != y[test]))


def test_inside_a_split_only_the_metric_that_chooses_is_judged(iris, monkeypatch):
    X, y = iris
    asked = []
    whole = protocols.base.Task.search

    def noted(task, *args, **settings):
        asked.append([metric.name for metric in task.metrics])
        return whole(task, *args, **settings)

    monkeypatch.setattr(protocols.base.Task, "search", noted)
    task = Task(OneLSM(), X, y, GRID, scaling="none", metrics=read_metrics(["balanced-error", "log-loss"]))
    protocols.nested(task, seed=0, folds=3, inner_folds=3)
    assert asked == [["balanced-error"], ["balanced-error", "log-loss"]] * 3
