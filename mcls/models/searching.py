"""The search of one candidate: on growing samples as far as they are worth their time, then on all rows of the search.

Whoever compares several machines takes them through the samples side by side, and completes those that are left.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np

from mcls.evaluation.folds import Fold, make_folds
from mcls.evaluation.grid_result import GridResult
from mcls.evaluation.protocols import Outcome
from mcls.evaluation.protocols.nested_folds import NestedFolds, search_with_nested
from mcls.evaluation.task import Task
from mcls.machines.foreign import as_machine
from mcls.models import grids
from mcls.models.candidates import Candidate, as_searched
from mcls.models.growing import OPERATIONS, Growth
from mcls.models.training_rows import TrainingRows, sample_rows
from mcls.seeds import derive
from mcls.solvers import inverse
from mcls.threads import blas_threads


class CandidateSearch:
    """Cross-validate the grid of a candidate on the rows of a search; an automatic one is narrowed down and extended.

    Parameters
    ----------
    candidate : Candidate
        The machine.
    data : TrainingRows
        The rows and their folds.
    keep_scores : bool
        Keep the scores of the best points, on samples as on all rows.
    partitions : list of partitions
        Find beside what ``candidate.nested`` would find: the folds of the search and the nested ones share every
        decomposition, and the former alone say how the grid goes on.
    """

    def __init__(
        self,
        candidate: Candidate,
        data: TrainingRows,
        keep_scores: bool = False,
        partitions: Sequence[Sequence[Fold]] = (),
    ) -> None:
        self._candidate, self._data, self._keep_scores = candidate, data, keep_scores
        task = candidate.task
        self._nested = NestedFolds.of(partitions, len(task.y)) if partitions and data.prepare is None else None
        self._parts: list[GridResult] = []  # of the nested folds
        self._samples: dict[int, tuple[Task, list[Fold]]] = {}
        self._growth = Growth(task.grids[0], candidate.ladders, self._sweep, candidate.entry.smoother)

    def sample(self, size: int) -> tuple[Task, GridResult]:
        """Search a sample of so many rows, larger than the ones before; and what was judged there."""
        candidate, data = self._candidate, self._data
        task = candidate.task.of_rows(sample_rows(candidate.task.y, size, data.seed))
        task = replace(task, estimator=as_searched(candidate.estimator, candidate.task.grids[0], len(task.y)))
        folds = make_folds(task.y, data.inner_folds, derive(data.seed, "folds"), task.groups)
        self._samples[size] = task, folds
        return task, self._growth.sample(size)

    def complete(self, rivals: int = 1) -> tuple[GridResult, list[list[Outcome]] | None]:
        """Search all rows, and give the nested outcomes as well; of so many rivals each may take as much."""
        candidate = self._candidate
        task = candidate.task
        if self._samples:
            most = _affordable(task.estimator, len(task.y), self._nested is not None)
            found = self._growth.complete(max(1, most // rivals))
        else:
            found = self._sweep(None, task.grid)
            if candidate.ladders:
                smoother = candidate.entry.smoother
                found = grids.extend(found, candidate.ladders, lambda grid: self._sweep(None, grid), smoother)
        if task.near:
            tests = np.concatenate(found.tests)
            kept = {i: np.concatenate(scores) for i, scores in found.scores.items()}
            found = replace(found, best=task.settled(found, range(len(found.tests)), kept, tests))
        if self._nested is None:
            return found, None
        return found, self._nested.outcomes(reduce(GridResult.joined, self._parts), task)

    def run(self) -> tuple[GridResult, list[list[Outcome]] | None]:
        """The samples of the candidate, one after the other, then all rows."""
        for size in self._candidate.sizes:
            self.sample(size)
        return self.complete()

    def _sweep(self, size: int | None, grid: Any) -> GridResult:
        """Search some grids on a sample, or on all rows with the nested folds."""
        task, folds = self._samples[size] if size else (self._candidate.task, self._data.splits)
        task = replace(task, grid=grid)
        threads = os.cpu_count() or 1
        # Widths side by side on one BLAS thread each: short calls with many threads are slower.
        with blas_threads(1):
            if size or self._nested is None:
                keep: dict[str, Any] = {"keep_scores": self._keep_scores, "exact_scores": not size}
                return task.search(task.X, folds, n_threads=threads, on_step=task.on_step, **keep)
            found, part = search_with_nested(task, task.X, folds, self._nested, self._keep_scores, threads)
        self._parts.append(part)
        return found


def _affordable(estimator: Any, n: int, nested: bool) -> int:
    """How many points of an automatic grid can be searched on n rows."""
    with_landmarks = as_machine(estimator).folds_together
    exact = (inverse.OPERATIONS + inverse.OF_PAIRS * nested) * n**3
    cost = 2 * n * estimator.n_landmarks**2 if with_landmarks else exact
    return max(1, int(OPERATIONS / cost))
