"""Decoders: the worked example of keshet2014, the definitions written out in loops, and the classical rules."""

import numpy as np
import pytest

from mcls.coding.decoders import (
    DECODERS,
    class_probabilities,
    codeword_scores,
    distances,
    training_weights,
)
from mcls.coding.matrices import all_pairs, one_vs_all, sparse_random
from mcls.errors import McLsError

# keshet2014, Sec. 1.3, "Example"
EXAMPLE_M = np.array(
    [
        [-1, 0, -1, -1, +1, -1, -1],
        [+1, -1, 0, +1, +1, +1, -1],
        [+1, 0, -1, -1, -1, +1, +1],
        [-1, -1, +1, 0, -1, -1, +1],
    ]
)
EXAMPLE_F = np.array([[0.5, -7, -1, -2, -10, -12, 9]])


def test_worked_example_hamming():
    D = distances("hamming", EXAMPLE_M, EXAMPLE_F)
    assert D.tolist() == [[3.5, 4.5, 1.5, 2.5]]
    assert codeword_scores("hamming", EXAMPLE_M, EXAMPLE_F).argmax() + 1 == 3


def test_worked_example_exponential_loss():
    D = distances("loss-exponential", EXAMPLE_M, EXAMPLE_F)[0]
    assert np.round(D[:3]).tolist() == [30133, 192893, 162757]
    assert round(D[3], 1) == 5.4
    assert codeword_scores("loss-exponential", EXAMPLE_M, EXAMPLE_F).argmax() + 1 == 4


def by_definition(decoder, row, f, weights):
    """Distance of one codeword to one output vector, term by term."""
    total = 0.0
    for m, value, w in zip(row, f, weights, strict=True):
        sign = int(value > 0) - int(value < 0)
        z = m * value
        total += {
            "hamming": (1 - m * sign) / 2,
            "euclidean": (m - value) ** 2,
            "attenuated-euclidean": abs(m) * (m - sign) ** 2,
            "loss-linear": -z,
            "loss-hinge": max(0.0, 1 - z),
            "loss-exponential": np.exp(-z),
            "loss-logistic": np.log(1 + np.exp(-z)),
            "loss-squared": (1 - z) ** 2,
            "loss-weighted": w * np.exp(-z),
        }[decoder]
    return np.sqrt(total) if decoder == "euclidean" else total


@pytest.mark.parametrize("decoder", DECODERS)
def test_distances_equal_their_definitions(decoder):
    rng = np.random.default_rng(0)
    M = sparse_random(5, 0)
    F = rng.normal(size=(7, M.shape[1]))
    F[0, :3] = 0.0  # outputs exactly on the boundary
    W = rng.random(M.shape)
    expected = [[by_definition(decoder, M[r], f, W[r]) for r in range(len(M))] for f in F]
    np.testing.assert_allclose(distances(decoder, M, F, W), expected, rtol=1e-12)


def test_one_vs_all_rule_is_the_largest_output():
    F = np.random.default_rng(1).normal(size=(200, 6))
    for decoder in ("loss-linear", "loss-squared", "loss-hinge"):
        scale = 0.1 if decoder == "loss-hinge" else 3.0  # the hinge is linear, and so the same rule, inside ±1
        outputs = scale * F / np.abs(F).max()
        assert np.array_equal(codeword_scores(decoder, one_vs_all(6), outputs).argmax(axis=1), F.argmax(axis=1))


@pytest.mark.parametrize("decoder", [d for d in DECODERS if d != "attenuated-euclidean"])
def test_tiny_outputs_of_a_narrow_kernel_are_not_rounded_away(decoder):
    F = np.random.default_rng(1).normal(size=(50, 4))
    W = np.full((4, 4), 0.25)
    found = [codeword_scores(decoder, one_vs_all(4), scale * F, W).argmax(axis=1) for scale in (1e-3, 1e-30)]
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[1], F.argmax(axis=1))


def test_all_pairs_rules_are_summed_outputs_and_votes():
    k = 5
    M = all_pairs(k)
    F = np.random.default_rng(2).normal(size=(300, M.shape[1]))
    pair = {}
    for s, column in enumerate(M.T):
        first, second = np.flatnonzero(column)
        pair[first, second], pair[second, first] = F[:, s], -F[:, s]  # w^{yr}·x = −w^{ry}·x
    summed = np.array([sum(pair[y, r] for r in range(k) if r != y) for y in range(k)]).T
    votes = np.array([sum(pair[y, r] > 0 for r in range(k) if r != y) for y in range(k)]).T
    assert np.array_equal(codeword_scores("loss-linear", M, F).argmax(axis=1), summed.argmax(axis=1))
    # Most votes; the larger sum among equals.
    expected = [max(range(k), key=lambda y: (v[y], t[y])) for v, t in zip(votes, summed, strict=True)]
    assert codeword_scores("hamming", M, F).argmax(axis=1).tolist() == expected
    assert any((v == v.max()).sum() > 1 for v in votes)  # the tie-break was really exercised


def test_breaking_ties_never_changes_an_order():
    rng = np.random.default_rng(3)
    M = sparse_random(6, 1)
    F = rng.normal(scale=100.0, size=(100, M.shape[1]))
    for decoder in ("hamming", "attenuated-euclidean"):
        D, S = distances(decoder, M, F), codeword_scores(decoder, M, F)
        nearer = D[:, :, None] < D[:, None, :]
        assert (S[:, :, None] > S[:, None, :])[nearer].all()


def test_attenuated_euclidean_walks_down_a_tree():
    M = np.array([[1, 1, 0], [1, -1, 0], [-1, 0, 1], [-1, 0, -1]])
    outputs = np.array([[3.0, -0.1, 5.0], [-0.2, 9.0, -4.0]])
    assert codeword_scores("attenuated-euclidean", M, outputs).argmax(axis=1).tolist() == [1, 3]


def test_exponential_loss_stays_finite_for_huge_outputs():
    assert np.isfinite(distances("loss-exponential", one_vs_all(3), np.full((1, 3), 1e6))).all()


def test_training_weights_are_accuracies_with_rows_of_sum_one():
    M = np.array([[1, 0, -1], [-1, 1, 1], [0, -1, 1]])
    y = np.array([0, 0, 1, 1, 2])
    F = np.array([[1, 9, -1], [-1, 9, -1], [-1, 1, 1], [-1, -1, 1], [5, 1, -1.0]])
    expected = np.array([[0.5, 0, 1], [1, 0.5, 1], [0, 0, 0]])
    expected /= np.array([[1.5], [2.5], [1]])
    expected[2] = [0, 0.5, 0.5]  # never right: equal weights over the machines that know the class
    np.testing.assert_allclose(training_weights(M, F, y), expected)


def test_loss_weighted_needs_weights():
    with pytest.raises(McLsError, match="weights"):
        distances("loss-weighted", EXAMPLE_M, EXAMPLE_F)


def test_unknown_decoder_gets_a_suggestion():
    with pytest.raises(McLsError, match="did you mean 'hamming'"):
        distances("haming", EXAMPLE_M, EXAMPLE_F)


def test_probabilities_of_a_tree_are_products_along_the_paths():
    M = np.array([[1, 0], [-1, 1], [-1, -1]])
    P = np.array([[0.3, 0.9], [1.0, 0.5]])
    np.testing.assert_allclose(
        class_probabilities(M, P, unused=1.0), [[0.3, 0.7 * 0.9, 0.7 * 0.1], [1, 0, 0]], atol=1e-12
    )


def test_probabilities_of_a_code_are_normalised_likelihoods():
    M = np.array([[1, 1], [-1, 0], [0, -1]])
    likelihood = np.array([0.8 * 0.4, 0.2 * 0.5, 0.5 * 0.6])
    np.testing.assert_allclose(class_probabilities(M, np.array([[0.8, 0.4]]))[0], likelihood / likelihood.sum())
