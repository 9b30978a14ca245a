"""``mcls fit`` against scikit-learn's GridSearchCV on the same CSV: from the file to the error on rows kept apart."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC

from benchmarks.grids import CORES, one_hot_error
from benchmarks.measure import Row, timed
from mcls.evaluation.folds import stratified_folds
from mcls.models.fitting import Fitted, fit_table
from mcls.models.saving import save
from mcls.models.streaming import judge_table
from mcls.resources import datasets_dir
from mcls.seeds import derive

Array = np.ndarray

TARGET = "class"


def fit_against_grid_search() -> Iterator[Row]:
    """Half of the rows in a CSV to learn from, the others to judge: the same widths, strengths and folds for everyone.

    Peers try every combination of the values; where ``mcls fit`` extended its grid (9 widths, 8 strengths) it did not.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for data in ("wine", "glass", "yeast"):
            head, *rows = (datasets_dir() / f"{data}.csv").read_text(encoding="utf-8").splitlines()
            train, test = folder / f"{data}-train.csv", folder / f"{data}-test.csv"
            for path, part in ((train, rows[::2]), (test, rows[1::2])):
                path.write_text("\n".join([head, *part]) + "\n", encoding="utf-8")
            seconds, fitted = timed(lambda: _ours(train, folder / "model.mcls"))  # noqa: B023
            error = 100 * judge_table(fitted.model, test).error
            widths, strengths = (np.array(fitted.selection.grid[p]) for p in ("sigma", "gamma"))
            for peer, search in (("KernelRidge", _kernel_ridge), ("SVC", _svc)):
                if data == "wine":
                    search(
                        train, test, widths[:1], strengths[:1]
                    )  # worker processes start outside the measurement
                peer_seconds, peer_error = timed(lambda: search(train, test, widths, strengths))  # noqa: B023
                note = f"test errors {error:.2f} and {100 * peer_error:.2f}"
                yield Row("fit", data, "mcls fit", seconds, f"GridSearchCV({peer})", peer_seconds, note)


def _ours(train: Path, model: Path) -> Fitted:
    fitted = fit_table(train, TARGET)
    save(fitted.model, model)
    return fitted


def _kernel_ridge(train: Path, test: Path, widths: Array, strengths: Array) -> float:
    X, y, X_test, y_test = _read(train, test)
    grid = {"kernelridge__gamma": 1 / (2 * widths**2), "kernelridge__alpha": strengths}
    model = make_pipeline(MinMaxScaler((-1, 1)), KernelRidge(kernel="rbf"))
    found = GridSearchCV(model, grid, scoring=_accuracy, cv=_folds(y), n_jobs=CORES)
    Y = np.eye(max(y.max(), y_test.max()) + 1)
    return one_hot_error(found.fit(X, Y[y]), X_test, Y[y_test])


def _svc(train: Path, test: Path, widths: Array, strengths: Array) -> float:
    X, y, X_test, y_test = _read(train, test)
    grid = {"svc__gamma": 1 / (2 * widths**2), "svc__C": 1 / strengths}  # C weighs the errors, γ the smoothness
    model = make_pipeline(MinMaxScaler((-1, 1)), SVC())
    return float(1 - GridSearchCV(model, grid, cv=_folds(y), n_jobs=CORES).fit(X, y).score(X_test, y_test))


def _read(train: Path, test: Path) -> tuple[Array, Array, Array, Array]:
    frame, unseen = pd.read_csv(train), pd.read_csv(test)
    labels = pd.concat([frame[TARGET], unseen[TARGET]])
    codes = np.unique(labels, return_inverse=True)[1]
    X, X_test = (f.drop(columns=TARGET).to_numpy() for f in (frame, unseen))
    return X, codes[: len(X)], X_test, codes[len(X) :]


def _folds(y: Array) -> list[tuple[Array, Array]]:
    """The folds of ``mcls fit`` itself."""
    return stratified_folds(y, 10, derive(0, "folds"))


def _accuracy(model: Any, X: Array, Y: Array) -> float:
    return 1 - one_hot_error(model, X, Y)
