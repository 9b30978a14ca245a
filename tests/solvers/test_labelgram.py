"""The learned label Gram matrix: the optimum of the semidefinite programme, and its gradient."""

import cvxpy as cp
import numpy as np
import pytest

from mcls.solvers import labelgram


def by_cvxpy(F, y, mu):
    """The semidefinite programme as it stands, by cvxpy."""
    n, ell = F.shape
    L = cp.Variable((ell, ell), PSD=True)
    others = 1.0 - np.eye(ell)[y]
    own = cp.sum(cp.multiply(F @ L, 1.0 - others), axis=1, keepdims=True)
    short = cp.multiply(others, 1.0 - own @ np.ones((1, ell)) + F @ L)
    problem = cp.Problem(
        cp.Minimize(cp.sum_squares(cp.pos(short)) / n + mu * cp.sum_squares(L - np.eye(ell))), [cp.trace(L) == ell]
    )
    problem.solve()
    return np.asarray(L.value)


def scores(n=60, ell=4, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % ell
    return np.eye(ell)[y] * 0.5 + 0.3 * rng.normal(size=(n, ell)), y


@pytest.mark.parametrize("mu", [1e-3, 0.1, 10.0])
def test_the_gram_matrix_is_that_of_cvxpy(mu):
    F, y = scores()
    ours, theirs = labelgram.learn(F, y, mu), by_cvxpy(F, y, mu)
    assert np.allclose(ours, theirs, atol=2e-3)
    assert labelgram.objective(ours, F, y, mu)[0] <= labelgram.objective(theirs, F, y, mu)[0] + 1e-7
    assert np.linalg.eigvalsh(ours)[0] >= -1e-12
    assert np.trace(ours) == pytest.approx(4)
    B = labelgram.root(ours)
    assert np.allclose(B.T @ B, ours)


def test_the_gradient_equals_finite_differences():
    F, y = scores()
    L, step = (
        labelgram.project(np.random.default_rng(1).normal(size=(4, 4))),
        np.random.default_rng(2).normal(size=(4, 4)),
    )
    step += step.T
    ends = [labelgram.objective(L + h * step, F, y, 0.3)[0] for h in (1e-6, -1e-6)]
    assert (ends[0] - ends[1]) / 2e-6 == pytest.approx(
        (labelgram.objective(L, F, y, 0.3)[1] * step).sum(), rel=1e-5
    )
