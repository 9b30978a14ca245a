"""Machines whose classes are label vectors: decision rules, label kernels, labels that count rows."""

import numpy as np
import pytest

from mcls import OneLSM, VoLSSVM, VoRLS
from mcls.kernels import kernel_matrix
from tests.machines.problems import BOOKS, REAL, load


@pytest.mark.parametrize("book", BOOKS)
@pytest.mark.parametrize("name", REAL)
def test_proposition_1(name, book):
    X, y = load(name)
    machine = OneLSM(labelbook=book, sigma=0.5, gamma=0.5).fit(X, y)
    products = machine.alpha_.T @ machine.labels_[:, y].T  # [α⁽ᵏ⁾ᵀ y⁽ᵏ'⁾]
    assert np.abs(products - products.T).max() < 1e-9 * np.abs(products).max()


@pytest.mark.parametrize("machine", [OneLSM(), VoRLS(), VoLSSVM()], ids=repr)
def test_decision_rules_agree_for_labels_of_one_norm_and_one_entry_a_class(machine):
    X, y = load("glass")
    rules = [
        machine.set_params(decision=rule, sigma=0.5).fit(X, y).predict(X) for rule in ("max", "nearest", "winner")
    ]
    assert np.array_equal(rules[0], rules[1])
    assert np.array_equal(rules[0], rules[2])


def test_the_nearest_label_is_found_from_tiny_scores_too():
    X, y = load("wine")
    machine = OneLSM(sigma=2.0**-4).fit(X[::2], y[::2])  # a narrow kernel: scores down to 10⁻³⁰⁰
    expected = machine.predict(X[1::2])
    for book in ("indicators", "pm1", "alignment", "mincorr"):
        nearest = OneLSM(sigma=2.0**-4, labelbook=book, decision="nearest").fit(X[::2], y[::2])
        assert np.array_equal(nearest.predict(X[1::2]), expected)


def test_nearest_label_differs_when_the_norms_do():
    X, y = load("iris")
    book = np.diag([1.0, 1.0, 3.0])
    fitted = [OneLSM(labelbook=book, sigma=0.3, decision=rule).fit(X, y) for rule in ("max", "nearest")]
    f = kernel_matrix(X, sigma=0.3) @ fitted[1].alpha_  # (n, 3)
    distances = np.square(f[:, None, :] - book.T[None]).sum(axis=2)
    assert np.array_equal(fitted[1].predict(X), distances.argmin(axis=1))
    assert not np.array_equal(fitted[0].predict(X), fitted[1].predict(X))


def test_label_kernel_and_fisher_coding_are_options():
    X, y = load("glass")
    for machine in (OneLSM(), VoLSSVM(), VoRLS(regularizer="f")):
        for options in ({"label_kernel": "gaussian", "label_sigma": 0.7}, {"labelbook": "fisher"}):
            score = machine.set_params(sigma=0.5, gamma=0.5, **options).fit(X, y).score(X, y)
            assert score > 0.6
            machine.set_params(label_kernel="linear", labelbook="indicators")
