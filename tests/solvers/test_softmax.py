"""Newton's methods for maps from scores to probabilities, against scikit-learn and plain minimisation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax
from scipy.special import softmax as scipy_softmax
from sklearn.linear_model import LogisticRegression

from mcls.solvers import softmax as solver


def drawn(n=80, ell=4, seed=0, signal=1.0):
    """Scores (ℓ, n) with some signal and class codes (n,), every class among them."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(ell), rng.integers(0, ell, n - ell)])
    return (rng.normal(size=(n, ell)) + signal * np.eye(ell)[y]).T, y


def test_softmax_equals_scipy_and_knows_impossible_classes():
    Z = np.random.default_rng(0).normal(size=(3, 5)) * 300
    Z[1, 2] = -np.inf
    P, logs = solver.softmax(Z)
    np.testing.assert_allclose(P, scipy_softmax(Z, axis=0), atol=1e-15)
    np.testing.assert_allclose(np.where(np.isneginf(Z), -np.inf, Z - logs), log_softmax(Z, axis=0), atol=1e-12)
    Z[:, 4] = -np.inf
    np.testing.assert_allclose(solver.softmax(Z)[0][:, 4], 1 / 3)


def smoothed_loss(t, G, y, w):
    eps = 1 / (1 + w.sum())
    own, mean = G[y, np.arange(len(y))], G.mean(axis=0)
    logs = np.log(np.exp(t * G).sum(axis=0))
    return (w * (logs - t * ((1 - eps) * own + eps * mean))).sum()


@pytest.mark.parametrize("signal", [0.3, 1.0, 4.0])
def test_temperatures_minimise_the_smoothed_loss(signal):
    G, y = drawn(signal=signal)
    rng = np.random.default_rng(1)
    w = np.stack([np.ones(len(y)), rng.uniform(0, 3, len(y)), 1.0 * (np.arange(len(y)) % 5 > 0)])
    for t, weights in zip(solver.temperatures(G, y, w), w):
        best = minimize_scalar(smoothed_loss, args=(G, y, weights), bounds=(1e-3, 60), options={"xatol": 1e-10})
        assert t == pytest.approx(best.x, rel=1e-5)


def test_temperatures_of_several_scores_are_those_of_each():
    scores, y = drawn(signal=0.0)
    G = np.stack([scores + signal * np.eye(4)[y].T for signal in (0.5, 1.0, 3.0)])
    w = np.ones((3, len(y)))
    together = solver.temperatures(G, y, w)
    alone = [solver.temperatures(g, y, w[:1])[0] for g in G]
    np.testing.assert_allclose(together, alone, rtol=1e-12)


def test_scores_that_say_nothing_or_the_opposite_have_the_smallest_temperature():
    G, y = drawn(signal=3)
    w = np.ones((1, len(y)))
    for hopeless in (-G, np.zeros_like(G)):
        assert solver.temperatures(hopeless, y, w)[0] == pytest.approx(1e-3)


def test_separable_scores_have_a_finite_temperature():
    y = np.arange(60) % 3
    t = solver.temperatures(np.eye(3)[y].T, y, np.ones((1, 60)))[0]
    p = np.exp(t) / (np.exp(t) + 2)
    assert p == pytest.approx(1 - (1 / 61) * (2 / 3), rel=1e-6)  # the share that the further row leaves


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("distance", [350.0, 360.0, 700.0])
def test_scores_whose_probabilities_all_but_vanish_have_a_temperature(distance):
    G, y = np.array([[0.0, 0.0], [-distance, -distance]]), np.zeros(2, dtype=int)
    t = solver.temperatures(G, y, np.ones((1, 2)))[0]
    p = 1 / (1 + np.exp(-t * distance))
    assert p == pytest.approx(1 - (1 / 3) * (1 / 2), rel=1e-5)


#: Up to how many parameters each way to take a step is used.
WAYS = {"by regressors": (0, 0), "by one Hessian": (0, 10**6), "direct": (10**6, 10**6)}
by_every_way = pytest.mark.parametrize("way", WAYS)


def use(monkeypatch, way):
    for name, most in zip(("_DIRECT_UP_TO", "_FORMED_UP_TO"), WAYS[way]):
        monkeypatch.setattr(solver, name, most)


@by_every_way
@pytest.mark.parametrize("ell, ridge", [(2, 0.5), (4, 0.1), (9, 3.0)])
def test_deviations_from_zero_equal_logistic_regression(monkeypatch, way, ell, ridge):
    use(monkeypatch, way)
    G, y = drawn(n=120, ell=ell, seed=2)
    A = np.concatenate([G.T, np.ones((120, 1))], axis=1)
    rng = np.random.default_rng(3)
    w = np.stack([np.ones(120), rng.uniform(0.1, 3, 120)])
    V = solver.ridge_deviations(A, np.zeros((2, ell, 120)), y, w, ridge, np.zeros((2, ell, ell + 1)), 1e-10)
    for v, weights in zip(V, w):
        peer = LogisticRegression(C=1 / ridge, fit_intercept=False, tol=1e-10, max_iter=10_000)
        peer.fit(A, y, sample_weight=weights)
        P = solver.softmax(v @ A.T)[0].T
        # With two classes scikit-learn has one vector, whose ridge counts twice: compare the optimality instead.
        if ell > 2:
            np.testing.assert_allclose(P, peer.predict_proba(A), atol=1e-5)
        gradient = (weights[:, None] * (P - np.eye(ell)[y])).T @ A + ridge * v
        np.testing.assert_allclose(gradient, 0, atol=1e-4)


@by_every_way
def test_a_bad_start_on_separable_scores_still_ends_at_the_minimum(monkeypatch, way):
    use(monkeypatch, way)
    y = np.arange(60) % 3
    A = np.concatenate([np.eye(3)[y] * 5, np.ones((60, 1))], axis=1)
    start = np.random.default_rng(0).normal(size=(1, 3, 4)) * 20
    w = np.ones((1, 60))
    found = solver.ridge_deviations(A, np.zeros((1, 3, 60)), y, w, 0.01, start, 1e-12)
    again = solver.ridge_deviations(A, np.zeros((1, 3, 60)), y, w, 0.01, np.zeros((1, 3, 4)), 1e-12)
    np.testing.assert_allclose(found, again, atol=1e-3)


@by_every_way
def test_rows_of_an_impossible_class_are_left_out(monkeypatch, way):
    use(monkeypatch, way)
    G, y = drawn(n=40, ell=3)
    A = np.concatenate([G.T, np.ones((40, 1))], axis=1)
    base = np.array(G)
    base[y[7], 7] = -np.inf
    base[(y[9] + 1) % 3, 9] = -np.inf
    keep = np.arange(40) != 7
    V0 = np.zeros((1, 3, 4))
    with_it = solver.ridge_deviations(A, base[None], y, np.ones((1, 40)), 1.0, V0, 1e-12)
    without = solver.ridge_deviations(A[keep], base[None][:, :, keep], y[keep], np.ones((1, 39)), 1.0, V0, 1e-12)
    np.testing.assert_allclose(with_it, without, atol=1e-6)
    assert np.isfinite(with_it).all()
    t = solver.temperatures(base, y, np.ones((1, 40)))
    np.testing.assert_allclose(t, solver.temperatures(base[:, keep], y[keep], np.ones((1, 39))), rtol=1e-9)


def several(ell=4, n=90):
    """Three regressors with two weightings each: (A, base, y, w) of six problems, which end after different steps."""
    drawings = [drawn(n, ell, seed, signal) for seed, signal in enumerate((0.2, 1.0, 9.0))]
    A = np.stack([np.concatenate([G.T, np.ones((n, 1))], axis=1) for G, _ in drawings])
    base, y = (np.repeat(np.stack(of), 2, axis=0) for of in zip(*drawings))
    return A, base, y, np.random.default_rng(5).uniform(0.1, 2, (6, n))


@by_every_way
def test_problems_that_share_regressors_are_solved_as_each_by_itself(monkeypatch, way):
    use(monkeypatch, way)
    A, base, y, w = several()
    start = np.zeros((6, 4, 5))
    near = solver.preconditioner(A, base[::2], w[::2], 0.5)
    assert (near is None) == (way == "direct")
    together = [solver.ridge_deviations(A, base, y, w, 0.5, start, 1e-10, given) for given in (None, near)]
    alone = [
        solver.ridge_deviations(A[i // 2], base[i : i + 1], y[i], w[i : i + 1], 0.5, start[:1], 1e-10)[0]
        for i in range(6)
    ]
    for found in together:
        np.testing.assert_allclose(found, alone, atol=1e-4)
    t = solver.temperatures(base[::2], y[::2], w, start=np.array([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(
        t, [solver.temperatures(base[i], y[i], w[i : i + 1])[0] for i in range(6)], rtol=1e-9
    )


@pytest.mark.parametrize("way", ["by regressors", "by one Hessian"])
def test_numbers_of_32_bits_end_within_the_tolerance_of_the_minimum(monkeypatch, way):
    use(monkeypatch, way)
    A, base, y, w = several()
    exact = solver.ridge_deviations(A, base, y, w, 0.5, np.zeros((6, 4, 5)), 1e-12)
    kinds = []
    plain = solver.softmax
    monkeypatch.setattr(solver, "softmax", lambda Z: (kinds.append(Z.dtype), plain(Z))[1])
    monkeypatch.setattr(solver, "_SHORT_FROM", 0)
    short = solver.ridge_deviations(A, base, y, w, 0.5, np.zeros((6, 4, 5)), 1e-3)
    assert set(kinds) == {np.dtype(np.float32)}

    def objective(V):
        Z = base + V @ np.swapaxes(np.repeat(A, 2, axis=0), 1, 2)
        losses = -np.take_along_axis(log_softmax(Z, axis=1), y[:, None], axis=1)[:, 0]
        return (w * losses).sum(axis=1) + 0.25 * np.square(V).sum(axis=(1, 2))

    assert short.dtype == np.float64
    assert (objective(short) - objective(exact) < 1e-4 * w.sum(axis=1)).all()


@pytest.mark.parametrize("size", [1.0, 1e7, 1e10])
def test_weights_of_any_size_end_at_the_minimum_in_32_bits_too(size):
    """What all classes have in common is rounding, and beside the ridge it would be as large as the weights."""
    n, ell = 700, 12
    G, y = drawn(n, ell, seed=4)
    A, w = np.concatenate([G.T, np.ones((n, 1))], axis=1), np.full((1, n), size)
    assert ell * n >= solver._SHORT_FROM
    assert ell * (ell + 1) > solver._DIRECT_UP_TO
    V = solver.ridge_deviations(A, np.zeros((1, ell, n)), y, w, 2.0, np.zeros((1, ell, ell + 1)), 1e-6)[0]
    P = solver.softmax(V @ A.T)[0]
    gradient = (P - np.eye(ell)[y].T) @ A / n + 2.0 * V / (n * size)
    np.testing.assert_allclose(gradient, 0, atol=1e-4)


def test_a_preconditioner_that_serves_no_longer_is_made_anew(monkeypatch):
    use(monkeypatch, "by one Hessian")
    made, plain = [], solver._near
    monkeypatch.setattr(solver, "_near", lambda *args: (made.append(1), plain(*args))[1])
    monkeypatch.setattr(solver, "_STALE", 2)
    A, base, y, w = several()
    solver.ridge_deviations(A, base, y, w, 0.01, np.zeros((6, 4, 5)), 1e-10)
    assert len(made) > 1
