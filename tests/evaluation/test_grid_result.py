"""What a search saw: means over the folds, ties, and rows that are tested twice."""

import numpy as np
import pytest
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from mcls import OneLSM
from mcls.data import load_dataset
from mcls.errors import McLsError
from mcls.evaluation.folds import stratified_folds
from mcls.evaluation.grid import search
from mcls.evaluation.grid_result import choose
from mcls.evaluation.scaling import to_range

GRID = {"gamma": "2^-4..2^4 step 4", "sigma": "2^-4..2^4 step 4"}


def load(name):
    data = load_dataset(name)
    return to_range(data.X), data.y


def test_ties_go_to_the_widest_kernel_then_the_strongest_regularisation():
    points = [{"sigma": s, "gamma": g} for s in (1.0, 2.0) for g in (0.5, 1.0)]
    errors = np.array([0.1, 0.1, 0.1, 0.1])
    assert choose(points, errors, {"gamma": 1, "sigma": 1}) == 3
    assert choose(points, errors, {"gamma": -1, "sigma": 1}) == 2
    assert choose(points, errors) == 0
    assert choose(points, np.array([0.2, 0.1, 0.1 + 1e-15, 0.3]), {"gamma": 1, "sigma": 1}) == 2


def test_errors_are_means_over_folds_and_the_best_is_their_minimum():
    X, y = load("iris")
    folds = stratified_folds(y, 7, seed=0)
    result = search(OneLSM(), X, y, GRID, folds)
    assert result.fold_errors.shape == (9, 7)
    wrong = result.predictions[result.best] != y
    assert result.best_error == pytest.approx(np.mean([wrong[test].mean() for _, test in folds]))
    assert result.best_error == result.errors.min()
    assert set(result.best_point) == {"gamma", "sigma"}


@pytest.mark.parametrize("scaling", ["none", "fold"])
@pytest.mark.parametrize("machine", [OneLSM(), KNeighborsClassifier()], ids=str)
def test_folds_that_test_a_row_twice_are_judged_by_their_own_predictions(machine, scaling):
    X, y = load("glass")
    folds = list(RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0).split(X, y))
    grid = (
        {"n_neighbors": [1, 9]}
        if isinstance(machine, KNeighborsClassifier)
        else {"gamma": [0.01], "sigma": [0.3, 2]}
    )
    found = search(machine, X, y, grid, folds, scaling=scaling)
    pipeline = make_pipeline(MinMaxScaler((-1, 1)) if scaling == "fold" else "passthrough", machine)
    for i, point in enumerate(found.points):
        pipeline[-1].set_params(**point)
        for k, (train, test) in enumerate(folds):
            predicted = pipeline.fit(X[train], y[train]).predict(X[test])
            assert found.fold_errors[i, k] == np.mean(predicted != y[test])
            assert np.array_equal(found.fold_predictions[k][i], predicted)
    with pytest.raises(McLsError, match="tested by several folds"):
        found.predictions  # noqa: B018
