"""``mcls fit`` on letters, as a command in a fresh process: beside the exhaustive search, and beside peers."""

from __future__ import annotations

import gzip
import importlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from benchmarks.grids import CORES, one_hot_error
from benchmarks.measure import Row, timed
from mcls.errors import McLsError
from mcls.evaluation.folds import stratified_folds
from mcls.evaluation.grid import search
from mcls.machines.lsm import OneLSM
from mcls.machines.registry import MACHINES
from mcls.models.grids import ladders
from mcls.models.saving import load
from mcls.models.streaming import judge_table
from mcls.resources import datasets_dir

Array = np.ndarray
#: Rows that judge.
TEST_ROWS = 4000


@contextmanager
def letters(n: int) -> Iterator[tuple[Path, Path]]:
    """The first n letters and the next 4000 as two tables."""
    head, *rows = gzip.decompress((datasets_dir() / "letter.csv.gz").read_bytes()).decode().splitlines()
    with tempfile.TemporaryDirectory() as name:
        train, test = Path(name) / "train.csv", Path(name) / "test.csv"
        train.write_text("\n".join([head, *rows[:n]]) + "\n")
        test.write_text("\n".join([head, *rows[n : n + TEST_ROWS]]) + "\n")
        yield train, test


def fit_command(train: Path, *options: str) -> tuple[float, float, Any]:
    """Wall time of ``mcls fit`` with its start-up, its peak memory in GB, and the model."""
    out = train.with_suffix(".mcls")
    command = [sys.executable, "-m", "mcls", "fit", str(train), "--target", "class", "-o", str(out), *options]
    start = time.perf_counter()
    with open(train.with_suffix(".log"), "w+") as log:
        child = subprocess.Popen([*command, "--force"], stdout=log, stderr=log)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - start
        if child.returncode:
            log.seek(0)
            raise McLsError(f"mcls fit failed: {log.read()[-300:]}")
    return seconds, used.ru_maxrss / 2**20, load(out)


def fit_many(sizes: tuple[int, ...] = (800, 2500, 4000, 10_000, 16_000)) -> Iterator[Row]:
    """``mcls fit`` on n letters, judged on 4000 others; on 4000 beside the search of the whole grid on all rows."""
    for n in sizes:
        with letters(n) as (train, test):
            seconds, peak, model = fit_command(train)
            error = 100 * judge_table(model, test).error
            note = f"test error {error:.2f}, honest error {100 * model.facts.nested_error:.2f}; peak {peak:.2f} GB"
            if n != 4000:
                yield Row("fit", f"letter, n={n}", "mcls fit", seconds, "", None, note)
                continue
            X, y, X_test, y_test = _read(train, test)
            peer_seconds, machine = timed(lambda: _exhaustive(X, y))  # noqa: B023
            wrong = 100 * float(np.mean(machine.predict(X_test) != y_test))
            note += f"; test error of the whole grid {wrong:.2f}"
            yield Row("fit", f"letter, n={n}", "mcls fit", seconds, "whole grid, all rows", peer_seconds, note)


def peers(n: int = 4000) -> Iterator[Row]:
    """``mcls fit`` on n letters against what is installed, each as people use it, judged on 4000 others."""
    with letters(n) as (train, test):
        seconds, _, model = fit_command(train)
        error = 100 * judge_table(model, test).error
        X, y, X_test, y_test = _read(train, test)
    for peer, make in _peers().items():
        peer_seconds, predicted = timed(lambda: make()(X, y, X_test))  # noqa: B023
        note = f"test errors {error:.2f} and {100 * float(np.mean(predicted != y_test)):.2f}"
        yield Row("peers", f"letter, n={n}", "mcls fit", seconds, peer, peer_seconds, note)


def _exhaustive(X: Array, y: Array) -> Any:
    """oneLSM at the best point of the automatic grid, all of it cross-validated on all rows."""
    grid = {name: ladder.start for name, ladder in ladders(MACHINES["oneLSM"], X).items()}
    found = search(OneLSM(), X, y, grid, stratified_folds(y, 10, seed=0), n_threads=CORES)
    return OneLSM(**found.best_point).fit(X, y)


def _read(train: Path, test: Path) -> tuple[Array, Array, Array, Array]:
    frame, unseen = pd.read_csv(train), pd.read_csv(test)
    X, X_test = (f.drop(columns="class").to_numpy(float) / 7.5 - 1 for f in (frame, unseen))
    codes = np.unique(pd.concat([frame["class"], unseen["class"]]), return_inverse=True)[1]
    return X, codes[: len(X)], X_test, codes[len(X) :]


Peer = Callable[[Array, Array, Array], Array]  # fit to the first two, predict the third


def _peers() -> dict[str, Callable[[], Peer]]:
    """What is installed: a small grid for kernel machines, the defaults of the others."""
    widths = [0.125, 0.5, 2.0]
    made: dict[str, Callable[[], Peer]] = {
        "GridSearchCV(SVC), 9 points, 10 folds": lambda: _plain(_grid_search(SVC())),
        "GridSearchCV(KernelRidge), 9 points, 10 folds": lambda: _on_indicators(
            GridSearchCV(
                KernelRidge(kernel="rbf"),
                {"alpha": [0.01, 0.1, 1.0], "gamma": widths},
                scoring=lambda *args: -one_hot_error(*args),
                cv=10,
                n_jobs=1,
            )
        ),
    }
    if (intel := _module("sklearnex.svm")) is not None:
        name = "GridSearchCV(scikit-learn-intelex SVC), 9 points, 10 folds"
        made[name] = lambda: _plain(_grid_search(intel.SVC()))
    if (thunder := _module("thundersvm")) is not None:
        made["GridSearchCV(ThunderSVM), 9 points, 10 folds"] = lambda: _plain(_grid_search(thunder.SVC(), 1))
    if (lightgbm := _module("lightgbm")) is not None:
        made["LightGBM, defaults"] = lambda: _plain(lightgbm.LGBMClassifier(verbose=-1, n_jobs=CORES))
    if (xgboost := _module("xgboost")) is not None:
        made["XGBoost, defaults"] = lambda: _plain(xgboost.XGBClassifier(n_jobs=CORES))
    if (xrfm := _module("xrfm")) is not None:
        made["xRFM, defaults"] = lambda: _on_validation(xrfm.xRFM(device="cpu", tuning_metric="accuracy"))
    return made


def _grid_search(machine: Any, n_jobs: int = CORES) -> Any:
    return GridSearchCV(machine, {"C": [1.0, 4.0, 16.0], "gamma": [0.125, 0.5, 2.0]}, cv=10, n_jobs=n_jobs)


def _plain(model: Any) -> Peer:
    return lambda X, y, X_test: np.asarray(model.fit(X, y).predict(X_test)).astype(int)


def _on_indicators(model: Any) -> Peer:
    return lambda X, y, X_test: np.asarray(model.fit(X, np.eye(y.max() + 1)[y]).predict(X_test)).argmax(axis=1)


def _on_validation(model: Any) -> Peer:
    """A model that chooses its parameters on rows that are held out: every fifth."""

    def fit_and_predict(X: Array, y: Array, X_test: Array) -> Array:
        held = np.arange(len(y)) % 5 == 0
        model.fit(X[~held], y[~held], X[held], y[held])
        return np.asarray(model.predict(X_test)).ravel().astype(int)

    return fit_and_predict


def _module(name: str) -> Any:
    """A module that is installed and can be loaded, or None."""
    try:
        return importlib.import_module(name)
    except (ImportError, OSError):
        return None
