"""The leading columns of a kernel matrix, and what OSQP guesses from them."""

import numpy as np
import pytest

from mcls.solvers.qp import BoxQP
from mcls.solvers.qp.osqp_guess import Guess, leading_columns
from tests.solvers.boxes import class_problems, label_problem


def test_leading_columns_of_a_low_rank_matrix_are_the_matrix():
    V = np.random.default_rng(0).normal(size=(60, 5))
    columns = leading_columns(V @ V.T, 30, 1e-9)
    assert columns.shape == (60, 5)
    np.testing.assert_allclose(columns @ columns.T, V @ V.T, atol=1e-8)


@pytest.mark.parametrize("sigma", [0.25, 4.0])
def test_a_guess_decreases_the_objective_of_every_block(sigma):
    blocks = [
        label_problem("wine", "alignment", sigma)[0],
        *class_problems("iris", sigma),
    ]  # one large, three small
    guess = Guess(blocks)
    for gamma in (0.25, 4.0):
        uppers = [np.full(len(H), gamma) for H in blocks]
        for H, beta, upper in zip(blocks, guess.solve(uppers), uppers):
            assert ((beta >= 0) & (beta <= upper)).all()
            best = BoxQP(H, solver="active-set").solve(gamma).beta
            value, least = (0.5 * b @ H @ b - b.sum() for b in (beta, best))
            assert least - 1e-9 <= value <= 0.5 * least
