"""oneLSM and its relatives by the mathematics of honeine2013: propositions, theorem, corollary, equivalences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.kernel_ridge import KernelRidge

from mcls import OneLSM, OvALSM
from mcls.labelbooks import label_vectors
from tests.machines.problems import BOOKS, REAL, load, problems


@pytest.mark.parametrize("name", REAL)
def test_onelsm_and_ova_give_the_same_scores(name):
    X, y = load(name)
    for gamma in (2.0**-4, 2.0**4):
        one, ova = (cls(gamma=gamma, sigma=0.5).fit(X, y).decision_function(X) for cls in (OneLSM, OvALSM))
        assert np.abs(one - ova).max() < 1e-10


@given(problems())
def test_onelsm_is_kernel_ridge_on_one_hot_targets(problem):
    X, y, gamma, Z = problem
    ours = OneLSM(gamma=gamma, sigma=1.3).fit(X, y)
    ridge = KernelRidge(alpha=gamma, kernel="rbf", gamma=1 / (2 * 1.3**2)).fit(X, np.eye(y.max() + 1)[y])
    scores = ours.decision_function(Z)
    expected = ridge.predict(Z)
    assert np.abs(scores - (expected[:, 1] - expected[:, 0] if expected.shape[1] == 2 else expected)).max() < 1e-8


@given(problems())
def test_proposition_2_the_primal_matrix_is_the_dual_one(problem):
    X, y, gamma, Z = problem
    machine = OneLSM(kernel="linear", labelbook="pm1", gamma=gamma).fit(X, y)
    Y = label_vectors("pm1", y.max() + 1)[:, y]  # (ℓ, n)
    W = np.linalg.solve(X.T @ X + gamma * np.eye(X.shape[1]), X.T @ Y.T)  # (d, ℓ)
    assert np.allclose(X.T @ machine.alpha_, W, atol=1e-8)
    assert np.allclose(Z @ X.T @ machine.alpha_, Z @ W, atol=1e-8)


@given(problems(), st.floats(0.1, 5), st.booleans(), st.floats(-3, 3))
def test_theorem_5_every_one_per_class_labelbook_gives_the_same_classes(problem, a, negative, b):
    X, y, gamma, Z = problem
    ell = y.max() + 1
    base = OneLSM(gamma=gamma).fit(X, y)
    book = (-a if negative else a) * np.eye(ell) + b
    other = OneLSM(gamma=gamma, labelbook=book).fit(X, y)
    # The score differences between classes are those of the indicators, times a².
    base_scores, scores = base._class_scores(Z), other._class_scores(Z)
    gaps = scores[:, :, None] - scores[:, None, :]
    expected = a**2 * (base_scores[:, :, None] - base_scores[:, None, :])
    assert np.abs(gaps - expected).max() < 1e-9 * (1 + np.abs(scores).max())


@pytest.mark.parametrize("name", REAL)
def test_corollary_6_and_theorem_5_on_real_data(name):
    X, y = load(name)
    predictions = [OneLSM(labelbook=book, sigma=0.5, gamma=0.25).fit(X[::2], y[::2]).predict(X) for book in BOOKS]
    for other in predictions[1:]:
        assert np.array_equal(predictions[0], other)
