"""Choosing parameters: against scikit-learn's search, on folds of any kind, with every kind of machine."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold

from mcls import OneLSM, load, save, select
from mcls.data import load_dataset
from mcls.errors import McLsError
from mcls.evaluation import protocols
from mcls.evaluation.folds import equal_rows, stratified_folds
from mcls.evaluation.scaling import to_range
from mcls.evaluation.task import Task
from mcls.machines.registry import MACHINES
from mcls.seeds import derive

IRIS = load_dataset("iris")
X = to_range(IRIS.X) + 1e-9 * np.arange(150)[:, None]  # no two rows are equal
Y = np.array(IRIS.classes)[IRIS.y]
GRID = {"gamma": [0.01, 1.0], "sigma": [0.3, 1.0, 3.0]}


def test_it_finds_what_scikit_learns_search_finds_on_the_same_folds():
    found = select(X, Y, grid=GRID, folds=5, seed=3)
    folds = stratified_folds(IRIS.y, 5, derive(3, "folds"))
    peer = GridSearchCV(OneLSM(), GRID, cv=folds, refit=False).fit(X, Y)
    theirs = {
        (p["gamma"], p["sigma"]): 1 - s
        for p, s in zip(*(peer.cv_results_[k] for k in ("params", "mean_test_score")))
    }
    ours = {(row.gamma, row.sigma): row.error for row in found.results.itertuples()}
    assert ours == pytest.approx(theirs, abs=1e-12)
    assert found.error == pytest.approx(min(theirs.values()), abs=1e-12)
    assert found.results.iloc[0][["gamma", "sigma"]].to_dict() == found.best_params
    assert found.results["rank"].is_monotonic_increasing
    assert found.spread == pytest.approx(found.results.iloc[0]["spread"])


def test_the_fitted_machine_has_the_chosen_parameters_and_all_rows():
    found = select(X, Y, grid=GRID)
    alone = OneLSM(**found.best_params).fit(X, Y)
    assert np.array_equal(found.estimator.decision_function(X), alone.decision_function(X))
    assert np.mean(found.predictions != Y) == pytest.approx(found.error, abs=0.01)  # folds of 15 rows each
    assert found.nested_error is None


def test_the_nested_error_is_that_of_the_protocol():
    found = select(X, Y, grid=GRID, folds=3, nested=True)
    task = Task(
        OneLSM(), X, np.unique(Y, return_inverse=True)[1], GRID, "none", smoother=MACHINES["oneLSM"].smoother
    )
    task = replace(task, groups=equal_rows(X))
    assert found.nested_error == protocols.nested_folds(task, derive(0, "folds"), folds=3)["error"]


def test_the_seed_decides():
    a, b, c = (select(X, Y, grid=GRID, seed=seed).results for seed in (1, 1, 2))
    assert a.equals(b)
    assert not a.equals(c)


@pytest.mark.parametrize("name", ["oneLSM", "lssvm", "elm", "ecoc"])
def test_every_kind_of_machine_can_be_chosen(name):
    found = select(X[::3], Y[::3], machine=name, grid={} if name == "elm" else "paper", folds=3)
    assert found.estimator.score(X, Y) > 0.85
    assert set(found.best_params) == set(MACHINES[name].grid)


def test_a_scikit_learn_classifier_can_be_chosen_too():
    found = select(X, Y, machine="sk:RidgeClassifier", grid={"alpha": [0.1, 10.0]}, folds=3)
    assert found.estimator.alpha == found.best_params["alpha"]


def test_an_option_given_is_not_tuned():
    found = select(X, Y, machine="oneLSM:gamma=0.5", grid="paper", folds=3)
    assert list(found.best_params) == ["sigma"]
    assert found.estimator.gamma == 0.5
    assert list(select(X, Y, machine="oneLSM:kernel=linear", folds=3).best_params) == ["gamma"]


@pytest.mark.parametrize(
    "grid, said",
    [
        ({"gamma": [1.0, 9.0], "sigma": [0.01, 0.02, 0.04]}, "the edge of the grid (the largest sigma);"),
        ({"gamma": [0.1, 1.0], "sigma": [0.01, 0.02]}, None),  # of two values each lies at an end
        ({"gamma": [0.1], "sigma": [0.01, 0.5, 9.0]}, None),
    ],
)
def test_a_choice_at_the_edge_of_the_grid_is_told(grid, said):
    heard = []
    found = select(X, Y, grid=grid, folds=5, say=heard.append)
    assert heard == found.notes
    if said is None:
        assert heard == []
        return
    assert len(heard) == 1
    assert said in heard[0]
    # What it suggests is taken as it stands, and goes further.
    wider = heard[0].split('machine="oneLSM", grid="')[1].removesuffix('"')
    assert wider == "gamma=2^0..2^4,sigma=2^-7..2^0"
    assert max(select(X, Y, grid=wider, folds=5).grid["sigma"]) == 1.0


def test_both_ends_and_both_parameters_are_told():
    found = select(X, Y, grid={"gamma": [50.0, 60.0, 70.0], "sigma": [0.001, 0.002, 0.004]}, folds=5)
    edges = {"gamma": found.best_params["gamma"], "sigma": found.best_params["sigma"]}
    assert edges == {"gamma": 70.0, "sigma": 0.004}  # all are equally bad, and the smoothest is chosen
    assert "(the largest gamma and the largest sigma)" in found.notes[0]


def test_fewer_folds_than_asked_for_are_told():
    rows = np.r_[0:4, 50:54, 100:103]
    found = select(X[rows], Y[rows], grid={"gamma": [1.0], "sigma": [1.0]})
    assert found.folds == 4
    assert found.notes == ["4 folds instead of 10: no class has more than 4 rows"]


def test_a_grid_of_text_holds_ranges_values_and_lists():
    found = select(X[::3], Y[::3], grid="gamma=2^-1..2^1,sigma=0.5+1+2", folds=3)
    assert found.grid == {"gamma": [0.5, 1.0, 2.0], "sigma": [0.5, 1, 2]}


@pytest.mark.parametrize(
    "arguments, complaint",
    [
        ({"machine": OneLSM()}, "by its name, such as 'oneLSM' .* not as an object of class OneLSM"),
        ({"machine": "auto"}, r"mcls.models.ranking.rank\(X, y\)"),
        ({"grid": "gama=1"}, "did you mean 'gamma'"),
        ({"grid": "papre"}, "did you mean 'paper'"),
        ({"grid": "sigma=0.5,1,2"}, r"'sigma=0.5,1,2' is not a grid; .* sigma=0.5\+1\+2 for a list"),
        ({"grid": {"gama": [1]}}, "did you mean 'gamma'"),
        ({"grid": {"gamma": [-1]}}, "gamma must be a positive number"),
        ({"machine": "oneLMS"}, "did you mean 'oneLSM'"),
        ({"machine": "oneLSM:kernel=precomputed"}, "give another than 'precomputed'"),
        ({"folds": 1}, "at least 2 folds"),
        ({"folds": "ten"}, "folds must be a number from 2 to 1000, loo"),
        ({"folds": 2.5}, "folds=2.5 does not split 150 rows"),
        ({"folds": [([0, 1], [1, 2])]}, "fold 0 must be two lists of row numbers"),
    ],
)
def test_mistakes_are_told(arguments, complaint):
    with pytest.raises(McLsError, match=complaint):
        select(X, Y, **arguments)


def test_one_class_is_told():
    with pytest.raises(McLsError, match="holds one: 'a'"):
        select(X, np.repeat("a", 150))


# Large tables -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_scikit_learn_calibrates_what_was_chosen(method):
    found = select(X, Y, grid=GRID)
    calibrated = CalibratedClassifierCV(clone(found.estimator), method=method, cv=5).fit(X, Y)
    P = calibrated.predict_proba(X)
    assert np.allclose(P.sum(axis=1), 1.0)
    assert (P >= 0).all()
    assert calibrated.score(X, Y) > 0.9


# The ranking --------------------------------------------------------------------------------------------------


def test_folds_that_repeat_are_judged_fold_by_fold():
    splitter = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=1)
    found = select(X, Y, grid=GRID, folds=splitter, nested=True)
    machine = OneLSM(**found.best_params)
    errors = [1 - machine.fit(X[a], Y[a]).score(X[b], Y[b]) for a, b in splitter.split(X, Y)]
    assert found.error == pytest.approx(np.mean(errors))
    assert found.tested.tolist() == np.repeat(np.arange(150), 2).tolist()
    assert np.mean(found.predictions != Y[found.tested]) == pytest.approx(found.error)
    assert np.mean(found.nested_predictions != Y[found.tested]) == pytest.approx(found.nested_error)


def test_rows_that_no_fold_tests_have_no_prediction():
    pairs = [(np.arange(0, 150, 2), np.arange(1, 150, 2))]
    found = select(X, Y, grid=GRID, folds=pairs, nested=True)
    assert found.tested.tolist() == pairs[0][1].tolist()
    assert len(found.predictions) == len(found.nested_predictions) == 75
    assert len(found.rows) == 150


@pytest.mark.parametrize(
    "machine", ["oneLSM", "oneLSM:solver=nystrom,n_landmarks=50", "elm:n_hidden=30", "ecoc", "sk:SVC"]
)
def test_the_columns_of_a_data_frame_are_kept_and_others_refused(machine, recwarn, tmp_path):
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    grid = (
        {} if "sk" in machine else {name: values for name, values in GRID.items() if name in MACHINES["ecoc"].grid}
    )
    if machine.startswith("elm"):
        grid = {"C": [1.0]}
    estimator = select(frame, Y, machine, grid, folds=3).estimator
    assert estimator.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    assert np.array_equal(estimator.predict(frame), select(X, Y, machine, grid, folds=3).estimator.predict(X))
    assert not recwarn.list
    kept = [estimator]
    if not machine.startswith("sk:"):
        save(estimator, tmp_path / "m.mcls")
        kept.append(load(tmp_path / "m.mcls"))
    for each in kept:
        with pytest.raises(ValueError, match="feature names should match"):
            each.predict(frame[["d", "c", "b", "a"]])
        with pytest.raises(ValueError, match="feature names should match"):
            each.predict(frame.rename(columns={"a": "z"}))


# What is shown ---------------------------------------------------------------------------------------------------


def test_a_selection_is_shown_in_a_line():
    found = select(X, Y, grid=GRID, nested=True, folds=3)
    assert "\n" not in repr(found)
    assert len(repr(found)) < 200
    for part in (
        "Selection(oneLSM: error=0.0",
        "nested_error=0.0",
        "3 folds of 150 rows",
        "best_params={'sigma': ",
    ):
        assert part in repr(found)


@pytest.mark.parametrize("seed", [0, 7])
def test_a_seed_is_given_only_to_what_draws_and_is_the_users(seed):
    assert "random_state" not in repr(select(X, Y, grid=GRID, folds=3, seed=seed).estimator)
    point = {"gamma": [1.0], "sigma": [1.0]}
    paired = select(X, Y, "ecoc:coding=all-pairs", point, folds=3, seed=seed)
    assert "random_state" not in repr(paired.estimator)
    for machine, grid in (
        ("oneLSM:solver=nystrom,n_landmarks=50", point),
        ("ecoc:coding=dense-random", point),
        ("elm:n_hidden=30", {"C": [1.0]}),
        ("sk:RandomForestClassifier:n_estimators=5", {}),
    ):
        assert select(X, Y, machine, grid, folds=3, seed=seed).estimator.random_state == seed
    given = "oneLSM:solver=nystrom,n_landmarks=50,random_state=3"
    assert select(X, Y, given, point, folds=3, seed=seed).estimator.random_state == 3


def test_the_nested_predictions_are_those_of_the_nested_error():
    found = select(X, Y, grid={"gamma": [0.01, 4.0], "sigma": [0.05, 3.0]}, folds=5, nested=True, seed=2)
    wrong = found.nested_predictions != Y[found.tested]
    assert wrong.mean() == pytest.approx(found.nested_error)
    assert select(X, Y, grid=GRID, folds=5).nested_predictions is None


def test_nested_probabilities_agree_with_the_nested_predictions():
    iris = load_dataset("iris")
    grid = {"gamma": [0.01, 1.0], "sigma": [0.5, 2.0]}
    found = select(iris.X, iris.y, grid=grid, folds=5, nested=True, calibration="auto")
    shown = found.out_of_fold
    assert shown.nested
    assert shown.probabilities.shape == (150, 3)
    assert shown.probabilities.sum(axis=1) == pytest.approx(1)
    assert (shown.probabilities.argmax(axis=1) == shown.predictions).all()
    assert select(iris.X, iris.y, grid=grid, folds=5, nested=True).out_of_fold.probabilities is None
