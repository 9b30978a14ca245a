"""The vector-output machines by the mathematics of honeine2013: proposition, objectives, constraints, biases."""

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.linear_model import Ridge

from mcls import VoLSSVM, VoRLS, VoSVM
from mcls.errors import McLsError
from mcls.kernels import kernel_matrix
from mcls.labelbooks import label_gram
from tests.machines.problems import BOOKS, REAL, load, problems

VECTOR = [
    VoRLS(),
    VoRLS(regularizer="f"),
    VoLSSVM(),
    VoLSSVM(bias=True),
    VoSVM(solver="active-set"),
    VoSVM(bias=True),
]


@pytest.mark.parametrize("machine", VECTOR, ids=repr)
@pytest.mark.parametrize("name", REAL)
def test_proposition_3_for_the_vector_machines(machine, name):
    X, y = load(name)
    alignment, mincorr = (
        machine.set_params(labelbook=book, sigma=0.5).fit(X, y)._class_scores(X)
        for book in ("alignment", "mincorr")
    )
    assert np.abs(alignment - mincorr).max() < 1e-7 * np.abs(alignment).max()


@pytest.mark.parametrize("name", REAL)
def test_consistency_is_alignment_when_gamma_is_rescaled(name):
    """Labels times c: H, G and d grow by c². vo-LSSVM, vo-SVM: γ/c²; vo-RLS(β): c²γ; vo-RLS(f): the same γ."""
    X, y = load(name)
    ell = y.max() + 1
    c2 = ell / (ell - 1)  # consistency = √(ℓ/(ℓ−1)) · alignment
    cases = [
        (VoLSSVM(), 1 / c2),
        (VoSVM(solver="active-set"), 1 / c2),
        (VoRLS(regularizer="beta"), c2),
        (VoRLS(regularizer="f"), 1.0),
    ]
    for machine, factor in cases:
        machine.set_params(sigma=0.5)
        alignment = machine.set_params(labelbook="alignment", gamma=0.7).fit(X, y)._class_scores(X)
        consistency = machine.set_params(labelbook="consistency", gamma=0.7 * factor).fit(X, y)._class_scores(X)
        # β of the margin machines shrinks by c², which the label products make up for in the scores.
        ratio = c2 if isinstance(machine, VoRLS) else 1.0
        assert np.allclose(consistency, ratio * alignment, rtol=1e-5, atol=1e-8)


@given(problems())
@settings(max_examples=50)
def test_scalar_labels_make_the_vector_machines_ridge_regression(problem):
    """With y = ±1 vo-LSSVM (γ ↔ 1/γ) and vo-RLS(f) are ridge regression; vo-RLS(β) is another machine."""
    X, y, gamma, Z = problem
    y = y % 2
    target = np.where(y == 1, 1.0, -1.0)
    ridge = Ridge(alpha=gamma, fit_intercept=False).fit(X, target).predict(Z)
    scalar = {"kernel": "linear", "labelbook": [[-1.0, 1.0]]}
    lssvm = VoLSSVM(gamma=1 / gamma, **scalar).fit(X, y)
    rls_f = VoRLS(regularizer="f", gamma=gamma, **scalar).fit(X, y)
    for machine in (lssvm, rls_f):
        assert np.allclose(machine.decision_function(Z) / 2, ridge, atol=1e-5, rtol=1e-5)


def test_vo_rls_beta_differs_from_ridge_regression_by_its_penalty():
    """Its minimiser has a smaller ‖β‖ and a larger ridge objective than ridge regression's own coefficients."""
    X, y = load("iris")
    X, y = X[50:], y[50:] - 1
    t = np.where(y == 1, 1.0, -1.0)
    K = kernel_matrix(X, sigma=0.5)
    beta = VoRLS(regularizer="beta", sigma=0.5, gamma=1.0, labelbook=[[-1.0, 1.0]]).fit(X, y).beta_
    ridge = VoLSSVM(sigma=0.5, gamma=1.0, labelbook=[[-1.0, 1.0]]).fit(X, y).beta_

    def loss(b):
        return np.sum((K @ (b * t) - t) ** 2)

    assert np.linalg.norm(beta) < np.linalg.norm(ridge)
    assert loss(beta) + beta @ beta < loss(ridge) + ridge @ ridge
    penalty = (beta * t) @ K @ (beta * t), (ridge * t) @ K @ (ridge * t)
    assert loss(beta) + penalty[0] > loss(ridge) + penalty[1]


@pytest.mark.parametrize("book", BOOKS)
@pytest.mark.parametrize("regularizer", ["beta", "f"])
def test_vo_rls_minimises_its_objective(regularizer, book):
    """The gradient of (12) or (15), written out from f itself and not from G, vanishes at β."""
    X, y = load("wine")
    gamma, K = 0.3, kernel_matrix(X, sigma=1.0)
    machine = VoRLS(regularizer=regularizer, sigma=1.0, gamma=gamma, labelbook=book).fit(X, y)
    Y = machine.labels_[:, y]  # (p, n)
    F = (Y * machine.beta_) @ K  # f at the training points, (p, n)
    penalty = machine.beta_ if regularizer == "beta" else np.einsum("pj,pj->j", Y, F)
    gradient = np.einsum("pj,pj->j", Y, (F - Y) @ K) + gamma * penalty
    assert np.abs(gradient).max() < 1e-6 * np.abs(np.einsum("pj,pj->j", Y, Y @ K)).max()


@pytest.mark.parametrize("book", ["alignment", "consistency", "mincorr"])
def test_biased_vo_lssvm_satisfies_its_constraint_and_its_system(book):
    X, y = load("glass")
    machine = VoLSSVM(bias=True, labelbook=book, sigma=0.5, gamma=2.0).fit(X, y)
    Y = machine.labels_[:, y]
    assert np.abs(Y @ machine.beta_).max() < 1e-9  # (21)
    H = kernel_matrix(X, sigma=0.5) * label_gram(book, y.max() + 1)[np.ix_(y, y)]
    residual = Y.T @ machine.bias_ + H @ machine.beta_ + machine.beta_ / 2.0 - 1
    assert np.abs(residual).max() < 1e-9


@pytest.mark.parametrize("book", ["alignment", "consistency", "mincorr"])
@pytest.mark.parametrize("name", REAL)
def test_biased_vo_svm_satisfies_its_constraint_and_is_sparse(name, book):
    X, y = load(name)
    machine = VoSVM(bias=True, labelbook=book, sigma=0.5, gamma=1.0).fit(X, y)
    assert np.abs(machine.labels_[:, y] @ machine.beta_).max() < 1e-6  # (21)
    assert machine.kkt_residual_ < 1e-6
    assert 0 < machine.n_support_.sum() < len(y)


@pytest.mark.parametrize("cls", [VoLSSVM, VoSVM])
@pytest.mark.parametrize("book", ["indicators", "pm1"])
def test_a_bias_refuses_degenerate_labelbooks(cls, book):
    X, y = load("iris")
    machine = cls(bias=True, labelbook=book)
    with pytest.raises(ValueError, match=r"degenerate.*zero-sum labelbook"):
        machine.fit(X, y)
    folds = [(np.arange(1, 150), np.arange(1)), (np.arange(149), np.arange(149, 150))]
    with pytest.raises(ValueError, match="degenerate"):
        machine.sweep(kernel_matrix(X), y, folds, [{"gamma": 1.0}])


def test_without_its_constraint_szedmak_s_model_takes_every_labelbook():
    X, y = load("iris")
    machine = VoSVM(bias=True, constraint="none", labelbook="pm1", solver="active-set", unit_labels=True).fit(X, y)
    np.testing.assert_allclose(np.diag(machine.label_gram_), 1.0)
    assert np.mean(machine.predict(X) == y) > 0.9
    for wrong, message in (
        ({"constraint": "non"}, "unknown constraint 'non'; did you mean 'none'"),
        ({"averaged": "all"}, "unknown average for the bias 'all'"),
        ({"unit_labels": "yes"}, "unit_labels"),
        ({"unit_labels": True, "label_kernel": "gaussian"}, "use label_kernel='linear'"),
    ):
        with pytest.raises(McLsError, match=message):
            VoSVM(**wrong).fit(X, y)


@pytest.mark.parametrize("cls", [VoLSSVM, VoSVM])
def test_a_machine_fitted_again_without_a_bias_has_none(cls):
    X, y = load("iris")
    again = cls(bias=True).fit(X, y).set_params(bias=False).fit(X, y)
    assert not hasattr(again, "bias_")
    assert np.array_equal(again.decision_function(X), cls().fit(X, y).decision_function(X))
