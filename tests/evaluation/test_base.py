"""What protocols share: their names, rows that are too few, and notes."""

from __future__ import annotations

import numpy as np
import pytest

from mcls.errors import McLsError
from mcls.evaluation import protocols
from mcls.evaluation.protocols import Rows, check_splits, split_notes


def test_unknown_protocol_gets_a_suggestion():
    with pytest.raises(McLsError, match="did you mean 'nested'"):
        protocols.get_protocol("nestd")


@pytest.mark.parametrize("protocol", ["nested", "half-split", "hold-out", "5x2cv"])
def test_rows_too_few_to_choose_from_are_refused_before_anything_runs(protocol):
    settings = {"folds": 10, "inner_folds": 5, "train": 0.5}
    few = np.array([0, 0, 1, 1])
    with pytest.raises(McLsError, match=f"too few for 'protocol: {protocol}'"):
        check_splits(Rows(few), protocol, settings)
    check_splits(Rows(few), protocol, settings, chooses=False)  # nothing to choose: two rows per class will do
    check_splits(Rows(np.repeat([0, 1], 4)), protocol, settings)
    check_splits(Rows(few), "published", settings)


def test_notes_tell_of_fewer_folds_and_of_classes_that_cannot_be_predicted():
    y = np.repeat([0, 1, 2], [5, 4, 1])
    folds, alone = split_notes(Rows(y), ("a", "b", "c"), "published", {"folds": 10})
    assert folds == "5 folds instead of 10: no class has more than 5 rows"
    assert "'c'" in alone
    assert split_notes(Rows(np.repeat([0, 1], 20)), ("a", "b"), "nested", {"folds": 10, "inner_folds": 3}) == []


def test_groups_count_where_rows_are_too_few():
    y, groups = np.repeat([0, 1], 6), np.repeat([0, 1, 2, 3], 3)  # two different rows of each class
    settings = {"folds": 10, "inner_folds": 5, "train": 0.5}
    check_splits(Rows(y), "nested", settings)
    with pytest.raises(McLsError, match="the largest class has 2 groups of rows in all"):
        check_splits(Rows(y, groups), "nested", settings)
    (note,) = split_notes(Rows(y, groups), ("a", "b"), "published", settings)
    assert note == "2 folds instead of 10: no class has more than 2 groups of rows"
