"""The choice of a machine and of what decides: on all rows, and inside each fold by brute force."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

from mcls import OneLSM, OvOLSM, SweepCV, select
from mcls.data import load_dataset
from mcls.errors import McLsError
from mcls.evaluation.folds import make_folds
from mcls.evaluation.grid import search
from mcls.evaluation.metrics import ERROR
from mcls.evaluation.scaling import to_range
from mcls.kernels import ranks, standardised
from mcls.machines.registry import MACHINES, Entry
from mcls.models.candidates import Candidate
from mcls.models.contest import NEAR, Standing, best_of
from mcls.models.ranking import BEST_MACHINES, rank
from mcls.models.searching import CandidateSearch
from mcls.models.training_rows import TrainingRows
from mcls.seeds import derive
from mcls.solvers.calibration import calibrations, log_loss

GRID = {"gamma": [0.01, 1.0], "sigma": [0.3, 2.0]}


@pytest.fixture(scope="module")
def balance():
    data = load_dataset("balance")
    return to_range(data.X)[::3], data.y[::3]


def ways_by_hand(machine, X, y, folds):
    """(errors per row, log-loss, what to fit) of a machine's two ways to decide, from plain fits on each fold."""
    found = search(machine, X, y, GRID, folds, engine="refit", keep_scores=True, near=NEAR, smoother={"gamma": 1})
    fold_of = np.empty(len(y), dtype=int)
    for k, (_, test) in enumerate(folds):
        fold_of[test] = k
    bound = found.errors.min() + NEAR * np.sqrt(found.errors.min() * (1 - found.errors.min()) / len(y)) + 1e-12
    told = {}
    for i in np.flatnonzero(found.errors <= bound):
        F = np.empty((len(y), y.max() + 1))
        for (_, test), scores in zip(folds, found.scores[i]):
            F[test] = scores
        P = calibrations(F, y, ["temperature"])["temperature"][0].probabilities(F)
        told[i] = log_loss(y, P), F
    best = min(told, key=lambda i: told[i][0])
    F = told[best][1]
    maps = calibrations(F, y, ["temperature", "matrix", "decide"], None, fold_of % 5)
    kind = min(("temperature", "matrix"), key=lambda kind: log_loss(y, maps[kind][1]))
    mean = lambda wrong: float(np.mean([wrong[fold_of == k].mean() for k in range(len(folds))]))  # noqa: E731
    return [
        (mean(F.argmax(1) != y), log_loss(y, maps[kind][1]), found.points[best], maps[kind][0]),
        (
            mean(maps["decide"][1].argmax(1) != y),
            log_loss(y, maps["decide"][1]),
            found.points[best],
            maps["decide"][0],
        ),
    ]


def test_every_nested_prediction_is_that_of_the_choice_made_by_plain_fits_inside_the_fold(balance):
    X, y = balance
    asked = {"folds": 4, "nested": True, "calibration": "auto", "groups": None}
    found, ranking = rank(X, y, GRID, ("oneLSM", "oneLSM:kernel=laplace-l1", "ovO:decision=soft"), **asked)
    assert ranking.nested
    folds = make_folds(y, 4, derive(0, "folds"), None)
    predicted = np.empty(len(y), dtype=int)
    for train, test in folds:
        inner = [(np.setdiff1d(train, other), other) for _, other in folds if other is not test]
        place = np.full(len(y), -1)
        place[train] = np.arange(len(train))
        inner = [(place[a], place[b]) for a, b in inner]
        machines = [OneLSM(), OneLSM(kernel="laplace-l1"), OvOLSM(decision="soft")]
        ways = [
            (machine, *way) for machine in machines for way in ways_by_hand(machine, X[train], y[train], inner)
        ]
        least = min(way[1] for way in ways)
        near = [way for way in ways if way[1] <= least + NEAR * np.sqrt(least * (1 - least) / len(train)) + 1e-12]
        machine, _, _, point, made = min(near, key=lambda way: way[2])
        F = clone(machine).set_params(**point).fit(X[train], y[train]).decision_function(X[test])
        predicted[test] = (made.logits(F) if made.decides else F).argmax(axis=1)
    assert np.array_equal(found.nested_predictions, predicted)
    assert found.nested_error == pytest.approx(np.mean([(predicted[t] != y[t]).mean() for _, t in folds]))
    assert sum(found.nested_machines.values()) == 4
    assert (found.nested_probabilities.argmax(axis=1) == predicted).all()


def test_a_map_that_decides_is_the_estimators_own_and_judged_so(balance):
    X, y = balance
    found = select(X, y, "oneLSM:calibration=decide", GRID, folds=4, nested=True)
    assert found.machine == "oneLSM:calibration=decide"
    made = found.estimator
    assert made.calibration == "decide"
    assert np.array_equal(made.predict(X), made.classes_[made.predict_proba(X).argmax(axis=1)])
    assert (made._machine_scores(X).argmax(axis=1) != made.decision_function(X).argmax(axis=1)).any()
    assert found.error == pytest.approx((found.predictions != y[found.tested]).mean(), abs=0.01)
    assert found.error < select(X, y, "oneLSM", GRID, folds=4).error
    assert (found.nested_probabilities.argmax(axis=1) == found.nested_predictions).all()
    folds = make_folds(y, 4, 0, None)
    plain = search(OneLSM(calibration="decide"), X, y, GRID, folds)
    peer = [
        np.mean(clone(made).set_params(**plain.points[0]).fit(X[a], y[a]).predict(X[b]) != y[b]) for a, b in folds
    ]
    assert plain.fold_errors[0] == pytest.approx(peer)  # a search fits the map inside each fold
    with pytest.raises(McLsError, match="an option of a machine, not a value of its grid"):
        search(OneLSM(), X, y, {"calibration": ["decide"]}, folds)
    with pytest.raises(McLsError, match="not on a precomputed kernel"):
        search(OneLSM(calibration="decide", kernel="precomputed"), X @ X.T, y, {"gamma": [1.0]}, folds)
    with pytest.warns(UserWarning, match="every grid point by itself: a calibrated map that decides"):
        swept = SweepCV(OneLSM(calibration="decide"), {"gamma": [1.0]}, cv=folds).fit(X, y)
    assert not swept.swept_


def test_near_ties_go_to_the_smaller_log_loss_and_equal_ones_to_the_first():
    def way(loss, told, n=100):
        return Standing({}, loss, told, np.zeros(n), None, None)

    assert best_of([way(0.20, 0.9), way(0.23, 0.5)], ERROR) == 1  # a standard error is 0.04
    assert best_of([way(0.20, 0.9), way(0.25, 0.5)], ERROR) == 0
    assert best_of([way(0.20, 0.5), way(0.20, 0.5)], ERROR) == 0


@pytest.mark.parametrize(
    "kernel, plain, see",
    [
        ("gaussian-standard", "gaussian", standardised),
        ("laplace-l1-standard", "laplace-l1", standardised),
        ("laplace-l1-ranks", "laplace-l1", ranks),
    ],
)
def test_kernels_of_columns_are_searched_and_judged_as_on_columns_made_of_all_rows(kernel, plain, see):
    data = load_dataset("glass")
    X, y = data.X, data.y
    asked = {"grid": GRID, "folds": 4, "nested": True, "calibration": "auto"}
    found = rank(X, y, machines=(f"oneLSM:kernel={kernel}", "oneLSM:kernel=linear,gamma=1"), **asked)[0]
    expected = rank(see(X, X), y, machines=(f"oneLSM:kernel={plain}",), **asked)[0]
    assert found.best_params == expected.best_params
    new = X[::2] * 1.01
    assert found.estimator.kernel == kernel
    assert np.array_equal(found.estimator.predict(new), expected.estimator.predict(see(new, X)))
    assert np.allclose(found.estimator.predict_proba(new), expected.estimator.predict_proba(see(new, X)))
    assert np.array_equal(found.nested_predictions, expected.nested_predictions)


def test_without_probabilities_no_map_decides_and_with_many_rows_fewer_machines_are_left(balance, monkeypatch):
    X, y = balance
    found, ranking = rank(X, y, GRID, folds=3)
    assert found.probabilities is None
    assert not any("decide" in line.machine for line in ranking.machines)
    assert len(ranking.machines) == len(BEST_MACHINES)
    with monkeypatch.context() as few:
        entries = (Entry(), Entry({"kernel": "laplace-l1-ranks"}, 60), Entry({"kernel": "gaussian-standard"}, 600))
        few.setitem(MACHINES, "oneLSM", replace(MACHINES["oneLSM"], entries=entries))
        few.setitem(MACHINES, "ovO", replace(MACHINES["ovO"], entries=(Entry({}, 60),)))
        left = {"oneLSM", "oneLSM:kernel=gaussian-standard", "oneLSM:kernel=laplace-l1-standard"}
        assert {line.machine for line in rank(X, y, GRID, folds=3)[1].machines} == left
        asked = ["ovO:decision=soft", "oneLSM:kernel=laplace-l1-ranks,class_weight=balanced"]
        assert len(rank(X, y, GRID, asked, folds=3)[1].machines) == 2  # no other is left
    monkeypatch.setattr("mcls.models.candidates.SWEEP_ROWS", 60)
    monkeypatch.setattr(OneLSM, "certifier", lambda self, n: None if n < 100 else False)
    said = []
    rank(X, y, folds=3, say=said.append)
    assert any(
        "with 209 rows to search the choice is among 4 machines: oneLSM, oneLSM:kernel=" in text for text in said
    )


def test_the_scores_that_calibrate_are_exact_after_a_certified_search(monkeypatch):
    data = load_dataset("vowel")
    X, y = to_range(data.X), data.y
    monkeypatch.setattr("mcls.solvers.lanczos.FROM_ROWS", 500)  # 528 rows
    monkeypatch.setattr("mcls.evaluation.grid._THREADS_UP_TO", 100)
    rows = TrainingRows.read(X, y, folds=3, seed=0, groups=None, sample_weight=None, say=None)
    candidate = Candidate.read(rows, "oneLSM", {"gamma": [0.1, 1.0], "sigma": [1.0]}, (ERROR,))
    found, _ = CandidateSearch(candidate, rows, keep_scores=True).run()
    machine = OneLSM(**found.best_point)
    for (train, test), scores in zip(rows.splits, found.scores[found.best]):
        exact = machine.fit(X[train], y[train]).decision_function(X[test])
        np.testing.assert_allclose(scores, exact, atol=1e-9)
