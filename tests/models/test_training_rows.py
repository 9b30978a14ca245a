"""The rows that are learned from, and their folds."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from mcls import OneLSM, TableClassifier, select
from mcls.data import load_dataset
from mcls.errors import McLsError
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


def test_a_seed_may_be_a_whole_number_of_numpy_and_nothing_else():
    found = [select(X, Y, grid=GRID, folds=3, seed=seed, nested=True) for seed in (3, np.int64(3), np.uint8(3))]
    assert len({(each.nested_error, each.error) for each in found}) == 1
    point = "oneLSM:gamma=0.1,sigma=1"
    assert TableClassifier(point, folds=2, seed=np.int64(3)).fit(X, Y).model_.facts.seed == 3
    for seed in (None, -1, 1.5, "3", True, 2**32, np.random.default_rng(0)):
        with pytest.raises(McLsError, match=r"seed must be a whole number from 0 to 2\^32 - 1; got"):
            select(X, Y, grid=GRID, folds=3, seed=seed)
        with pytest.raises(McLsError, match="seed must be a whole number"):
            TableClassifier(point, folds=2, seed=seed).fit(X, Y)


def test_numbers_and_values_may_be_those_of_numpy():
    settings = {"nested": True, "folds": 3, "repeats": 2, "permutations": 3}
    values = {"gamma": [0.01, 1.0], "sigma": [1, 2, 3]}
    arrays = {"gamma": np.logspace(-2, 0, 2), "sigma": range(1, 4)}
    given = [(values, settings), (arrays, {name: np.int64(value) for name, value in settings.items()})]
    found, again = (select(X, Y, grid=grid, **own) for grid, own in given)
    assert found.grid == again.grid == values
    assert found.repeat_errors == again.repeat_errors
    assert len(found.repeat_errors) == 2
    assert found.chance.p == again.chance.p
    assert select(X, Y, grid={"gamma": np.float32([0.5]), "sigma": [np.int64(1)]}).best_params == {
        "gamma": 0.5,
        "sigma": 1,
    }


@pytest.mark.parametrize("gap", [None, np.nan, pd.NA])
def test_a_row_without_its_group_is_refused(gap):
    for kind in ("str", "int"):
        groups = (np.arange(150) % 10).astype(kind).astype(object)
        groups[7] = gap
        for given in (groups, pd.Series(groups)):
            with pytest.raises(McLsError, match="one value for each of the 150 rows; that of row 7 is missing"):
                select(X, Y, grid=GRID, folds=3, groups=given)
    with pytest.raises(McLsError, match="that of row 7 is missing"):
        select(X, Y, grid=GRID, folds=3, groups=np.where(np.arange(150) == 7, np.nan, np.arange(150) % 10))
