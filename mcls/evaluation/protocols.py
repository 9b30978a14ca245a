"""Protocols: how the error of a machine with a grid is estimated on one data set.

Each takes a ``Task`` and a seed and returns a dict of plain JSON values. Every result has

``error``
    the protocol's figure, a fraction;
``chosen``
    the grid point of each selection (one, or one an outer fold or half);
``predictions``
    packed class codes (n,), −1 where a row was never predicted (see ``mcls.evaluation.packing``).

``published`` and ``half_split`` add ``facts``, one dict a fold, of machines that have some to tell
(see ``mcls.evaluation.facts``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mcls.errors import McLsError, unknown_name
from mcls.evaluation.facts import fitted_facts, has_facts
from mcls.evaluation.folds import LEAVE_ONE_OUT, class_half_split, make_folds, stratified_halves
from mcls.evaluation.grid import GridResult, search
from mcls.evaluation.packing import pack
from mcls.evaluation.scaling import scale_dataset, to_range
from mcls.seeds import derive

Array = np.ndarray
Fold = tuple[Array, Array]
Result = dict[str, Any]
Train = float | int | str | Sequence[int]


@dataclass(frozen=True)
class Task:
    """What a protocol judges: a machine and its grid on one data set.

    ``X`` holds the features as they come; ``scaling`` is applied here: ``dataset`` and ``standard`` before any
    row is set aside (as the papers do, without a look at the labels), ``fold`` from training rows alone.
    """

    estimator: Any
    X: Array  # (n, d)
    y: Array  # (n,) class codes 0..ℓ−1
    grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]]  # one, or all points of several
    scaling: str = "dataset"
    engine: str = "fast"
    smoother: Mapping[str, int] = field(default_factory=dict)
    declared_split: Array | None = None  # (n,) "train" or "test", where the data set's source says so

    @property
    def n_classes(self) -> int:
        """The number ℓ of classes of the whole data set."""
        return int(self.y.max()) + 1

    @property
    def grids(self) -> list[dict[str, list[Any]]]:
        """The grid, or the several of them, as lists."""
        several = [self.grid] if isinstance(self.grid, Mapping) else self.grid
        return [{name: list(values) for name, values in grid.items()} for grid in several]

    def scaled(self) -> Array:
        """The features as ``search`` expects them: scaled, unless each fold scales for itself."""
        return scale_dataset(self.X, self.scaling)

    def search(self, X: Array, folds: Sequence[Fold], rows: Array | None = None, at: Any = None) -> GridResult:
        """Grid search over ``folds`` of all rows, or of some ``rows``; ``at`` narrows the grid to one point."""
        return search(
            self.estimator,
            X if rows is None else X[rows],
            self.y if rows is None else self.y[rows],
            self.grids if at is None else {k: [v] for k, v in at.items()},
            folds,
            engine=self.engine,
            scaling="fold" if self.scaling == "fold" else "none",
            smoother=self.smoother,
            n_classes=self.n_classes,
        )

    def facts(self, X: Array, folds: Sequence[Fold], point: Mapping[str, Any]) -> Result:
        """``{"facts": […]}``, one dict a fold, from the machines fitted at a point; nothing where there is none."""
        if not has_facts(self.estimator):
            return {}
        scaled = [to_range(X, X[train]) if self.scaling == "fold" else X for train, _ in folds]
        return {
            "facts": [
                fitted_facts(self.estimator, point, Z[train], self.y[train])
                for Z, (train, _) in zip(scaled, folds)
            ]
        }

    @property
    def n_points(self) -> int:
        """The number of points of the grid."""
        return sum(math.prod(len(values) for values in grid.values()) for grid in self.grids)


def published(task: Task, seed: int, folds: int | str = 10) -> Result:
    """The papers' protocol: one grid search by k-fold CV; the error is the smallest over the grid.

    Optimistic by construction, since the folds that choose the point also judge it. All errors of all folds
    are kept: ``grid`` holds the names (the outermost first), the values and the packed mistakes
    (points, folds) with the size of each fold.
    """
    X = task.scaled()
    splits = make_folds(task.y, folds, seed)
    found = task.search(X, splits)
    return {
        "error": float(found.best_error),
        "chosen": [_plain(found.best_point)],
        "predictions": pack(found.predictions[found.best]),
        "grid": _all_errors(found, task, splits),
        **task.facts(X, splits, found.best_point),
    }


def nested(task: Task, seed: int, folds: int | str = 10, inner_folds: int | str = 10) -> Result:
    """The honest estimate: each outer fold is judged at the point chosen by a grid search on the others.

    The outer folds are those of ``published`` for the same seed, so that the two differ by the selection alone.
    """
    outcomes = nested_outcomes(task, seed, make_folds(task.y, folds, seed), inner_folds)
    return {
        "error": float(np.mean([o.error for o in outcomes])),
        "chosen": [o.point for o in outcomes],
        "predictions": pack(_merge(outcomes, len(task.y))),
        "fold_errors": [o.error for o in outcomes],
        "inner_errors": [o.inner_error for o in outcomes],
    }


def nested_outcomes(task: Task, seed: int, splits: Sequence[Fold], inner_folds: Any) -> list[Outcome]:
    """Judge each split at the point chosen by ``inner_folds`` of its training rows."""
    X = task.scaled()
    return [
        _choose_and_judge(task, X, split, inner_folds, derive(seed, "inner", i)) for i, split in enumerate(splits)
    ]


def half_split(task: Task, seed: int, inner_folds: int | str = 5) -> Result:
    """Half of each class for training (xue2013), the point chosen by CV inside the training half.

    ``oracle_error`` is the smallest *test* error over the grid: what a choice with an eye on the test half
    would report. It is no estimate of anything, only the other reading of a published figure.
    """
    X = task.scaled()
    train, test = class_half_split(task.y, seed)
    inner = _inner_search(task, X, train, inner_folds, derive(seed, "inner"))
    judged = task.search(X, [(train, test)])  # every point of the grid on the test half
    at = judged.points.index(inner.best_point)
    return {
        "error": float(judged.errors[at]),
        "chosen": [_plain(inner.best_point)],
        "predictions": pack(judged.predictions[at]),
        "inner_error": float(inner.best_error),
        "oracle_error": float(judged.best_error),
        "oracle_point": _plain(judged.best_point),
        "train": len(train),
        "test": len(test),
        **task.facts(X, [(train, test)], inner.best_point),
    }


def hold_out(task: Task, seed: int, train: Train = 0.5, inner_folds: int | str = 10) -> Result:
    """One training and one test part; the point is chosen by CV inside the training part.

    ``train`` is a fraction (0..1, drawn at random, each class in proportion), a number of rows (the first n),
    a list of numbers (so many rows of each class, drawn at random), or ``"declared"``: the split that the data
    set's source prescribes.
    """
    X = task.scaled()
    split = hold_out_rows(task.y, train, seed, task.declared_split)
    outcome = _choose_and_judge(task, X, split, inner_folds, derive(seed, "inner"))
    return {
        "error": outcome.error,
        "chosen": [outcome.point],
        "predictions": pack(_merge([outcome], len(task.y))),
        "inner_error": outcome.inner_error,
        "train": len(split[0]),
        "test": len(split[1]),
    }


def five_by_two(task: Task, seed: int, inner_folds: int | str = 10) -> Result:
    """One replication of 5×2cv: each half is learned, its point chosen by CV inside it, and judged on the other.

    Five results with five seeds feed ``statistics.ftest_5x2cv``; the same seeds give every machine the same
    halves, so any two machines compare from results computed apart. ``errors`` holds both halves' errors.
    """
    X = task.scaled()
    first, second = stratified_halves(task.y, seed)
    outcomes = [
        _choose_and_judge(task, X, split, inner_folds, derive(seed, "inner", i))
        for i, split in enumerate([(first, second), (second, first)])
    ]
    return {
        "error": float(np.mean([o.error for o in outcomes])),
        "errors": [o.error for o in outcomes],
        "chosen": [o.point for o in outcomes],
        "predictions": pack(_merge(outcomes, len(task.y))),
        "inner_errors": [o.inner_error for o in outcomes],
    }


#: Name in configs → function; the keyword arguments after the seed are the settings of a protocol.
PROTOCOLS: dict[str, Callable[..., Result]] = {
    "published": published,
    "nested": nested,
    "half-split": half_split,
    "hold-out": hold_out,
    "5x2cv": five_by_two,
}


def get_protocol(name: str) -> Callable[..., Result]:
    """Look a protocol up by its name."""
    if name not in PROTOCOLS:
        raise unknown_name("protocol", name, PROTOCOLS)
    return PROTOCOLS[name]


def check_splits(
    y: Array, protocol: str, settings: Mapping[str, Any], declared: Array | None = None, chooses: bool = True
) -> None:
    """Refuse class codes y (n,) that a protocol cannot split, before anything is computed.

    ``chooses`` says whether there is a grid to choose from by cross-validation inside the training rows.
    """
    if protocol in ("published", "nested"):
        splits = make_folds(y, settings["folds"], seed=0)
    elif protocol == "half-split":
        splits = [class_half_split(y, seed=0)]
    elif protocol == "hold-out":
        splits = [hold_out_rows(y, settings["train"], 0, declared)]
    else:
        first, second = stratified_halves(y, seed=0)
        splits = [(first, second), (second, first)]
    if protocol == "published" or not chooses:
        return
    if any(np.bincount(y[train]).max() < 2 for train, _ in splits):
        raise McLsError(
            "the parameters are chosen by cross-validation inside the training rows, which then need a class with "
            f"at least 2 of them; the largest class has {np.bincount(y).max()} rows in all: too few for "
            f"'protocol: {protocol}'"
        )


def split_notes(y: Array, class_names: Sequence[str], protocol: str, settings: Mapping[str, Any]) -> list[str]:
    """What a user should know of the splits: fewer folds than asked for, classes that cannot be predicted."""
    counts = np.bincount(y, minlength=len(class_names))
    notes = []
    wanted, largest = settings.get("folds", 0), int(counts.max())
    if protocol in ("published", "nested") and wanted != LEAVE_ONE_OUT and wanted > largest:
        notes.append(f"{largest} folds instead of {wanted}: no class has more than {largest} rows")
    if alone := [name for name, count in zip(class_names, counts) if count == 1]:
        shown = ", ".join(f"'{name}'" for name in alone[:3]) + (", …" if len(alone) > 3 else "")
        notes.append(
            f"a class of a single row ({shown}) is never in training and testing at once: always an error"
        )
    return notes


def hold_out_rows(y: Array, train: Train, seed: int, declared: Array | None) -> Fold:
    """Row indices (train, test) of a hold-out split; see ``hold_out``."""
    n = len(y)
    if train == "declared":
        if declared is None:
            raise McLsError(
                "this data set declares no training and test rows; give a fraction or a number of rows"
            )
        marks = declared.astype(str)
        return np.flatnonzero(marks == "train"), np.flatnonzero(marks != "train")
    if isinstance(train, int) and not isinstance(train, bool):
        if not 0 < train < n:
            raise McLsError(
                f"the first {train} rows for training leave none for testing: the data set has {n} rows"
            )
        return np.arange(train), np.arange(train, n)
    if isinstance(train, Sequence) and not isinstance(train, str):
        return _rows_of_each_class(y, train, seed)
    if isinstance(train, str) or not 0.0 < train < 1.0:
        raise McLsError(f"the training part must be a fraction, a number of rows or 'declared', got {train!r}")
    rng = np.random.default_rng(seed)
    chosen = np.zeros(n, dtype=bool)
    for code in np.unique(y):
        rows = rng.permutation(np.flatnonzero(y == code))
        # At least one row of every class on both sides, where there are two.
        wanted = min(max(round(train * len(rows)), 1), max(len(rows) - 1, 1))
        chosen[rows[:wanted]] = True
    if chosen.all():
        raise McLsError("every class has a single row: nothing is left for testing")
    return np.flatnonzero(chosen), np.flatnonzero(~chosen)


def _rows_of_each_class(y: Array, wanted: Sequence[int], seed: int) -> Fold:
    """``wanted[c]`` random rows of class c for training, all others for testing."""
    counts = np.bincount(y)
    if len(wanted) != len(counts) or any(not 0 < w < c for w, c in zip(wanted, counts)):
        raise McLsError(
            f"the training rows of each class must be {len(counts)} numbers that leave a row for testing; "
            f"got {list(wanted)} where the classes have {counts.tolist()} rows"
        )
    rng = np.random.default_rng(seed)
    drawn = [rng.permutation(np.flatnonzero(y == c))[:w] for c, w in enumerate(wanted)]
    train = np.sort(np.concatenate(drawn))
    return train, np.setdiff1d(np.arange(len(y)), train)


@dataclass(frozen=True)
class Outcome:
    """One split: what was predicted for its test rows at the point chosen on its training rows."""

    test: Array
    predictions: Array  # (|test|,)
    error: float
    point: dict[str, Any]
    inner_error: float | None


def _choose_and_judge(task: Task, X: Array, split: Fold, inner_folds: Any, seed: int) -> Outcome:
    """Choose a point on the training rows of a split, fit there, and predict its test rows."""
    train, test = split
    if task.n_points == 1:  # nothing to choose
        point, inner_error = {k: v[0] for k, v in task.grids[0].items()}, None
    else:
        inner = _inner_search(task, X, train, inner_folds, seed)
        point, inner_error = inner.best_point, float(inner.best_error)
    judged = task.search(X, [split], at=point)
    return Outcome(test, judged.fold_predictions[0][0], float(judged.best_error), _plain(point), inner_error)


def _inner_search(task: Task, X: Array, rows: Array, inner_folds: Any, seed: int) -> GridResult:
    return task.search(X, make_folds(task.y[rows], inner_folds, seed), rows=rows)


def _merge(outcomes: Sequence[Outcome], n: int) -> Array:
    merged = np.full(n, -1)
    for outcome in outcomes:
        merged[outcome.test] = outcome.predictions
    return merged


def _all_errors(found: GridResult, task: Task, splits: Sequence[Fold]) -> dict[str, Any]:
    sizes = np.array([len(test) for _, test in splits])
    names = list(found.points[0])
    return {
        "names": names,
        "values": {name: [_scalar(v) for v in task.grids[0][name]] for name in names},
        "fold_sizes": sizes.tolist(),
        "fold_mistakes": pack(np.rint(found.fold_errors * sizes).astype(int)),
    }


def _plain(point: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _scalar(value) for name, value in point.items()}


def _scalar(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
