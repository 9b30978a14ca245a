"""Choosing parameters: against scikit-learn's search, on samples of large tables, and where memory is short."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV

from mcls import OneLSM, select
from mcls.data import load_dataset
from mcls.errors import McLsError
from mcls.evaluation.folds import stratified_folds
from mcls.evaluation.scaling import to_range
from mcls.machines.registry import MACHINES
from mcls.models import memory, ranking, selection
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
    quest = selection.prepare(X, Y, "oneLSM", GRID, folds=3)
    from mcls.evaluation.protocols import nested

    assert (
        found.nested_error
        == nested(quest.task(np.arange(150)), derive(0, "folds"), folds=3, inner_folds=3)["error"]
    )


def test_the_seed_decides():
    a, b, c = (select(X, Y, grid=GRID, seed=seed).results for seed in (1, 1, 2))
    assert a.equals(b)
    assert not a.equals(c)


def test_the_automatic_grid_surrounds_the_median_distance():
    width = selection.median_distance(X)
    from scipy.spatial.distance import pdist

    assert width == pytest.approx(np.median(pdist(X)[pdist(X) > 0]))
    values = selection.automatic_grid(MACHINES["oneLSM"], X)
    assert values["sigma"][0] == pytest.approx(width / 16)
    assert values["sigma"][-1] == pytest.approx(width * 4)
    assert np.allclose(np.diff(np.log2(values["sigma"])), 0.75)
    assert (min(values["gamma"]), max(values["gamma"])) == (2.0**-10, 16.0)
    assert (min(selection.automatic_grid(MACHINES["voLSSVM"], X)["gamma"]), 1024.0) == (2.0**-4, 1024.0)
    assert selection.median_distance(np.ones((5, 2))) == 1.0


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
    wider = heard[0].split("--grid ")[1]
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
        ({"grid": "sigma=0.5,1,2"}, r"'sigma=0.5,1,2' is no grid; .* sigma=0.5\+1\+2 for a list"),
        ({"grid": {"gama": [1]}}, "did you mean 'gamma'"),
        ({"grid": {"gamma": [-1]}}, "gamma must be a positive number"),
        ({"machine": "oneLMS"}, "did you mean 'oneLSM'"),
        ({"machine": "oneLSM:kernel=precomputed"}, "give another than 'precomputed'"),
        ({"folds": 1}, "at least 2 folds"),
    ],
)
def test_mistakes_are_told(arguments, complaint):
    with pytest.raises(McLsError, match=complaint):
        select(X, Y, **arguments)


def test_one_class_is_told():
    with pytest.raises(McLsError, match="holds one: 'a'"):
        select(X, np.repeat("a", 150))


# Large tables -------------------------------------------------------------------------------------------------


def test_a_large_table_is_searched_on_a_sample_and_fitted_whole(monkeypatch):
    monkeypatch.setattr(selection, "SWEEP_ROWS", 60)
    said = []
    found = select(X, Y, grid={**GRID, "sigma": [0.3, 1.0]}, say=said.append)
    assert said == found.notes == ["parameters are chosen on a stratified sample of 60 of the 150 rows"]
    assert np.unique(Y[found.rows], return_counts=True)[1].tolist() == [20, 20, 20]
    assert len(found.predictions) == 60
    assert len(found.estimator.X_fit_) == 150


def test_onelsm_goes_to_landmarks_when_its_matrix_does_not_fit(monkeypatch):
    monkeypatch.setattr(selection, "available_bytes", lambda: memory.exact_fit_bytes(149))
    monkeypatch.setattr(selection, "LANDMARKS", 40)
    found = select(X, Y, grid=GRID)
    assert found.estimator.solver == "nystrom"
    assert len(found.estimator.X_fit_) == 40
    assert "solver=nystrom with 40 landmarks instead" in found.notes[0]
    assert found.estimator.score(X, Y) > 0.9
    for machine in ("voLSSVM", "oneLSM:solver=exact"):
        with pytest.raises(McLsError, match="use oneLSM:solver=nystrom, or fewer rows"):
            select(X, Y, machine=machine, grid=GRID)
    assert select(X, Y, "elm", {"C": [1.0]}, folds=3).notes == []  # it has no kernel matrix


def test_landmarks_asked_for_are_searched_exactly_and_fitted_by_landmarks():
    machine = "oneLSM:solver=nystrom,n_landmarks=50"
    found, exact = select(X, Y, machine, GRID), select(X, Y, "oneLSM", GRID)
    assert found.results.equals(exact.results)
    assert len(found.estimator.X_fit_) == 50


def test_twenty_thousand_rows_fit_in_sixteen_gigabytes():
    assert memory.exact_fit_bytes(20_000) < 16e9
    assert memory.available_bytes() > 0


# Probabilities ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_scikit_learn_calibrates_what_was_chosen(method):
    found = select(X, Y, grid=GRID)
    calibrated = CalibratedClassifierCV(clone(found.estimator), method=method, cv=5).fit(X, Y)
    P = calibrated.predict_proba(X)
    assert np.allclose(P.sum(axis=1), 1.0)
    assert (P >= 0).all()
    assert calibrated.score(X, Y) > 0.9


# The ranking --------------------------------------------------------------------------------------------------


def test_ranking_orders_by_error_and_tests_the_best_two():
    machines = ("oneLSM:gamma=16", "voLSSVM", "ovO")
    grid = {"gamma": [0.1, 1.0], "sigma": [0.1, 0.5]}
    found, ranked = ranking.rank(X, Y, grid, machines, folds=5)
    errors = [r.error for r in ranked.machines]
    assert errors == sorted(errors)
    assert sorted(r.machine for r in ranked.machines) == sorted(machines)
    assert found.machine == ranked.machines[0].machine
    assert found.error == errors[0]
    assert 0 <= ranked.test.p <= 1
    assert " and " in ranked.verdict() or " is better than " in ranked.verdict()


def test_machines_that_are_one_function_never_differ():
    _, ranked = ranking.rank(X, Y, GRID, ("oneLSM", "ovA"), folds=3)
    assert [r.machine for r in ranked.machines] == ["oneLSM", "ovA"]
    assert ranked.verdict() == "oneLSM and ovA never differ"


def test_the_verdict_names_the_machine_with_the_smaller_error():
    from mcls.evaluation.statistics import TestResult

    two = tuple(ranking.Ranked(name, 0.1, 0.0, 0.0, {}) for name in ("a", "b"))
    said = ranking.Ranking(two, TestResult(9.0, 0.01), (0.2, 0.1)).verdict()
    assert said == "b is better than a (f = 9.00, p = 0.010)"
    said = ranking.Ranking(two, TestResult(2.0, 0.2), (0.2, 0.1)).verdict()
    assert said == "the difference between a and b is not significant (f = 2.00, p = 0.200)"
    said = ranking.Ranking(
        two, TestResult(float("nan"), float("nan"), undefined="no variance"), (0.2, 0.1)
    ).verdict()
    assert said == "the test between a and b is undefined: no variance"


def test_the_test_of_a_large_table_uses_a_sample(monkeypatch):
    monkeypatch.setattr(ranking, "TEST_ROWS", 60)
    said = []
    ranking.rank(X, Y, {"gamma": [1.0], "sigma": [0.5]}, ("oneLSM", "ovO"), folds=3, say=said.append)
    assert said == ["the F-test of the best two uses a stratified sample of 60 rows"]


def test_the_fast_machines_are_registered():
    assert set(ranking.FAST_MACHINES) <= set(MACHINES)
