"""Splits: stratified, seeded, and honest about small classes."""

import numpy as np
import pytest
from sklearn.model_selection import (
    GroupKFold,
    PredefinedSplit,
    RepeatedStratifiedKFold,
    StratifiedGroupKFold,
    StratifiedKFold,
)

from mcls.data import load_dataset
from mcls.errors import McLsError
from mcls.evaluation.folds import (
    class_half_split,
    equal_rows,
    make_folds,
    parse_folds,
    stratified_folds,
    stratified_halves,
    stratified_share,
)


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
    with pytest.raises(McLsError, match="a number from 2 to 1000, loo"):
        parse_folds(text)


def same(ours, theirs):
    return all(np.array_equal(a[i], b[i]) for a, b in zip(ours, theirs, strict=True) for i in (0, 1))


def test_no_groups_and_groups_of_one_row_give_the_folds_of_scikit_learn():
    y = np.random.default_rng(0).permutation(np.repeat([0, 1, 2], [50, 30, 20]))
    theirs = list(StratifiedKFold(10, shuffle=True, random_state=5).split(y, y))
    assert same(make_folds(y, 10, 5), theirs)
    assert same(make_folds(y, 10, 5, np.arange(100)[::-1]), theirs)
    assert same(make_folds(y, "loo", 5, np.arange(100)), make_folds(y, "loo", 5))


@pytest.mark.parametrize("n_groups, k", [(30, 5), (100, 10), (290, 10)])
def test_groups_stay_whole_in_folds_as_balanced_as_those_of_scikit_learn(n_groups, k):
    rng = np.random.default_rng(n_groups)
    y, groups = rng.integers(3, size=300), rng.integers(n_groups, size=300)

    def imbalance(folds):
        counts = np.array([np.bincount(y[test], minlength=3) for _, test in folds])  # (k, classes)
        due = np.bincount(y) / k
        return np.square((counts - due) / np.sqrt(due)).sum()

    folds = make_folds(y, k, 1, groups)
    assert np.array_equal(np.sort(np.concatenate([test for _, test in folds])), np.arange(300))
    assert len(folds) == k
    assert not any(np.intersect1d(groups[train], groups[test]).size for train, test in folds)
    theirs = StratifiedGroupKFold(k, shuffle=True, random_state=1).split(y, y, groups)
    assert imbalance(folds) <= imbalance(theirs)
    assert same(folds, make_folds(y, k, 1, groups))
    assert not same(folds, make_folds(y, k, 2, groups))


def test_rows_three_times_over_are_folded_once():
    y = np.tile(np.repeat([0, 1], [20, 10]), 3)
    groups = np.tile(np.arange(30), 3)
    for _, test in make_folds(y, 10, 0, groups):
        assert np.array_equal(np.bincount(y[test]), [6, 3])
    assert [test.tolist() for _, test in make_folds(y, "loo", 0, groups)] == [
        [i, i + 30, i + 60] for i in range(30)
    ]
    first, second = stratified_halves(y, 0, groups)
    train, test = class_half_split(y, 0, groups)
    most, rest = stratified_share(y, groups, 0.8, 0)
    for one, other in ((first, second), (train, test), (most, rest)):
        assert not np.intersect1d(groups[one], groups[other]).size
    assert np.array_equal(np.bincount(y[train]), [30, 15])
    assert np.array_equal(np.bincount(y[rest]), [12, 6])


def test_a_class_is_as_large_as_the_groups_it_has():
    y, groups = np.array([0, 0, 0, 0, 1, 1]), np.array([0, 0, 1, 1, 2, 2])
    assert len(make_folds(y, 10, 0, groups)) == 2
    with pytest.raises(McLsError, match="at least 2 groups of rows"):
        make_folds(y, 10, 0, np.array([0, 0, 0, 0, 1, 1]))
    with pytest.raises(McLsError, match="nothing is left"):
        stratified_share(y, np.zeros(6, dtype=int), 0.5, 0)


def test_equal_rows_are_found_whatever_the_sign_of_zero():
    X = np.array([[0.0, 1.0], [2.0, 1.0], [-0.0, 1.0]])
    assert equal_rows(X).tolist() == [0, 1, 0]
    assert equal_rows(X[:2]) is None


def test_the_folds_of_a_splitter_and_index_pairs_are_taken_as_they_are():
    y = np.repeat([0, 1], 10)
    rows = np.zeros((20, 1))
    for splitter in (StratifiedKFold(4), RepeatedStratifiedKFold(n_splits=2, n_repeats=3, random_state=0)):
        expected = list(splitter.split(rows, y))
        for given in (splitter, expected, iter(expected)):
            found = make_folds(y, given, seed=0)
            assert len(found) == len(expected)
            assert all(np.array_equal(a, b) for f, e in zip(found, expected) for a, b in zip(f, e))


@pytest.mark.parametrize(
    "folds, complaint",
    [
        (None, "a scikit-learn splitter or a list"),
        (2.5, "folds=2.5 does not split 4 rows"),
        ([], "empty list"),
        ([([0, 1], [])], "fold 0 must be two lists of row numbers from 0 to 3"),
        ([([0, 1], [2]), ([0, 1], [4])], "fold 1 must be"),
        ([([0, 1], [-1])], "fold 0 must be"),
        ([([0, 1], [1, 2])], "a row in each and none in both"),
        ([([0.5, 1], [2])], "fold 0 must be"),
        ([([True, True, False, False], [False, False, True, True])], "fold 0 must be"),
        ([0, 1], "does not split 4 rows"),
        (GroupKFold(2), "does not split 4 rows: The 'groups' parameter should not be None"),
        (PredefinedSplit([0, 0, 1, 1, 1]), "fold 0 must be"),
    ],
    ids=str,
)
def test_what_is_no_fold_is_refused(folds, complaint):
    with pytest.raises(McLsError, match=complaint):
        make_folds(np.array([0, 0, 1, 1]), folds, seed=0)
