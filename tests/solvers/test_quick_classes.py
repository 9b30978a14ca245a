"""Classes by few digits: never another than the one of all digits, and few left where the scores are apart."""

import numpy as np
import pytest

from mcls import OneLSM
from mcls.machines import lsm as machines
from mcls.solvers import quick_classes
from mcls.solvers.quick_classes import certain_classes


def rows(n=3000, seed=0, scale=1.0, offset=0.0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, n)
    return scale * (rng.normal(size=(n, 6)) + np.eye(4, 6)[y] * 2) + offset, y


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("sigma", [0.02, 0.5, 2.0, 50.0])
@pytest.mark.parametrize("gamma", [1e-6, 1.0])
@pytest.mark.parametrize("solver", ["exact", "nystrom"])
def test_every_class_is_that_of_all_digits(sigma, gamma, solver, offset, monkeypatch):
    X, y = rows(500, offset=offset)
    machine = OneLSM(sigma=sigma, gamma=gamma, solver=solver, n_landmarks=200).fit(X, y)
    new = np.vstack([rows(3000, seed=1, offset=offset)[0], X, offset + 1e3 * rows(50)[0]])
    wanted = machine.classes_[machine._row_scores(new).argmax(axis=1)]
    monkeypatch.setattr(machines, "_MANY_VALUES", 0)
    assert np.array_equal(machine.predict(new), wanted)
    found, certain = certain_classes(new, machine.X_fit_, machine.class_alpha_ @ machine.label_gram_, sigma)
    assert np.array_equal(found[certain], wanted[certain])


def test_most_rows_are_certain_by_32_bits_where_the_coefficients_are_small(monkeypatch):
    X, y = rows(500)
    machine = OneLSM(sigma=1.0, gamma=1.0).fit(X, y)
    a = machine.class_alpha_
    monkeypatch.setattr(quick_classes, "_SPREAD", 1000)  # by threads, too
    kinds = []
    real = quick_classes._Way.classes

    def noted(self, X):
        found = real(self, X)
        kinds.append((self._kind, len(X), found[1].mean()))
        return found

    monkeypatch.setattr(quick_classes._Way, "classes", noted)
    assert certain_classes(rows(4000, seed=2)[0], X, a, 1.0)[1].all()
    assert {share > 0.95 for kind, _, share in kinds if kind is np.float32} == {True}
    assert sum(n for kind, n, _ in kinds if kind is np.float64) < 200


def test_equal_scores_are_never_certain():
    X = rows(100)[0]
    a = np.ones((100, 2))
    assert not certain_classes(X, X, a, 1.0)[1].any()
    assert not certain_classes(np.full((3, 6), 1e200), X, a * [1, 2], 1.0)[1].any()


def test_a_map_that_decides_still_does(monkeypatch):
    X, y = rows(300)
    machine = OneLSM(sigma=2.0, gamma=1.0, calibration="decide").fit(X, y)
    wanted = machine.predict(X)
    monkeypatch.setattr(machines, "_MANY_VALUES", 0)
    assert np.array_equal(machine.predict(X), wanted)
    assert np.array_equal(machine.predict_proba(X).argmax(axis=1), wanted)
