"""Permutation importance: against scikit-learn's on new rows, and out of fold on the training table."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.inspection import permutation_importance

from mcls.models.explaining import explain_table
from mcls.models.fitting import fit_table

POINT = "oneLSM:gamma=0.1,sigma=1"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("explain")
    rng = np.random.default_rng(0)
    for name, n in (("train.csv", 120), ("new.csv", 300)):
        noise, x, hue = rng.normal(size=n), rng.normal(size=n), rng.choice(["r", "g"], n)
        kind = np.where((x > 0) ^ (hue == "r"), "a", "b")
        lines = [f"{a:.3f},{b:.3f},{c},{d}" for a, b, c, d in zip(noise, x, hue, kind)]
        (folder / name).write_text("noise,x,hue,kind\n" + "\n".join(lines) + "\n")
    return folder


@pytest.fixture(scope="module")
def model(place):
    return fit_table(place / "train.csv", "kind", POINT, folds=3).model


def test_against_scikit_learn_on_new_rows(place, model):
    found = explain_table(model, place / "new.csv", repeats=30)
    assert not found.out_of_fold
    assert found.rows == 300
    from mcls.data.tables import read_table

    read = read_table(place / "new.csv", "kind")
    noise, x, hue = read.columns
    raw = np.column_stack([noise.values, x.values, hue.codes])

    class Asked:
        """The model on codes instead of texts."""

        def fit(self, X, y):
            return self

        def score(self, X, y):
            table = {"noise": X[:, 0], "x": X[:, 1], "hue": [hue.levels[int(code)] for code in X[:, 2]]}
            return np.mean(model.predict(table) == y)

    y = np.array(read.labels.levels)[read.labels.codes]
    other = permutation_importance(Asked(), raw, y, n_repeats=30, random_state=0).importances_mean
    assert np.allclose(found.growth.mean(axis=1), other, atol=0.02)
    assert [found.columns[j] for j in found.order][-1] == "noise"


def test_the_training_table_is_measured_out_of_fold(place, model):
    seen = explain_table(model, place / "train.csv", repeats=3)
    assert seen.out_of_fold
    wrong = np.mean(model.predict(dict(_columns(place / "train.csv"))) != _labels(place / "train.csv"))
    assert seen.error > wrong  # the model knows these rows, the machines of the folds do not


def _columns(path):
    from mcls.data.encoding import column_values
    from mcls.data.tables import read_table

    return [(column.name, column_values(column)) for column in read_table(path, "kind").columns]


def _labels(path):
    from mcls.data.tables import read_table

    labels = read_table(path, "kind").labels
    return np.array(labels.levels)[labels.codes]
