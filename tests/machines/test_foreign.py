"""Classifiers of other libraries, seen as machines."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC

from mcls.data import load_dataset
from mcls.evaluation.folds import stratified_folds
from mcls.evaluation.grid import search
from mcls.evaluation.metrics import read_metrics
from mcls.evaluation.scaling import to_range
from mcls.machines.foreign import ForeignMachine
from mcls.machines.registry import get_machine

DATA = load_dataset("glass")
X, Y = to_range(DATA.X)[::2], DATA.y[::2]
#: Uneven, over three powers of ten, and some of them zero.
WEIGHTS = 10.0 ** np.random.default_rng(0).uniform(-1.5, 1.5, len(Y))
WEIGHTS[::11] = 0.0


def test_other_classifiers_are_refitted_with_weights():
    w, folds = np.where(WEIGHTS > 0, WEIGHTS, 0.5), stratified_folds(Y, 3, seed=0)
    scores = ForeignMachine(SVC()).sweep(X, Y, folds, [{"C": 2.0}], n_classes=6, sample_weight=w)
    right = [(of_fold[0].argmax(axis=1) == Y[test]).mean() for of_fold, (_, test) in zip(scores, folds)]
    assert np.allclose(right, cross_val_score(SVC(C=2.0), X, Y, cv=folds, params={"sample_weight": w}))


def test_a_point_that_cannot_be_fitted_loses_and_none_left_is_an_error():
    data = load_dataset("iris", sample=30)
    folds = stratified_folds(data.y, 3, seed=0)
    machine = get_machine("sk:KNeighborsClassifier").create()
    with pytest.warns(UserWarning, match="left out of the grid: {'n_neighbors': 25}"):
        found = search(machine, data.X, data.y, {"n_neighbors": [25, 3]}, folds)
    assert found.errors[0] == 1.0
    assert found.best_point == {"n_neighbors": 3}
    alone = search(machine, data.X, data.y, {"n_neighbors": [3]}, folds)
    assert np.array_equal(found.predictions[1], alone.predictions[0])
    with pytest.raises(ValueError, match="n_neighbors"), pytest.warns(UserWarning, match="left out"):
        search(machine, data.X, data.y, {"n_neighbors": [25, 26]}, folds)


@pytest.mark.parametrize(
    "classifier", [SVC(), SVC(decision_function_shape="ovo"), RandomForestClassifier(5, random_state=0)]
)
def test_scores_of_a_foreign_classifier_leave_its_predictions_alone(classifier):
    data = load_dataset("glass")
    X, y = to_range(data.X), data.y
    grid = {"random_state": [0, 1]} if isinstance(classifier, RandomForestClassifier) else {"C": [1.0, 100.0]}
    folds = stratified_folds(y, 3, seed=0)
    plain = search(classifier, X, y, grid, folds)
    found = search(classifier, X, y, grid, folds, metrics=read_metrics(["auc", "log-loss", "balanced-error"]))
    assert np.array_equal(plain.predictions, found.predictions)
    assert (found.values("auc") > 0.8).all()
    assert (found.values("log-loss") < np.log(6)).all()
    train, test = folds[0]
    fitted = classifier.set_params(**found.points[0]).fit(X[train], y[train])
    expected = 1 - balanced_accuracy_score(y[test], fitted.predict(X[test]))
    assert found.fold_values["balanced-error"][0, 0] == pytest.approx(expected)
