"""Folds whose training rows lack a class, against plain fits."""

import numpy as np
import pytest

from mcls.evaluation.folds import stratified_folds
from mcls.evaluation.protocols import NestedFolds
from mcls.kernels import gaussian, squared_distances
from mcls.machines import base
from mcls.machines.registry import MACHINES
from mcls.machines.sweeping import by_classes, point_groups

COUNTS = (20, 15, 8, 2, 1)  # nested folds leave out the last class, the last but one, or both
VALUES = {"n_rounds": (0, 1), "C": (0.1, 8.0), "n_iter": (5, 20)}
SWEPT = [name for name, entry in MACHINES.items() if entry.create().swept]


@pytest.fixture(scope="module")
def rare():
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat(np.arange(len(COUNTS)), COUNTS))
    X = rng.normal(size=(len(y), 3)) + 1.5 * np.eye(len(COUNTS), 3)[y]
    return X, y, NestedFolds.of([stratified_folds(y, 4, 0)], len(y)).folds


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", SWEPT)
def test_every_label_is_that_of_a_fit(name, weighted, rare):
    X, y, folds = rare
    machine = MACHINES[name].create()
    if weighted and not machine.takes_weights:
        pytest.skip("takes no weights")
    w = np.random.default_rng(1).uniform(0.5, 2.0, len(y)) if weighted else None
    A = gaussian(squared_distances(X), 1.0) if machine.works_on == "kernel" else X
    swept = machine.swept[0]
    points = [{swept: value} for value in VALUES.get(swept, (0.01, 0.5, 8.0))]
    fast, plain = (
        machine.sweep(A, y, folds, points, n_classes=len(COUNTS), engine=engine, sample_weight=w)
        for engine in ("fast", "refit")
    )
    for ours, theirs in zip(fast, plain, strict=True):
        np.testing.assert_array_equal(ours.argmax(axis=2), theirs.argmax(axis=2))
        np.testing.assert_array_equal(np.isneginf(ours), np.isneginf(theirs))
        finite = np.isfinite(theirs)
        np.testing.assert_allclose(ours[finite], theirs[finite], rtol=1e-6, atol=1e-9)


def test_folds_that_lack_a_class_are_not_refitted(rare, monkeypatch):
    X, y, folds = rare
    machine = MACHINES["oneLSM"].create()
    refitted = []
    monkeypatch.setattr(base, "refit", lambda *args: refitted.append(args[4]) or plain(*args))
    from mcls.machines.sweeping import refit as plain

    machine.sweep(gaussian(squared_distances(X), 1.0), y, folds, [{"gamma": 0.5}], n_classes=len(COUNTS))
    groups = by_classes(folds, y, len(COUNTS))
    lacking = sum(len(group.places) for group in groups if len(group.present) < len(COUNTS))
    assert lacking > 6
    assert len(refitted) <= lacking // 3  # a training set by itself is as quickly fitted as swept


@pytest.mark.parametrize("weights", [{4: 3.0}, {0: 0.5, 1: 2.0, 2: 1.0, 3: 4.0, 4: 3.0}])
@pytest.mark.parametrize("engine", ["fast", "refit"])
def test_weights_of_classes_are_kept_where_a_fold_lacks_some(engine, weights, rare):
    X, y, folds = rare
    K = gaussian(squared_distances(X), 1.0)
    by_class, plain = (MACHINES["oneLSM"].create(gamma=0.5, class_weight=of) for of in (weights, None))
    w = np.array([weights.get(c, 1.0) for c in y.tolist()])
    ours = by_class.sweep(K, y, folds, [{}], n_classes=len(COUNTS), engine=engine)
    theirs = plain.sweep(K, y, folds, [{}], n_classes=len(COUNTS), engine="refit", sample_weight=w)
    for mine, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-6, atol=1e-9)


def test_a_fold_with_one_class_has_one_answer():
    y = np.array([0, 0, 0, 1, 1, 2])
    K = np.eye(6)
    folds = [(np.array([0, 1, 2]), np.array([3, 4, 5])), (np.array([0, 1, 3, 4, 5]), np.array([2]))]
    first, second = MACHINES["oneLSM"].create().sweep(K, y, folds, [{"gamma": 1.0}, {"gamma": 2.0}])
    assert first.argmax(axis=2).tolist() == [[0, 0, 0]] * 2
    assert np.isneginf(first[:, :, 1:]).all()
    assert np.isfinite(second).all()


def test_values_that_look_alike_when_printed_are_told_apart():
    wide = np.eye(40)
    points = [{"gamma": 1.0, "labelbook": book} for book in (wide, wide.copy(), np.where(wide == 0, 1e-12, wide))]
    assert [members for _, members in point_groups(points, ["gamma"])] == [[0, 1], [2]]
    points = [{"gamma": gamma, "sigma": sigma} for gamma, sigma in ((1, 2), (1.0, 2.0), (np.float64(3.0), 2))]
    assert [members for _, members in point_groups(points, ["gamma"])] == [[0, 1, 2]]
