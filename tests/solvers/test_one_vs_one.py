"""One machine for each pair of classes: what is decomposed, digits that are lost, votes and their ties."""

from __future__ import annotations

import numpy as np

from mcls.evaluation.folds import stratified_folds
from mcls.solvers import one_vs_one
from tests.solvers.pairs_of_classes import COUNTS, assert_equals_fits, made


def test_indefinite_matrices_and_folds_of_very_different_sizes_are_decomposed():
    y, K = made(COUNTS[1], 0.6)
    folds = [test for _, test in stratified_folds(y, 4, seed=0)]
    assert_equals_fits(K - 0.02 * np.eye(len(y)), y, folds, gammas=[0.1, 3.0])
    sizes = [np.flatnonzero(y == 0)[:20], *(np.array([i]) for i in np.flatnonzero(y == 2)[:6])]
    assert_equals_fits(K, y, sizes)


def test_a_strength_that_loses_digits_is_nan():
    y, K = made(COUNTS[0], 20.0)
    (scores,) = one_vs_one.sweep(K, y, 2, [np.arange(8)], [1e-10, 1.0], one_vs_one.votes)
    assert np.isnan(scores[0]).all()
    assert not np.isnan(scores[1]).any()


def test_votes_and_their_ties():
    # Classes 0, 1, 2 beat each other in a circle: the sums decide; a value of zero is half a vote for each.
    circle = np.array([[0.2], [-0.5], [0.9]])  # (0, 1), (0, 2), (1, 2)
    np.testing.assert_allclose(one_vs_one.votes(circle, 3)[0] - 1.0, np.array([-0.3, 0.7, -0.4]) / 0.7 / 5)
    assert one_vs_one.votes(np.zeros((3, 1)), 3).tolist() == [[1.0, 1.0, 1.0]]
    np.testing.assert_allclose(one_vs_one.soft_votes(np.array([[3.0], [0.5], [-0.5]]), 3), [[1.5, -1.5, 0.0]])
