"""Orthogonal codewords: what is refused, their overlap, and ties."""

import numpy as np
import pytest

from mcls.errors import McLsError
from mcls.machines.codewords import codeword_overlap, settle_ties
from mcls.machines.olc import LSSVM, OLCLSSVM, OLCRLSC, RLSC
from tests.machines.tables import four_classes, table

pytestmark = pytest.mark.filterwarnings("ignore::mcls.errors.PrecisionWarning")

GRID = [2.0**k for k in (-10, -5, 0, 5, 10)]


def test_settle_ties_touches_nothing_but_ties():
    scores = np.array([[1.0, 1.0 - 1e-13, 0.3], [1e-200, 1e-203, -1e-200], [0.0, 0.0, 0.0]])
    np.testing.assert_array_equal(settle_ties(scores), [[1.0, 1.0, 0.3], [1e-200, 1e-203, -1e-200], [0.0] * 3])


@pytest.mark.parametrize("machine", [RLSC, OLCLSSVM])
def test_refuses_codewords_that_are_not_orthogonal(machine):
    X, y = table("iris")
    with pytest.raises(
        McLsError, match="orthogonal codewords; those of 'pm1' for 3 classes have cosines up to 0\\.333"
    ):
        machine(codewords="pm1").fit(X, y)
    with pytest.raises(McLsError, match="not zero"):
        machine(codewords=np.diag([1.0, 1.0, 0.0])).fit(X, y)
    X, y = four_classes()
    machine(codewords="pm1").fit(X, y)  # the ±1 of four classes are orthogonal


def overlap(machine, X, y):
    G = codeword_overlap(machine.fit(X, y), X, y)
    return np.abs(G[~np.eye(len(G), dtype=bool)]).mean()


@pytest.mark.parametrize("kernel", ["linear", "gaussian"])
@pytest.mark.parametrize("lambda1", [2.0**-5, 1.0, 2.0**5])
def test_overlap_of_rlsc_goes_down_as_lambda2_grows_on_iris(kernel, lambda1):
    X, y = table("iris")
    path = [overlap(OLCRLSC(kernel=kernel, lambda1=lambda1, lambda2=v), X, y) for v in (0.0, *GRID)]
    assert (np.diff(path) < 0).all()
    assert path[-1] < path[0] / 100


def test_overlap_of_lssvm_does_not_as_its_penalty_leaves_the_bias_out():
    X, y = table("iris")
    plain, corrected = (OLCLSSVM(kernel="linear", lambda2=v) for v in (0.0, 2.0**10))
    assert overlap(corrected, X, y) > 1.1 * overlap(plain, X, y)
    Z = np.eye(3)[y]
    sums = [np.abs(Z.T @ X @ X.T @ machine.alpha_)[~np.eye(3, dtype=bool)].max() for machine in (plain, corrected)]
    assert sums[1] < sums[0] / 1e4  # what (6) penalises


def test_overlap_is_the_gram_matrix_of_the_mean_codewords():
    X, y = table("iris")
    names = np.array(["c", "a", "b"])[y]
    rlsc, lssvm = RLSC(sigma=2.0).fit(X, names), LSSVM(sigma=2.0).fit(X, names)
    means = np.stack([rlsc.decision_function(X[names == c]).mean(axis=0) for c in "abc"])
    np.testing.assert_allclose(codeword_overlap(rlsc, X, names), means @ means.T, atol=1e-8)
    means = np.stack([(lssvm.decision_function(X[names == c]).mean(axis=0) + 1) / 2 for c in "abc"])
    np.testing.assert_allclose(codeword_overlap(lssvm, X, names), means @ means.T, atol=1e-8)
    with pytest.raises(McLsError, match="none of \\['b'\\]"):
        codeword_overlap(rlsc, X[names != "b"], names[names != "b"])
