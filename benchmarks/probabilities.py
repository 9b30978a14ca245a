"""Probabilities of ``mcls fit`` on halves kept apart: log-loss against calibrated SVC, the time they take, coverage."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from benchmarks.measure import Row
from mcls.data import load_dataset
from mcls.evaluation.folds import stratified_folds, stratified_halves
from mcls.evaluation.scaling import to_range
from mcls.machines.registry import MACHINES
from mcls.models.fitting import fit_table
from mcls.models.grids import ladders
from mcls.models.ranking import rank
from mcls.models.selected import Selection
from mcls.seeds import derive

Array = np.ndarray

#: Data set → its options; of letter the first 2000 rows.
DATASETS: dict[str, dict[str, Any]] = {
    **{name: {} for name in ("iris", "wine", "glass", "vowel", "yeast", "ecoli", "balance", "thyroid", "tae")},
    "letter": {"first": 2000},
}
COVERAGE, SPLITS, LOSS_SPLITS, TIMES = 0.9, 10, 5, 5
PEER = "CalibratedClassifierCV(SVC)"


def log_losses() -> Iterator[Row]:
    """One half of each data set is learned, the other judged: ``mcls fit``, and a tuned SVC in CalibratedClassifierCV.

    The mean log-loss of ``LOSS_SPLITS`` halves.
    """
    better = 0
    for name in DATASETS:
        spent, losses = np.zeros(2), np.zeros((LOSS_SPLITS, 2))
        for seed in range(LOSS_SPLITS):
            X, y, train, test = _half(name, seed)
            for i, fit in enumerate((_fit, _peer)):
                seconds, made = _cpu(lambda: fit(X[train], y[train]))  # noqa: B023
                spent[i] += seconds / LOSS_SPLITS
                losses[seed, i] = _log_loss(made, X[test], y[test])
        ours, theirs = losses.mean(axis=0)
        better += ours <= theirs
        won = (losses[:, 0] <= losses[:, 1]).sum()
        note = f"log-loss {ours:.4f} and {theirs:.4f}, at most in {won} of {LOSS_SPLITS} halves"
        yield Row("probabilities", name, "mcls fit", float(spent[0]), PEER, float(spent[1]), note)
    note = f"at most on {better} of {len(DATASETS)}, means of {LOSS_SPLITS} halves"
    yield Row("probabilities", "all", "mcls fit", 0.0, PEER, None, note)


def calibration_time() -> Iterator[Row]:
    """Processor time of ``mcls fit`` on a half of each data set, from the file to the model, honest error included.

    With probabilities and without them, the shortest of several each, taken in turns; starting the command is left out.
    """
    with_, without = 0.0, 0.0
    with tempfile.TemporaryDirectory() as folder:
        for name in DATASETS:
            X, y, train, _ = _half(name, 0)
            path = Path(folder) / f"{name}.csv"
            frame = pd.DataFrame(X[train]).add_prefix("x")
            frame.assign(**{"class": [f"c{code}" for code in y[train]]}).to_csv(path, index=False)
            repeats = TIMES if len(train) < 600 else 2
            pairs = [
                [_cpu(lambda: fit_table(path, calibration=how))[0] for how in ("auto", None)]  # noqa: B023
                for _ in range(repeats)
            ]
            a, b = np.min(pairs, axis=0)
            with_, without = with_ + a, without + b
            note = f"{100 * (a / b - 1):+.1f} % time"
            yield Row("time of probabilities", name, "with", float(a), "without", float(b), note)
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


def _select(X: Array, y: Array, train: Array, calibration: str | None) -> Selection:
    return rank(X[train], y[train], calibration=calibration)[0]


def _fit(X: Array, y: Array) -> Any:
    return rank(X, y, calibration="auto")[0].estimator


def _log_loss(fitted: Any, X: Array, y: Array) -> float:
    return float(log_loss(y, fitted.predict_proba(X), labels=fitted.classes_))


def _peer(X: Array, y: Array) -> Any:
    """SVC over the widths and strengths that ours starts with, the same kind of folds; then calibrated at its point."""
    begin = ladders(MACHINES["oneLSM"], X)
    grid = {"gamma": 1 / (2 * np.square(begin["sigma"].start)), "C": 1 / np.array(begin["gamma"].start)}
    tuned = GridSearchCV(SVC(), grid, cv=stratified_folds(y, 10, derive(0, "folds"))).fit(X, y)
    folds = stratified_folds(y, 5, derive(1, "folds"))  # as a list: some classes have fewer than five rows
    return CalibratedClassifierCV(SVC(**tuned.best_params_), ensemble=False, cv=folds).fit(X, y)


def _cpu(function: Callable[[], Any]) -> tuple[float, Any]:
    """Processor time, which other work on the machine disturbs less, and the result."""
    start = time.process_time()
    result = function()
    return time.process_time() - start, result
