"""Machines named ``sk:…``: what is found, what is refused, and that they run like our own."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import PredefinedSplit, cross_val_predict
from sklearn.svm import SVC

from mcls.data import load_dataset
from mcls.errors import McLsError
from mcls.evaluation.folds import stratified_folds
from mcls.evaluation.grid import search
from mcls.machines.registry import get_machine


@pytest.mark.parametrize(
    ("name", "cls"),
    [
        ("sk:RidgeClassifier", RidgeClassifier),
        ("SK:ridgeclassifier", RidgeClassifier),
        ("sk:linear_model.LogisticRegression", LogisticRegression),
        ("sk:sklearn.svm.SVC", SVC),
        ("sk:svm.SVC", SVC),
    ],
)
def test_classifiers_are_found_by_import_name_and_have_one_name(name, cls):
    machine = get_machine(name)
    assert machine.cls is cls
    assert machine.name == f"sk:{cls.__name__}"
    assert get_machine(machine.name) == machine
    assert type(machine.create()) is cls


def test_options_reach_the_classifier_and_unknown_ones_are_refused_with_the_valid_ones():
    assert get_machine("sk:SVC").create(C=7.0, kernel="linear").C == 7.0
    with pytest.raises(McLsError, match=r"parameter of sk:RidgeClassifier 'alhpa'; did you mean 'alpha'.*solver"):
        get_machine("sk:RidgeClassifier").create(alhpa=1.0)


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("sk:RidgeClassifier", {"alpha": -1.0}),
        ("sk:SVC", {"kernel": "rbff"}),
        ("sk:BaggingClassifier", {"estimator": "SVC"}),
    ],
)
def test_impossible_values_are_refused_before_anything_is_fitted(name, bad):
    (parameter,) = bad
    with pytest.raises(McLsError, match=f"^{name}: .*'{parameter}'"):
        get_machine(name).create(**bad)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("sk:RidgeClasifier", "did you mean 'RidgeClassifier'"),
        ("sk:Ridge", "unknown scikit-learn classifier 'Ridge'"),  # a regressor
        ("sk:os.system", "unknown scikit-learn classifier 'os.system'"),
        ("sk:", "unknown scikit-learn classifier"),
        ("sk:tree.SVC", r"SVC is in sklearn\.svm; write sk:SVC"),
        ("sk:sv.SVC", r"SVC is in sklearn\.svm; write sk:SVC"),
        ("sk:StackingClassifier", r"made from other estimators \(estimators\)"),
    ],
)
def test_everything_else_is_refused(name, message):
    with pytest.raises(McLsError, match=message):
        get_machine(name)


def test_a_grid_search_gives_scikit_learns_own_out_of_fold_predictions():
    data = load_dataset("wine")
    folds = stratified_folds(data.y, 5, seed=0)
    machine = get_machine("sk:RidgeClassifier").create(fit_intercept=False)
    result = search(machine, data.X, data.y, {"alpha": "10^-1..10^1"}, folds, smoother={})
    where = np.empty(len(data.y), dtype=int)
    for f, (_, test) in enumerate(folds):
        where[test] = f
    for point, predicted in zip(result.points, result.predictions, strict=True):
        theirs = cross_val_predict(
            RidgeClassifier(alpha=point["alpha"], fit_intercept=False), data.X, data.y, cv=PredefinedSplit(where)
        )
        assert np.array_equal(predicted, theirs)
