"""The honest estimate at the price of a few sweeps: the inner folds of an outer fold are the other outer folds.

For an outer fold S the parameters are chosen by the folds R ≠ S of the same partition, each predicted by machines that
learn from all rows but R ∪ S, and S is judged at that point by the machine that learns from all rows but S. All of
these are folds of *one* grid search, so one decomposition per kernel width serves them all, and so do the folds of
further partitions (``repeats``). The machines without both R and S give the scores of R for the choice inside S and
those of S for the choice inside R: k(k−1)/2 of them and k more (``mcls.solvers.spectrum`` says what that costs).

A model is made in three steps: the features are prepared from the rows there are, the parameters are chosen by folds of
these rows, and a machine is fitted. The honest error of the whole leaves out a fold S before the *first* step. With
``prepare``, what is learnt from the other rows is applied to S, and the other folds choose the point by machines that
share one kernel per width. One outer fold then costs what a search of all rows costs; nothing is shared between outer
folds, whose features differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mcls.errors import McLsError
from mcls.evaluation.grid import FoldChoice, OnStep, steps
from mcls.evaluation.grid_result import GridResult
from mcls.evaluation.protocols.base import (
    Fold,
    Inside,
    Outcome,
    Protocol,
    Result,
    Rows,
    Settings,
    fold_splits,
    merged,
    metric_fields,
    partitions_of,
    plain,
    register,
)
from mcls.evaluation.scoring import partition_calibrators
from mcls.evaluation.task import Prepare, Task
from mcls.packing import pack

Array = np.ndarray

#: Every two folds are left out together: with more folds than this there are too many pairs.
MOST_FOLDS = 100


@dataclass(frozen=True)
class NestedFolds:
    """The folds of nested cross-validation as one list, and what each of them is for.

    Attributes
    ----------
    folds : list of (train, test)
        The outer folds of all partitions first, then the inner ones.
    partitions : list of lists
        Places of the outer folds of each partition.
    inner : list of lists
        For each outer fold the places of its inner folds.
    """

    folds: list[Fold]
    partitions: list[list[int]]
    inner: list[list[int]]

    @classmethod
    def of(cls, partitions: Sequence[Sequence[Fold]], n: int) -> NestedFolds:
        """Nest the folds of one or more partitions of n rows."""
        outer = [fold for part in partitions for fold in part]
        folds = list(outer)
        places: list[list[int]] = []
        inner: list[list[int]] = []
        for part in partitions:
            if len(part) < 3:
                raise McLsError("nested folds choose by the other folds: give at least 3 of them")
            if len(part) > MOST_FOLDS:
                raise McLsError(
                    f"nested folds leave out every two folds together: give at most {MOST_FOLDS} folds, not "
                    f"{len(part)} ('protocol: nested' takes any number)"
                )
            places.append(list(range(len(inner), len(inner) + len(part))))
            for i, (train, _) in enumerate(part):
                inner.append(list(range(len(folds), len(folds) + len(part) - 1)))
                for j, (_, test) in enumerate(part):
                    if j != i:
                        kept = np.zeros(n, dtype=bool)
                        kept[train] = True
                        kept[test] = False
                        folds.append((np.flatnonzero(kept), test))
        return cls(folds, places, inner)

    def single(self, place: int) -> NestedFolds:
        """One outer fold with its inner ones alone."""
        inner = self.inner[place]
        folds = [self.folds[i] for i in (place, *inner)]
        return NestedFolds(folds, [[0]], [list(range(1, len(folds)))])

    @property
    def n_outer(self) -> int:
        """The number of outer folds, of all partitions together."""
        return len(self.inner)

    def calibrators(self) -> dict[int, list[int]]:
        """Fold → the folds whose scores fit its temperature: an outer one by its inner folds, those by each other."""
        found = dict(enumerate(self.inner))
        for inner in self.inner:
            found |= {place: [other for other in inner if other != place] for place in inner}
        return found

    def choices(self) -> list[FoldChoice]:
        """Each outer fold chooses by its inner folds, and wants their scores after its own."""
        return [FoldChoice(inner, [place, *inner]) for place, inner in enumerate(self.inner)]

    def outcomes(self, found: GridResult, task: Task) -> list[list[Outcome]]:
        """What each outer fold of each partition gives at the point that its inner folds choose."""
        keeps = len(found.kept) == self.n_outer and all(found.kept)
        judged = []
        for place, inner in enumerate(self.inner):
            kept = found.kept[place] if keeps else {}
            rows = np.concatenate([found.tests[i] for i in inner])
            of_inner = {i: np.concatenate(scores[1:]) for i, scores in kept.items()} if task.near else {}
            best = task.settled(found, inner, of_inner, rows)
            values = {name: float(of[best, place]) for name, of in found.fold_values.items()}
            error = float(found.fold_errors[best, inner].mean())
            codes = found.fold_predictions[place][best]
            point = plain(found.points[best])
            inside = self._inside(found, place, kept[best]) if kept else None
            judged.append(Outcome(found.tests[place], codes, values["error"], point, error, values, inside))
        return [[judged[place] for place in places] for places in self.partitions]

    def _inside(self, found: GridResult, place: int, scores: Sequence[Array]) -> Inside:
        tests = [found.tests[i] for i in self.inner[place]]
        folds = np.repeat(np.arange(len(tests)), [len(test) for test in tests])
        return Inside(scores[0], np.concatenate(tests), folds, np.concatenate(scores[1:]))


def search_with_nested(
    task: Task,
    X: Array,
    flat: Sequence[Fold],
    nested: NestedFolds,
    keep_scores: bool = False,
    n_threads: int = 1,
) -> tuple[GridResult, GridResult]:
    """One grid search over some folds and over nested ones, which share every decomposition: a result of each.

    Scores are exact. The two differ in what calibrates a fold where a metric needs probabilities, so a fold may be in
    both.
    """
    k = len(flat)
    calibrators = None
    if task.needs_probabilities:
        calibrators = partition_calibrators(k)
        calibrators |= {k + f: [k + by for by in others] for f, others in nested.calibrators().items()}
    choices = [FoldChoice(range(k), range(k))]
    choices += [FoldChoice([k + f for f in by], [k + f for f in keeps]) for by, keeps in nested.choices()]
    found = task.search(
        X,
        [*flat, *nested.folds],
        calibrators=calibrators,
        keep_scores=choices if keep_scores else False,
        exact_scores=True,
        n_threads=n_threads,
        on_step=task.on_step,
    )
    return (
        found.of_folds(slice(k), slice(1), task.smoother),
        found.of_folds(slice(k, None), slice(1, None), task.smoother),
    )


def nested_fold_outcomes(
    task: Task,
    partitions: Sequence[Sequence[Fold]],
    n_threads: int = 1,
    keep_scores: bool = False,
    prepare: Prepare | None = None,
) -> list[list[Outcome]]:
    """Judge a task by nested cross-validation on one or more partitions of its rows.

    Returns for each partition the outcome of each of its folds: its test rows, their predicted classes, every metric
    and the point chosen by the other folds. How far the partitions lie apart says what the choice of folds is worth.
    With ``prepare``, the features of each outer fold are prepared from its training rows.

    Examples
    --------
    >>> from mcls import OneLSM
    >>> from mcls.data import load_dataset
    >>> from mcls.evaluation.folds import make_folds
    >>> iris = load_dataset("iris")
    >>> task = Task(OneLSM(), iris.X, iris.y, {"gamma": [0.1, 1.0], "sigma": [0.5, 2.0]})
    >>> (outcomes,) = nested_fold_outcomes(task, [make_folds(iris.y, 10, seed=0)])
    >>> len(outcomes), outcomes[0].point["sigma"] in (0.5, 2.0)
    (10, True)
    """
    keep_scores = keep_scores or task.near > 0

    def judged(nested: NestedFolds, X: Array, on_step: OnStep | None) -> list[list[Outcome]]:
        calibrators = nested.calibrators() if task.needs_probabilities else None
        choices = nested.choices() if keep_scores else False
        settings: dict[str, Any] = {"keep_scores": choices, "n_threads": n_threads, "on_step": on_step}
        return nested.outcomes(task.search(X, nested.folds, calibrators=calibrators, **settings), task)

    nested = NestedFolds.of(partitions, len(task.y))
    if prepare is None:
        return judged(nested, task.scaled(), task.on_step)
    singles = map(nested.single, steps(range(nested.n_outer), "outer folds", task.on_step))
    outcomes = [judged(single, prepare(single.folds[0][0]), None)[0][0] for single in singles]
    return [[outcomes[place] for place in places] for places in nested.partitions]


def spread_of(outcomes: Sequence[Sequence[Outcome]]) -> list[float]:
    """The error of each partition: the mean over its folds."""
    return [float(np.mean([outcome.error for outcome in part])) for part in outcomes]


def _splits(rows: Rows, seed: int, settings: Settings) -> list[Fold]:
    folds = fold_splits(rows, seed, settings)
    NestedFolds.of(partitions_of(folds)[:1], len(rows.y))  # refuses too few or too many
    return folds


def _judge(task: Task, seed: int, settings: Settings, splits: list[Fold]) -> Result:
    """``errors`` holds the error of each repetition where there are several; ``predictions`` are those of the first."""
    repetitions = nested_fold_outcomes(task, partitions_of(splits))
    outcomes = [outcome for part in repetitions for outcome in part]
    errors = spread_of(repetitions)
    return {
        "error": float(np.mean(errors)),
        "chosen": [o.point for o in outcomes],
        "predictions": pack(merged(repetitions[0], len(task.y))),
        "fold_errors": [o.error for o in outcomes],
        "inner_errors": [o.inner_error for o in outcomes],
        **({"errors": errors} if len(errors) > 1 else {}),
        **metric_fields(task, [o.values for o in outcomes]),
    }


#: The outer folds are those of ``published`` for the same seed, so that the two differ by the selection alone.
nested_folds = register(
    Protocol(
        "nested-folds",
        "k-fold cross-validation, the parameters of each fold chosen by the other folds; exact, at the price of a few "
        "sweeps",
        _splits,
        _judge,
        settings={"folds": 10, "repeats": 1},
        seed_group="folds",
        words="stratified {folds}-fold cross-validation, the parameters of each fold chosen by the other folds",
    )
)
