"""The binary machines: outputs of every kind of base, and least squares column by column."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from mcls.coding.binary import BinaryMachines, check_base, fit_least_squares
from mcls.coding.matrices import sparse_random
from mcls.errors import McLsError


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(4), 15)
    return rng.normal(size=(60, 3)) + 2 * rng.normal(size=(4, 3))[y], sparse_random(4, 0)[y]


def test_least_squares_solves_every_column_on_its_own_rows(problem):
    X, T = problem
    K = X @ X.T
    alpha = fit_least_squares(K, T, 0.3)
    for s, t in enumerate(T.T):
        rows = np.flatnonzero(t)
        expected = np.linalg.solve(K[np.ix_(rows, rows)] + 0.3 * np.eye(len(rows)), t[rows])
        np.testing.assert_allclose(alpha[rows, s], expected, rtol=1e-8)
        assert (alpha[t == 0, s] == 0).all()


def test_outputs_are_margins_probabilities_or_signs(problem):
    X, T = problem
    first = np.flatnonzero(T[:, 0])
    margins = BinaryMachines(LogisticRegression()).fit(X, T).outputs(X)
    assert margins.shape == T.shape
    one = LogisticRegression().fit(X[first], T[first, 0])
    np.testing.assert_allclose(margins[:, 0], one.decision_function(X))
    by_probability = BinaryMachines(GaussianNB()).fit(X, T)  # no decision_function
    np.testing.assert_allclose(by_probability.outputs(X), 2 * by_probability.probabilities(X) - 1)

    class SignsOnly(DecisionTreeClassifier):
        predict_proba = property()  # hides it: reading an unreadable property is an AttributeError

    assert not hasattr(SignsOnly(), "predict_proba")
    assert set(np.unique(BinaryMachines(SignsOnly()).fit(X, T).outputs(X))) == {-1.0, 1.0}


def test_the_given_classifier_is_left_unfitted(problem):
    base = Perceptron()
    BinaryMachines(base).fit(*problem)
    assert not hasattr(base, "coef_")


def test_what_is_no_classifier_is_refused():
    for base, message in [("lms", "did you mean 'lsm'"), (None, "scikit-learn classifier")]:
        with pytest.raises(McLsError, match=message):
            check_base(base)
