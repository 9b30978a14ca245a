"""vo-SVM on arrays: the sweep against cold refits in every label, and the bias."""

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

from mcls.data import load_dataset
from mcls.evaluation.scaling import to_range
from mcls.kernels import gaussian, squared_distances
from mcls.labelbooks import label_vectors
from mcls.solvers import vosvm
from mcls.solvers.qp import box_kkt_residual
from mcls.solvers.vector import class_values

# A class of glass has fewer rows than there are folds.
pytestmark = pytest.mark.filterwarnings("ignore:The least populated class in y")

GRID = [2.0**k for k in range(-4, 5)]


def load(name, labelbook, n_splits=10):
    data = load_dataset(name)
    folds = StratifiedKFold(n_splits, shuffle=True, random_state=0).split(data.y, data.y)
    return squared_distances(to_range(data.X)), data.y, label_vectors(labelbook, len(data.classes)), list(folds)


def refit_scores(K, y, B, train, test, gamma, bias, solver):
    """Class scores yᵀ(f(x) + b) of a machine fitted to the training fold alone, from nothing."""
    found = vosvm.fit(K[np.ix_(train, train)], y[train], B, B.T @ B, gamma, bias, solver)
    assert found.kkt_residual <= 1e-6
    g = class_values(K[np.ix_(test, train)], found.beta, y[train], B.shape[1])
    return g @ (B.T @ B) + (found.bias @ B if bias else 0.0)


def assert_same_labels(K, y, B, folds, gammas, bias, solver):
    values, biases = vosvm.sweep(K, y, B, B.T @ B, folds, gammas, bias, solver)
    for k, (train, test) in enumerate(folds):
        assert values[k].shape == (len(gammas), len(test), B.shape[1])
        for i, gamma in enumerate(gammas):
            swept = values[k][i] @ (B.T @ B) + (biases[i, k] @ B if bias else 0.0)
            cold = refit_scores(K, y, B, train, test, gamma, bias, solver)
            np.testing.assert_array_equal(swept.argmax(axis=1), cold.argmax(axis=1))
            assert np.abs(swept - cold).max() <= 1e-9 * max(1.0, np.abs(cold).max())


@pytest.mark.parametrize("name, labelbook", [("iris", "pm1"), ("wine", "indicators"), ("glass", "alignment")])
def test_sweep_equals_cold_refits_in_every_label_of_the_grid(name, labelbook):
    D2, y, B, folds = load(name, labelbook)
    for sigma in GRID:
        assert_same_labels(gaussian(D2, sigma), y, B, folds[:3], GRID, False, "active-set")


@pytest.mark.parametrize("labelbook", ["indicators", "consistency", "pm1"])
def test_sweep_equals_cold_refits_on_vowel(labelbook):
    D2, y, B, folds = load("vowel", labelbook)
    for sigma in (2.0**-4, 0.5, 2.0**4):
        assert_same_labels(gaussian(D2, sigma), y, B, folds[:1], GRID[::2], False, "active-set")


@pytest.mark.parametrize("name, labelbook", [("iris", "consistency"), ("wine", "alignment"), ("glass", "mincorr")])
def test_sweep_with_a_bias_equals_cold_refits(name, labelbook):
    D2, y, B, folds = load(name, labelbook)
    for sigma in GRID[::2]:
        assert_same_labels(gaussian(D2, sigma), y, B, folds[:2], GRID[::2], True, "active-set")


@pytest.mark.parametrize("bias", [False, True])
def test_osqp_sweeps_to_the_same_labels(bias):
    D2, y, B, folds = load("iris", "alignment", n_splits=3)
    for sigma in (2.0**-4, 0.5, 2.0**4):
        assert_same_labels(gaussian(D2, sigma), y, B, folds, [2.0**-4, 1.0, 2.0**4], bias, "osqp")


def test_folds_need_not_be_a_partition():
    D2, y, B, folds = load("wine", "alignment")
    overlapping = [(train[::2], test) for train, test in folds[:2]] + [(folds[0][0], folds[0][0][:7])]
    assert_same_labels(gaussian(D2, 1.0), y, B, overlapping, [0.25, 4.0], False, "active-set")


def test_orthogonal_labels_are_solved_class_by_class():
    D2, y, B, _ = load("glass", "indicators")
    K = gaussian(D2, 0.5)
    found = vosvm.fit(K, y, B, B.T @ B, 1.0, solver="active-set")
    assert box_kkt_residual(K * (y[:, None] == y), found.beta, 1.0) <= 1e-6


def test_coefficients_are_sparse():
    D2, y, B, _ = load("vowel", "alignment")
    beta = vosvm.fit(gaussian(D2, 1.0), y, B, B.T @ B, 16.0, solver="active-set").beta
    assert 0.1 < vosvm.support(beta).mean() < 0.9
    assert not beta[~vosvm.support(beta)].any()


# The model with a bias --------------------------------------------------------------------------------------


def test_bias_is_the_average_over_the_support_vectors():
    D2, y, B, _ = load("iris", "alignment")
    K = gaussian(D2, 1.0)
    found = vosvm.fit(K, y, B, B.T @ B, 1.0, bias=True, solver="active-set")
    Y = B[:, y]
    each = [Y[:, i] - sum(found.beta[j] * Y[:, j] * K[j, i] for j in range(len(y))) for i in range(len(y))]
    expected = np.mean([b for b, s in zip(each, found.beta > 0) if s], axis=0)
    np.testing.assert_allclose(found.bias, expected, atol=1e-12)
    assert np.abs(Y @ found.beta).max() <= 1e-9


@pytest.mark.parametrize("averaged", ["support", "free"])
def test_without_the_constraint_the_bias_is_an_average_over_the_machine_that_has_none(averaged):
    D2, y, B, folds = load("iris", "indicators")
    K, gammas = gaussian(D2, 1.0), [0.25, 4.0]
    how = {"bias": True, "solver": "active-set", "constraint": "none", "averaged": averaged}
    values, biases = vosvm.sweep(K, y, B, B.T @ B, folds[:2], gammas, **how)
    for k, (train, test) in enumerate(folds[:2]):
        for i, gamma in enumerate(gammas):
            of_train = K[np.ix_(train, train)]
            found = vosvm.fit(of_train, y[train], B, B.T @ B, gamma, **how)
            plain = vosvm.fit(of_train, y[train], B, B.T @ B, gamma, solver="active-set")
            np.testing.assert_allclose(found.beta, plain.beta)
            counted = plain.beta > 0
            if averaged == "free":
                counted &= plain.beta < gamma * (1 - 1e-6)
            Y = B[:, y[train]]
            np.testing.assert_allclose(found.bias, (Y - (Y * plain.beta) @ of_train)[:, counted].mean(axis=1))
            np.testing.assert_allclose(biases[i, k], found.bias, atol=1e-9)
            g = class_values(K[np.ix_(test, train)], found.beta, y[train], B.shape[1])
            np.testing.assert_allclose(values[k][i], g, atol=1e-9)


def test_two_classes_with_a_bias_are_the_svm_of_libsvm():
    from sklearn.svm import SVC

    D2, y, _, _ = load("iris", "pm1")
    two = y > 0
    K, y = gaussian(D2, 1.0)[np.ix_(two, two)], y[two] - 1
    B = np.array([[-1.0, 1.0]])  # scalar labels ±1
    beta = vosvm.fit(K, y, B, B.T @ B, 1.0, bias=True, solver="active-set").beta
    svc = SVC(kernel="precomputed", C=1.0, tol=1e-10).fit(K, y)
    signed = np.zeros(len(y))
    signed[svc.support_] = svc.dual_coef_[0]
    np.testing.assert_allclose(beta * B[0, y], signed, atol=1e-6)
