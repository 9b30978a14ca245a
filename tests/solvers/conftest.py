"""Fixtures that several test files of this room share."""

import pytest

from mcls.data import load_dataset
from mcls.evaluation.scaling import to_range


@pytest.fixture(scope="module")
def glass():
    data = load_dataset("glass")
    return to_range(data.X), data.y
