"""The honest error where columns are learnt inside each fold: against fitting to the training rows of each fold."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from mcls import TableClassifier, select
from mcls.errors import McLsError
from mcls.evaluation.folds import make_folds
from mcls.seeds import derive

GRID = {"gamma": [0.01, 1.0], "sigma": [0.3, 1.0, 3.0]}
RULES = {"missing": "impute", "groups": None, "grid": GRID, "ordinal": ["size=S<M<L"]}


@pytest.fixture
def frame():
    rng = np.random.default_rng(1)
    n = 60
    y = rng.integers(0, 3, n)
    made = pd.DataFrame(
        {
            "x": np.exp(rng.normal(size=n) + y),  # its range changes from fold to fold
            "few": rng.normal(size=n) + y,
            "size": np.array(["S", "M", "L"])[rng.integers(0, 3, n)],
            "hue": np.where(rng.random(n) < 0.8, np.array(["r", "g", "b"])[y], "g"),
            "when": (pd.Timestamp("2024-01-31") + pd.to_timedelta(200 * y + rng.integers(0, 90, n), "D")),
            "kind": np.array(["a", "b", "c"])[y],
        }
    )
    made["size"] = made["size"].astype(object)
    made.loc[7, "hue"] = "once"  # in one row: in its fold it is a text that training did not have
    made.loc[[11, 12], "hue"] = None
    made.loc[rng.permutation(n)[:12], "x"] = np.nan
    made.loc[[3, 20, 41], "few"] = np.nan  # 5 % of all rows, more or less of those of a fold
    made.loc[[5, 30], "when"] = pd.NaT
    made.loc[2, "size"] = None
    return made.drop(columns="kind"), made["kind"].to_numpy()


@pytest.mark.filterwarnings("ignore:texts that the training table")
@pytest.mark.parametrize("probabilities", [None, "temperature"])
def test_nested_errors_prepare_each_fold_as_a_fit_to_its_training_rows_does(frame, probabilities):
    X, y = frame
    found = TableClassifier(folds=5, nested=True, calibration=probabilities, **RULES).fit(X, y).selection_
    codes = np.unique(y, return_inverse=True)[1]
    folds = make_folds(codes, 5, derive(0, "folds"))
    errors = []
    for train, test in folds:
        place = np.full(len(y), -1)
        place[train] = np.arange(len(train))
        inner = [(np.setdiff1d(train, other), other) for _, other in folds if other is not test]
        inner = [(place[a], place[b]) for a, b in inner]
        fitted = TableClassifier(folds=inner, **RULES).fit(X.iloc[train], y[train])
        predicted = fitted.predict(X.iloc[test])
        assert (found.nested_predictions[test] == predicted).all()
        errors.append((predicted != y[test]).mean())
    assert found.nested_error == pytest.approx(np.mean(errors))
    if probabilities:
        assert found.nested_probabilities.shape == (60, 3)


@pytest.mark.filterwarnings("ignore:texts that the training table")
def test_splits_of_your_own_prepare_too(frame):
    X, y = frame
    folds = [(np.arange(20, 60), np.arange(20)), (np.arange(0, 40), np.arange(40, 60))]
    found = TableClassifier("oneLSM:gamma=1,sigma=1", folds=folds, nested=True, **{**RULES, "grid": "auto"})
    nested = found.fit(X, y).selection_.nested_predictions
    for k, (train, test) in enumerate(folds):
        fitted = TableClassifier("oneLSM:gamma=1,sigma=1", folds=2, **{**RULES, "grid": "auto"})
        assert (nested[20 * k : 20 * k + 20] == fitted.fit(X.iloc[train], y[train]).predict(X.iloc[test])).all()


def test_scaling_says_where_columns_are_learnt(frame):
    X, y = frame
    whole = X[["few"]].assign(z=np.arange(60) % 7.0).drop(columns="few").assign(w=np.arange(60) ** 2 % 11.0)
    facts = [
        TableClassifier(nested=True, scaling=scaling, folds=3, grid=GRID).fit(whole, y).model_.facts.scaling
        for scaling in (None, "fold")
    ]
    assert facts == ["dataset", "fold"]
    assert TableClassifier(folds=3, **RULES).fit(X, y).model_.facts.scaling == "fold"
    with pytest.raises(McLsError, match="did you mean 'fold'"):
        TableClassifier(scaling="folds").fit(whole, y)


def test_select_asks_for_the_features_of_each_fold():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), np.arange(30) % 2
    asked = []

    def prepare(train):
        asked.append(len(train))
        return X - X[train].mean(axis=0)

    select(X, y, grid=GRID, folds=3, nested=True, prepare=prepare)
    assert asked == [20, 20, 20]


def test_the_test_against_chance_prepares_every_fold_and_lets_the_map_decide():
    rng = np.random.default_rng(0)
    X, y = (
        rng.normal(size=(60, 2)),
        (np.arange(60) % 5 == 0).astype(int),
    )  # noise, a fifth of it in the second class
    asked = []

    def prepare(train):
        asked.append(len(train))
        return X - X[train].mean(axis=0)

    grid = {"gamma": [0.01], "sigma": [0.2]}
    by_scores = select(X, y, grid=grid, folds=3, permutations=9, prepare=prepare).chance
    assert asked == [40] * 27
    by_map = select(X, y, grid=grid, folds=3, permutations=9, calibration="decide").chance
    # The largest score of a narrow machine errs more often than always the larger class; the map knows the sizes.
    assert by_map.expected < by_scores.expected - 0.02
