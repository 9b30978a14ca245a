"""The ridge outputs of the ELM against the normal equations, and its kernel form against oneLSM's solver."""

import numpy as np

from mcls.solvers import elm, lsm


def layer(seed=0, n=25, d=4, n_hidden=60):
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(n, d))
    return elm.hidden(X, *elm.draw_layer(d, n_hidden, rng)), rng.randint(0, 3, n)


def test_one_svd_solves_the_normal_equations_of_every_price():
    H, y = layer(n_hidden=10)
    T = 2 * np.eye(3)[y] - 1
    prices = [2.0**-24, 0.5, 8.0]
    for C, beta in zip(prices, elm.fit(H, y, 3, prices)):
        assert np.allclose(beta, np.linalg.solve(H.T @ H + np.eye(10) / C, H.T @ T), rtol=1e-8, atol=1e-12)


def test_a_huge_price_is_the_least_squares_fit():
    H, y = layer(n_hidden=10)
    T = 2 * np.eye(3)[y] - 1
    assert np.allclose(elm.fit(H, y, 3, [1e14])[0], np.linalg.lstsq(H, T, rcond=None)[0], atol=1e-5)


def test_the_dual_form_is_one_lsm_with_gamma_one_over_c():
    H, y = layer()
    for C in (0.01, 1.0, 100.0):
        alpha = lsm.fit(H @ H.T, 2 * np.eye(3)[y] - 1, 1 / C)
        assert np.allclose(H @ elm.fit(H, y, 3, [C])[0], H @ H.T @ alpha, atol=1e-8)


def test_hidden_nodes_are_sigmoids_of_the_drawn_ranges():
    weights, biases = elm.draw_layer(3, 1000, np.random.RandomState(0))
    assert weights.shape == (3, 1000)
    assert -1 <= weights.min() < -0.9
    assert 0.9 < weights.max() <= 1
    assert 0 <= biases.min() < 0.1
    assert 0.9 < biases.max() <= 1
    x = np.array([[1.0, -2.0, 0.5]])
    assert np.allclose(elm.hidden(x, weights, biases), 1 / (1 + np.exp(-(x @ weights + biases))))
