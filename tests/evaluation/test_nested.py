"""Nested cross-validation, against plain loops over fits."""

from __future__ import annotations

import numpy as np
import pytest

from mcls.evaluation import protocols
from mcls.evaluation.folds import stratified_folds
from mcls.evaluation.scaling import to_range
from mcls.seeds import derive
from tests.evaluation.by_hand import brute_search, fit_error


def test_nested_judges_each_fold_at_a_point_chosen_without_it(task, data):
    X, y = to_range(data[0]), data[1]
    result = protocols.nested(task, seed=3, folds=4, inner_folds=3)
    expected, chosen = [], []
    for i, (train, test) in enumerate(stratified_folds(y, 4, 3)):
        inner = stratified_folds(y[train], 3, derive(3, "inner", i))
        chosen.append(brute_search(X[train], y[train], inner)[1])
        expected.append(fit_error(X, y, train, test, chosen[-1]))
    assert result["chosen"] == chosen
    assert result["fold_errors"] == pytest.approx(expected)
    assert result["error"] == pytest.approx(np.mean(expected))
