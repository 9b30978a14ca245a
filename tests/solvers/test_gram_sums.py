"""Gram sums of pieces: the folds of ``nystrom.sweep``, and the same bits by any number of threads and in any tree."""

import numpy as np
import pytest

from mcls.kernels import kernel_matrix
from mcls.solvers import gram_sums, lsm, nystrom
from mcls.solvers.gram_sums import (
    FoldedRows,
    Sums,
    TreeSum,
    add_up,
    fold_coefficients,
    sum_rows,
    whole_coefficients,
)


def kernel(A, B):
    return kernel_matrix(A, B, sigma=1.5)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 900)
    return FoldedRows(rng.normal(size=(900, 4)) + y[:, None], y, rng.integers(0, 5, 900), rng.uniform(0.5, 2, 900))


def split(rows, size):
    return [FoldedRows(*(part[i : i + size] for part in rows)) for i in range(0, 900, size)]


@pytest.mark.parametrize("weighted", [False, True])
def test_they_give_the_sweep_and_the_fit_of_rows_in_memory(rows, weighted, monkeypatch):
    monkeypatch.setattr(gram_sums, "_VALUES", 2000)
    rows = rows if weighted else rows._replace(weights=None)
    Z, gammas = rows.X[::9], [2.0**-6, 1.0]
    L = nystrom.factor(kernel(Z, Z))
    pieces = [FoldedRows(*(None if p is None else p[i : i + 130] for p in rows)) for i in range(0, 900, 130)]
    tree = TreeSum()
    for piece in pieces:
        tree.add(sum_rows([piece], kernel, Z, L, 5, 3))
    sums = tree.total()
    folds = [(np.flatnonzero(rows.folds != f), np.flatnonzero(rows.folds == f)) for f in range(5)]
    Y = lsm.indicators(rows.y, 3)
    for (_, test), beta, wanted in zip(
        folds,
        fold_coefficients(sums, L, gammas),
        nystrom.sweep(kernel, rows.X, Y, Z, folds, gammas, 64, rows.weights),
        strict=True,
    ):
        found = kernel(rows.X[test], Z) @ beta
        assert np.array_equal(found.argmax(2), wanted.argmax(2))

        assert np.abs(found - wanted).max() < 1e-6
    fitted = nystrom.fit(kernel, rows.X, Y, Z, [1.0], 64, rows.weights)[0]
    assert np.abs(kernel(rows.X, Z) @ (whole_coefficients(sums, L, [1.0])[0] - fitted)).max() < 1e-6


def test_threads_do_not_change_a_bit(rows):
    Z = rows.X[::7]
    L = nystrom.factor(kernel(Z, Z))
    one, three = (sum_rows(split(rows, 200), kernel, Z, L, 5, 3, threads) for threads in (1, 3))
    assert one.G.tobytes() == three.G.tobytes()
    assert one.R.tobytes() == three.R.tobytes()


@pytest.mark.parametrize("count", [1, 3, 4, 5, 16, 17, 23])
def test_the_tree_of_whole_levels_is_the_one_that_grows(count):
    rng = np.random.default_rng(count)
    shapes = (2, 3), (2, 2, 1), (2, 1)
    parts = [Sums(*(rng.normal(size=of) * 10.0 ** rng.integers(-9, 9) for of in shapes)) for _ in range(count)]
    tree, level = TreeSum(), [Sums(*(array.copy() for array in part)) for part in parts]
    for part in parts:
        tree.add(part)
    while len(level) > 1:
        level = [add_up(level[i : i + gram_sums.FAN]) for i in range(0, len(level), gram_sums.FAN)]
    assert tree.total().G.tobytes() == level[0].G.tobytes()


def test_landmarks_far_from_all_rows_learned_from_keep_the_order_of_their_tiny_values():
    rng = np.random.default_rng(0)
    X, y, fold, gammas = 15 * rng.normal(size=(60, 2)), rng.integers(0, 3, 60), np.arange(60) % 4, [2.0**-10, 1.0]
    L = nystrom.factor(kernel(X, X))
    sums = sum_rows([FoldedRows(X, y, fold, None)], kernel, X, L, 4, 3)
    for k, beta in enumerate(fold_coefficients(sums, L, gammas)):
        train, test = fold != k, fold == k
        wanted = nystrom.fit(kernel, X[train], lsm.indicators(y[train], 3), X, gammas, 64)
        values, expected = (kernel(X[test], X) @ of for of in (beta, wanted))
        assert np.array_equal(values.argmax(axis=2), expected.argmax(axis=2))
