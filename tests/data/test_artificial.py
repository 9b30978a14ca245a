"""The artificial sets have the character of the paper's: whole classes defeat a line, subclasses do not."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import minmax_scale
from sklearn.svm import SVC

from mcls.data import load_card, load_dataset
from mcls.data.artificial import GENERATORS, generate

FOLDS = StratifiedKFold(10, shuffle=True, random_state=0)


@pytest.mark.parametrize("name", sorted(GENERATORS))
def test_always_the_same_points(name: str) -> None:
    first, second = generate(name), generate(name)
    np.testing.assert_array_equal(first.X, second.X)
    assert "ours" in load_card(name).title
    assert "Made by mcls itself" in load_card(name).description


def linear_accuracy(X: np.ndarray, y: np.ndarray, owner: np.ndarray) -> float:
    machine = OneVsRestClassifier(SVC(kernel="linear", C=1))
    return float(np.mean(owner[cross_val_predict(machine, X, y, cv=FOLDS)] == owner[y]))


def rbf_accuracy(X: np.ndarray, y: np.ndarray) -> float:
    # LIBSVM's gamma = 0.5 and C = 1, the paper's setting for its artificial sets
    return float(np.mean(cross_val_predict(SVC(gamma=0.5, C=1), X, y, cv=FOLDS) == y))


def subclasses(X: np.ndarray, y: np.ndarray, pieces: dict[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Split each class by K-means into so many pieces; return the piece of each row, the class of each piece."""
    piece = np.zeros(len(y), dtype=int)
    owner: list[int] = []
    for code in np.unique(y):
        rows = np.flatnonzero(y == code)
        clusters = KMeans(pieces.get(int(code), 1), n_init=5, random_state=0).fit_predict(X[rows])
        piece[rows] = clusters + len(owner)
        owner += [int(code)] * (clusters.max() + 1)
    return piece, np.array(owner)


@pytest.mark.parametrize(
    ("name", "whole_below", "pieces", "split_above"),
    [
        ("artificial-2", 0.60, {0: 2, 1: 2}, 0.75),
        ("artificial-3", 0.67, {1: 6}, 0.95),
        ("artificial-4", 0.92, {0: 2}, 0.97),
    ],
)
def test_splitting_a_class_helps_a_linear_machine(
    name: str, whole_below: float, pieces: dict[int, int], split_above: float
) -> None:
    data = load_dataset(name)
    X = minmax_scale(data.X)
    assert linear_accuracy(X, data.y, np.arange(data.n_classes)) < whole_below
    assert linear_accuracy(X, *subclasses(X, data.y, pieces)) > split_above


def test_rings_defeat_lines_and_a_wide_gaussian() -> None:
    data = load_dataset("artificial-1")
    X = minmax_scale(data.X)
    assert linear_accuracy(X, data.y, np.arange(3)) < 0.5
    assert rbf_accuracy(X, data.y) < 0.8


@pytest.mark.parametrize(("name", "least"), [("artificial-2", 0.95), ("artificial-4", 0.95)])
def test_clusters_are_easy_for_a_gaussian(name: str, least: float) -> None:
    data = load_dataset(name)
    assert rbf_accuracy(minmax_scale(data.X), data.y) > least
