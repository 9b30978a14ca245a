"""The subgradient steps against the notes' rule on explicit weights, and against the exact minimum."""

import numpy as np
import pytest

from mcls.data import load_dataset
from mcls.evaluation.scaling import to_range
from mcls.kernels import gaussian, squared_distances
from mcls.solvers import multisvm, sgd


def steps_on_weights(X, y, n_classes, C, order, as_printed=False):
    """The subgradient step of keshet2014 with η_t = 1/(λt), and the objective after each pass.

    ``as_printed`` shrinks the weights only where the margin is violated, as the notes print it.
    """
    m = len(y)
    lam, t, W, objectives = 1 / (C * m), 0, np.zeros((n_classes, X.shape[1])), []
    for rows in order:
        for i in rows:
            t += 1
            eta = 1 / (lam * t)
            v = W @ X[i] + (np.arange(n_classes) != y[i])
            guess = int(np.argmax(v))
            violated = v[guess] - W[y[i]] @ X[i] > 0
            if violated or not as_printed:
                W = (1 - lam * eta) * W
            if violated:
                W[y[i]] += eta * X[i]
                W[guess] -= eta * X[i]
        F = X @ W.T
        hinge = (F + 1 - np.eye(n_classes)[y]).max(axis=1) - F[np.arange(m), y]
        objectives.append(hinge.mean() + lam / 2 * (W**2).sum())
    return W, objectives


def test_steps_are_the_notes_for_every_price_at_once():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(3), 10)
    X = rng.normal(size=(30, 4)) + rng.normal(size=(3, 4))[y]
    order = [rng.permutation(30) for _ in range(5)]
    prices = [0.1, 1.0, 10.0]
    alpha, objectives = sgd.fit(X @ X.T, y, 3, prices, order)
    for C, a, found in zip(prices, alpha, objectives):
        W, expected = steps_on_weights(X, y, 3, C, order)
        assert np.allclose(a.T @ X, W, rtol=1e-8, atol=1e-8)
        assert np.allclose(found, expected, rtol=1e-8)
        alone, _ = sgd.fit(X @ X.T, y, 3, [C], order)
        assert np.array_equal(alone[0], a)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_objective_comes_within_one_percent_of_the_exact_one_on_iris(seed):
    data = load_dataset("iris")
    K, y, C = gaussian(squared_distances(to_range(data.X)), 1.0), data.y, 1.0
    rng = np.random.default_rng(seed)
    _, objectives = sgd.fit(K, y, 3, [C], (rng.permutation(150) for _ in range(100)))
    exact = multisvm.solve(K, y, 3, C, "crammer-singer").primal / (C * len(y))
    assert exact <= objectives[0, -1] <= 1.01 * exact


def test_shrinking_only_violated_rows_as_printed_misses_the_minimum():
    data = load_dataset("iris")
    X, y = to_range(data.X), data.y
    rng = np.random.default_rng(0)
    order = [rng.permutation(150) for _ in range(60)]
    exact = multisvm.solve(X @ X.T, y, 3, 1.0, "crammer-singer").primal / len(y)
    _, printed = steps_on_weights(X, y, 3, 1.0, order, as_printed=True)
    _, ours = sgd.fit(X @ X.T, y, 3, [1.0], order)
    assert ours[0, -1] < 1.005 * exact < 1.015 * exact < printed[-1]
