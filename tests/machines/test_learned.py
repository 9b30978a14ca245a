"""The learned labelbook: the optimum of the semidefinite programme, and indicators in the limit."""

import numpy as np
import pytest

from mcls import LearnedLSM, OneLSM, VoLSSVM
from mcls.data import load_dataset
from mcls.evaluation.scaling import to_range
from mcls.solvers import labelgram


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
