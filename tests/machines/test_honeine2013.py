"""The paper's own mathematics, on real data and on random data: propositions, theorem, corollary, equivalences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge

from mcls import OneLSM, OvALSM, OvOLSM, VoLSSVM, VoRLS, VoSVM
from mcls.data import load_dataset
from mcls.errors import McLsError
from mcls.evaluation.scaling import to_range
from mcls.kernels import kernel_matrix
from mcls.labelbooks import LABELBOOKS, label_gram, label_vectors

BOOKS = [name for name, book in LABELBOOKS.items() if not book.needs_counts]
REAL = ["iris", "wine", "glass"]


def load(name):
    data = load_dataset(name)
    return to_range(data.X), data.y


@st.composite
def problems(draw):
    seed, ell, d = draw(st.integers(0, 10**6)), draw(st.integers(2, 5)), draw(st.integers(1, 4))
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(ell), rng.integers(0, ell, draw(st.integers(ell, 25)))])
    X = rng.normal(size=(len(y), d)) + y[:, None] * 0.7
    return X, y, float(2.0 ** draw(st.integers(-4, 4))), rng.normal(size=(10, d)) * 2


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


@pytest.mark.parametrize("book", BOOKS)
@pytest.mark.parametrize("name", REAL)
def test_proposition_1(name, book):
    X, y = load(name)
    machine = OneLSM(labelbook=book, sigma=0.5, gamma=0.5).fit(X, y)
    products = machine.alpha_.T @ machine.labels_[:, y].T  # [α⁽ᵏ⁾ᵀ y⁽ᵏ'⁾]
    assert np.abs(products - products.T).max() < 1e-9 * np.abs(products).max()


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


@pytest.mark.parametrize("machine", [OneLSM(), VoRLS(), VoLSSVM()], ids=repr)
def test_decision_rules_agree_for_labels_of_one_norm_and_one_entry_a_class(machine):
    X, y = load("glass")
    rules = [
        machine.set_params(decision=rule, sigma=0.5).fit(X, y).predict(X) for rule in ("max", "nearest", "winner")
    ]
    assert np.array_equal(rules[0], rules[1])
    assert np.array_equal(rules[0], rules[2])


def test_the_nearest_label_is_found_from_tiny_scores_too():
    X, y = load("wine")
    machine = OneLSM(sigma=2.0**-4).fit(X[::2], y[::2])  # a narrow kernel: scores down to 10⁻³⁰⁰
    expected = machine.predict(X[1::2])
    for book in ("indicators", "pm1", "alignment", "mincorr"):
        nearest = OneLSM(sigma=2.0**-4, labelbook=book, decision="nearest").fit(X[::2], y[::2])
        assert np.array_equal(nearest.predict(X[1::2]), expected)


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


def test_nearest_label_differs_when_the_norms_do():
    X, y = load("iris")
    book = np.diag([1.0, 1.0, 3.0])
    fitted = [OneLSM(labelbook=book, sigma=0.3, decision=rule).fit(X, y) for rule in ("max", "nearest")]
    f = kernel_matrix(X, sigma=0.3) @ fitted[1].alpha_  # (n, 3)
    distances = np.square(f[:, None, :] - book.T[None]).sum(axis=2)
    assert np.array_equal(fitted[1].predict(X), distances.argmin(axis=1))
    assert not np.array_equal(fitted[0].predict(X), fitted[1].predict(X))


def test_ovo_is_the_vote_of_pairwise_machines():
    X, y = load("glass")
    machine = OvOLSM(sigma=0.5, gamma=0.5).fit(X, y)
    votes = np.zeros((len(X), 6))
    for a in range(6):
        for b in range(a + 1, 6):
            rows = (y == a) | (y == b)
            pair = OneLSM(sigma=0.5, gamma=0.5, labelbook="pm1").fit(X[rows], y[rows])
            votes[np.arange(len(X)), pair.predict(X)] += 1
    chosen = machine.predict(X)
    assert (votes[np.arange(len(X)), chosen] == votes.max(axis=1)).all()


def test_label_kernel_and_fisher_coding_are_options():
    X, y = load("glass")
    for machine in (OneLSM(), VoLSSVM(), VoRLS(regularizer="f")):
        for options in ({"label_kernel": "gaussian", "label_sigma": 0.7}, {"labelbook": "fisher"}):
            score = machine.set_params(sigma=0.5, gamma=0.5, **options).fit(X, y).score(X, y)
            assert score > 0.6
            machine.set_params(label_kernel="linear", labelbook="indicators")
