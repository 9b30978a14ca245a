"""One replication of 5×2cv: each half is learned, its point chosen by CV inside it, and judged on the other.

Five results with five seeds feed ``statistics.ftest_5x2cv``; the same seeds give every machine the same halves, so
any two machines compare from results computed apart.
"""

from __future__ import annotations

import numpy as np

from mcls.evaluation.folds import stratified_halves
from mcls.evaluation.protocols.base import (
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


def _splits(rows: Rows, seed: int, settings: Settings) -> list[Fold]:
    first, second = stratified_halves(rows.y, seed, rows.groups)
    return [(first, second), (second, first)]


def _judge(task: Task, seed: int, settings: Settings, splits: list[Fold]) -> Result:
    """``errors`` holds both halves' errors."""
    X = task.scaled()
    outcomes = [
        choose_and_judge(task, X, split, settings["inner_folds"], derive(seed, "inner", i))
        for i, split in enumerate(splits)
    ]
    return {
        "error": float(np.mean([o.error for o in outcomes])),
        "errors": [o.error for o in outcomes],
        "chosen": [o.point for o in outcomes],
        "predictions": pack(merged(outcomes, len(task.y))),
        "inner_errors": [o.inner_error for o in outcomes],
        **metric_fields(task, [o.values for o in outcomes]),
    }


five_by_two = register(
    Protocol(
        "5x2cv",
        "five replications of two-fold cross-validation, the parameters chosen inside each half",
        _splits,
        _judge,
        settings={"inner_folds": 10},
        replicates=lambda settings: 5,
        fixed=True,
        words=(
            "five replications of stratified two-fold cross-validation (5×2cv), the parameters chosen by "
            "{inner_folds}-fold cross-validation inside each half"
        ),
    )
)
