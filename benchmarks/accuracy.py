"""Errors on rows kept apart: ``mcls fit`` against tuned SVC, forests and boosting.

Half of each class teaches, the other half judges (``class_half_split``); every method gets the same halves.
``python -m benchmarks.accuracy --splits 2 --sets iris,wine --methods best,oneLSM,rfm,SVC`` runs a part of it, with any
machines; ``best`` is the default of ``mcls fit``, and ``--first 100`` begins with another split.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from benchmarks.measure import Row
from mcls.data import load_dataset
from mcls.evaluation.folds import class_half_split
from mcls.evaluation.protocols import hold_out_rows
from mcls.evaluation.scaling import to_range
from mcls.models.ranking import BEST, rank
from mcls.models.selection import select

Array = np.ndarray
Method = Callable[[Array, Array, Array], Array]  # (X, y, X_new) -> classes

#: Shipped data sets with at least 150 rows; of letter and usps 2000 rows.
SETS = ("iris", "wine", "glass", "ecoli", "thyroid", "tae", "balance", "vowel", "yeast", "letter", "usps")
SPLITS = 10
_MOST_ROWS = 2000


def load(name: str, most: int = _MOST_ROWS) -> tuple[Array, Array]:
    """Features as they are, and class codes, of a stratified sample where there are too many rows."""
    data = load_dataset(name, **({"rows": "all"} if name == "vowel" else {}))
    rows = np.arange(data.n)
    if data.n > most:
        rows = np.sort(hold_out_rows(data.y, most / data.n, 0, None)[0])
    return data.X[rows].astype(float), np.unique(data.y[rows], return_inverse=True)[1]


def ours(machine: str, X: Array, y: Array, X_new: Array, **settings: Any) -> Array:
    """A machine chosen as ``mcls fit`` chooses it: ten folds, the automatic grid, features in [−1, 1]."""
    if machine == BEST:
        found, _ = rank(to_range(X), y, calibration="auto", **settings)
    else:
        found = select(to_range(X), y, machine, **settings)
    return found.estimator.predict(to_range(X_new, X))


def _svc(X: Array, y: Array, X_new: Array) -> Array:
    grid = {"svc__C": 10.0 ** np.arange(-2, 5), "svc__gamma": 10.0 ** np.arange(-4, 3)}
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    model = GridSearchCV(make_pipeline(StandardScaler(), SVC()), grid, cv=folds)
    return model.fit(X, y).predict(X_new)


def _sklearn(cls: Any, options: dict[str, Any], X: Array, y: Array, X_new: Array) -> Array:
    return cls(**options).fit(X, y).predict(X_new)


def _lightgbm(X: Array, y: Array, X_new: Array) -> Array:
    from lightgbm import LGBMClassifier

    return _sklearn(LGBMClassifier, {"random_state": 0, "verbose": -1, "n_jobs": 1}, X, y, X_new)


PEERS: dict[str, Method] = {
    "SVC": _svc,
    "RandomForest": partial(_sklearn, RandomForestClassifier, {"n_estimators": 500, "random_state": 0}),
    "HistGradientBoosting": partial(_sklearn, HistGradientBoostingClassifier, {"random_state": 0}),
    "LightGBM": _lightgbm,
}
MACHINES = (BEST, "oneLSM", "rfm")


def judge(method: Method, X: Array, y: Array, split: int) -> tuple[float, float]:
    """Error on the other half, and seconds of processor time."""
    train, test = class_half_split(y, split)
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        error = float((method(X[train], y[train], X[test]) != y[test]).mean())
    return error, time.process_time() - started


def errors(
    sets: Sequence[str], names: Sequence[str], splits: int, say: Callable[[str], None] = print, first: int = 0
) -> tuple[Array, Array]:
    """Errors and seconds (sets, methods, splits); ``first`` is the seed of the first split."""
    found = np.empty((2, len(sets), len(names), splits))
    for s, data in enumerate(sets):
        X, y = load(data)
        for split in range(splits):
            for m, name in enumerate(names):
                found[:, s, m, split] = judge(PEERS.get(name) or partial(ours, name), X, y, first + split)
            line = "  ".join(f"{name} {100 * e:.1f}" for name, e in zip(names, found[0, s, :, split]))
            say(f"{data} {first + split}: {line}")
    return found[0], found[1]


def _ranks(table: Array) -> Array:
    """Mean rank (methods,) over the data sets of the mean errors, from errors (sets, methods, splits)."""
    return np.apply_along_axis(rankdata, 1, table.mean(axis=2)).mean(axis=0)


def written(sets: Sequence[str], table: Array, seconds: Array, names: Sequence[str]) -> str:
    """Mean error in percent and mean seconds of every method on every data set, in Markdown."""
    lines = [["data", *names], ["---"] * (1 + len(names))]
    for data, of, spent in zip(sets, table.mean(axis=2), seconds.mean(axis=2)):
        lines.append([data, *(f"{100 * error:.1f} ({s:.1f} s)" for error, s in zip(of, spent))])
    means = zip(table.mean(axis=(0, 2)), seconds.mean(axis=(0, 2)))
    lines.append(["mean", *(f"{100 * error:.2f} ({s:.1f} s)" for error, s in means)])
    lines.append(["mean rank", *(f"{rank:.2f}" for rank in _ranks(table))])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def accuracy() -> Iterator[Row]:
    """``mcls fit`` and every peer on every data set: the mean error of ten half splits, and the seconds of each."""
    names = [*MACHINES, *PEERS]
    table, seconds = errors(SETS, names, SPLITS, lambda line: None)
    for s, data in enumerate(SETS):
        for m, name in enumerate(names):
            note = f"error {100 * table[s, m].mean():.2f} % on {SPLITS} halves, deviation {100 * table[s, m].std():.2f}"
            yield Row("accuracy", data, name, float(seconds[s, m].mean()), "", None, note)
    for m, (name, rank_) in enumerate(zip(names, _ranks(table))):
        note = f"error {100 * table[:, m].mean():.2f} %, mean rank {rank_:.2f} of {len(names)}"
        yield Row("accuracy", "all sets", name, float(seconds[:, m].mean()), "", None, note)


def main() -> None:
    """A part of the comparison, as the command line asks for it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--methods", default=",".join([*MACHINES, *PEERS]))
    parser.add_argument("--splits", type=int, default=SPLITS)
    parser.add_argument("--first", type=int, default=0)
    given = parser.parse_args()
    names = given.methods.split(",")
    with threadpool_limits(1):
        say = partial(print, flush=True)
        table, seconds = errors(given.sets.split(","), names, given.splits, say, given.first)
    print(written(given.sets.split(","), table, seconds, names))


if __name__ == "__main__":
    main()
