"""Whole grid searches against scikit-learn's GridSearchCV and against the plain schemes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from benchmarks.measure import Row, timed
from mcls.data import load_dataset
from mcls.evaluation.folds import stratified_folds
from mcls.evaluation.grid import search
from mcls.evaluation.grid_result import GridResult
from mcls.evaluation.protocols.nested_folds import NestedFolds
from mcls.evaluation.scaling import to_range
from mcls.machines.registry import MACHINES

POWERS = 2.0 ** np.arange(-4, 5)
GRID = {"gamma": "2^-4..2^4", "sigma": "2^-4..2^4"}
CORES = 2


def load(name: str, **options: Any) -> tuple[np.ndarray, np.ndarray]:
    """Features scaled to [−1, 1] and class codes."""
    data = load_dataset(name, **options)
    return to_range(data.X), data.y


def one_hot_error(ridge: Any, X: np.ndarray, Y: np.ndarray) -> float:
    """Share of rows whose largest output is not the one of their class."""
    return float(np.mean(ridge.predict(X).argmax(axis=1) != Y.argmax(axis=1)))


def errors_by_point(found: GridResult) -> dict[tuple[float, float], float]:
    """(γ, σ) → cross-validation error."""
    return {(p["gamma"], p["sigma"]): e for p, e in zip(found.points, found.errors)}


def onelsm_against_kernel_ridge() -> Iterator[Row]:
    """oneLSM's 9×9 grid, 10 folds, against GridSearchCV over KernelRidge on one-hot targets."""
    for name, repeats in (("iris", 20), ("wine", 20), ("glass", 20), ("vowel", 10), ("yeast", 2)):
        X, y = load(name)
        Y, folds = np.eye(y.max() + 1)[y], stratified_folds(y, 10, seed=0)
        machine = MACHINES["oneLSM"].create()
        seconds, ours = timed(lambda: search(machine, X, y, GRID, folds, n_threads=CORES), repeats)  # noqa: B023
        peer = GridSearchCV(
            KernelRidge(kernel="rbf"),
            {"alpha": POWERS, "gamma": 1 / (2 * POWERS**2)},
            scoring=one_hot_error,
            cv=folds,
            refit=False,
            n_jobs=CORES,
        )
        if name == "iris":
            peer.fit(X, Y)  # the worker processes start here, outside the measurement
        peer_seconds, _ = timed(lambda: peer.fit(X, Y), min(repeats, 3))  # noqa: B023
        expected = {
            (p["alpha"], round(float((2 * p["gamma"]) ** -0.5), 9)): e
            for p, e in zip(peer.cv_results_["params"], peer.cv_results_["mean_test_score"])
        }
        equal = sum(abs(expected[point] - e) < 1e-12 for point, e in errors_by_point(ours).items())
        note = f"{equal} of {len(expected)} errors equal"
        yield Row("oneLSM grid", name, "oneLSM, fast", seconds, "GridSearchCV(KernelRidge)", peer_seconds, note)


def onelsm_against_plain_schemes() -> Iterator[Row]:
    """oneLSM's fast grid against refitting the plain one-against-all and one-against-one schemes."""
    for name in ("iris", "glass", "vowel"):
        X, y = load(name)
        folds = stratified_folds(y, 10, seed=0)
        for plain in ("ovA", "ovO"):
            for ours in ("oneLSM", plain):
                found = [
                    timed(lambda: search(MACHINES[m].create(), X, y, GRID, folds, engine=engine))  # noqa: B023
                    for m, engine in ((ours, "fast"), (plain, "refit"))
                ]
                (seconds, fast), (peer_seconds, refit) = found
                note = f"errors {100 * fast.best_error:.2f} and {100 * refit.best_error:.2f}"
                yield Row("plain schemes", name, f"{ours}, fast", seconds, f"{plain}, refit", peer_seconds, note)


def ovo_against_onelsm() -> Iterator[Row]:
    """The exact sweep of one machine per pair of classes, and of its nested folds, against that of oneLSM."""
    for name, rows, repeats in (("glass", None, 5), ("vowel", None, 5), ("yeast", None, 1), ("letter", 2000, 1)):
        X, y = (part[:rows] for part in load(name))
        flat = stratified_folds(y, 10, seed=0)
        nested = NestedFolds.of([flat], len(y)).folds
        data = name if rows is None else f"{name}, first {rows} rows"
        peer_seconds, _ = timed(lambda: search(MACHINES["oneLSM"].create(), X, y, GRID, flat), repeats)  # noqa: B023
        for ours, folds in (("ovO", flat), ("ovO, nested folds", nested)):
            if folds is nested and len(y) > 1000:
                continue
            seconds, _ = timed(lambda: search(MACHINES["ovO"].create(), X, y, GRID, folds), repeats)  # noqa: B023
            note = f"{seconds / peer_seconds:.2f} times the peer's time"
            yield Row("ovO sweep", data, ours, seconds, "oneLSM", peer_seconds, note)


def vosvm_against_svc() -> Iterator[Row]:
    """vo-SVM's whole grid, on one core, against GridSearchCV over scikit-learn's SVC with C for γ, on two."""
    for name in ("glass", "vowel"):
        X, y = load(name)
        folds = stratified_folds(y, 10, seed=0)
        peer = GridSearchCV(
            SVC(), {"C": POWERS, "gamma": 1 / (2 * POWERS**2)}, cv=folds, refit=False, n_jobs=CORES
        )
        peer.fit(X, y)  # the worker processes start here, outside the measurement
        peer_seconds, _ = timed(lambda: peer.fit(X, y))  # noqa: B023
        best = 1 - max(peer.cv_results_["mean_test_score"])
        for book in ("indicators", "alignment"):
            machine = MACHINES["voSVM"].create(labelbook=book, solver="active-set")
            seconds, ours = timed(lambda: search(machine, X, y, GRID, folds))  # noqa: B023
            note = f"errors {100 * ours.best_error:.2f} and {100 * best:.2f}"
            yield Row("voSVM grid", name, f"voSVM, {book}", seconds, "GridSearchCV(SVC)", peer_seconds, note)
