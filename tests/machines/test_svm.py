"""The SVM machines as estimators: what they agree with, what they certify, what they refuse."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, LinearSVC

from mcls import SVMDAG, CrammerSinger, SVMOvA, SVMOvO, WestonWatkins
from mcls.data import load_dataset
from mcls.errors import McLsError
from mcls.evaluation.scaling import to_range

MACHINES = [SVMOvA, SVMOvO, SVMDAG, WestonWatkins, CrammerSinger]


@pytest.fixture(scope="module")
def wine():
    data = load_dataset("wine")
    return to_range(data.X), data.y


def test_pairs_vote_as_scikit_learn_does(wine):
    X, y = wine
    ours = SVMOvO(sigma=2.0, C=4.0).fit(X[::2], y[::2])
    theirs = SVC(gamma=1 / (2 * 2.0**2), C=4.0, tol=1e-5).fit(X[::2], y[::2])
    assert np.array_equal(ours.predict(X[1::2]), theirs.predict(X[1::2]))


@pytest.mark.parametrize("cls", MACHINES)
def test_a_given_kernel_matrix_is_the_kernel(cls, wine):
    X, y = wine
    by_name = cls(kernel="linear", C=0.5).fit(X, y)
    K = X @ X.T
    by_matrix = cls(kernel="precomputed", C=0.5).fit(K, y)
    assert np.allclose(by_name.decision_function(X), by_matrix.decision_function(K))


@pytest.mark.parametrize("cls", [SVMOvA, SVMOvO, SVMDAG])
def test_two_classes_give_the_margin_of_svc(cls, wine):
    X, y = wine
    X, y = X[y < 2], y[y < 2]
    theirs = SVC(kernel="linear", C=0.3, tol=1e-6).fit(X, y).decision_function(X)
    ours = cls(kernel="linear", C=0.3, tol=1e-6).fit(X, y).decision_function(X)
    assert np.allclose(ours, 2 * theirs, atol=1e-3)  # the score of one class minus that of the other


def test_two_classes_make_the_single_machines_one():
    # Weston–Watkins is the binary SVM of price C, Crammer–Singer that of price 2C.
    data = load_dataset("wine")
    X, y = to_range(data.X)[data.y > 0], data.y[data.y > 0]
    ww = WestonWatkins(sigma=1.0, C=2.0, tol=1e-9).fit(X, y)
    cs = CrammerSinger(sigma=1.0, C=1.0, tol=1e-9).fit(X, y)
    assert ww.objective_ == pytest.approx(4 * cs.objective_, rel=1e-6)
    assert np.allclose(ww.decision_function(X), 2 * cs.decision_function(X), atol=1e-3)


def test_a_constant_in_the_kernel_is_the_penalised_bias(wine):
    X, y = wine
    ours = CrammerSinger(kernel="polynomial", degree=1, coef0=1.0, C=0.05).fit(X, y)
    svc = LinearSVC(multi_class="crammer_singer", C=0.05, tol=1e-10, max_iter=100_000, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # older ones come near enough, and complain
        svc.fit(X, y)
    F = svc.decision_function(X)
    loss = (F + 1 - np.eye(3)[y]).max(axis=1) - F[np.arange(len(y)), y]
    theirs = 0.5 * ((svc.coef_**2).sum() + (svc.intercept_**2).sum()) + 0.05 * loss.sum()
    assert ours.objective_ == pytest.approx(theirs, rel=1e-5)


@pytest.mark.parametrize("cls", [WestonWatkins, CrammerSinger])
def test_a_gap_above_tol_is_told(cls, wine):
    X, y = wine
    machine = cls(sigma=1.0, tol=1e-6).fit(X, y)
    assert 0 <= machine.gap_ <= 1e-6
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        machine = cls(sigma=1.0, tol=1e-25).fit(X, y)
    told = [str(each.message) for each in told if issubclass(each.category, ConvergenceWarning)]
    assert ["relative duality gap" in text for text in told] == [True] * (machine.gap_ > 1e-25)  # it may be 0


@pytest.mark.parametrize("cls", [WestonWatkins, CrammerSinger])
def test_raw_features_of_very_different_scale_stay_quiet(cls):
    data = load_dataset("wine")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        machine = cls(kernel="linear", C=1.0).fit(data.X, data.y)
    assert machine.score(data.X, data.y) > 0.95


@pytest.mark.parametrize("cls", MACHINES)
@pytest.mark.parametrize("bad", [{"C": 0}, {"C": -1.0}, {"C": np.inf}, {"tol": 0.0}])
def test_parameters_out_of_range_are_refused(cls, bad, wine):
    with pytest.raises(McLsError, match="must be a positive number"):
        cls(**bad).fit(*wine)
