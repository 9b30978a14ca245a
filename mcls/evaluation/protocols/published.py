"""The papers' protocol: one grid search by k-fold cross-validation; the error is the smallest over the grid.

Optimistic by construction, since the folds that choose the point also judge it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mcls.evaluation.folds import LEAVE_ONE_GROUP_OUT, LEAVE_ONE_OUT
from mcls.evaluation.grid_result import GridResult
from mcls.evaluation.protocols.base import (
    Fold,
    Protocol,
    Result,
    Settings,
    fold_splits,
    metric_fields,
    partitions_of,
    plain,
    register,
    scalar,
)
from mcls.evaluation.task import Task
from mcls.packing import pack


def _judge(task: Task, seed: int, settings: Settings, splits: list[Fold]) -> Result:
    """All errors of all folds are kept: ``grid`` holds the names (the outermost first), the values and the packed
    mistakes (points, folds) with the size of each fold.
    """
    X = task.scaled()
    found = task.search(X, splits)
    first = partitions_of(splits)[0]  # of several, each predicts every row
    predictions = np.full(len(task.y), -1)
    for (_, test), codes in zip(first, found.fold_predictions):
        predictions[test] = codes[found.best]
    return {
        "error": float(found.best_error),
        "chosen": [plain(found.best_point)],
        "predictions": pack(predictions),
        "grid": _all_errors(found, task, splits),
        **metric_fields(task, found.at_best),
        **task.facts(X, splits, found.best_point),
    }


def _all_errors(found: GridResult, task: Task, splits: Sequence[Fold]) -> dict[str, Any]:
    sizes = np.array([len(test) for _, test in splits])
    names = list(found.points[0])
    mistakes = [(codes != task.y[test]).sum(axis=1) for codes, test in zip(found.fold_predictions, found.tests)]
    return {
        "names": names,
        "values": {name: [scalar(v) for v in task.grids[0][name]] for name in names},
        "fold_sizes": sizes.tolist(),
        "fold_mistakes": pack(np.stack(mistakes, axis=1)),
    }


published = register(
    Protocol(
        "published",
        "the smallest k-fold cross-validation error over the grid, which is optimistic",
        fold_splits,
        _judge,
        settings={"folds": 10, "repeats": 1},
        replicates=lambda settings: 1 if settings["folds"] in (LEAVE_ONE_OUT, LEAVE_ONE_GROUP_OUT) else 10,
        seed_group="folds",
        chooses_inside=False,
        honest="nested",
        words=(
            "stratified {folds}-fold cross-validation, the smallest error over the grid (the same folds "
            "choose and judge)"
        ),
    )
)
