"""ECOC against the machines it generalises, scikit-learn's output codes and hand-made decompositions."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine, make_blobs
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.multiclass import OutputCodeClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import minmax_scale
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from mcls.coding.decoders import DECODERS, codeword_scores, training_weights
from mcls.coding.matrices import CODINGS, check_matrix, sparse_random
from mcls.errors import McLsError
from mcls.machines.ecoc import DECOC, ECOC, SubECOC
from mcls.machines.lsm import OvALSM
from mcls.machines.pairwise import OvOLSM
from mcls.solvers import lsm


@parametrize_with_checks(  # beyond the defaults, which every registered machine is checked with
    [
        ECOC(coding="sparse-random", base="svc", decoder="hamming"),
        ECOC(base=DecisionTreeClassifier(max_depth=4, random_state=0), coding="one-vs-all"),
        DECOC(criterion="fqmi", base="lsm"),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def halves(name):
    """A data set in [−1, 1], odd rows to train and even rows to test."""
    if name == "blobs":
        X, y = make_blobs(300, n_features=3, centers=7, cluster_std=3.0, random_state=0)
    else:
        X, y = {"iris": load_iris, "wine": load_wine}[name](return_X_y=True)
    X = minmax_scale(X, (-1, 1))
    return X[1::2], y[1::2], X[::2], y[::2]


@pytest.mark.parametrize("name", ["iris", "wine", "blobs"])
@pytest.mark.parametrize("sigma, gamma", [(0.3, 0.1), (1.0, 1.0), (4.0, 0.01)])
def test_classical_matrices_give_the_classical_machines(name, sigma, gamma):
    X, y, X_new, _ = halves(name)
    shared = {"sigma": sigma, "gamma": gamma}
    one_vs_all = OvALSM(**shared).fit(X, y).predict(X_new)
    for decoder in ("loss-linear", "loss-squared"):
        coded = ECOC(coding="one-vs-all", decoder=decoder, **shared).fit(X, y)
        assert np.array_equal(coded.predict(X_new), one_vs_all)
    pairs = ECOC(coding="all-pairs", decoder="hamming", **shared).fit(X, y)
    assert np.array_equal(pairs.predict(X_new), OvOLSM(**shared).fit(X, y).predict(X_new))


@pytest.mark.parametrize("base", [LinearSVC(random_state=0), Perceptron(random_state=0)])
@pytest.mark.parametrize("name", ["wine", "blobs"])
def test_agrees_with_scikit_learns_output_codes(name, base):
    X, y, X_new, _ = halves(name)
    theirs = OutputCodeClassifier(base, code_size=3, random_state=1).fit(X, y)
    M = check_matrix(theirs.code_book_)  # their random code has no idle column with this seed
    ours = ECOC(coding=M, decoder="euclidean", base=base).fit(X, y)
    assert np.array_equal(ours.predict(X_new), theirs.predict(X_new))


@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize("decoder", DECODERS)
def test_every_code_and_decoder_learns(coding, decoder):
    X, y, X_new, y_new = halves("iris")
    machine = ECOC(coding=coding, decoder=decoder, sigma=1.0, gamma=0.1).fit(X, y)
    assert machine.score(X_new, y_new) > 0.9


@pytest.mark.parametrize(
    "base",
    [
        "svc",
        KNeighborsClassifier(5),  # probabilities only
        LogisticRegression(C=100.0),  # both
        Perceptron(random_state=0),  # margins only
    ],
)
def test_every_kind_of_binary_machine_learns(base):
    X, y, X_new, y_new = halves("wine")
    for machine in (ECOC(base=base, C=10.0), DECOC(base=base, C=10.0)):
        assert machine.fit(X, y).score(X_new, y_new) > 0.9


def test_columns_without_zeros_share_one_factorisation(monkeypatch):
    sizes = []

    def counting(K, Y, gamma, solve=lsm.fit):
        sizes.append((len(K), Y.shape[1]))
        return solve(K, Y, gamma)

    monkeypatch.setattr(lsm, "fit", counting)
    X, y, _, _ = halves("blobs")
    counts = np.bincount(y)
    dense = ECOC(coding="dense-random").fit(X, y)
    assert sizes == [(len(X), dense.code_matrix_.shape[1])]
    sizes.clear()
    ECOC(coding="all-pairs").fit(X, y)  # every column sees its own two classes only
    assert sorted(sizes) == sorted((counts[a] + counts[b], 1) for a in range(7) for b in range(a))


def test_columns_with_zeros_are_solved_on_their_own_rows():
    X, y, X_new, _ = halves("blobs")
    M = sparse_random(7, 5)
    machine = ECOC(coding=M, decoder="loss-squared", sigma=0.7, gamma=0.2).fit(X, y)
    K, K_new = machine._kernel(X, None), machine._kernel(X_new, X)
    F = np.empty((len(X_new), M.shape[1]))
    for s in range(M.shape[1]):
        rows = M[y, s] != 0
        alpha = np.linalg.solve(K[np.ix_(rows, rows)] + 0.2 * np.eye(rows.sum()), M[y[rows], s])
        F[:, s] = K_new[:, rows] @ alpha
    np.testing.assert_allclose(machine.decision_function(X_new), codeword_scores("loss-squared", M, F), rtol=1e-8)


def test_svc_base_is_libsvm_with_gamma_one_over_two_sigma_squared():
    X, y, X_new, _ = halves("wine")
    ours = ECOC(coding="one-vs-all", base="svc", C=100.0, sigma=np.sqrt(0.5)).fit(X, y)
    theirs = np.column_stack([SVC(C=100.0, gamma=1.0).fit(X, y == c).decision_function(X_new) for c in range(3)])
    np.testing.assert_allclose(ours.machines_.outputs(ours._kernel(X_new, X)), theirs, atol=2e-2)
    assert np.array_equal(ours.predict(X_new), theirs.argmax(axis=1))


def test_loss_weighted_decoder_uses_the_training_outputs():
    X, y, X_new, _ = halves("blobs")
    machine = ECOC(coding="sparse-random", decoder="loss-weighted").fit(X, y)
    K, K_new = machine._kernel(X, None), machine._kernel(X_new, X)
    M, outputs = machine.code_matrix_, machine.machines_.outputs
    expected = codeword_scores("loss-weighted", M, outputs(K_new), training_weights(M, outputs(K), y))
    np.testing.assert_allclose(machine.decision_function(X_new), expected)


@pytest.mark.parametrize("coding", ["dense-random", "all-pairs"])
@pytest.mark.parametrize("decoder", ["hamming", "loss-linear", "loss-weighted"])
def test_sweep_equals_refitting(coding, decoder):
    X, y, _, _ = halves("blobs")
    machine = ECOC(coding=coding, decoder=decoder, sigma=1.0)
    K = machine._kernel(X, None)
    everything = np.arange(len(y))
    folds = [(np.setdiff1d(everything, everything[k::5]), everything[k::5]) for k in range(5)]
    points = [{"gamma": g} for g in (0.01, 1.0, 16.0)]
    swept = machine.sweep(K, y, folds, points)
    for a, b in zip(swept, machine.sweep(K, y, folds, points, engine="refit"), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-9)
        assert np.array_equal(a.argmax(axis=2), b.argmax(axis=2))


def test_precomputed_kernel_gives_the_same_machine():
    X, y, X_new, _ = halves("wine")
    machine = ECOC(coding="sparse-random").fit(X, y)
    K, K_new = machine._kernel(X, None), machine._kernel(X_new, X)
    precomputed = ECOC(coding="sparse-random", kernel="precomputed").fit(K, y)
    np.testing.assert_allclose(precomputed.decision_function(K_new), machine.decision_function(X_new))


def test_probabilities_only_where_the_base_gives_them():
    assert not hasattr(ECOC(), "predict_proba")
    assert not hasattr(ECOC(base=Perceptron()), "predict_proba")
    X, y, X_new, _ = halves("wine")
    P = ECOC(base=LogisticRegression(), coding="all-pairs").fit(X, y).predict_proba(X_new)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    assert P.shape == (len(X_new), 3)


def test_probabilities_of_decoc_are_those_of_nested_dichotomies():
    X, y, X_new, _ = halves("iris")
    machine = DECOC(base=LogisticRegression()).fit(X, y)
    assert machine.code_matrix_.tolist() == [[1, 0], [-1, 1], [-1, -1]]
    root = LogisticRegression().fit(X, y == 0).predict_proba(X_new)[:, 1]
    leaf = LogisticRegression().fit(X[y > 0], y[y > 0] == 1).predict_proba(X_new)[:, 1]
    expected = np.column_stack([root, (1 - root) * leaf, (1 - root) * (1 - leaf)])
    np.testing.assert_allclose(machine.predict_proba(X_new), expected, atol=1e-5)


@pytest.mark.parametrize("criterion", ["fldr", "fqmi"])
def test_decoc_walks_down_its_tree(criterion):
    X, y, X_new, _ = halves("blobs")
    machine = DECOC(criterion=criterion, sigma=0.7, C=10.0).fit(X, y)
    M = machine.code_matrix_
    assert M.shape == (7, 6)
    F = machine.machines_.outputs(machine._kernel(X_new, X))
    predicted = machine.predict(X_new)
    for f, label in zip(F, predicted, strict=True):
        alive = set(range(7))
        for s in range(6):  # breadth first: a parent comes before its children
            sides = {c for c in alive if M[c, s] == np.sign(f[s])}, {c for c in alive if M[c, s] == 0}
            if any(M[c, s] for c in alive):
                alive = sides[0] | sides[1]
        assert alive == {label}


def rings(n=240, seed=0):
    """Three classes: a disc, a ring around it, and a far cluster; no line separates the first two."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    angle, radius = rng.uniform(0, 2 * np.pi, n), np.choose(y, [0.2 * rng.random(n), 0.7 + 0.2 * rng.random(n), 0])
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]) + 0.05 * rng.normal(size=(n, 2))
    return X + np.where(y[:, None] == 2, 3.0, 0.0), y


@pytest.mark.parametrize("criterion", ["fldr", "fqmi"])
def test_sub_ecoc_solves_what_a_linear_decoc_cannot(criterion):
    X, y = rings()
    X_new, y_new = rings(seed=1)
    shared = {"criterion": criterion, "kernel": "linear"}
    plain, split = DECOC(**shared).fit(X, y), SubECOC(**shared).fit(X, y)
    assert plain.score(X_new, y_new) < 0.85
    assert split.score(X_new, y_new) > 0.93
    assert plain.code_matrix_.shape == (3, 2)
    rows, columns = split.code_matrix_.shape
    assert rows > 3
    assert columns > 2
    assert len(split.row_classes_) == rows
    assert set(split.row_classes_) == {0, 1, 2}


def test_sub_ecoc_is_decoc_when_nothing_needs_a_split():
    X, y, X_new, _ = halves("wine")
    plain, split = DECOC().fit(X, y), SubECOC().fit(X, y)
    assert np.array_equal(plain.code_matrix_, split.code_matrix_)
    np.testing.assert_allclose(plain.decision_function(X_new), split.decision_function(X_new))


def test_a_class_scores_as_its_nearest_subclass():
    X, y = rings()
    machine = SubECOC(kernel="linear", decoder="loss-weighted").fit(X, y)
    F = machine.machines_.outputs(machine._kernel(X, X))
    by_row = codeword_scores("loss-weighted", machine.code_matrix_, F, machine.weights_)
    nearest = machine.row_classes_[by_row.argmax(axis=1)]
    assert np.array_equal(machine.predict(X), machine.classes_[nearest])


def test_sub_ecoc_probabilities_sum_over_the_subclasses():
    X, y = rings()
    machine = SubECOC(base=LogisticRegression(C=100.0)).fit(X, y)
    P = machine.predict_proba(X)
    assert P.shape == (len(X), 3)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    assert len(machine.code_matrix_) > 3


def test_mistakes_are_refused_with_what_to_do():
    X, y, _, _ = halves("iris")
    for machine, message in [
        (ECOC(coding="one-vs-al"), "did you mean 'one-vs-all'"),
        (ECOC(decoder="hemming"), "did you mean 'hamming'"),
        (ECOC(base="svm"), "did you mean 'svc'"),
        (ECOC(base=3), "scikit-learn classifier"),
        (ECOC(gamma=0.0), "gamma must be a positive"),
        (ECOC(C=-1.0), "C must be a positive"),
        (ECOC(coding=np.array([[1], [-1]])), "2 rows, the data 3 classes"),
        (DECOC(criterion="fisher"), "unknown criterion"),
        (DECOC(criterion_sigma=0.0), "criterion_sigma"),
        (DECOC(criterion_sigma=1e-200), "criterion_sigma"),
        (SubECOC(theta_i=1.5), "theta_i must be a share"),
        (SubECOC(theta_s=-1), "theta_s must be a number"),
        (SubECOC(side="fewest"), "unknown side to split 'fewest'; did you mean 'fewer'"),
        (SubECOC(judged="worst"), "unknown way to judge a split"),
    ]:
        with pytest.raises(McLsError, match=message):
            machine.fit(X, y)
    for machine in (DECOC(kernel="precomputed"), ECOC(base=Perceptron(), kernel="precomputed")):
        with pytest.raises(McLsError, match="features"):
            machine.fit(X @ X.T, y)
