"""Vector-output least squares on arrays: labelbooks that carry no bias."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcls.data import load_dataset
from mcls.evaluation.scaling import to_range
from mcls.kernels import gaussian, squared_distances
from mcls.labelbooks import label_vectors
from mcls.solvers import vector
from mcls.solvers.qp import solve_box_qp

# Labelbooks with a bias ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3, 4, 6, 11])
def test_which_labelbooks_carry_a_bias(n_classes, signed):
    def degenerate(name):
        return vector.is_degenerate(label_vectors(name, n_classes), signed=signed)

    assert degenerate("indicators")
    assert degenerate("pm1") == (n_classes > 2)
    assert not any(degenerate(name) for name in ("alignment", "consistency", "mincorr"))


def test_degenerate_when_only_some_classes_cancel():
    alone = np.array([[1.0, -1.0, 0.0], [0.0, 0.0, 1.0]])  # the third class stands alone
    both_signs, positive = np.array([[1.0, -1.0, 0.5]]), np.array([[1.0, 2.0, 0.5]])
    assert [vector.is_degenerate(B, signed=False) for B in (alone, both_signs, positive)] == [True, False, True]
    assert not any(vector.is_degenerate(B, signed=True) for B in (alone, both_signs, positive))


@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(1, 4))
def test_a_positive_combination_is_found_where_one_was_hidden(seed, n_classes, p):
    rng = np.random.default_rng(seed)
    s = rng.uniform(0.1, 1.0, n_classes)
    B = rng.normal(size=(p, n_classes))
    B[:, -1] = -B[:, :-1] @ s[:-1] / s[-1]
    with_ones = np.vstack([B, np.ones(n_classes)])  # the class sums would have to cancel too
    for signed in (False, True):
        assert not vector.is_degenerate(B, signed=signed)
        assert vector.is_degenerate(with_ones, signed=signed)


@pytest.mark.parametrize("labelbook", ["indicators", "pm1"])
def test_degenerate_labelbooks_really_leave_only_zero(labelbook):
    data = load_dataset("iris")
    y, B = data.y, label_vectors(labelbook, 3)
    K = gaussian(squared_distances(to_range(data.X)), 1.0)
    beta, b = vector.fit_lssvm_bias(K, y, B, 1.0)
    assert np.abs(beta).max() <= 1e-12
    assert np.allclose(B.T @ b, 1)
    for solver in ("active-set", "osqp"):
        beta = solve_box_qp(K * (B.T @ B)[np.ix_(y, y)], 1.0, A=B[:, y], solver=solver).beta
        assert np.abs(beta).max() <= 1e-6
