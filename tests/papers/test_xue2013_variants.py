"""Readings of xue2013's linear LSSVM: those that are provably the same machine, and that it is ours."""

from __future__ import annotations

import numpy as np
import pytest

from mcls.data import load_dataset
from mcls.machines.olc import LSSVM
from mcls.papers.xue2013.variants import READINGS, outputs, predictions


@pytest.mark.parametrize("lambda1", [2.0**-10, 1.0, 2.0**10])
def test_the_first_readings_are_the_printed_machine(lambda1):
    data = load_dataset("iris")
    train, test = np.arange(0, 150, 2), np.arange(1, 150, 2)
    X, y, X_test = data.X[train], data.y[train], data.X[test]
    machine = LSSVM(kernel="linear", lambda1=lambda1).fit(X, y)
    for reading in READINGS[:5]:
        F = outputs(reading, X, y, X_test, [lambda1])[0]
        assert np.array_equal(predictions(reading, F), machine.predict(X_test)), reading.name
    other = outputs(READINGS[5], X, y, X_test, [lambda1])
    assert not np.allclose(other, outputs(READINGS[0], X, y, X_test, [lambda1]))
