"""RLSC, LSSVM and their corrected forms: limits, codewords, sweeps on real data, overlap, scikit-learn's checks."""

from itertools import product

import numpy as np
import pytest

from mcls.errors import McLsError
from mcls.evaluation.folds import class_half_split, stratified_folds
from mcls.kernels import kernel_matrix
from mcls.machines.lsm import OneLSM
from mcls.machines.olc import LSSVM, OLCLSSVM, OLCRLSC, RLSC
from mcls.machines.olc_lsm import OLCOneLSM
from tests.machines.tables import four_classes, table

# Grids reach λ₁ = 2^-10, where digits are lost and that is said; what is lost is what is tested.
pytestmark = pytest.mark.filterwarnings("ignore::mcls.errors.PrecisionWarning")

MACHINES = [RLSC, OLCRLSC, LSSVM, OLCLSSVM, OLCOneLSM]
GRID = [2.0**k for k in (-10, -5, 0, 5, 10)]
HADAMARD = np.array([[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]])


@pytest.mark.parametrize("kernel", ["linear", "gaussian", "polynomial"])
@pytest.mark.parametrize("plain, corrected", [(RLSC, OLCRLSC), (LSSVM, OLCLSSVM)])
def test_lambda2_zero_is_the_plain_machine(plain, corrected, kernel):
    X, y = table("tae")
    for lambda1 in GRID:
        one = plain(kernel=kernel, lambda1=lambda1).fit(X[::2], y[::2])
        other = corrected(kernel=kernel, lambda1=lambda1, lambda2=0.0).fit(X[::2], y[::2])
        np.testing.assert_array_equal(one._class_scores(X[1::2]), other._class_scores(X[1::2]))


def test_rlsc_and_corrected_onelsm_without_correction_are_onelsm():
    X, y = table("iris")
    expected = OneLSM(sigma=0.7, gamma=0.1).fit(X[::2], y[::2]).decision_function(X[1::2])
    for machine in (RLSC(sigma=0.7, lambda1=0.1), OLCOneLSM(sigma=0.7, gamma=0.1, lambda2=0.0)):
        np.testing.assert_allclose(machine.fit(X[::2], y[::2]).decision_function(X[1::2]), expected, atol=1e-9)


# The acceptance grid: 5 values of λ₁, λ₂ and σ, and the linear kernel on raw features --------------------------


@pytest.mark.parametrize("name", ["iris", "tae", "ecoli"])
@pytest.mark.parametrize("machine", MACHINES)
def test_sweep_equals_refit_in_every_label(machine, name):
    X, y = table(name)
    folds = [class_half_split(y, seed=0), stratified_folds(y, 5, seed=0)[0]]
    ridge = "gamma" if machine is OLCOneLSM else "lambda1"
    corrected = "lambda2" in machine().get_params()
    points = [
        {ridge: a, **({"lambda2": b} if corrected else {})} for a, b in product(GRID, GRID if corrected else [0])
    ]
    kernels = [kernel_matrix(X, kernel="linear"), *(kernel_matrix(X, sigma=sigma) for sigma in GRID)]
    for K in kernels:
        estimator = machine(kernel="precomputed")
        fast = estimator.sweep(K, y, folds, points)
        refit = estimator.sweep(K, y, folds, points, engine="refit")
        for one, other in zip(fast, refit, strict=True):
            np.testing.assert_array_equal(one.argmax(axis=2), other.argmax(axis=2))


def test_exact_ties_of_a_lattice_go_the_same_way_in_sweep_and_refit():
    """On balance a narrow kernel sees equally many neighbours of two classes at one distance."""
    X, y = table("balance")
    folds, K = [class_half_split(y, seed=0)], kernel_matrix(X, sigma=2.0**-5)
    points = [{"lambda1": a, "lambda2": b} for a, b in ((2.0**-10, 2.0**-10), (1.0, 1.0))]
    estimator = OLCRLSC(kernel="precomputed")
    fast, refit = (estimator.sweep(K, y, folds, points, engine=engine)[0] for engine in ("fast", "refit"))
    assert (np.sort(fast, axis=2)[:, :, -1] == np.sort(fast, axis=2)[:, :, -2]).any()  # there are ties
    np.testing.assert_array_equal(fast.argmax(axis=2), refit.argmax(axis=2))


@pytest.mark.parametrize("machine", [OLCRLSC, OLCLSSVM])
def test_sweep_of_other_parameters_and_of_lambda2_alone(machine):
    X, y = four_classes()
    K, folds = kernel_matrix(X), stratified_folds(y, 3, seed=0)
    for points in ([{"lambda2": 0.5}, {"lambda2": 4.0}], [{"codewords": 2 * np.eye(4), "lambda1": 2.0}]):
        estimator = machine(kernel="precomputed", lambda1=0.25)
        fast, refit = (estimator.sweep(K, y, folds, points, engine=engine) for engine in ("fast", "refit"))
        for one, other in zip(fast, refit):
            np.testing.assert_allclose(one, other, atol=1e-9)


# Codewords -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("machine", [RLSC, OLCRLSC, LSSVM, OLCLSSVM])
def test_orthonormal_codewords_all_give_one_machine(machine):
    X, y = four_classes()
    expected = machine().fit(X, y)._class_scores(X)
    for codewords in (HADAMARD / 2, np.vstack([np.zeros((2, 4)), np.eye(4)])):
        np.testing.assert_allclose(machine(codewords=codewords).fit(X, y)._class_scores(X), expected, atol=1e-12)


@pytest.mark.parametrize("codewords", [np.diag([1.0, 2.0, 3.0, 0.5]), HADAMARD * [1.0, 2.0, 3.0, 0.5]])
def test_longer_codewords_follow_equation_2_and_the_nearest_codeword(codewords):
    """Minimise (2) plainly for the codewords in their own basis, then look for the nearest one."""
    X, y = four_classes()
    norms = np.sqrt((codewords**2).sum(axis=0))
    Y = (np.eye(4)[y] * norms).T  # rows of (1), (ℓ, n)
    f = np.empty((33, 4))
    for c in range(4):
        V = X.T @ np.delete(Y, c, axis=0).T
        f[:, c] = X @ np.linalg.solve(X.T @ X + 0.5 * np.eye(3) + 0.1 * V @ V.T, X.T @ Y[c])
    nearest = np.square(f[:, :, None] - np.diag(norms)).sum(axis=1).argmin(axis=1)
    machine = OLCRLSC(kernel="linear", lambda1=0.5, lambda2=0.1, codewords=codewords).fit(X, y)
    np.testing.assert_array_equal(machine.predict(X), nearest)
    assert (nearest != OLCRLSC(kernel="linear", lambda1=0.5, lambda2=0.1).fit(X, y).predict(X)).any()


@pytest.mark.parametrize("machine", [OLCRLSC, OLCLSSVM, OLCOneLSM])
def test_refuses_parameters_out_of_range_in_fit_and_sweep(machine):
    X, y = table("iris")
    ridge = "gamma" if machine is OLCOneLSM else "lambda1"
    K, folds = X @ X.T, stratified_folds(y, 3, seed=0)
    for bad, message in (
        ({ridge: 0.0}, f"{ridge} must be a positive"),
        ({"lambda2": -1.0}, "lambda2 must be zero"),
    ):
        with pytest.raises(McLsError, match=message):
            machine(**bad).fit(X, y)
        with pytest.raises(McLsError, match=message):
            machine(kernel="precomputed").sweep(K, y, folds, [bad])


# Overlap: what the method sets out to reduce -------------------------------------------------------------------


# oneLSM with label correction ----------------------------------------------------------------------------------
