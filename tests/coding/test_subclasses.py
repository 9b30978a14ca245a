"""Subclass splitting: each threshold decides as stated, and the code is consistent with the samples."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.svm import SVC

from mcls.coding.criteria import FLDR, FQMI
from mcls.coding.subclasses import Thresholds, subclass_code, two_means
from mcls.coding.tree import discriminant_tree, tree_matrix


def fqmi(X, y):
    return FQMI(X, y, 1.0)


def linear_error(X):
    def error(left, right):
        rows, targets = np.concatenate([left, right]), np.repeat([1, -1], [len(left), len(right)])
        return 1 - SVC(kernel="linear", C=100).fit(X[rows], targets).score(X[rows], targets)

    return error


def clusters(places, labels, per=20, seed=0, spread=0.05):
    """One tight cluster a place in the plane."""
    rng = np.random.default_rng(seed)
    X = np.concatenate([np.asarray(place) + spread * rng.normal(size=(per, 2)) for place in places])
    return X, np.repeat(labels, per)


XOR = [(0, 0), (1, 1), (0, 1), (1, 0)], [0, 0, 1, 1]


def check_code(code, y):
    """What any code must satisfy, whatever was split."""
    M, rows, classes = code.matrix, code.rows, code.classes
    assert np.array_equal(classes[rows], y)  # a sample's row belongs to its class
    assert set(rows) == set(range(len(M)))  # no row without samples
    assert ((M == 1).any(axis=0) & (M == -1).any(axis=0)).all()
    for a in range(len(M)):
        for b in range(a):
            if classes[a] != classes[b]:
                assert (M[a] * M[b] == -1).any(), "rows of two classes are told apart by some column"


@pytest.mark.parametrize("criterion", [FLDR, fqmi])
def test_separable_classes_are_not_split(criterion):
    X, y = clusters([(0, 0), (1, 0), (0, 1), (3, 3)], [0, 1, 2, 3])
    code = subclass_code(X, y, criterion, linear_error(X))
    assert np.array_equal(code.matrix, tree_matrix(discriminant_tree(4, criterion(X, y)), 4))
    assert np.array_equal(code.rows, y)


@pytest.mark.parametrize("criterion", [FLDR, fqmi])
def test_exclusive_or_becomes_linear_by_splitting_one_class(criterion):
    X, y = clusters(*XOR)
    code = subclass_code(X, y, criterion, linear_error(X))
    check_code(code, y)
    assert code.matrix.shape == (3, 2)
    assert code.classes.tolist() == [0, 0, 1]
    assert len(np.unique(code.rows[y == 0])) == 2  # one subclass a cluster
    for cluster in np.split(code.rows, 4):
        assert len(np.unique(cluster)) == 1


def test_performance_threshold_tolerates_errors():
    X, y = clusters(*XOR)
    error = linear_error(X)
    first = error(np.flatnonzero(y == 0), np.flatnonzero(y == 1))
    assert first > 0
    tolerant = subclass_code(X, y, FLDR, error, Thresholds(performance=first))
    assert tolerant.matrix.tolist() == [[1], [-1]]
    assert len(subclass_code(X, y, FLDR, error, Thresholds(performance=first - 1e-9)).matrix) == 3


def test_size_threshold_forbids_small_subclasses():
    X, y = clusters(*XOR)
    assert len(subclass_code(X, y, FLDR, linear_error(X), Thresholds(size=20)).matrix) == 3
    assert len(subclass_code(X, y, FLDR, linear_error(X), Thresholds(size=21)).matrix) == 2
    # by default a fiftieth of the samples: two of these ninety-nine stray ones are enough
    X, y = clusters([(0, 0), (0, 2), (0, 1)], [0, 0, 1], per=33)
    assert len(subclass_code(X, y, FLDR, linear_error(X)).matrix) == 3


@pytest.mark.parametrize("share, accepted", [(0.5, True), (0.51, False)])
def test_improvement_threshold_is_a_share_asked_of_both_machines(share, accepted):
    X, y = clusters(*XOR)
    whole = np.flatnonzero(y == 0)

    def error(left, right):
        if len(left) == len(whole):
            return 0.4
        return 0.2 if 0 in left else 0.1  # the worse of the two machines halves the error

    code = subclass_code(X, y, FLDR, error, Thresholds(performance=0.2, improvement=share))
    assert (len(code.matrix) == 3) == accepted


@pytest.mark.parametrize("judged, accepted", [("both", False), ("mean", True)])
def test_the_mean_of_two_machines_may_be_judged(judged, accepted):
    X, y = clusters(*XOR)

    def error(left, right):
        whole = len(left) == len(right)
        return 0.4 if whole else (0.4 if 0 in left else 0.1)  # one machine is as bad as before

    code = subclass_code(X, y, FLDR, error, Thresholds(performance=0.4 - 1e-9, judged=judged))
    assert (len(code.matrix) > 2) == accepted


@pytest.mark.parametrize(
    "side, split", [("fewer", 0), ("more", 1), ("scattered", 1), ("larger", 1), ("either", 0)]
)
def test_the_side_that_is_split(side, split):
    """Class 0 is one tight row of points between classes 1 and 2, which no search tells apart first."""
    X = np.array([[0.0, 0.0], [0.0, 0.1], [0.0, 0.2], [5.0, 0.0], [5.0, 1.0], [5.0, 2.0], [5.0, 3.0]])
    y = np.array([0, 0, 0, 1, 1, 2, 2])
    tried = []

    def error(left, right):
        tried.append((set(y[left]), set(y[right]), len(left), len(right)))
        return 0.5

    def first(X, codes):
        return lambda left, right: float(set(left) == {0} or set(right) == {0})

    subclass_code(X, y, first, error, Thresholds(side=side))
    whole, part = tried[0], tried[1]
    assert whole == ({0}, {1, 2}, 3, 4)
    assert part[2] < 3 if split == 0 else part[2] < 4 and part[0] <= {1, 2}


def test_accepted_splits_are_split_again():
    # Class 0 has four clusters around and inside class 1's: one cut is not enough.
    X, y = clusters([(0, 0), (2, 0), (4, 0), (6, 0), (1, 0), (3, 0), (5, 0)], [0, 0, 0, 0, 1, 1, 1])
    code = subclass_code(X, y, FLDR, linear_error(X))
    check_code(code, y)
    assert len(code.matrix) > 3
    error = linear_error(X)
    for column in code.matrix.T:
        left, right = (np.flatnonzero(np.isin(code.rows, np.flatnonzero(column == sign))) for sign in (1, -1))
        assert error(left, right) < error(np.flatnonzero(y == 0), np.flatnonzero(y == 1))


def test_a_split_in_one_dichotomy_gives_its_subclasses_the_same_entries_elsewhere():
    # Class 2 is far away (the root); then XOR between classes 0 and 1.
    places, labels = XOR
    X, y = clusters([*places, (9, 9)], [*labels, 2])
    code = subclass_code(X, y, FLDR, linear_error(X))
    check_code(code, y)
    assert code.classes.tolist() == [0, 0, 1, 2]
    assert code.matrix[:, 0].tolist() == [1, 1, 1, -1]
    assert code.matrix[:, 1:].tolist() == [[1, 0], [0, 1], [-1, -1], [0, 0]]


@pytest.mark.parametrize("criterion", [FLDR, fqmi])
@pytest.mark.parametrize("seed", range(4))
def test_codes_of_tangled_classes_are_consistent(criterion, seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(150, 2))
    y = (np.floor(2 * X + 2) @ [1, 2]).astype(int) % 4
    check_code(subclass_code(X, y, criterion, linear_error(X)), y)


def test_equal_samples_cannot_be_split():
    X = np.zeros((6, 2))
    y = np.array([0, 0, 0, 1, 1, 1])
    assert subclass_code(X, y, FLDR, lambda left, right: 0.5).matrix.tolist() == [[1], [-1]]


def scatter(X, members):
    return sum(((X[part] - X[part].mean(axis=0)) ** 2).sum() for part in (members, ~members))


def test_two_means_finds_two_clusters():
    X, labels = clusters([(0, 0), (1, 1)], [0, 1])
    assert np.array_equal(two_means(X), labels == 0)


@pytest.mark.parametrize("seed", range(5))
def test_two_means_is_as_good_as_scikit_learns(seed):
    X = np.random.default_rng(seed).normal(size=(120, 4)) * [3, 1, 1, 1]
    theirs = KMeans(2, n_init=20, random_state=0).fit(X)
    assert scatter(X, two_means(X)) <= 1.02 * theirs.inertia_


def test_two_means_ends_at_a_fixed_point():
    X = np.random.default_rng(9).uniform(size=(200, 3))
    first = two_means(X)
    centres = np.array([X[first].mean(axis=0), X[~first].mean(axis=0)])
    D = np.linalg.norm(X[:, None] - centres, axis=2)
    assert np.array_equal(D.argmin(axis=1) == 0, first)


def test_two_means_of_equal_or_two_rows():
    assert two_means(np.ones((4, 2))).all()
    assert two_means(np.array([[0.0], [1.0]])).tolist() == [True, False]
