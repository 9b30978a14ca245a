"""The papers' protocol, against plain loops over fits."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from mcls.evaluation import protocols
from mcls.evaluation.folds import stratified_folds
from mcls.evaluation.scaling import to_range
from mcls.packing import unpack
from tests.evaluation.by_hand import brute_search


@pytest.mark.parametrize("engine", ["fast", "refit"])
def test_published_is_the_smallest_error_of_the_grid(task, data, engine):
    X, y = to_range(data[0]), data[1]
    result = protocols.published(replace(task, engine=engine), seed=7, folds=5)
    folds = stratified_folds(y, 5, 7)
    errors, chosen = brute_search(X, y, folds)
    assert result["error"] == pytest.approx(min(errors.values()))
    assert result["chosen"] == [chosen]
    kept = result["grid"]
    mistakes = unpack(kept["fold_mistakes"]) / kept["fold_sizes"]
    order = list(product(*(kept["values"][name] for name in kept["names"])))
    assert kept["names"] == ["sigma", "gamma"]
    assert dict(zip(order, mistakes.mean(axis=1))) == pytest.approx(errors)
    predictions = unpack(result["predictions"])
    assert np.mean([np.mean(predictions[t] != y[t]) for _, t in folds]) == pytest.approx(result["error"])
