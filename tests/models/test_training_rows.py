"""The rows that are learned from, and their folds."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from mcls import OneLSM, select
from mcls.data import load_dataset
from mcls.evaluation.scaling import to_range
from mcls.models import candidates

IRIS = load_dataset("iris")
X = to_range(IRIS.X) + 1e-9 * np.arange(150)[:, None]  # no two rows are equal
Y = np.array(IRIS.classes)[IRIS.y]
GRID = {"gamma": [0.01, 1.0], "sigma": [0.3, 1.0, 3.0]}


def test_index_pairs_are_cut_down_to_the_rows_of_a_sample(monkeypatch):
    monkeypatch.setattr(candidates, "SWEEP_ROWS", 60)
    pairs = [(np.arange(0, 150, 2), np.arange(1, 150, 2)), (np.arange(1, 150, 2), np.arange(0, 150, 2))]
    found = select(X, Y, grid=GRID, folds=pairs)
    assert found.tested.tolist() == found.rows.tolist()
    assert len(found.rows) == 60


def test_any_splitter_and_index_pairs_are_taken():
    given = StratifiedKFold(5)
    pairs = list(given.split(X, Y))
    peer = GridSearchCV(OneLSM(), GRID, cv=pairs, refit=False).fit(X, Y)
    expected = sorted(1 - peer.cv_results_["mean_test_score"])
    for folds in (given, pairs, iter(pairs)):
        found = select(X, Y, grid=GRID, folds=folds)
        assert found.folds == 5
        assert found.results["error"].tolist() == pytest.approx(expected, abs=1e-12)
