"""Half of each class for training, against plain loops over fits."""

from __future__ import annotations

import numpy as np
import pytest

from mcls.evaluation import protocols
from mcls.evaluation.folds import class_half_split, stratified_folds
from mcls.evaluation.scaling import to_range
from mcls.packing import unpack
from mcls.seeds import derive
from tests.evaluation.by_hand import brute_search, fit_error


def test_half_split_reports_the_honest_and_the_oracle_choice(task, data):
    X, y = to_range(data[0]), data[1]
    result = protocols.half_split(task, seed=1)
    train, test = class_half_split(y, 1)
    _, chosen = brute_search(X[train], y[train], stratified_folds(y[train], 5, derive(1, "inner")))
    oracle, _ = brute_search(X, y, [(train, test)])
    assert result["chosen"] == [chosen]
    assert result["error"] == pytest.approx(fit_error(X, y, train, test, chosen))
    assert result["oracle_error"] == pytest.approx(min(oracle.values()))
    assert result["oracle_error"] <= result["error"]
    assert (result["train"], result["test"]) == (36, 39)
    predictions = unpack(result["predictions"])
    assert (predictions[train] == -1).all()
    assert np.mean(predictions[test] != y[test]) == pytest.approx(result["error"])
