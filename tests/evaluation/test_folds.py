"""Splits: stratified, seeded, and honest about small classes."""

import numpy as np
import pytest

from mcls.data import load_dataset
from mcls.errors import McLsError
from mcls.evaluation.folds import class_half_split, make_folds, parse_folds, stratified_folds, stratified_halves


def test_folds_partition_the_rows_and_keep_the_class_shares():
    y = np.repeat([0, 1, 2], [50, 30, 20])
    folds = stratified_folds(y, 10, seed=1)
    assert np.array_equal(np.sort(np.concatenate([test for _, test in folds])), np.arange(100))
    for train, test in folds:
        assert np.array_equal(np.bincount(y[test]), [5, 3, 2])
        assert len(np.intersect1d(train, test)) == 0


def test_seeds_decide():
    y = np.repeat([0, 1], 20)
    one, same, other = (stratified_folds(y, 4, seed=s) for s in (1, 1, 2))
    assert all(np.array_equal(a[1], b[1]) for a, b in zip(one, same))
    assert not all(np.array_equal(a[1], b[1]) for a, b in zip(one, other))


def test_fewer_folds_where_no_class_is_large_enough(recwarn):
    y = np.array([0, 0, 0, 1, 1, 2])
    assert len(stratified_folds(y, 10, seed=0)) == 3
    assert not recwarn.list
    with pytest.raises(McLsError, match="every class here has one"):
        stratified_folds(np.arange(4), 10, seed=0)
    with pytest.raises(McLsError, match="at least 2 folds"):
        stratified_folds(y, 1, seed=0)


def test_halves():
    first, second = stratified_halves(np.repeat([0, 1], 10), seed=0)
    assert len(first) == len(second) == 10


@pytest.mark.parametrize("name, size", [("lenses", 13), ("tae", 76)])
def test_half_of_each_class_gives_the_published_test_sizes(name, size):
    y = load_dataset(name).y
    train, test = class_half_split(y, seed=4)
    assert len(test) == size
    assert np.array_equal(np.bincount(y[train]), np.bincount(y) // 2)


def test_a_half_split_needs_something_to_halve():
    with pytest.raises(McLsError, match="at least 2 samples"):
        class_half_split(np.arange(3), seed=0)


def test_leaving_one_out_is_one_fold_a_row():
    y = np.array([0, 1, 0, 1, 1])
    folds = make_folds(y, "loo", seed=3)
    assert all(np.array_equal(np.sort(np.concatenate(fold)), np.arange(5)) for fold in folds)
    assert [len(test) for _, test in folds] == [1] * 5
    assert np.array_equal(make_folds(y, 2, seed=3)[0][1], stratified_folds(y, 2, seed=3)[0][1])


@pytest.mark.parametrize("text", ["1", "1001", "", "ten", "2.5", True, None, -3, [5]])
def test_what_is_no_number_of_folds_is_refused(text):
    with pytest.raises(McLsError, match="a number from 2 to 1000, or loo"):
        parse_folds(text)
