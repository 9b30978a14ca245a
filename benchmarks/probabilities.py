"""Probabilities of ``mcls fit`` on halves kept apart: log-loss against calibrated SVC, the time they take, coverage."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from benchmarks.measure import Row
from mcls.data import load_dataset
from mcls.evaluation.folds import stratified_folds, stratified_halves
from mcls.evaluation.scaling import to_range
from mcls.models.selection import Selection, select
from mcls.seeds import derive

Array = np.ndarray

#: Data set → its options; of letter the first 2000 rows.
DATASETS: dict[str, dict[str, Any]] = {
    **{name: {} for name in ("iris", "wine", "glass", "vowel", "yeast", "ecoli", "balance", "thyroid", "tae")},
    "letter": {"first": 2000},
}
COVERAGE, SPLITS = 0.9, 10
PEER = "CalibratedClassifierCV(SVC)"


def log_losses() -> Iterator[Row]:
    """The first half of each data set is learned, the other judged: ours, and a tuned SVC in CalibratedClassifierCV.

    Our parameters are chosen by the log-loss, and also, as ``mcls fit`` does by default, by the error.
    """
    better = {"log-loss": 0, "error": 0}
    for name in DATASETS:
        X, y, train, test = _half(name, 0)
        spent, losses = {}, {}
        for metric in better:
            spent[metric], found = _cpu(lambda: _select(X, y, train, "auto", metric))  # noqa: B023
            losses[metric] = _log_loss(found.estimator, X[test], y[test])
        peer_seconds, peer = _cpu(lambda: _peer(X[train], y[train], found))  # noqa: B023
        theirs = _log_loss(peer, X[test], y[test])
        for metric, ours in losses.items():
            better[metric] += ours <= theirs
            what = f"oneLSM by {metric}"
            note = f"log-loss {ours:.4f} and {theirs:.4f}"
            yield Row("probabilities", name, what, spent[metric], PEER, peer_seconds, note)
    for metric, count in better.items():
        yield Row(
            "probabilities", "all", f"oneLSM by {metric}", 0.0, PEER, None, f"{count} of {len(DATASETS)} at most"
        )


def calibration_time() -> Iterator[Row]:
    """Processor time of a selection with and without probabilities, the shortest of seven each, taken in turns."""
    with_, without = 0.0, 0.0
    for name in DATASETS:
        X, y, train, _ = _half(name, 0)
        pairs = [
            [_cpu(lambda: _select(X, y, train, how))[0] for how in ("auto", None)]  # noqa: B023
            for _ in range(7 if len(train) < 600 else 3)
        ]
        a, b = np.min(pairs, axis=0)
        with_, without = with_ + a, without + b
        yield Row("time of probabilities", name, "with", a, "without", b, f"{100 * (a / b - 1):+.1f} % time")
    note = f"{100 * (with_ / without - 1):+.1f} % time"
    yield Row("time of probabilities", "all ten", "with", with_, "without", without, note)


def coverage() -> Iterator[Row]:
    """Share of rows whose class is in its set at 90 %, and the size of the sets, on the other halves of ten splits."""
    means = []
    for name in DATASETS:
        seen, sizes, errors, spent = [], [], [], 0.0
        for seed in range(SPLITS):
            X, y, train, test = _half(name, seed)
            seconds, found = _cpu(lambda: _select(X, y, train, "auto"))  # noqa: B023
            assert found.conformal is not None
            P = found.estimator.predict_proba(X[test])
            sets = found.conformal.sets(P, COVERAGE)
            codes = np.searchsorted(found.estimator.classes_, y[test])
            seen.append(sets[np.arange(len(test)), codes].mean())
            sizes.append(sets.sum(axis=1).mean())
            errors.append(np.mean(P.argmax(axis=1) != codes))
            spent += seconds
        means.append(np.mean(seen))
        error, size = 100 * np.mean(errors), np.mean(sizes)
        note = f"coverage {100 * means[-1]:.1f} %, {size:.2f} classes per set, error {error:.1f} %"
        yield Row("coverage", name, f"{COVERAGE:g} asked for", spent, "", None, note)
    yield Row(
        "coverage", "all ten", f"{COVERAGE:g} asked for", 0.0, "", None, f"coverage {100 * np.mean(means):.1f} %"
    )


def _half(name: str, seed: int) -> tuple[Array, Array, Array, Array]:
    """Features scaled to [−1, 1] by the training half, codes, and the rows of both halves."""
    data = load_dataset(name, **DATASETS[name])
    train, test = stratified_halves(data.y, derive(seed, "halves"))
    return to_range(data.X, data.X[train]), data.y, train, test


def _select(X: Array, y: Array, train: Array, calibration: str | None, metric: str = "error") -> Selection:
    return select(X[train], y[train], calibration=calibration, metric=metric)


def _log_loss(fitted: Any, X: Array, y: Array) -> float:
    return float(log_loss(y, fitted.predict_proba(X), labels=fitted.classes_))


def _peer(X: Array, y: Array, found: Selection) -> Any:
    """SVC over the same widths, as many strengths, the same kind of folds; then calibrated with the chosen point."""
    widths, strengths = (np.array(found.grid[p]) for p in ("sigma", "gamma"))
    grid = {"gamma": 1 / (2 * widths**2), "C": 1 / strengths}
    tuned = GridSearchCV(SVC(), grid, cv=stratified_folds(y, 10, derive(0, "folds"))).fit(X, y)
    folds = stratified_folds(y, 5, derive(1, "folds"))  # as a list: some classes have fewer than five rows
    return CalibratedClassifierCV(SVC(**tuned.best_params_), ensemble=False, cv=folds).fit(X, y)


def _cpu(function: Callable[[], Any]) -> tuple[float, Any]:
    """Processor time, which other work on the machine disturbs less, and the result."""
    start = time.process_time()
    result = function()
    return time.process_time() - start, result
