"""Machines named ``sk:…``: what is found, what is refused, and that they run like our own."""

import math
from importlib.util import find_spec

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import PredefinedSplit, cross_val_predict
from sklearn.preprocessing import minmax_scale
from sklearn.svm import SVC

from mcls.data import load_dataset
from mcls.errors import McLsError
from mcls.evaluation.folds import stratified_folds
from mcls.evaluation.grid import search
from mcls.evaluation.grid_result import choose
from mcls.evaluation.parameter_grids import effective_grid
from mcls.machines.registry import get_machine
from mcls.models.fitting import check_machine
from mcls.models.selection import select


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


@pytest.mark.parametrize("name", ["sk:LGBMClassifier", "sk:XGBClassifier", "sk:TableClassifier"])
def test_a_few_classifiers_of_other_libraries_have_names_too(name, tmp_path):
    module = {"sk:LGBMClassifier": "lightgbm", "sk:XGBClassifier": "xgboost"}.get(name, "mcls")
    if find_spec(module) is None:
        with pytest.raises(McLsError, match=r"needs .*: pip install 'mcls\[boosting\]'"):
            get_machine(name)
        return
    machine = get_machine(name)
    assert machine.name == name
    assert machine.versions.keys() == {module} - {"mcls"}
    iris = load_dataset("iris")
    grid = {key: list(tuned.values[:1]) for key, tuned in machine.tuned.items()}
    found = search(machine.create(), iris.X, iris.y, grid, stratified_folds(iris.y, 2, seed=0))
    assert found.best_error < 0.2
    with pytest.raises(McLsError, match=f"no model file holds {name}"):
        check_machine(name, {}, skops=True)


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


COMMON = [
    *("SVC", "LinearSVC", "LogisticRegression", "RidgeClassifier", "KNeighborsClassifier", "GaussianNB"),
    *("DecisionTreeClassifier", "RandomForestClassifier", "ExtraTreesClassifier", "GradientBoostingClassifier"),
    *("HistGradientBoostingClassifier", "MLPClassifier"),
]


@pytest.mark.parametrize("name", COMMON)
def test_the_common_classifiers_have_a_grid_of_possible_values_and_few_points(name):
    machine = get_machine(f"sk:{name}")
    grid = effective_grid(machine, machine.create(), {}, {}, {})
    assert set(grid) == set(machine.smoother)
    assert set(machine.smoother.values()) <= {-1, 1}
    assert 2 < math.prod(len(values) for values in grid.values()) <= 20
    for parameter, values in grid.items():
        assert values == sorted(values)
        for value in values:
            assert machine.create(**{parameter: value}).get_params()[parameter] == value


@pytest.mark.parametrize("name", ["KNeighborsClassifier", "SVC", "DecisionTreeClassifier"])
def test_a_choice_over_its_own_grid_is_no_worse_than_the_default(name):
    data = load_dataset("vowel", sample=150)
    X = minmax_scale(data.X, (-1, 1))
    folds = stratified_folds(data.y, 3, seed=0)
    machine = get_machine(f"sk:{name}")
    estimator = machine.create(**({"random_state": 0} if "random_state" in machine.create().get_params() else {}))
    found = search(estimator, X, data.y, machine.grid, folds, smoother=machine.smoother)
    plain = search(estimator, X, data.y, {}, folds)
    assert found.best_error <= plain.best_error


def test_ties_go_to_the_smoother_model_and_words_come_last():
    assert choose([{"n_neighbors": 1}, {"n_neighbors": 9}], np.zeros(2), {"n_neighbors": 1}) == 1
    points = [{"gamma": "scale"}, {"gamma": 4.0}, {"gamma": 0.25}]
    assert choose(points, np.zeros(3), get_machine("sk:SVC").smoother) == 2


def test_selection_in_python_takes_the_values_that_are_declared():
    data = load_dataset("iris", sample=60)
    found = select(data.X, data.y, machine="sk:KNeighborsClassifier", folds=3)
    assert found.grid == {"n_neighbors": [1, 3, 5, 9, 15]}
    assert not any("--grid" in note for note in found.notes)


def test_longer_runs_than_scikit_learns_are_a_default_that_an_option_overrides():
    assert get_machine("sk:LogisticRegression").create().max_iter == 1000
    assert get_machine("sk:LogisticRegression").create(max_iter=7).max_iter == 7
