"""Probabilities from out-of-fold scores: the maps, the choice, and the class they agree with."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import minimize
from sklearn.metrics import log_loss

from mcls.errors import McLsError
from mcls.solvers.calibration import (
    CALIBRATIONS,
    agreeing,
    calibrate,
    calibrations,
    calibrations_together,
    fit_temperatures,
    temperature_losses,
)


def drawn(n=120, ell=4, seed=0, signal=1.5, size=1.0):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(ell), rng.integers(0, ell, n - ell)])
    return size * (rng.normal(size=(n, ell)) + signal * np.eye(ell)[y]), y


def masked(n=300, seed=0):
    """Scores whose middle class never is the largest, as least squares on indicators gives them: a line of classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    x = y - 1 + 0.2 * rng.normal(size=n)
    return np.stack([1 / 3 - x / 2, np.full(n, 1 / 3) + 0.01 * rng.normal(size=n), 1 / 3 + x / 2], axis=1), y


def check(F, y, found, P):
    """What holds of every map: probabilities, arg max and no warnings."""
    for Q, scores in ((P, F), (found.probabilities(F), found.logits(F) if found.decides else F)):
        assert Q.shape == F.shape
        assert np.isfinite(Q).all()
        assert (Q >= 0).all()
        np.testing.assert_allclose(Q.sum(axis=1), 1, atol=1e-12)
        if not found.decides or Q is not P:  # a row's own map decides its class there
            np.testing.assert_array_equal(Q.argmax(axis=1), scores.argmax(axis=1))


@pytest.mark.parametrize("how", CALIBRATIONS)
@pytest.mark.parametrize(
    "F, y",
    [
        pytest.param(*drawn(), id="plain"),
        pytest.param(*drawn(ell=2), id="two classes"),
        pytest.param(*drawn(n=30, ell=13), id="many classes"),
        pytest.param(*drawn(signal=0.0), id="noise"),
        pytest.param(*drawn(signal=-3.0), id="always wrong"),
        pytest.param(*drawn(signal=50.0), id="separable"),
        pytest.param(*drawn(size=1e-200), id="tiny"),
        pytest.param(*drawn(size=1e200), id="huge"),
        pytest.param(*drawn(n=2, ell=2), id="two rows"),
        pytest.param(*drawn(n=5, ell=5), id="one row per class"),
        pytest.param(np.ones((1, 3)), np.array([2]), id="one row"),
        pytest.param(*masked(), id="masked class"),
        pytest.param(np.zeros((20, 3)), np.arange(20) % 3, id="zero"),
        pytest.param(np.tile([0.2, 0.5, 0.3], (20, 1)), np.arange(20) % 3, id="constant"),
        pytest.param(drawn()[0], np.zeros(120, dtype=int), id="one class"),
        pytest.param(drawn()[0], drawn()[1] % 2, id="missing classes"),
    ],
)
def test_arg_max_is_the_class_of_the_scores(F, y, how):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check(F, y, *calibrate(F, y, how))


@pytest.mark.parametrize("how", CALIBRATIONS)
def test_a_class_that_was_never_learned_has_no_probability(how):
    F, y = drawn()
    F[3, y[3]] = -np.inf  # the only row of its class, left out
    F[10:20, 2] = -np.inf
    F[20] = -np.inf
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found, P = calibrate(F, y, how)
        check(F, y, found, P)
    assert P[3, y[3]] == 0
    assert (found.probabilities(F)[10:20, 2] == 0).all()
    np.testing.assert_allclose(P[20], 0.25)


def test_temperature_minimises_the_log_loss():
    F, y = drawn(n=2000)
    found, _ = calibrate(F, y, "temperature")
    losses = [
        log_loss(y, type(found)("temperature", found.slope * f, found.offset).probabilities(F))
        for f in (0.97, 1, 1.03)
    ]
    assert losses[1] == min(losses)


def test_temperatures_of_a_grid_are_those_of_each_point():
    F = np.stack([drawn(signal=s, size=z)[0] for s, z in ((0.5, 1), (2, 1e-9), (9, 1e3), (0, 1))])
    F[1, 5, 1] = -np.inf
    y, w = drawn()[1], np.random.default_rng(0).uniform(0, 2, 120)
    for weights in (None, w):
        expected = [calibrate(f, y, "temperature", weights)[0].slope for f in F]
        np.testing.assert_allclose(fit_temperatures(F, y, weights), expected, rtol=1e-12)


def test_matrix_is_the_ridge_regression_it_says_it_is():
    F, y = drawn(n=90, ell=3)
    found, _ = calibrate(F, y, "matrix")
    t = calibrate(F, y, "temperature")[0].slope
    D = F - F.mean(axis=1, keepdims=True)
    size = np.sqrt(np.square(D).mean())
    A = np.column_stack([(F - F.mean(axis=0)) / size, np.ones(90)])

    def objective(v):
        V = v.reshape(4, 3)
        Z = t * F + A @ V
        logs = np.log(np.exp(Z).sum(axis=1))
        return (logs - Z[np.arange(90), y]).sum() + 0.5 * (12 / 60) * np.square(V).sum()

    V = minimize(objective, np.zeros(12), options={"gtol": 1e-8}).x.reshape(4, 3)
    Z = t * F + A @ V
    P = np.exp(Z) / np.exp(Z).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found.probabilities(F), agreeing(P, F.argmax(axis=1)), atol=1e-5)


def test_auto_takes_the_matrix_where_it_helps_and_the_temperature_where_it_does_not():
    F, y = masked()
    found, P = calibrate(F, y)
    assert found.kind == "matrix"
    assert log_loss(y, P) < log_loss(y, calibrate(F, y, "temperature")[1]) - 0.1
    F, y = drawn(n=60, ell=8, signal=2.0)  # nothing for 72 further numbers to learn
    assert calibrate(F, y)[0].kind == "temperature"


@pytest.mark.parametrize("how", ["temperature", "matrix"])
def test_own_probabilities_are_those_of_maps_without_the_rows_fold(how):
    F, y = drawn(n=200, ell=3)
    order = np.argsort(y, kind="stable")
    fold = np.empty(200, dtype=int)
    fold[order] = np.arange(200) % 5
    _, P = calibrate(F, y, how)
    for j in range(5):
        refitted, _ = calibrate(F, y, how, weights=1.0 * (fold != j))
        # The size and the mean of the scores come from all rows, and the fold fits end a little earlier.
        np.testing.assert_allclose(P[fold == j], refitted.probabilities(F[fold == j]), atol=0.01)
        if how == "temperature":
            np.testing.assert_allclose(P[fold == j], refitted.probabilities(F[fold == j]), atol=1e-6)


@pytest.mark.parametrize("how", ["temperature", "matrix"])
def test_a_weight_of_two_is_the_row_twice(how):
    F, y = drawn()
    w = np.where(np.arange(120) % 3 == 0, 2.0, 1.0)
    twice = np.repeat(np.arange(120), w.astype(int))
    weighted, repeated = calibrate(F, y, how, w)[0], calibrate(F[twice], y[twice], how)[0]
    np.testing.assert_allclose(weighted.probabilities(F), repeated.probabilities(F), atol=1e-6)


@settings(max_examples=200, deadline=None)
@given(
    p=hnp.arrays(float, (4, 5), elements=st.floats(0, 1)).map(
        lambda p: (p + 1e-9) / (p + 1e-9).sum(1, keepdims=True)
    ),
    classes=hnp.arrays(int, 4, elements=st.integers(0, 4)),
)
def test_agreeing_is_the_nearest_point_with_that_arg_max(p, classes):
    q = agreeing(p, classes)
    np.testing.assert_array_equal(q.argmax(axis=1), classes)
    np.testing.assert_allclose(q.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_array_equal(q[p.argmax(axis=1) == classes], p[p.argmax(axis=1) == classes])
    # A projection x onto a convex cone: (p − q)·q = 0 and (p − q)·z ≤ 0 for all z of the cone (and q is feasible).
    np.testing.assert_allclose(((p - q) * q).sum(axis=1), 0, atol=1e-12)
    for j in range(5):
        z = np.zeros((4, 5))
        z[np.arange(4), classes] = 1
        z[:, j] = 1  # with the class alone, the rays of {z ≥ 0, z_c ≥ z_j}
        assert (((p - q) * z).sum(axis=1) <= 1e-12).all()


def test_a_map_is_arrays_and_a_word():
    for how in ("temperature", "matrix"):
        found, _ = calibrate(*drawn(), how)
        assert (found.kind, found.slope.dtype, found.offset.dtype) == (how, np.float64, np.float64)
        assert found.slope.shape == (() if how == "temperature" else (4, 4))


@pytest.mark.parametrize(
    "F, y, how, message",
    [
        (*drawn(), "platt", "unknown calibration 'platt'"),
        (np.full((3, 2), np.nan), np.array([0, 1, 0]), "auto", "calibration needs finite scores"),
        (np.ones(3), np.array([0, 1, 0]), "auto", "calibration needs finite scores"),
        (np.ones((0, 2)), np.array([], dtype=int), "auto", "calibration needs finite scores"),
    ],
)
def test_what_cannot_be_calibrated_is_refused(F, y, how, message):
    with pytest.raises(McLsError, match=message):
        calibrate(F, y, how)


def test_the_map_that_decides_undoes_masking_and_is_otherwise_the_matrix_map():
    F, y = masked()
    found = calibrations(F, y, ("matrix", "decide"))
    (matrix, _), (made, P) = found["matrix"], found["decide"]
    assert np.array_equal(made.slope, matrix.slope)
    assert (F.argmax(axis=1) != y).mean() > 0.25  # the middle class is never predicted
    assert (P.argmax(axis=1) != y).mean() < 0.05
    assert (made.probabilities(F).argmax(axis=1) != y).mean() < 0.05
    assert np.array_equal(matrix.probabilities(F).argmax(axis=1), F.argmax(axis=1))


def test_the_losses_of_temperatures_are_those_of_each_point():
    F, y = drawn()
    both = temperature_losses(np.stack([F, 3 * F - 1]), y)
    assert both == pytest.approx([log_loss(y, calibrate(F, y, "temperature")[0].probabilities(F))] * 2, rel=1e-6)


def test_maps_fitted_side_by_side_are_those_of_each_problem():
    kinds = ("temperature", "matrix", "decide")
    rng = np.random.default_rng(0)
    problems = [
        (*drawn(n=70), None, None),
        (*drawn(n=50, seed=1, signal=9.0), rng.uniform(0, 2, 50), None),  # of other lengths, sizes and weights
        (*drawn(n=70, seed=2, size=1e-9), None, np.arange(70) % 5),
        (*drawn(n=60, seed=3), None, np.arange(60) % 3),  # another number of folds
        (*masked(n=90), None, None),  # another number of classes
    ]
    problems[0][0][5, 2] = -np.inf
    for problem, together in zip(problems, calibrations_together(problems, kinds)):
        F, y, w, folds = problem
        alone = calibrations(F, y, kinds, w, folds)
        for kind in kinds:
            np.testing.assert_allclose(together[kind][1], alone[kind][1], atol=1e-9)
            np.testing.assert_allclose(
                together[kind][0].probabilities(F), alone[kind][0].probabilities(F), atol=1e-9
            )


def test_large_problems_are_fitted_one_after_another_and_alike(monkeypatch):
    problems = [(*drawn(seed=seed), None, None) for seed in range(4)]
    together = calibrations_together(problems, ("matrix",))
    monkeypatch.setattr("mcls.solvers.calibration._TOGETHER", 1)
    for a, b in zip(together, calibrations_together(problems, ("matrix",))):
        np.testing.assert_allclose(a["matrix"][1], b["matrix"][1], atol=1e-9)
