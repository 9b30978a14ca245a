"""The extreme learning machine: its sweep, its seed, and the kernel form that is oneLSM."""

import numpy as np
import pytest

from mcls import ELM, OneLSM
from mcls.data import load_dataset
from mcls.errors import McLsError
from mcls.evaluation.folds import stratified_folds
from mcls.evaluation.scaling import to_range
from mcls.solvers.elm import hidden


@pytest.fixture(scope="module")
def iris():
    data = load_dataset("iris")
    return to_range(data.X), data.y


@pytest.mark.parametrize("C", [0.01, 1.0, 1000.0])
def test_the_kernel_form_is_one_lsm_with_gamma_one_over_c(C, iris):
    X, y = iris
    machine = ELM(n_hidden=40, C=C).fit(X[::2], y[::2])

    def kernel(X, Z):
        return hidden(X, machine.weights_, machine.biases_) @ hidden(Z, machine.weights_, machine.biases_).T

    one = OneLSM(kernel=kernel, gamma=1 / C).fit(X[::2], y[::2])
    # oneLSM's default targets are 0/1, the ELM's ±1: scores differ by a factor of 2 and a constant of each row
    ours, theirs = machine.decision_function(X[1::2]), 2 * one.decision_function(X[1::2])
    assert np.allclose(ours - ours[:, :1], theirs - theirs[:, :1], atol=1e-6)
    assert np.array_equal(machine.predict(X[1::2]), one.predict(X[1::2]))


def test_one_svd_a_layer_gives_the_refitted_outputs(iris):
    X, y = iris
    folds = stratified_folds(y, 4, seed=0)
    points = [{"C": C, "n_hidden": L} for L in (20, 60) for C in (2.0**-20, 1.0, 2.0**20)]
    fast, refit = (ELM().sweep(X, y, folds, points, n_classes=3, engine=engine) for engine in ("fast", "refit"))
    for a, b in zip(fast, refit, strict=True):
        assert np.allclose(a, b, atol=1e-7)
        assert np.array_equal(a.argmax(axis=-1), b.argmax(axis=-1))


def test_classes_missing_from_a_training_fold_score_minus_infinity(iris):
    X, y = iris
    folds = [(np.r_[0:30, 50:80], np.r_[140:150]), (np.r_[0:50], np.r_[50:60])]
    two, one = ELM(n_hidden=20).sweep(X, y, folds, [{"C": 1.0}, {"C": 2.0}], n_classes=3)
    assert np.isfinite(two[:, :, :2]).all()
    assert (two[:, :, 2] == -np.inf).all()
    assert (one.argmax(axis=-1) == 0).all()


def test_the_seed_draws_the_layer(iris):
    first, again, other = (ELM(n_hidden=10, random_state=seed).fit(*iris) for seed in (0, 0, 1))
    assert np.array_equal(first.weights_, again.weights_)
    assert not np.array_equal(first.weights_, other.weights_)


@pytest.mark.parametrize("bad", [{"C": 0.0}, {"C": np.nan}, {"n_hidden": 0}, {"n_hidden": 2.5}])
def test_parameters_out_of_range_are_refused(bad, iris):
    X, y = iris
    with pytest.raises(McLsError, match="must be a"):
        ELM(**bad).fit(X, y)
    with pytest.raises(McLsError, match="must be a"):
        ELM().sweep(X, y, stratified_folds(y, 3, seed=0), [bad], n_classes=3)
