"""Scaling to a range, standardising, and constant columns."""

import numpy as np
import pytest

from mcls.errors import McLsError
from mcls.evaluation.scaling import SCALINGS, scale_dataset, standardise, to_range

X = np.array([[1.0, 7.0, -3.0], [3.0, 7.0, 5.0], [2.0, 7.0, 1.0]])


def test_range_is_minus_one_to_one_and_a_constant_column_is_zero():
    scaled = to_range(X)
    assert np.array_equal(scaled.min(axis=0), [-1, 0, -1])
    assert np.array_equal(scaled.max(axis=0), [1, 0, 1])


def test_the_reference_decides_the_range():
    assert np.allclose(to_range(X, X[:2])[2], [0, 0, 0])
    assert to_range(np.array([[5.0, 9.0, 0.0]]), X)[0, 0] == 3  # outside what was seen


def test_standardise():
    scaled = standardise(X)
    assert np.allclose(scaled.mean(axis=0), 0)
    assert np.allclose(scaled.std(axis=0), [1, 0, 1])


def test_a_constant_column_of_large_numbers_has_no_spurious_spread():
    column = np.full((7, 1), 0.1 + 1e9)
    assert (standardise(column) == 0).all()
    assert (to_range(column) == 0).all()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("scaling, column", [("standard", [1e300, 0, 1]), ("dataset", [1e308, -1e308, 0])])
def test_a_column_that_leaves_the_range_of_numbers_is_refused(scaling, column):
    with pytest.raises(McLsError, match=r"feature 2 cannot be scaled: with values as large as 1e\+30"):
        scale_dataset(np.column_stack([X[:, 0], column]), scaling)


@pytest.mark.filterwarnings("error")
def test_small_numbers_and_far_test_rows_do_not_become_infinite():
    with pytest.raises(McLsError, match="feature 1 cannot be scaled: with values as large as 3e-200"):
        standardise(np.array([[1e-200], [3e-200]]))
    with pytest.raises(McLsError, match="feature 1 cannot be scaled: with values as large as 1e\\+300"):
        to_range(np.array([[0.0], [1e-10], [1e300]]), np.array([[0.0], [1e-10]]))
    assert np.array_equal(to_range(np.array([[-1e300], [1e300]])), [[-1], [1]])
    assert np.array_equal(standardise(np.array([[1e300], [1e300]])), [[0], [0]])


def test_names():
    assert np.array_equal(scale_dataset(X, "none"), X)
    assert np.array_equal(scale_dataset(X, "fold"), X)  # done fold by fold, later
    assert np.array_equal(scale_dataset(X, "dataset"), to_range(X))
    assert set(SCALINGS) == {"dataset", "fold", "standard", "none"}
    with pytest.raises(McLsError, match="did you mean 'dataset'"):
        scale_dataset(X, "datasets")
