"""One replication of 5×2cv, against plain loops over fits."""

from __future__ import annotations

import numpy as np
import pytest

from mcls.evaluation import protocols
from mcls.evaluation.folds import stratified_folds, stratified_halves
from mcls.evaluation.scaling import to_range
from mcls.evaluation.task import Task
from mcls.machines.lsm import OneLSM
from mcls.packing import unpack
from mcls.seeds import derive
from tests.evaluation.by_hand import brute_search, fit_error


def test_five_by_two_learns_each_half_and_judges_it_on_the_other(task, data):
    X, y = to_range(data[0]), data[1]
    result = protocols.five_by_two(task, seed=2, inner_folds=3)
    first, second = stratified_halves(y, 2)
    expected = []
    for i, (train, test) in enumerate([(first, second), (second, first)]):
        _, point = brute_search(X[train], y[train], stratified_folds(y[train], 3, derive(2, "inner", i)))
        expected.append(fit_error(X, y, train, test, point))
    assert result["errors"] == pytest.approx(expected)
    assert (unpack(result["predictions"]) >= 0).all()


def test_every_machine_gets_the_same_halves(data):
    halves = []

    class Noted(OneLSM):
        """Notes the kernel matrices it learns from; those of a linear kernel tell the rows."""

        def _fit(self, K, y, n_classes):
            halves[-1].append(K.copy())
            return super()._fit(K, y, n_classes)

    for gamma in (1.0, 0.01):
        halves.append([])
        task = Task(Noted(kernel="linear"), *data, grid={"gamma": [gamma]}, engine="refit")
        assert protocols.five_by_two(task, seed=9)["inner_errors"] == [None, None]  # one point: nothing to choose
    assert len(halves[0]) == len(halves[1]) == 2
    assert all(np.array_equal(one, two) for one, two in zip(*halves))
