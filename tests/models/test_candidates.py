"""What is searched and fitted where tables are large or memory is short: samples and landmarks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

from mcls import OneLSM, select
from mcls.data import load_dataset
from mcls.errors import McLsError
from mcls.evaluation import protocols
from mcls.evaluation.folds import equal_rows, stratified_folds
from mcls.evaluation.scaling import to_range
from mcls.evaluation.task import Task
from mcls.machines.registry import MACHINES
from mcls.models import budget, candidates, ranking
from mcls.seeds import derive

IRIS = load_dataset("iris")
X = to_range(IRIS.X) + 1e-9 * np.arange(150)[:, None]  # no two rows are equal
Y = np.array(IRIS.classes)[IRIS.y]
GRID = {"gamma": [0.01, 1.0], "sigma": [0.3, 1.0, 3.0]}


def test_a_large_table_is_searched_on_a_sample_and_fitted_whole(monkeypatch):
    monkeypatch.setattr(candidates, "SWEEP_ROWS", 60)
    said = []
    found = select(X, Y, grid={**GRID, "sigma": [0.3, 1.0]}, say=said.append)
    assert said == found.notes == ["parameters are chosen on a stratified sample of 60 of the 150 rows"]
    assert np.unique(Y[found.rows], return_counts=True)[1].tolist() == [20, 20, 20]
    assert len(found.predictions) == 60
    assert len(found.estimator.X_fit_) == 150


def few_landmarks(monkeypatch, count):
    """Let oneLSM have so few landmarks where its matrix does not fit."""
    many_rows = {"solver": "nystrom", "n_landmarks": count}
    monkeypatch.setitem(MACHINES, "oneLSM", replace(MACHINES["oneLSM"], many_rows=many_rows))


def test_onelsm_goes_to_landmarks_when_its_matrix_does_not_fit(monkeypatch):
    monkeypatch.setattr(candidates, "available_bytes", lambda: budget.exact_fit_bytes(149))
    few_landmarks(monkeypatch, 40)
    found = select(X, Y, grid=GRID)
    assert found.estimator.solver == "nystrom"
    assert len(found.estimator.X_fit_) == 40
    assert "solver=nystrom,n_landmarks=40 instead" in found.notes[0]
    assert found.estimator.score(X, Y) > 0.9
    for machine in ("voLSSVM", "oneLSM:solver=exact"):
        with pytest.raises(McLsError, match=r"use oneLSM:solver=nystrom,n_landmarks=40,.* or fewer rows"):
            select(X, Y, machine=machine, grid=GRID)
    assert select(X, Y, "elm:n_hidden=30", {"C": [1.0]}, folds=3).notes == []  # it has no kernel matrix


def errors_of(found):
    """The mean error of each point, found anew by fitting the machine that was saved in every fold."""
    folds = stratified_folds(IRIS.y, found.folds, derive(0, "folds"))
    for row in found.results.itertuples():
        point = {"gamma": row.gamma, "sigma": row.sigma}
        scores = clone(found.estimator).sweep(X, IRIS.y, folds, [point], engine="refit")
        yield row.error, np.mean([(s[0].argmax(axis=1) != IRIS.y[b]).mean() for s, (_, b) in zip(scores, folds)])


@pytest.mark.parametrize("given", ["oneLSM:solver=nystrom,n_landmarks=6", "oneLSM"])
def test_the_error_is_that_of_the_landmark_machine_which_is_saved(given, monkeypatch):
    if given == "oneLSM":  # where memory makes landmarks of it
        monkeypatch.setattr(candidates, "available_bytes", lambda: budget.exact_fit_bytes(149))
        few_landmarks(monkeypatch, 6)
    found = select(X, Y, given, GRID, folds=3, nested=True)
    assert len(found.estimator.X_fit_) == 6
    assert all(ours == pytest.approx(refitted) for ours, refitted in errors_of(found))
    codes, smoother = np.unique(Y, return_inverse=True)[1], MACHINES["oneLSM"].smoother
    task = Task(clone(found.estimator), X, codes, GRID, "none", "refit", smoother, groups=equal_rows(X))
    assert found.nested_error == protocols.nested_folds(task, derive(0, "folds"), folds=3)["error"]
    _, ranked = ranking.rank(X, Y, GRID, (given, "oneLSM:gamma=16,sigma=0.01"), folds=3)
    (line,) = (line for line in ranked.machines if line.machine == given)
    at = (found.results[list(line.best_params)] == list(line.best_params.values())).all(axis=1)
    assert line.error == found.results["error"][at].item()


def test_with_a_landmark_for_each_row_the_exact_sweep_serves(monkeypatch):
    real = OneLSM._sweep

    def only_exact(self, *args):
        assert self.solver == "exact"
        return real(self, *args)

    monkeypatch.setattr(OneLSM, "_sweep", only_exact)
    found = select(X, Y, "oneLSM:solver=nystrom,n_landmarks=150", GRID, folds=3)
    assert found.estimator.solver == "nystrom"
    monkeypatch.undo()
    assert all(ours == pytest.approx(refitted) for ours, refitted in errors_of(found))
    tuned = select(X, Y, "oneLSM:solver=nystrom", {**GRID, "n_landmarks": [3, 90]}, folds=3).results
    assert len(tuned["error"].groupby(tuned["n_landmarks"]).min().unique()) == 2


def test_a_solver_is_no_parameter_to_tune():
    with pytest.raises(McLsError, match="given as an option, such as oneLSM:solver=NAME"):
        select(X, Y, grid={"solver": ["exact", "nystrom"]})


# Probabilities ------------------------------------------------------------------------------------------------
