"""SweepCV and GridSearchCV side by side."""

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from mcls import SweepCV
from mcls.data import load_dataset
from mcls.evaluation.scaling import to_range

GRID = {"gamma": [2.0**-4, 1.0, 16.0], "sigma": [0.25, 1.0]}


CV = StratifiedKFold(3, shuffle=True, random_state=0)


def rows(name, at_most=120):
    """Some rows of a shipped data set, with classes of at least six rows, named."""
    data = load_dataset(name)
    often = np.flatnonzero(np.bincount(data.y)[data.y] >= 24)
    some = often[:: max(1, len(often) // at_most)]
    some = some[np.bincount(data.y[some])[data.y[some]] >= 6]
    return to_range(data.X)[some], np.array(data.classes)[data.y[some]]


def both(estimator, grid, X, y, fit=None, **options):
    """The two searches, which agree in everything but time."""
    ours, plain = (
        search(estimator, grid, **{"cv": CV, **options}).fit(X, y, **(fit or {}))
        for search in (SweepCV, GridSearchCV)
    )
    assert set(ours.cv_results_) == set(plain.cv_results_)
    assert ours.cv_results_["params"] == plain.cv_results_["params"]
    for column, expected in plain.cv_results_.items():
        if "test_" in column:
            np.testing.assert_allclose(ours.cv_results_[column], expected, rtol=1e-12, atol=1e-12, err_msg=column)
    assert (ours.multimetric_, ours.n_splits_) == (plain.multimetric_, plain.n_splits_)
    if ours.refit:
        assert ours.best_params_ == plain.best_params_
        assert np.array_equal(ours.predict(X), plain.predict(X))
        assert np.array_equal(ours.classes_, plain.classes_)
        assert ours.n_features_in_ == plain.n_features_in_
        if not callable(ours.refit):
            assert ours.score(X, y) == plain.score(X, y)
    return ours
