"""Fixtures that several test files of this room share."""

import numpy as np
import pytest

from mcls.data import load_dataset
from mcls.evaluation.task import Task
from mcls.machines.lsm import OneLSM
from tests.evaluation.by_hand import GRID, SMOOTHER


@pytest.fixture(scope="module")
def data():
    iris = load_dataset("iris")
    rows = np.arange(0, 150, 2)
    return iris.X[rows], iris.y[rows]


@pytest.fixture
def task(data):
    return Task(OneLSM(), *data, grid=GRID, smoother=SMOOTHER)
