"""scikit-learn's scorers on precomputed scores, against grid search with plain fits."""

import pytest
from sklearn.metrics import accuracy_score, get_scorer, make_scorer

from mcls import OneLSM
from mcls.evaluation.scorers import recognised
from tests.evaluation.searches import GRID, both, rows

pytestmark = pytest.mark.filterwarnings("ignore:SweepCV has fitted every grid point by itself")


def test_scoring_of_any_kind():
    X, y = rows("wine")

    def twice(estimator, X, y):
        return {"right": accuracy_score(y, estimator.predict(X)), "sum": float(estimator.predict(X).shape[0])}

    def nosy(estimator, X, y):
        return float(estimator.alpha_.sum())

    assert both(OneLSM(), GRID, X, y, scoring="f1_micro").swept_
    assert both(OneLSM(), GRID, X, y, scoring=make_scorer(accuracy_score)).swept_
    assert both(OneLSM(), GRID, X, y, scoring=twice, refit="right").swept_
    assert both(OneLSM(), GRID, X, y, scoring=twice, refit=lambda results: 2).best_index_ == 2
    assert not both(OneLSM(), GRID, X, y, scoring=nosy).swept_  # it looks at what a fit leaves behind
    assert recognised(get_scorer("balanced_accuracy")) == "balanced_accuracy"
    assert recognised(make_scorer(accuracy_score, normalize=False)) is None
