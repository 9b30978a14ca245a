"""The classifier of data frames: as scikit-learn wants it, as ``mcls fit`` does it."""

from __future__ import annotations

import inspect

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import mcls
from mcls import TableClassifier
from mcls.data import load_dataset
from mcls.data.formats import ColumnRules
from mcls.errors import McLsError
from mcls.evaluation import protocols
from mcls.evaluation.folds import stratified_folds
from mcls.evaluation.metrics import read_metrics
from mcls.evaluation.task import Task
from mcls.models.fitting import fit_table
from mcls.resources import datasets_dir

POINT = "oneLSM:gamma=0.1,sigma=1"


def _odd(estimator):
    odd = {"check_class_weight_classifiers": "a table takes None or 'balanced', not a dictionary"}
    if sklearn.__version__.startswith("1.6."):
        odd["check_positive_only_tag_during_fit"] = "it subtracts a mean from the whole numbers that it made"
    return odd


@parametrize_with_checks([TableClassifier(POINT, folds=2, groups=None)], expected_failed_checks=_odd)
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    n = 60
    kind = rng.integers(0, 3, n)
    made = pd.DataFrame(
        {
            "x": rng.normal(size=n) + 2 * kind,
            "n": pd.array(rng.integers(0, 5, n), dtype="Int64"),
            "shop": rng.choice([101, 205], n),
            "size": pd.Categorical(np.array(["S", "M", "L"])[kind]),
            "when": pd.Timestamp("2024-01-31") + pd.to_timedelta(rng.integers(0, 900, n), "D"),
            "flag": rng.random(n) < 0.5,
            "kind": kind * 5,
        }
    )
    made.loc[[3, 8, 20, 41], "x"] = np.nan
    made.loc[[5, 9], "n"] = pd.NA
    return made


def test_the_model_of_the_command_line(frame, tmp_path):
    options = {"missing": "impute", "categorical": ["shop"], "ordinal": ["size=S<M<L"]}
    found = TableClassifier(POINT, folds=3, **options).fit(frame.drop(columns="kind"), frame["kind"])
    frame.to_csv(tmp_path / "t.csv", index=False)
    other = fit_table(tmp_path / "t.csv", "kind", POINT, folds=3, rules=ColumnRules(**options)).model
    assert found.model_.encoder == other.encoder
    assert found.classes_.tolist() == [0, 5, 10]
    assert found.predict(frame).tolist() == [int(name) for name in other.predict(frame)]
    scores = found.decision_function(frame)
    assert np.array_equal(found.classes_[scores.argmax(axis=1)], found.predict(frame))
    found.save(tmp_path / "m.mcls")
    assert np.array_equal(mcls.load(tmp_path / "m.mcls").predict(frame), other.predict(frame))
    assert cross_val_score(found, frame.drop(columns="kind"), frame["kind"], cv=3).mean() > 0.6


def test_what_is_refused(frame):
    X, y = frame.drop(columns="kind"), frame["kind"]
    with pytest.raises(
        McLsError,
        match=r"2 columns cannot be learnt from: 'x' misses a value: row \d+ \(the first is 0\) has ''"
        r".* --missing impute .* in Python drop=",
    ):
        TableClassifier(POINT).fit(X, y)
    for options, complaint in (
        ({"missing": "guess"}, "unknown rule"),
        ({"drop": ["z*"]}, "unknown column"),
        ({"ordinal": ["size=S<M"], "missing": "impute"}, "has 'L', which its order"),
        ({"machine": "sk:RidgeClassifier"}, "a .mcls file cannot hold"),
        ({"machine": mcls.OneLSM()}, "machine is given by its name, .* not as an object of class OneLSM"),
    ):
        with pytest.raises(McLsError, match=complaint):
            TableClassifier(**{"machine": POINT, **options}).fit(X, y)
    for gap in (None, np.nan, pd.NA):
        with pytest.raises(McLsError, match=r"the class of row 1 is missing, and in 1 more"):
            TableClassifier(POINT, missing="impute").fit(
                X, [gap if i in (1, 4) else kind for i, kind in enumerate(y)]
            )
    with pytest.raises(McLsError, match=r"the class of row 0 is missing \("):
        TableClassifier(POINT, missing="impute").fit(X, y.astype("string").mask(np.arange(len(y)) == 0))
    for empty, what in ((X[[]], "feature"), (X[:0], "sample")):
        with pytest.raises(ValueError, match=rf"0 {what}\(s\) \(shape=\({len(empty)}, {empty.shape[1]}\)\)"):
            TableClassifier(POINT).fit(empty, y)
    found = TableClassifier(POINT, folds=2, missing="impute", strict=True).fit(X, y)
    with pytest.raises(McLsError, match="column 'size': 'XL' was not in the training table"):
        found.predict(X.assign(size="XL"))
    with pytest.raises(McLsError, match="column 'flag' is missing"):
        found.predict(X.drop(columns="flag"))


def test_weights_are_those_of_the_command_line_and_of_repeated_rows(frame, tmp_path):
    X, y = frame.drop(columns="kind"), frame["kind"]
    weights = np.random.default_rng(1).integers(0, 3, len(y))
    settings = {"folds": 3, "missing": "impute"}
    found = TableClassifier(POINT, **settings).fit(X, y, sample_weight=weights)
    present = weights > 0
    frame[present].assign(w=weights[present]).to_csv(tmp_path / "t.csv", index=False)
    told = fit_table(
        tmp_path / "t.csv", "kind", POINT, rules=ColumnRules(missing="impute"), folds=3, nested=False, weight="w"
    )
    assert found.selection_.error == told.selection.error
    assert np.array_equal(found.model_.predict_proba(X), told.model.predict_proba(X))
    again = TableClassifier(POINT, **{**settings, "drop": ["x", "n"]})  # medians count rows, not weights
    weighted = again.fit(X, y, sample_weight=weights).decision_function(X)
    repeated = again.fit(X.loc[X.index.repeat(weights)], y.repeat(weights)).decision_function(X)
    np.testing.assert_allclose(weighted, repeated, atol=1e-9)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = again.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        assert len(cross_val_score(routed, X, y, cv=3, params={"sample_weight": weights + 1})) == 3


def test_rows_of_no_weight_are_none_in_folds_and_groups_of_ones_own(frame):
    X, y = frame[["shop", "size", "flag"]], frame["kind"]
    weights = np.repeat([0.0, 1.0], [4, 56])
    folds = [(np.setdiff1d(np.arange(60), test), test) for test in np.array_split(np.arange(60), 3)]
    found = TableClassifier(POINT, folds=folds).fit(X, y, sample_weight=weights).selection_
    assert [len(found.tested), found.folds] == [56, 3]
    assert found.tested[:16].tolist() == list(range(16))  # the first part of 20 rows, without four
    groups = np.arange(60) // 2
    found = TableClassifier(POINT, folds="logo", groups=groups).fit(X, y, sample_weight=weights).selection_
    assert found.folds == 28
    for wrong in (groups[:10], np.arange(70)):
        with pytest.raises(McLsError, match="the groups must be one value for each of the 60 rows"):
            TableClassifier(POINT, groups=wrong).fit(X, y, sample_weight=weights)


def test_probabilities_where_they_are_asked_for(frame):
    X, y = frame.drop(columns="kind"), frame["kind"]
    found = TableClassifier(POINT, folds=3, missing="impute", calibration="temperature").fit(X, y)
    P = found.predict_proba(X)
    assert np.allclose(P.sum(axis=1), 1)
    assert (found.classes_[P.argmax(axis=1)] == found.predict(X)).mean() > 0.9
    assert not hasattr(
        TableClassifier(POINT, folds=3, missing="impute", calibration=None).fit(X, y), "predict_proba"
    )
    assert inspect.signature(fit_table).parameters["calibration"].default == TableClassifier().calibration
    assert inspect.signature(fit_table).parameters["machine"].default == TableClassifier().machine


def test_numbers_as_an_array_or_a_frame_are_one(tmp_path):
    iris = pd.read_csv(datasets_dir() / "iris.csv")
    X, y = iris.drop(columns="class"), iris["class"]
    a, b = TableClassifier(POINT, folds=3).fit(X, y), TableClassifier(POINT, folds=3).fit(X.to_numpy(), y)
    assert np.array_equal(a.decision_function(X), b.decision_function(X.to_numpy()))


def test_columns_are_named_by_numbers_and_by_an_index_too(frame):
    X, y = frame[["x", "shop", "flag"]].fillna(0.0), frame["kind"]
    plain = TableClassifier(POINT, folds=2, drop=["flag"], categorical=["shop"]).fit(X, y)
    numbered = X.set_axis([0, 1, 2], axis=1)
    for drop, categorical in (([2], [1]), (2, 1), (pd.Index([2]), np.array([1]))):
        found = TableClassifier(POINT, folds=2, drop=drop, categorical=categorical).fit(numbered, y)
        assert found.model_.encoder.names == ["0", "1"]
        assert np.array_equal(found.decision_function(numbered), plain.decision_function(X))
    assert ColumnRules(drop=pd.Index(["flag", "x"])).drop == ("flag", "x")
    assert ColumnRules(drop=0).drop == ("0",)


def test_spaces_around_a_text_are_none_of_it_in_a_fit_and_in_a_prediction(recwarn):
    hue, kind = ["rough ", " smooth"] * 10, ["kiwi", "apple"] * 10
    found = TableClassifier(POINT, folds=2, groups=None).fit(pd.DataFrame({"hue": hue}), kind)
    for other in (hue, ["rough", "smooth"] * 10, [" rough ", "smooth "] * 10):
        assert found.predict(pd.DataFrame({"hue": other})).tolist() == kind
    assert not recwarn.list


def test_its_calibrated_probabilities_judge_it_in_an_experiment():
    data = load_dataset("iris")
    X, y = data.X[::2], data.y[::2]
    machine = TableClassifier("oneLSM", folds=3, groups=None)
    task = Task(machine, X, y, {}, scaling="none", metrics=read_metrics(["error", "log-loss"]))
    found = protocols.nested(task, seed=0, folds=3, inner_folds=3)
    for k, (train, test) in enumerate(stratified_folds(y, 3, 0)):
        P = clone(machine).fit(X[train], y[train]).predict_proba(X[test])
        assert found["split_metrics"]["log-loss"][k] == pytest.approx(log_loss(y[test], P, labels=[0, 1, 2]))
    assert not TableClassifier(calibration=None).calibrates_itself
