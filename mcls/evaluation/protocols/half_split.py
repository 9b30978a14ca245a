"""Half of each class for training (xue2013), the point chosen by cross-validation inside the training half."""

from __future__ import annotations

from mcls.evaluation.folds import class_half_split
from mcls.evaluation.protocols.base import (
    Fold,
    Protocol,
    Result,
    Rows,
    Settings,
    inner_search,
    judge_split,
    metric_fields,
    plain,
    register,
)
from mcls.evaluation.task import Task
from mcls.packing import pack
from mcls.seeds import derive


def _splits(rows: Rows, seed: int, settings: Settings) -> list[Fold]:
    return [class_half_split(rows.y, seed, rows.groups)]


def _judge(task: Task, seed: int, settings: Settings, splits: list[Fold]) -> Result:
    """``oracle_error`` is the *test* error at the best point of the grid there: what a choice with an eye on it would
    report. It is not an estimate of anything, only the other reading of a published figure.
    """
    X = task.scaled()
    train, test = splits[0]
    inner_folds, inner_seed = settings["inner_folds"], derive(seed, "inner")
    inner = inner_search(task, X, train, inner_folds, inner_seed)
    judged = judge_split(task, X, splits[0], inner_folds, inner_seed)  # every point of the grid on the test half
    at = judged.points.index(inner.best_point)
    return {
        "error": float(judged.errors[at]),
        "chosen": [plain(inner.best_point)],
        "predictions": pack(judged.predictions[at]),
        "inner_error": float(inner.best_error),
        "oracle_error": float(judged.best_error),
        "oracle_point": plain(judged.best_point),
        "train": len(train),
        "test": len(test),
        **metric_fields(task, [{name: float(values[at, 0]) for name, values in judged.fold_values.items()}]),
        **task.facts(X, splits, inner.best_point),
    }


half_split = register(
    Protocol(
        "half-split",
        "half of each class for training, the other half for testing, the parameters chosen inside the training half",
        _splits,
        _judge,
        settings={"inner_folds": 5},
        words=(
            "a stratified random half of each class for training and the rest for testing, the parameters "
            "chosen by {inner_folds}-fold cross-validation inside the training half"
        ),
    )
)
