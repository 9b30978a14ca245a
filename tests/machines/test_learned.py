"""The learned labelbook: the optimum of the semidefinite programme, and indicators in the limit."""

import numpy as np
import pytest

from mcls import LearnedLSM, OneLSM, VoLSSVM
from mcls.data import load_dataset
from mcls.evaluation.scaling import to_range
from mcls.solvers import labelgram


def scores(n=60, ell=4, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % ell
    return np.eye(ell)[y] * 0.5 + 0.3 * rng.normal(size=(n, ell)), y


@pytest.mark.parametrize("mu", [1e-3, 0.1, 10.0])
def test_the_gram_matrix_is_that_of_cvxpy(mu):
    F, y = scores()
    ours, theirs = labelgram.learn(F, y, mu), labelgram.by_cvxpy(F, y, mu)
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


def test_it_learns_from_leave_one_out_scores(monkeypatch):
    data = load_dataset("iris")
    X, y = to_range(data.X)[::3], data.y[::3]
    seen = []
    monkeypatch.setattr(labelgram, "learn", lambda F, *rest: seen.append(F) or np.eye(3))
    LearnedLSM(sigma=1.0, gamma=0.1).fit(X, y)
    one = OneLSM(sigma=1.0, gamma=0.1)
    for i in (0, 20, 49):
        rest = np.delete(np.arange(50), i)
        assert np.allclose(one.fit(X[rest], y[rest]).decision_function(X[[i]])[0], seen[0][i])


def test_it_becomes_the_indicators_as_mu_grows_and_serves_other_machines():
    data = load_dataset("glass")
    X, y = to_range(data.X), data.y
    one = OneLSM(sigma=0.5, gamma=0.1).fit(X, y)
    near, far = (LearnedLSM(sigma=0.5, gamma=0.1, mu=mu).fit(X, y) for mu in (1e9, 0.01))
    assert np.allclose(near.label_gram_, np.eye(6), atol=1e-6)
    assert np.allclose(near.decision_function(X), one.decision_function(X), atol=1e-5)
    assert np.abs(far.label_gram_ - np.eye(6)).max() > 0.05
    assert VoLSSVM(labelbook=far.labels_, sigma=0.5).fit(X, y).score(X, y) > 0.7


@pytest.mark.parametrize("value", [0, -1.0, np.inf])
def test_mu_must_be_positive(value):
    with pytest.raises(ValueError, match="mu must be a positive number"):
        LearnedLSM(mu=value).fit([[0.0], [1.0]], [0, 1])
