"""One training and one test part: the rows of each."""

from __future__ import annotations

import numpy as np
import pytest

from mcls.errors import McLsError
from mcls.evaluation.protocols import hold_out_rows


def test_hold_out_rows():
    y = np.repeat([0, 1, 2], [10, 20, 1])
    train, test = hold_out_rows(y, 0.8, 0, None)
    assert np.bincount(y[train]).tolist() == [8, 16, 1]
    assert sorted([*train, *test]) == list(range(31))
    train, test = hold_out_rows(y, 25, 0, None)
    assert train.tolist() == list(range(25))
    declared = np.array(["train", "test"] * 15 + ["train"])
    assert hold_out_rows(y, "declared", 0, declared)[1].tolist() == list(range(1, 30, 2))
    with pytest.raises(McLsError, match="declares no"):
        hold_out_rows(y, "declared", 0, None)
    with pytest.raises(McLsError, match="leave none"):
        hold_out_rows(y, 31, 0, None)
    with pytest.raises(McLsError, match="fraction"):
        hold_out_rows(y, 1.5, 0, None)


def test_hold_out_by_class_draws_so_many_rows_of_each():
    y = np.repeat([0, 1, 2], [10, 20, 30])
    train, test = hold_out_rows(y, [4, 5, 6], seed=1, declared=None)
    assert np.bincount(y[train]).tolist() == [4, 5, 6]
    assert sorted([*train, *test]) == list(range(60))
    again, other = (hold_out_rows(y, [4, 5, 6], seed=s, declared=None)[0] for s in (1, 2))
    assert np.array_equal(train, again)
    assert not np.array_equal(train, other)


@pytest.mark.parametrize("counts", [[4, 5], [4, 5, 30], [0, 5, 6]])
def test_hold_out_by_class_refuses_counts_that_do_not_fit(counts):
    with pytest.raises(McLsError, match="training rows of each class"):
        hold_out_rows(np.repeat([0, 1, 2], [10, 20, 30]), counts, seed=0, declared=None)
