"""The critical-difference diagram."""

from __future__ import annotations

import numpy as np
import pytest

from mcls.evaluation.statistics import friedman
from mcls.reporting.plots.ranks import critical_difference, groups

pytestmark = pytest.mark.usefixtures("cache")


def test_groups_join_what_lies_within_the_critical_difference():
    assert groups([3.0, 1.0, 2.0], 5.0) == [(1.0, 3.0)]
    assert groups([1.0, 2.0, 3.0], 0.5) == []
    assert groups([1.0, 2.0, 2.5, 4.0], 1.5) == [(1.0, 2.5), (2.5, 4.0)]


def test_the_diagram_names_every_machine_with_its_rank():
    errors = np.array([[1.0, 2.0, 3.0], [1.0, 3.0, 2.0], [1.0, 2.0, 3.0]])
    result = friedman(errors)
    texts = [text.get_text() for text in critical_difference(["a", "b", "c"], result).axes[0].texts]
    assert {"a (1.00)", "b (2.33)", "c (2.67)"} <= set(texts)
