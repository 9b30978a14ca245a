"""One training and one test part; the point is chosen by cross-validation inside the training part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mcls.errors import McLsError
from mcls.evaluation.folds import stratified_share
from mcls.evaluation.protocols.base import (
    SETTINGS,
    Array,
    Fold,
    Protocol,
    Result,
    Rows,
    Settings,
    choose_and_judge,
    merged,
    metric_fields,
    register,
)
from mcls.evaluation.task import Task
from mcls.packing import pack
from mcls.seeds import derive

Train = float | int | str | Sequence[int]


def parse_train(value: Any) -> Train:
    """Read the training part.

    It is a fraction (0..1, drawn at random, each class in proportion), a number of rows (the first n), a list of
    numbers (so many rows of each class, drawn at random), or ``declared``: the split that the data set's source
    prescribes.

    >>> parse_train(0.5), parse_train(120), parse_train([4, 5]), parse_train("declared")
    (0.5, 120, [4, 5], 'declared')
    """
    whole = isinstance(value, int) and not isinstance(value, bool)
    if value == "declared" or (whole and value >= 1) or (isinstance(value, float) and 0.0 < value < 1.0):
        return value
    if isinstance(value, list) and len(value) > 1 and all(type(v) is int and v >= 1 for v in value):
        return value
    raise McLsError(
        "must be a fraction between 0 and 1, a number of rows, a number of rows for each class, or 'declared'; "
        f"got {value!r}"
    )


SETTINGS["train"] = parse_train


def hold_out_rows(y: Array, train: Train, seed: int, declared: Array | None, groups: Array | None = None) -> Fold:
    """Row indices (train, test) of a hold-out split; see ``parse_train``. A random fraction splits no group."""
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
    if groups is not None:
        return stratified_share(y, groups, train, seed)
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


def _splits(rows: Rows, seed: int, settings: Settings) -> list[Fold]:
    return [hold_out_rows(rows.y, settings["train"], seed, rows.declared, rows.groups)]


def _judge(task: Task, seed: int, settings: Settings, splits: list[Fold]) -> Result:
    X = task.scaled()
    outcome = choose_and_judge(task, X, splits[0], settings["inner_folds"], derive(seed, "inner"))
    return {
        "error": outcome.error,
        "chosen": [outcome.point],
        "predictions": pack(merged([outcome], len(task.y))),
        "inner_error": outcome.inner_error,
        "train": len(splits[0][0]),
        "test": len(splits[0][1]),
        **metric_fields(task, [outcome.values]),
    }


hold_out = register(
    Protocol(
        "hold-out",
        "one training and one test part, the parameters chosen by cross-validation inside the training part",
        _splits,
        _judge,
        settings={"train": 0.5, "inner_folds": 10},
        replicates=lambda settings: 10 if isinstance(settings["train"], float | list) else 1,
        words=(
            "a random split into training and test rows, the parameters chosen by {inner_folds}-fold cross-"
            "validation inside the training rows"
        ),
    )
)
