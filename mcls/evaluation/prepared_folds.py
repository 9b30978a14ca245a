"""Nested cross-validation in which each outer fold prepares the features for itself: scales, encodes and imputes.

A model is made in three steps: the features are prepared from the rows there are, the parameters are chosen by folds of
these rows, and a machine is fitted. The honest error of the whole leaves out a fold S before the *first* step. What is
learnt from the other rows is applied to S, and the other folds choose the point by machines that share one kernel per
width, as those of a search of all rows do. One outer fold then costs what that search costs; nothing is shared between
outer folds, whose features differ.
"""

from __future__ import annotations

from collections.abc import Sequence

from mcls.evaluation.folds import Fold
from mcls.evaluation.grid import steps
from mcls.evaluation.protocols.base import Outcome
from mcls.evaluation.protocols.nested_folds import NestedFolds
from mcls.evaluation.task import Prepare, Task


def prepared_fold_outcomes(
    task: Task,
    partitions: Sequence[Sequence[Fold]],
    prepare: Prepare,
    n_threads: int = 1,
    keep_scores: bool = False,
) -> list[list[Outcome]]:
    """What ``nested_fold_outcomes`` gives, with the features of each outer fold prepared from its training rows."""
    singles = [NestedFolds.of([part], len(task.y)).single(i) for part in partitions for i in range(len(part))]
    judged = []
    for single in steps(singles, "outer folds", task.on_step):
        found = task.search(
            prepare(single.folds[0][0]),
            single.folds,
            calibrators=single.calibrators() if task.needs_probabilities else None,
            keep_scores=single.choices() if keep_scores else False,
            n_threads=n_threads,
        )
        judged.append(single.outcomes(found, task)[0][0])
    rest = iter(judged)
    return [[next(rest) for _ in part] for part in partitions]
