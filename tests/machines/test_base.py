"""The sweep of every machine against refitting: folds of any kind, kernels of any kind, digits that are lost."""

import warnings

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.model_selection import RepeatedStratifiedKFold

from mcls import ECOC, LSSVM, SVMSGD, PrecisionWarning
from mcls.data import load_dataset
from mcls.evaluation.folds import make_folds, stratified_folds
from mcls.evaluation.scaling import to_range
from mcls.kernels import kernel_matrix
from mcls.machines.kernel_machine import KernelMachine
from mcls.machines.lsm import OneLSM
from mcls.machines.olc import RLSC
from mcls.machines.olc_lsm import OLCOneLSM
from mcls.machines.pairwise import OvOLSM
from mcls.machines.vector import VoLSSVM, VoRLS, VoSVM

GAMMAS = [2.0**-4, 1.0, 16.0]
LEAVE_OUT = [
    OneLSM(),
    OneLSM(labelbook="fisher"),
    OvOLSM(),
    VoLSSVM(),
    VoLSSVM(bias=True),
    ECOC(coding="one-vs-all", decoder="euclidean"),
    RLSC(),
    LSSVM(),
]
OTHERS = [VoRLS(), VoRLS(regularizer="f"), VoSVM(solver="active-set"), OLCOneLSM()]


def points(machine, values=GAMMAS):
    name = "lambda1" if isinstance(machine, RLSC | LSSVM) else "gamma"
    return [{name: value} for value in values]


def labels(machine, K, y, folds, path, engine):
    return [scores.argmax(axis=2) for scores in machine.sweep(K, y, folds, path, engine=engine)]


def labels_that_differ(machine, K, y, folds, path):
    """How many labels of the sweep a refit contradicts by a margin that has any digits (1e-8 of the scores)."""
    fast, refit = (machine.sweep(K, y, folds, path, engine=engine) for engine in ("fast", "refit"))
    count = 0
    for one, other in zip(fast, refit, strict=True):
        chosen = np.take_along_axis(other, one.argmax(axis=2)[:, :, None], axis=2)[:, :, 0]
        count += int((other.max(axis=2) - chosen > 1e-8 * np.abs(other).max(axis=2)).sum())
    return count


def glass(scaled=True):
    data = load_dataset("glass")
    return (to_range(data.X) if scaled else data.X), data.y


# Folds ---------------------------------------------------------------------------------------------------------


def repeated(y):
    return list(RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0).split(y, y))


def not_all_tested(y):
    return stratified_folds(y, 5, seed=0)[1:3]


def trained_on_fewer(y):
    """One fold that trains on the complement of its test, one that does not, one with rows twice."""
    (a, b), (c, d), (e, f) = stratified_folds(y, 5, seed=0)[:3]
    return [(a, b), (c[::2], d), (np.concatenate([e, e[:40]]), f), stratified_folds(y, 5, seed=0)[3]]


def nested(y):
    """Each fold R tested on machines that learn from neither R nor another fold S, in any order of rows."""
    tests = [test for _, test in stratified_folds(y, 5, seed=0)]
    everyone = np.arange(len(y))
    rest = {
        (r, s): np.setdiff1d(everyone, np.concatenate([tests[r], tests[s]])) for r in range(5) for s in range(r)
    }
    pairs = [(rest[max(r, s), min(r, s)], tests[r]) for r in range(5) for s in range(5) if r != s]
    return [*stratified_folds(y, 5, seed=0), *pairs, (pairs[0][0], pairs[0][1][::-1])]


@pytest.mark.parametrize("make", [repeated, not_all_tested, trained_on_fewer, nested])
@pytest.mark.parametrize("machine", [*LEAVE_OUT, *OTHERS], ids=repr)
def test_folds_of_any_kind_are_swept_or_refitted(machine, make):
    X, y = glass()
    for sigma in (0.25, 2.0):
        assert labels_that_differ(machine, kernel_matrix(X, sigma=sigma), y, make(y), points(machine)) == 0


def count_fits(monkeypatch, machine):
    calls = []
    fit = type(machine)._fit
    monkeypatch.setattr(type(machine), "_fit", lambda self, *args: calls.append(1) or fit(self, *args))
    return calls


@pytest.mark.parametrize("machine", LEAVE_OUT, ids=repr)
def test_a_class_of_one_row_costs_one_fold_its_sweep(machine, monkeypatch):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [15, 15, 1])
    X = rng.normal(size=(31, 2)) + y[:, None]
    K, folds = kernel_matrix(X), make_folds(y, "loo", seed=0)
    expected = labels(machine, K, y, folds, points(machine), "refit")
    fits = count_fits(monkeypatch, machine)
    found = labels(machine, K, y, folds, points(machine), "fast")
    assert len(fits) <= len(GAMMAS)  # the fold without the third class, at each point or by one decomposition
    assert all(np.array_equal(one, other) for one, other in zip(found, expected, strict=True))


def test_repeated_folds_are_all_swept(monkeypatch):
    X, y = glass()
    fits = count_fits(monkeypatch, OneLSM())
    OneLSM().sweep(kernel_matrix(X), y, repeated(y), points(OneLSM()))
    assert not fits


def test_folds_that_train_on_the_same_rows_share_the_work(monkeypatch):
    X, y = glass()
    fits = count_fits(monkeypatch, OneLSM())
    OneLSM().sweep(kernel_matrix(X), y, nested(y), points(OneLSM()))
    assert not fits
    OneLSM().sweep(kernel_matrix(X), y, nested(y), points(OneLSM()), engine="refit")
    assert len(fits) == (5 + 10) * len(GAMMAS)  # ten pairs of folds, not twenty-one


def test_one_split_is_fitted_without_decomposing_all_rows(monkeypatch):
    X, y = glass()
    fits = count_fits(monkeypatch, OneLSM())
    OneLSM().sweep(kernel_matrix(X), y, stratified_folds(y, 2, seed=0)[:1], points(OneLSM()))
    assert len(fits) == len(GAMMAS)


def test_what_a_sweep_cannot_tell_is_refitted_alone(monkeypatch):
    X, y = glass()
    K, folds = kernel_matrix(X), stratified_folds(y, 4, seed=0)
    expected = labels(OneLSM(), K, y, folds, points(OneLSM()), "refit")
    sweep = OneLSM._sweep

    def forgetful(self, *args, **kwargs):
        scores = sweep(self, *args, **kwargs)
        scores[1][2] = np.nan
        scores[3][0, 5, 1] = np.nan
        return scores

    monkeypatch.setattr(OneLSM, "_sweep", forgetful)
    fits = count_fits(monkeypatch, OneLSM())
    found = labels(OneLSM(), K, y, folds, points(OneLSM()), "fast")
    assert len(fits) == 2
    assert all(np.array_equal(one, other) for one, other in zip(found, expected, strict=True))


# Kernels that are not positive semi-definite -------------------------------------------------------------------


def tanh(A, B):
    return np.tanh(A @ B.T / 10 + 1)


def touching(A, B):
    """1 − (d/r)⁴ up to the distance r, else 0: in blocks."""
    return np.maximum(0, 1 - (cdist(A, B) / 0.2) ** 4)


INDEFINITE = {
    "polynomial": {"kernel": "polynomial", "degree": 2, "coef0": -8.0},
    "tanh": {"kernel": tanh},
    "blocks": {"kernel": touching},
}


@pytest.mark.parametrize(
    "kernel, n", [("polynomial", 90), ("polynomial", 660), ("tanh", 90), ("tanh", 660), ("blocks", 400)]
)
@pytest.mark.parametrize("machine", [OneLSM(), OvOLSM(), VoLSSVM(), VoLSSVM(bias=True), RLSC()], ids=repr)
def test_indefinite_kernels_are_swept_right_at_every_gamma(machine, kernel, n):
    rng = np.random.default_rng(0)
    y = np.arange(n) % 3
    X = 0.7 * (0.5 * rng.normal(size=(n, 3)) + np.eye(3)[y])
    K = kernel_matrix(X, **INDEFINITE[kernel])
    lowest = -np.linalg.eigvalsh(K)[0]
    assert lowest > 0.03
    # Far below, near and above the shift at which K + γI is definite; 1 + 10⁻¹⁰ is as good as singular.
    ridges = [2.0**-4, 0.7 * lowest, (1 + 1e-10) * lowest, 2 * lowest, 16.0]
    if isinstance(machine, VoLSSVM):
        ridges = [1 / ridge for ridge in ridges]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrecisionWarning)
        folds = stratified_folds(y, 4, seed=0)
        assert labels_that_differ(machine, K, y, folds, points(machine, ridges)) == 0


@pytest.mark.parametrize(
    "machine, name, values",
    [
        (VoRLS(), "labelbook", ["alignment", "fisher", "pm1"]),
        (VoSVM(solver="active-set", class_weight="balanced"), "labelbook", ["fisher", "indicators"]),
        (OneLSM(), "labelbook", ["pm1", "fisher"]),
        (ECOC(coding="one-vs-all"), "coding", ["one-vs-all", "all-pairs"]),
        (ECOC(coding="one-vs-all", decoder="euclidean"), "decoder", ["euclidean", "loss-weighted"]),
        (SVMSGD(), "random_state", [0, 1]),
    ],
    ids=lambda value: str(value)[:40],
)
def test_values_of_a_grid_that_decide_what_is_shared(machine, name, values):
    data = load_dataset("glass")
    K, folds = kernel_matrix(to_range(data.X), sigma=0.5), stratified_folds(data.y, 3, seed=0)
    strength = machine.swept[0]
    path = [{name: value, strength: size} for value in values for size in (0.1, 4.0)]
    fast, refit = (machine.sweep(K, data.y, folds, path, engine=engine) for engine in ("fast", "refit"))
    for one, other in zip(fast, refit, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-8 * np.abs(other).max())


def test_values_of_a_grid_that_list_the_classes_in_folds_that_lack_one():
    X, y = glass()
    K = kernel_matrix(X, sigma=0.5)
    folds = [(np.flatnonzero(y != c), np.flatnonzero(y == c)) for c in (0, 2)] + stratified_folds(y, 3, seed=0)
    book = np.random.default_rng(0).normal(size=(6, 6))
    for machine, values in (
        (OneLSM(), {"class_weight": [{0: 9.0}, {3: 9.0}, "balanced"]}),
        (VoLSSVM(), {"labelbook": [book, book + np.eye(6), "pm1"]}),
        (ECOC(decoder="euclidean"), {"coding": [2 * np.eye(6) - 1, 1 - 2 * np.eye(6)]}),
    ):
        ((name, several),) = values.items()
        path = [{name: value, "gamma": 0.5} for value in several]
        fast, refit = (machine.sweep(K, y, folds, path, engine=engine) for engine in ("fast", "refit"))
        for one, other in zip(fast, refit, strict=True):
            assert np.array_equal(np.isfinite(one), np.isfinite(other))
            seen = np.isfinite(other)
            np.testing.assert_allclose(one[seen], other[seen], rtol=1e-6, atol=1e-8)


# Digits --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "machine", [VoRLS(), VoRLS(regularizer="f"), LSSVM(), RLSC(), OneLSM(), OvOLSM(), VoLSSVM()], ids=repr
)
@pytest.mark.parametrize("name", ["iris", "wine", "glass"])
@pytest.mark.parametrize("kernel", ["linear", "polynomial"])
def test_sweep_equals_fit_on_raw_features(kernel, name, machine):
    data = load_dataset(name)
    K = kernel_matrix(data.X, kernel=kernel)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrecisionWarning)
        folds = stratified_folds(data.y, 6, seed=0)
        assert labels_that_differ(machine, K, data.y, folds, points(machine)) == 0


@pytest.mark.parametrize("regularizer", ["beta", "f"])
def test_leaving_out_the_largest_row_does_not_cancel(regularizer):
    X, y = glass()
    X[0] *= 1e6  # K·K is the square of this row and hardly anything else
    K = kernel_matrix(X, kernel="linear")
    machine = VoRLS(regularizer=regularizer)
    assert labels_that_differ(machine, K, y, stratified_folds(y, 4, seed=0), points(machine)) == 0


@pytest.mark.parametrize(
    "machine", [VoRLS(), LSSVM(), RLSC(), OneLSM(), OvOLSM(), VoLSSVM(), VoLSSVM(bias=True)], ids=repr
)
def test_a_fit_warns_where_no_digits_are_left_and_only_there(machine):
    data = load_dataset("wine")
    machine.set_params(kernel="polynomial")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        machine.fit(data.X, data.y)  # kernel values up to 10¹⁹
    assert [w.category for w in caught] == [PrecisionWarning]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for regularised in points(machine, [2.0**-4, 2.0**4]):
            machine.set_params(**regularised).fit(to_range(data.X), data.y)


def test_every_machine_that_leaves_rows_out_is_compared_with_refitting():
    def below(cls):
        return {cls, *(deeper for child in cls.__subclasses__() for deeper in below(child))}

    tested = {cls for machine in LEAVE_OUT for cls in type(machine).__mro__}
    missing = {
        cls.__name__
        for cls in below(KernelMachine)
        if cls.leaves_rows_out and cls not in tested and "_sweep" in vars(cls)
    }
    assert not missing
