"""The honest estimate: each outer fold is judged at the point chosen by a grid search on the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mcls.evaluation.grid import steps
from mcls.evaluation.protocols.base import (
    Fold,
    Outcome,
    Protocol,
    Result,
    Settings,
    choose_and_judge,
    fold_splits,
    merged,
    metric_fields,
    register,
)
from mcls.evaluation.task import Prepare, Task
from mcls.packing import pack
from mcls.seeds import derive


def _judge(task: Task, seed: int, settings: Settings, splits: list[Fold]) -> Result:
    outcomes = nested_outcomes(task, seed, splits, settings["inner_folds"])
    return {
        "error": float(np.mean([o.error for o in outcomes])),
        "chosen": [o.point for o in outcomes],
        "predictions": pack(merged(outcomes, len(task.y))),
        "fold_errors": [o.error for o in outcomes],
        "inner_errors": [o.inner_error for o in outcomes],
        **metric_fields(task, [o.values for o in outcomes]),
    }


def nested_outcomes(
    task: Task, seed: int, splits: Sequence[Fold], inner_folds: Any, prepare: Prepare | None = None
) -> list[Outcome]:
    """Judge each split at the point chosen by ``inner_folds`` of its training rows.

    With ``prepare``, the features of each split are prepared from its training rows.
    """
    X = task.scaled()
    features = prepare or (lambda train: X)
    return [
        choose_and_judge(task, features(split[0]), split, inner_folds, derive(seed, "inner", i))
        for i, split in enumerate(steps(splits, "outer folds", task.on_step))
    ]


#: The outer folds are those of ``published`` for the same seed, so that the two differ by the selection alone.
nested = register(
    Protocol(
        "nested",
        "k-fold cross-validation, the parameters chosen by cross-validation inside each training part",
        fold_splits,
        _judge,
        settings={"folds": 10, "inner_folds": 10},
        seed_group="folds",
        words=(
            "stratified nested {folds}-fold cross-validation, the parameters chosen by {inner_folds}-fold "
            "cross-validation inside each training part"
        ),
    )
)
