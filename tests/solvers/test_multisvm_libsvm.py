"""The reductions to binary C-SVCs against scikit-learn's own, and the decision DAG against a plain transcription."""

import numpy as np
import pytest
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

from mcls.data import load_dataset
from mcls.evaluation.scaling import to_range
from mcls.kernels import gaussian, squared_distances
from mcls.solvers.multisvm_libsvm import dag, fit_one_against_all, fit_pairs, votes


@pytest.fixture(scope="module")
def glass():
    data = load_dataset("glass")
    return gaussian(squared_distances(to_range(data.X)), 0.7), data.y


def binary_dual(K, coefficients):
    """The dual objective Σα − ½ Σ αα tt K from the signed coefficients αt."""
    return np.abs(coefficients).sum() - 0.5 * coefficients @ K @ coefficients


def test_one_against_all_is_scikit_learns(glass):
    K, y = glass
    train, test = np.arange(0, 214, 2), np.arange(1, 214, 2)
    coefficients, intercepts = fit_one_against_all(K[np.ix_(train, train)], y[train], 6, 4.0, 1e-6)
    theirs = OneVsRestClassifier(SVC(C=4.0, kernel="precomputed", tol=1e-6)).fit(K[np.ix_(train, train)], y[train])
    K_test = K[np.ix_(test, train)]
    values = K_test @ coefficients + intercepts
    assert np.allclose(values, theirs.decision_function(K_test), atol=1e-4)


def test_pairs_and_votes_are_scikit_learns(glass):
    K, y = glass
    train, test = np.arange(0, 214, 2), np.arange(1, 214, 2)
    coefficients, intercepts = fit_pairs(K[np.ix_(train, train)], y[train], 6, 4.0, 1e-6)
    svc = SVC(C=4.0, kernel="precomputed", tol=1e-6, decision_function_shape="ovo")
    svc.fit(K[np.ix_(train, train)], y[train])
    K_test = K[np.ix_(test, train)]
    values = K_test @ coefficients + intercepts
    assert np.allclose(values, svc.decision_function(K_test), atol=1e-10)
    assert np.array_equal(votes(values, 6).argmax(axis=1), svc.predict(K_test))
    # a pair's machine lives on the rows of its two classes
    assert not coefficients[~np.isin(y[train], [0, 1]), 0].any()


@pytest.mark.parametrize("C", [0.1, 1.0, 16.0])
def test_two_classes_have_the_objective_of_svc(glass, C):
    K, y = glass
    K, y = K[np.ix_(y < 2, y < 2)], y[y < 2]
    svc = SVC(C=C, kernel="precomputed", tol=1e-9).fit(K, y)
    theirs = np.zeros(len(y))
    theirs[svc.support_] = svc.dual_coef_[0]
    optimum = binary_dual(K, theirs)
    against_all, b = fit_one_against_all(K, y, 2, C, 1e-5)
    pairs, c = fit_pairs(K, y, 2, C, 1e-5)
    assert binary_dual(K, against_all[:, 1]) == pytest.approx(optimum, rel=1e-5)
    assert binary_dual(K, pairs[:, 0]) == pytest.approx(optimum, rel=1e-5)
    values = K @ pairs + c
    for scores in (K @ against_all + b, votes(values, 2), dag(values, 2)):
        assert np.array_equal(scores.argmax(axis=1), svc.predict(K))


def test_votes_are_counted_and_the_first_of_equal_ones_wins():
    # pairs (0,1), (0,2), (1,2): a cycle, then a clear winner
    won = votes(np.array([[1.0, -1.0, 1.0], [-1.0, -2.0, -0.1]]), 3)
    assert won.tolist() == [[1, 1, 1], [0, 1, 2]]
    assert won.argmax(axis=1).tolist() == [0, 2]


@pytest.mark.parametrize("n_classes", [3, 4, 7])
def test_dag_strikes_off_the_loser_of_first_against_last(n_classes):
    rng = np.random.default_rng(n_classes)
    values = rng.normal(size=(50, n_classes * (n_classes - 1) // 2))
    pairs = [(a, b) for a in range(n_classes) for b in range(a + 1, n_classes)]
    rounds = dag(values, n_classes)
    for row, found in zip(values, rounds):
        left, struck = list(range(n_classes)), []
        while len(left) > 1:
            value = row[pairs.index((left[0], left[-1]))]
            struck.append(left.pop() if value > 0 else left.pop(0))
        assert np.argsort(found).tolist() == [*struck, left[0]]
