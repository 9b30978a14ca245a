"""Metrics over grid points against scikit-learn, one point at a time."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn import metrics as sk

from mcls.errors import McLsError
from mcls.evaluation.metrics import METRICS, Metric, auc, confusions, get_metric, read_metrics, register

POINTS, ROWS = 6, 40


def brier_of_one_point(y, P, w):
    Y = np.eye(P.shape[1])[y]
    return np.average(np.square(P - Y).sum(axis=1), weights=w) * (0.5 if P.shape[1] == 2 else 1.0)


def auc_of_one_point(y, P, w):
    if P.shape[1] == 2:
        return sk.roc_auc_score(y, P[:, 1], sample_weight=w)
    return sk.roc_auc_score(y, P, multi_class="ovr", labels=range(P.shape[1]), sample_weight=w)


def some_costs(ell):
    return np.add.outer(np.arange(ell), 3.0 * np.arange(ell)[::-1]) * (1 - np.eye(ell))


def cost_of_one_point(y, P, w, costs):
    return np.average(costs[y, (P @ costs).argmin(axis=1)], weights=w)


ORACLES = {
    "error": lambda y, p, w: sk.zero_one_loss(y, p, sample_weight=w),
    "balanced-error": lambda y, p, w: 1 - sk.balanced_accuracy_score(y, p, sample_weight=w),
    "macro-f1": lambda y, p, w: sk.f1_score(y, p, average="macro", sample_weight=w),
    "kappa": lambda y, p, w: sk.cohen_kappa_score(y, p, sample_weight=w),
    "log-loss": lambda y, P, w: sk.log_loss(y, P, labels=range(P.shape[1]), sample_weight=w),
    "brier": brier_of_one_point,
    "auc": auc_of_one_point,
    "top2-error": lambda y, P, w: (
        1 - sk.top_k_accuracy_score(y, P, k=2, labels=range(P.shape[1]), sample_weight=w)
        if P.shape[1] > 2
        else 0.0  # two classes: all are among the best two
    ),
    "cost": lambda y, P, w: cost_of_one_point(y, P, w, some_costs(P.shape[1])),
}


def drawn(ell, seed, missing=(), ties=False):
    """Class codes (m,) and probabilities (points, m, ℓ); some classes have no row, some probabilities are equal."""
    rng = np.random.default_rng(seed)
    y = rng.choice(np.setdiff1d(np.arange(ell), missing), ROWS)
    F = rng.normal(size=(POINTS, ROWS, ell)) + 1.5 * np.eye(ell)[y]
    P = np.exp(np.round(F) if ties else F)
    P[0, :5] = np.eye(ell)[rng.integers(0, ell, 5)]  # certain, and some of them wrong
    return y, P / P.sum(axis=2, keepdims=True)


def weights_of(kind, seed):
    rng = np.random.default_rng(seed)
    drawn = {"none": None, "positive": rng.uniform(0.1, 3, ROWS), "some zero": rng.integers(0, 3, ROWS) * 0.7}
    return drawn[kind]


@pytest.mark.parametrize("weights", ["none", "positive", "some zero"])
@pytest.mark.parametrize(
    "ell, missing, ties", [(2, (), False), (3, (), True), (4, (1,), False), (7, (6, 0), True), (2, (), True)]
)
@pytest.mark.parametrize("name", ORACLES)
def test_every_point_equals_scikit_learn(name, ell, missing, ties, weights):
    metric = get_metric(name)
    if name == "cost":
        metric = metric.with_parameters(costs=some_costs(ell))
    for seed in range(4):
        y, P = drawn(ell, seed, missing, ties)
        w = weights_of(weights, seed)
        values = P.argmax(axis=2).astype(np.int16) if metric.need == "classes" else P
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # scikit-learn warns of what is undefined
            expected = [ORACLES[name](y, v, w) for v in values]
        np.testing.assert_allclose(metric(y, values, w), expected, rtol=0, atol=1e-12)


def test_brier_is_scikit_learns_own_scaling():
    y, P = drawn(3, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            expected = [sk.brier_score_loss(y, p) for p in P]
        except ValueError:
            pytest.skip("this scikit-learn has the Brier score of two classes only")
    np.testing.assert_allclose(get_metric("brier")(y, P), expected, rtol=0, atol=1e-12)
    y, P = drawn(2, 0)
    expected = [sk.brier_score_loss(y, p[:, 1]) for p in P]
    np.testing.assert_allclose(get_metric("brier")(y, P), expected, rtol=0, atol=1e-12)


def test_a_class_without_a_row_has_no_area():
    y, P = drawn(4, 0, missing=(1,))
    assert np.isnan(get_metric("auc")(y, P)).all()


def test_one_class_everywhere():
    y = np.zeros(5, dtype=int)
    predictions = np.array([[0, 0, 0, 0, 0], [0, 0, 0, 0, 1]])
    kappa = get_metric("kappa")(y, predictions)
    assert np.isnan(kappa[0])
    assert kappa[1] == 0.0
    assert get_metric("macro-f1")(y, predictions)[0] == 1.0
    assert get_metric("balanced-error")(y, predictions).tolist() == [0.0, pytest.approx(0.2)]


def test_rows_without_weight_leave_nothing_to_judge():
    y, P = drawn(3, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for metric in METRICS.values():
            values = P.argmax(axis=2) if metric.need == "classes" else P
            if metric.name not in ("cost", "macro-f1"):
                assert np.isnan(metric(y, values, np.zeros(ROWS))).all()
    assert (get_metric("macro-f1")(y, P.argmax(axis=2), np.zeros(ROWS)) == 0).all()  # as scikit-learn has it


def test_auc_ranks_scores_of_two_classes_by_their_difference():
    rng = np.random.default_rng(0)
    y, F = rng.integers(0, 2, ROWS), rng.normal(size=(POINTS, ROWS, 2))
    expected = [sk.roc_auc_score(y, f[:, 1] - f[:, 0]) for f in F]
    np.testing.assert_allclose(auc(y, F), expected, atol=1e-12)


def test_auc_and_top2_take_a_class_that_was_never_learned():
    y, P = drawn(3, 1)
    F = np.log(np.maximum(P, 1e-300))
    F[:, :10, 2] = -np.inf
    floor = np.where(np.isinf(F), -1e6, F)
    for name in ("auc", "top2-error"):
        np.testing.assert_array_equal(get_metric(name)(y, F), get_metric(name)(y, floor))


def test_confusions():
    y, P = drawn(4, 2, missing=(3,))
    predictions, w = P.argmax(axis=2), weights_of("positive", 2)
    for weights in (None, w):
        for C, p in zip(confusions(y, predictions, 4, weights), predictions):
            np.testing.assert_allclose(C, sk.confusion_matrix(y, p, labels=range(4), sample_weight=weights))


def test_the_best_value_is_the_smallest_loss():
    y = np.array([0, 1, 2, 0])
    predictions = np.array([[0, 1, 2, 1], [0, 1, 2, 0], [1, 1, 1, 1]])
    for metric in METRICS.values():
        if metric.need == "classes":
            assert metric.as_loss(metric(y, predictions)).argmin() == 1


def test_names_are_found_in_any_case_and_typos_are_met_with_a_suggestion():
    assert get_metric("LOG-loss") is METRICS["log-loss"]
    with pytest.raises(McLsError, match="did you mean 'macro-f1'"):
        get_metric("macrof1")


def test_a_metric_is_added_by_registering_it(monkeypatch):
    monkeypatch.setattr("mcls.evaluation.metrics.METRICS", dict(METRICS))
    mine = Metric("Mine", lambda y, p, w: (p == 0).mean(axis=1), "smaller", "classes", "share of class 0")
    register(mine)
    assert get_metric("mine") is mine
    with pytest.raises(McLsError, match="registered already"):
        register(mine)


def test_cost_asks_for_its_matrix():
    y, P = drawn(3, 0)
    with pytest.raises(McLsError, match="needs a cost matrix"):
        get_metric("cost")(y, P)


COSTS = np.array([[0.0, 1.0, 1.0], [5.0, 0.0, 1.0], [1.0, 2.0, 0.0]])


def test_metrics_as_people_write_them():
    assert [m.name for m in read_metrics("Macro-F1")] == ["macro-f1"]
    for given, costs, told in [
        ("eror", None, "did you mean 'error'"),
        (["auc", "auc"], None, "twice"),
        ([], None, "at least one"),
        ("cost", None, "needs a cost matrix"),
        ("error", COSTS, "not asked for"),
    ]:
        with pytest.raises(McLsError, match=told):
            read_metrics(given, costs)
