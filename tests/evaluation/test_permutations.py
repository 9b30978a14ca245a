"""Permutation tests against plain loops of fits, and against McNemar's exact test."""

import numpy as np
import pytest

from mcls import OneLSM, OvOLSM, VoLSSVM
from mcls.data import load_dataset
from mcls.errors import McLsError
from mcls.evaluation.folds import make_folds
from mcls.evaluation.metrics import get_metric
from mcls.evaluation.permutations import _dealt, paired_permutation_test, permutation_test
from mcls.evaluation.statistics import mcnemar
from mcls.evaluation.task import Task


@pytest.fixture(scope="module")
def data():
    glass = load_dataset("glass")
    return glass.X[::3], glass.y[::3]


@pytest.mark.parametrize("machine", [OneLSM(), OvOLSM(), VoLSSVM()], ids=repr)
def test_every_permutation_is_what_a_refit_gives(data, machine):
    X, y = data
    folds, point = make_folds(y, 4, seed=0), {"gamma": 1.0, "sigma": 0.5}
    found, slow = (
        permutation_test(Task(machine, X, y, {}, engine=engine), folds, point, 12, seed=3)
        for engine in ("fast", "refit")
    )
    assert found.permuted == pytest.approx(slow.permuted, abs=1e-12)
    assert found.statistic == pytest.approx(slow.statistic)
    assert found.p == (1 + sum(e <= found.statistic for e in found.permuted)) / 13
    assert found.expected > found.statistic


def test_at_chance_the_p_value_is_uniform():
    rng = np.random.default_rng(0)
    p = []
    for seed in range(40):
        X, y = rng.normal(size=(30, 2)), np.repeat([0, 1], 15)
        folds = make_folds(y, 3, seed=seed)
        p.append(permutation_test(Task(OneLSM(), X, y, {}), folds, {"gamma": 1.0, "sigma": 1.0}, 19, seed=seed).p)
    assert 0.35 < np.mean(p) < 0.75
    assert np.mean(np.array(p) <= 0.1) < 0.3


def test_groups_change_places_as_a_whole():
    groups = np.array([0, 1, 1, 2, 3, 3, 4, 1])
    order = _dealt(groups, 8, np.random.default_rng(1))
    assert sorted(order) == list(range(8))
    for g in range(5):
        assert len(set(groups[order[groups == g]])) == 1


def test_two_machines_exchange_their_predictions():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, 200)
    a, b = (np.where(rng.random(200) < right, y, (y + 1) % 3) for right in (0.8, 0.72))
    found = paired_permutation_test(y, a, b, 20_000)
    assert found.statistic == pytest.approx((a != y).mean() - (b != y).mean())
    assert found.p == pytest.approx(mcnemar(y, a, b).p, abs=0.015)
    assert paired_permutation_test(y, a, a).identical
    macro = paired_permutation_test(y, a, b, 500, metric=get_metric("macro-f1"))
    assert macro.statistic == pytest.approx(float(get_metric("macro-f1")(y, np.stack([a, b])) @ [1, -1]))


@pytest.mark.parametrize("count", [0, -3, 10**7, True])
def test_counts_that_make_no_sense_are_refused(count):
    with pytest.raises(McLsError, match="permutations must be"):
        paired_permutation_test([0, 1], [0, 1], [1, 1], count)


def test_what_has_no_permutation_test_is_refused(data):
    X, y = data
    with pytest.raises(McLsError, match="needs probabilities"):
        paired_permutation_test([0, 1], [0, 1], [1, 1], metric=get_metric("log-loss"))
    with pytest.raises(McLsError, match="one prediction per row"):
        paired_permutation_test([0, 1], [0, 1, 1], [1, 1])
    with pytest.raises(McLsError, match="test every row once"):
        permutation_test(Task(OneLSM(), X, y, {}), make_folds(y, 4, seed=0)[:3], {}, 5)


def test_what_decides_the_class_decides_of_the_permuted_ones_too(data):
    X, y = data
    folds = make_folds(y, 4, seed=0)
    most = np.bincount(y).argmax()
    seen = []

    def largest(F, y, parts):
        seen.append((F.shape, np.unique(parts).tolist()))
        return np.full(len(F), most)

    found = permutation_test(Task(OneLSM(), X, y, {}), folds, {"gamma": 1.0, "sigma": 1.0}, 9, decide=largest)
    assert found.p == 1.0  # always the largest class is no better than chance
    assert seen == [((len(y), y.max() + 1), [0, 1, 2, 3])] * 10


def test_features_are_scaled_by_the_training_rows_of_each_fold(data):
    X, y = data
    folds, point = make_folds(y, 4, seed=0), {"gamma": 0.01, "sigma": 0.2}
    task = Task(OneLSM(), X * np.linspace(1, 50, X.shape[1]), y, {}, scaling="fold")
    found = permutation_test(task, folds, point, 3)
    assert found.statistic == pytest.approx(task.search(task.X, folds, at=point).best_error)
    assert found.statistic < found.expected
