"""Fitting the machine that a search chose, and gathering what the search saw of it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

from mcls.evaluation.conformal import ConformalSets
from mcls.evaluation.grid_result import GridResult
from mcls.evaluation.metrics import ERROR
from mcls.evaluation.permutations import Decide, permutation_test
from mcls.evaluation.protocols import Outcome
from mcls.evaluation.scoring import mean_over_folds
from mcls.evaluation.task import Task
from mcls.models import grids
from mcls.models.candidates import Candidate, certifies
from mcls.models.closeness import closeness_notes
from mcls.models.contest import Judged, Standing
from mcls.models.selected import Selection
from mcls.models.training_rows import Say, TrainingRows
from mcls.solvers.calibration import DECIDE, calibrate
from mcls.specs import format_spec, parse_spec
from mcls.threads import blas_threads, shared_by

Array = np.ndarray

# Folds that are left out one by one where a map is fitted; those of a search are put together to these.
_MAP_FOLDS = 5


def judged_at_best(found: GridResult, task: Task) -> Judged:
    """The scores at the chosen point of a search, to be judged by its folds; rows in the order of ``tested``."""
    tested, order = in_order(found)
    folds = np.repeat(np.arange(len(found.tests)), [len(test) for test in found.tests])[order]
    F, y = np.concatenate(found.scores[found.best])[order], task.y[tested]
    w = None if task.weights is None else task.weights[tested]
    return Judged(F, y, folds, _map_folds(found, tested), w)


def in_order(found: GridResult) -> tuple[Array, Array]:
    """The rows that folds test, in order, and where they are among the test rows of fold after fold."""
    tested = np.concatenate(found.tests)
    order = np.argsort(tested, kind="stable")
    return tested[order], order


def finish(
    candidate: Candidate,
    data: TrainingRows,
    found: GridResult,
    outcomes: Sequence[Sequence[Outcome]] | None,
    standing: Standing | None,
    *,
    calibration: str | None,
    permutations: int = 0,
    say: Say | None,
    advice: str,
) -> Selection:
    """Fit the chosen point to all rows.

    ``outcomes`` are those of nested folds, where they were asked for, and ``standing`` says what decides the class and
    gives probabilities, where it was asked for.
    """
    first: dict[str, list[Any]] = candidate.task.grids[0]
    grid = {
        name: sorted({point[name] for point in found.points}) if name in candidate.ladders else values
        for name, values in first.items()
    }
    # Of a list of values that holds for any data, the ends are not an edge.
    entry = candidate.entry
    ranged = {n: d for n, d in entry.smoother.items() if isinstance(entry.grid[n], str)}
    remarks = grids.remarks(found.best_point, grid, candidate.ladders, ranged, candidate.machine, advice)
    if say is not None:
        for text in remarks:
            say(text)
    if candidate.task.on_step is not None:
        candidate.task.on_step("fitting to all rows", 0, None)
    estimator = candidate.estimator.set_params(**found.best_point)
    if calibration is not None:
        estimator.set_params(calibration=None)  # the scores that calibrate are known already
    weights = {} if data.weights is None else {"sample_weight": data.weights}
    with shared_by(os.cpu_count() or 1) if certifies(estimator, len(data.X)) else nullcontext():
        estimator.fit(data.table, data.classes[data.codes], **weights)
    remarks += closeness_notes(estimator, data, found, say)
    tested, order = in_order(found)
    names = [metric.name for metric in candidate.task.metrics]
    codes = np.concatenate([codes[found.best] for codes in found.fold_predictions])[order]
    fold_errors, values = found.fold_errors[found.best], found.best_values
    if standing is not None and standing.decides:
        codes, fold_errors, values = standing.predictions, standing.fold_values[ERROR.name], standing.values
    made = Selection(
        machine=candidate.machine,
        estimator=estimator,
        results=found.frame(),
        grid=grid,
        extended=grid != first,
        best_params=found.best_point,
        error=float(values[ERROR.name]),
        spread=float(fold_errors.std()),
        rows=data.rows,
        tested=data.rows[tested],
        predictions=data.classes[codes],
        folds=len(found.tests),
        n_independent=data.n_independent,
        metric=names[0],
        metrics={name: values[name] for name in names},
        costs=candidate.task.metrics[0].parameters.get("costs"),
        notes=[*data.notes, *remarks],
    )
    if outcomes is not None:
        every = [outcome for part in outcomes for outcome in part]
        errors = [outcome.error for outcome in every]
        of_folds = {name: np.array([[outcome.values[name] for outcome in every]]) for name in names}
        first_part = outcomes[0]
        P = [outcome.probabilities for outcome in first_part if outcome.probabilities is not None]
        made = replace(
            made,
            nested_error=float(np.mean(errors)),
            nested_spread=float(np.std(errors)),
            repeat_errors=[float(np.mean([outcome.error for outcome in part])) for part in outcomes],
            nested_predictions=data.classes[np.concatenate([o.predictions for o in first_part])[order]],
            nested_probabilities=np.concatenate(P)[order] if len(P) == len(first_part) else None,
            nested_metrics={name: float(mean_over_folds(of)[0]) for name, of in of_folds.items()},
            nested_machines=dict(Counter(outcome.machine for outcome in every if outcome.machine)),
        )
    if permutations:
        error = made.error if made.nested_error is None else made.nested_error
        settings: dict[str, Any] = {"seed": data.seed, "observed": error, "on_step": candidate.task.on_step}
        settings |= {"decide": _decide(candidate, standing), "prepare": data.prepare_searched}
        with blas_threads(1):
            chance = permutation_test(candidate.task, data.splits, found.best_point, permutations, **settings)
        made = replace(made, chance=chance)
    if calibration is not None:
        assert standing is not None
        assert standing.probabilities is not None
        estimator.set_params(calibration=DECIDE if standing.decides else calibration)
        estimator.probability_map_ = standing.probability_map
        y, w = data.codes[made.tested], None if data.weights is None else data.weights[made.tested]
        made = replace(
            made,
            machine=spec_with(candidate, standing),
            probabilities=standing.probabilities,
            conformal=ConformalSets.fit(standing.probabilities, y, w),
        )
    return made


def spec_with(candidate: Candidate, standing: Standing) -> str:
    """The machine as it would be named to get it again, with the map that decides."""
    name, options = parse_spec(candidate.machine)
    return format_spec(name, {**options, "calibration": DECIDE}) if standing.decides else candidate.machine


def _decide(candidate: Candidate, standing: Standing | None) -> Decide | None:
    """What makes classes of out-of-fold scores where that is not the largest score: a map fitted to these scores."""
    metric, by_map = candidate.task.metrics[0], standing is not None and standing.decides
    if not by_map and metric.decide is None:
        return None
    weights, kind = candidate.task.weights, DECIDE if by_map else "temperature"

    def decide(F: Array, y: Array, folds: Array) -> Array:
        P = calibrate(F, y, kind, weights, folds % _MAP_FOLDS)[1]
        return P.argmax(axis=1) if by_map else metric.decided(P)

    return decide


def _map_folds(found: GridResult, tested: Array) -> Array | None:
    """The fold of each tested row for the fit of a map, at most ``_MAP_FOLDS``: those of the search, put together.

    Rows that stay together in the search stay together here, and so does a row that several folds test.
    """
    fold_of = np.zeros(found.n_rows, dtype=np.intp)
    for k, test in enumerate(found.tests):
        fold_of[test] = k % _MAP_FOLDS
    folds = np.unique(fold_of[tested], return_inverse=True)[1]
    return folds if folds.any() else None
