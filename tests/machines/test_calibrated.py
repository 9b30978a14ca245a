"""Probabilities of every machine: they agree with its predictions, come from honest scores, and are kept in files."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_predict

from mcls import OneLSM, VoLSSVM, VoRLS, load, save
from mcls.data import load_dataset
from mcls.errors import McLsError
from mcls.evaluation.scaling import to_range
from mcls.machines.calibrated import calibration_folds
from mcls.machines.registry import MACHINES
from mcls.solvers.calibration import CALIBRATIONS, calibrate

IRIS = load_dataset("iris")
X, CODES = to_range(IRIS.X), IRIS.y
NAMES = np.array(["setosa", "versicolor", "virginica"])[CODES]
FEW = np.r_[0:150:4, 149]


def quick(name, **options):
    short = {"n_hidden": 40} if name == "elm" else {"epochs": 5} if name == "svm-sgd" else {}
    return MACHINES[name].create(**short, **options)


def check_probabilities(machine, rows):
    P = machine.predict_proba(rows)
    assert P.shape == (len(rows), len(machine.classes_))
    assert np.array_equal(machine.classes_[P.argmax(axis=1)], machine.predict(rows))
    assert (P >= 0).all()
    assert np.allclose(P.sum(axis=1), 1)
    return P


@pytest.mark.parametrize("name", sorted(MACHINES))
def test_every_machine_gives_probabilities_that_agree_and_are_saved(name, tmp_path):
    machine = quick(name, calibration="auto").fit(X[FEW], NAMES[FEW])
    P = check_probabilities(machine, X)
    assert log_loss(NAMES, P) < 0.9
    save(machine, tmp_path / "m.mcls")
    assert np.array_equal(load(tmp_path / "m.mcls").predict_proba(X), P)
    assert not hasattr(quick(name), "predict_proba")
    # A class of one row: the fold that tests it cannot know it.
    rows = np.r_[0:9, 50:59, 100]
    check_probabilities(quick(name, calibration="auto").fit(X[rows], NAMES[rows]), X)


@pytest.mark.parametrize("how", CALIBRATIONS)
@pytest.mark.parametrize(
    "machine",
    [OneLSM(sigma=0.5, gamma=0.1), VoRLS(), VoLSSVM(class_weight="balanced")],
    ids=repr,
)
def test_the_map_is_fitted_to_scores_out_of_fold(machine, how):
    fold = calibration_folds(X, CODES)
    folds = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(5)]
    F = cross_val_predict(clone(machine), X, CODES, cv=folds, method="decision_function")
    expected, _ = calibrate(F, CODES, how, folds=fold)
    fitted = clone(machine).set_params(calibration=how).fit(X, CODES)
    assert fitted.probability_map_.kind == expected.kind
    assert np.allclose(fitted.predict_proba(X), expected.probabilities(fitted._machine_scores(X)), atol=1e-8)


def test_folds_are_stratified_and_know_equal_rows_in_any_order():
    fold = calibration_folds(X, CODES)
    _, groups = np.unique(np.column_stack([CODES, X]), axis=0, return_inverse=True)
    assert all(len(set(fold[groups.ravel() == g])) == 1 for g in range(groups.max() + 1))
    counts = np.array([np.bincount(CODES[fold == k]) for k in range(5)])
    assert counts.max() - counts.min() <= 4
    order = np.random.default_rng(0).permutation(150)
    assert np.array_equal(calibration_folds(X[order], CODES[order]), fold[order])


@pytest.mark.parametrize("how", CALIBRATIONS)
def test_few_rows_of_any_kind_are_calibrated(how):
    for rows in (np.r_[0, 50], np.r_[0, 50, 100], np.r_[0, 1, 50], np.r_[0:3, 50:53, 100]):
        machine = OneLSM(calibration=how).fit(X[rows], NAMES[rows])
        check_probabilities(machine, X)
    same = np.zeros((6, 2))
    check_probabilities(OneLSM(calibration=how).fit(same, [0, 0, 1, 1, 2, 2]), same)


def test_weights_count_in_the_map_and_named_classes_are_known():
    times = np.random.default_rng(0).integers(0, 3, len(X))
    machine = OneLSM(sigma=0.5, calibration="temperature", class_weight={"setosa": 3.0, "virginica": 0.5})
    P = machine.fit(X, NAMES, sample_weight=times).predict_proba(X)
    assert np.allclose(P, machine.fit(X.repeat(times, axis=0), NAMES.repeat(times)).predict_proba(X), atol=1e-9)


def test_the_probabilities_of_an_earlier_fit_are_gone():
    machine = OneLSM(calibration="auto").fit(X, NAMES)
    machine.set_params(calibration=None).fit(X, NAMES)
    assert not hasattr(machine, "probability_map_")
    with pytest.raises(AttributeError, match="predict_proba") as caught:
        machine.predict_proba(X)
    assert "calibration='auto'" in str(caught.value.__cause__)
    with pytest.raises(McLsError, match="unknown calibration 'platt'"):
        OneLSM(calibration="platt").fit(X, NAMES)
