"""The certificate: its residual at solutions written down by hand, and at wrong ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcls.solvers.qp import box_kkt_residual
from tests.solvers.enumeration import random_psd


def test_residual_is_zero_at_a_solution_written_down_by_hand():
    H = np.diag([2.0, 0.5, 1.0])
    assert box_kkt_residual(H, np.array([0.5, 1.0, 1.0]), 1.0) == 0.0


@pytest.mark.parametrize(
    "beta",
    [[0.5, 1.0, 0.9], [0.5, 1.0, 1.0 + 1e-3], [0.0, 1.0, 1.0], [0.5 + 1e-3, 1.0, 1.0], [-0.1, 1, 1], [0, 0, 0]],
)
def test_residual_sees_every_kind_of_error(beta):
    H = np.diag([2.0, 0.5, 1.0])
    assert box_kkt_residual(H, np.array(beta, dtype=float), 1.0) >= 0.99e-3


def test_residual_sees_a_violated_equality_and_wrong_multipliers():
    H, A = np.eye(2), np.array([[1.0, -1.0]])
    assert box_kkt_residual(H, np.array([1.0, 1.0]), 2.0, A, np.zeros(1)) == 0.0
    assert box_kkt_residual(H, np.array([1.0, 1.0]), 2.0, A, np.array([0.1])) == pytest.approx(0.1)
    assert box_kkt_residual(H, np.array([1.0, 1.0 - 1e-3]), 2.0, A, np.zeros(1)) >= 1e-3


def test_residual_of_nan_is_infinite():
    assert box_kkt_residual(np.eye(2), np.array([np.nan, 1.0]), 1.0) == np.inf


@given(st.integers(0, 10**6), st.floats(-3, 3))
def test_residual_does_not_depend_on_the_unit_of_beta(seed, exponent):
    H, t = random_psd(seed, 6, 4), 10.0**exponent
    beta = np.random.default_rng(seed + 1).uniform(0.1, 1, 6)
    A = np.random.default_rng(seed + 2).normal(size=(2, 6))
    nu = np.array([0.3, -0.2])
    here, there = box_kkt_residual(H, beta, 1.0, A, nu), box_kkt_residual(H / t, t * beta, t, A, nu)
    assert there == pytest.approx(here, rel=1e-9)


def test_a_large_gamma_does_not_hide_an_error():
    beta = np.array([0.5, 0.5])  # the solution is (1, 1)
    for gamma in (1.0, 2.0**10, 1e9):
        assert box_kkt_residual(np.eye(2), beta, gamma) >= 0.5
