"""Honest errors: what nested and repeated cross-validation cost beside the flat sweep, and what intervals hold."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, PredefinedSplit

from benchmarks.grids import GRID, POWERS, load, one_hot_error
from benchmarks.measure import Row, timed
from mcls import OneLSM
from mcls.evaluation.folds import make_folds, stratified_folds, stratified_halves
from mcls.evaluation.grid import search
from mcls.evaluation.permutations import permutation_test
from mcls.evaluation.protocols import NestedFolds
from mcls.evaluation.protocols.nested_folds import search_with_nested
from mcls.evaluation.statistics import honest_interval, wilson
from mcls.evaluation.task import Task


def nested_against_flat() -> Iterator[Row]:
    """Nested 10-fold, and ten repeats of flat 10-fold, of oneLSM's 9×9 grid beside one flat sweep; one thread."""
    for name, repeats in (("iris", 10), ("vowel", 3), ("yeast", 1)):
        X, y = load(name)
        folds = stratified_folds(y, 10, seed=0)
        nested = NestedFolds.of([folds], len(y)).folds
        ten = [fold for seed in range(10) for fold in stratified_folds(y, 10, seed)]
        flat, _ = timed(lambda: search(OneLSM(), X, y, GRID, folds), repeats)  # noqa: B023
        for what, some in (("nested 10-fold", nested), ("10 repeats of 10-fold", ten)):
            seconds, _ = timed(lambda: search(OneLSM(), X, y, GRID, some), repeats)  # noqa: B023
            yield Row(
                "nested", name, what, seconds, "one flat sweep", flat, f"{seconds / flat:.2f} times the sweep"
            )


def nested_against_kernel_ridge() -> Iterator[Row]:
    """Nested 10-fold of oneLSM on yeast beside GridSearchCV(KernelRidge) in each outer fold.

    The peer is measured at one outer fold and three of the 81 points, and multiplied.
    """
    X, y = load("yeast")
    Y, folds = np.eye(y.max() + 1)[y], stratified_folds(y, 10, seed=0)
    seconds, _ = timed(lambda: search(OneLSM(), X, y, GRID, NestedFolds.of([folds], len(y)).folds))
    train = folds[0][0]
    parts = np.empty(len(y), dtype=int)
    for k, (_, test) in enumerate(folds):
        parts[test] = k
    inner = PredefinedSplit(np.unique(parts[train], return_inverse=True)[1])
    some = {"alpha": POWERS[[0, 4, 8]], "gamma": [0.5]}
    peer = GridSearchCV(KernelRidge(kernel="rbf"), some, scoring=one_hot_error, cv=inner, refit=False)
    part, _ = timed(lambda: peer.fit(X[train], Y[train]))
    note = "the peer measured at 3 of 81 points in 1 of 10 outer folds, times 270"
    yield Row("nested", "yeast", "oneLSM, nested folds", seconds, "GridSearchCV(KernelRidge)", 270 * part, note)


def permutations() -> Iterator[Row]:
    """1000 permutations of yeast's labels at one point."""
    X, y = load("yeast")
    task, folds = Task(OneLSM(), X, y, {}, "none"), stratified_folds(y, 10, seed=0)
    seconds, found = timed(lambda: permutation_test(task, folds, {"gamma": 1.0, "sigma": 1.0}, 1000))
    note = f"error {100 * found.statistic:.1f}, by chance {100 * found.expected:.1f}, p = {found.p:.4f}"
    yield Row("permutations", "yeast", "1000 permutations", seconds, "", None, note)


def _made_up(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Four overlapping classes of 100 rows in five features; new for every seed."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(4), 100)
    return rng.normal(size=(400, 5)) + 1.1 * np.eye(5)[y], y


def interval_of_the_honest_error(splits: int = 200) -> Iterator[Row]:
    """How often the interval of the honest error of one half covers the error of its model on the other half.

    A grid of nine points for each; the model is fitted to the whole half at the point that all its folds choose.
    """
    grid = {"gamma": [2.0**-4, 2.0**-1, 2.0**2], "sigma": [2.0**-2, 2.0**0, 2.0**2]}
    for name in ("glass", "made-up", "yeast"):
        data = None if name == "made-up" else load(name)
        covered: list[bool] = []
        narrow: list[bool] = []
        differences: list[float] = []

        def run() -> None:
            for seed in range(splits):
                X, y = _made_up(seed) if data is None else data  # noqa: B023
                half, other = stratified_halves(y, seed)
                task = Task(OneLSM(), X[half], y[half], grid, "none", smoother={"gamma": 1, "sigma": 1})
                folds = make_folds(y[half], 10, seed)
                nested = NestedFolds.of([folds], len(half))
                flat, found_nested = search_with_nested(task, X[half], folds, nested)
                (outcomes,) = nested.outcomes(found_nested, task)
                wrong = sum(int((o.predictions != y[half][o.test]).sum()) for o in outcomes)
                seen = float(
                    np.mean(OneLSM(**flat.best_point).fit(X[half], y[half]).predict(X[other]) != y[other])
                )
                error, n = wrong / len(half), len(half)
                for found, (low, high) in (
                    (covered, honest_interval(error, n, 10, len(other))),  # noqa: B023
                    (narrow, wilson(wrong, n)),  # noqa: B023
                ):
                    found.append(low <= seen <= high)
                differences.append(error - seen)  # noqa: B023

        seconds, _ = timed(run)
        note = (
            f"covered {100 * np.mean(covered):.1f} % of {splits}; Wilson's of the estimate alone "
            f"{100 * np.mean(narrow):.1f} %; estimate minus seen {100 * np.mean(differences):+.2f} points"
        )
        yield Row("honest interval", name, "95 % interval", seconds, "", None, note)
