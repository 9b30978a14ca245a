"""Choosing a machine's parameters by exact cross-validation, then fitting it: ``mcls.select``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from mcls.errors import McLsError
from mcls.evaluation.conformal import ConformalSets
from mcls.evaluation.costs import check_costs
from mcls.evaluation.folds import EQUAL_ROWS
from mcls.evaluation.grid import OnStep
from mcls.evaluation.grid_result import GridResult
from mcls.evaluation.metrics import ERROR, Metric, read_metrics
from mcls.evaluation.permutations import (
    PermutationResult,
    check_partition,
    check_permutations,
    permutation_test,
)
from mcls.evaluation.prepared_folds import Prepare
from mcls.evaluation.protocols import Outcome
from mcls.evaluation.scoring import mean_over_folds
from mcls.machines.base import BaseMachine, parameter_checks
from mcls.models import grids
from mcls.models.candidates import Candidate, Say, TrainingRows, most_rows
from mcls.models.closeness import closeness_notes
from mcls.models.contest import Standing, chosen_inside, standings
from mcls.solvers.calibration import DECIDE
from mcls.specs import format_spec, parse_spec

Array = np.ndarray

#: How a machine and a grid are given, in Python and on the command line.
IN_PYTHON = 'machine="{machine}", grid="{grid}"'
AS_FLAGS = "--machine {machine} --grid {grid}"


class OutOfFold(NamedTuple):
    """What folds said of rows that they were not trained on: all that is shown of a selection comes from here."""

    rows: Array  # (m,)
    predictions: Array  # (m,) labels
    probabilities: Array | None  # (m, ℓ), each from a map that was fitted without the row
    nested: bool  # whether the parameters were chosen inside each fold


@dataclass(frozen=True, repr=False)
class Selection:
    """A fitted machine and how it was chosen.

    Attributes
    ----------
    estimator : fitted machine
        Trained on all rows with the chosen parameters.
    results : DataFrame
        One row per grid point: its parameters, ``error`` (mean over the folds), ``spread`` (standard deviation over
        the folds), the means of other metrics, ``rank``, and the metric that chooses on each fold.
    best_params : dict
        The chosen point.
    grid : dict
        The values tried of each parameter. Where the automatic grid was extended (``extended``), not every
        combination of them was: ``results`` lists the points.
    error, spread : float
        Of the chosen point, measured on ``rows``. Optimistic, since the folds that chose it also judge it.
    metric, metrics : str, dict
        The metric that chose the point, and the mean over the folds of each that was asked for.
    nested_error, nested_spread : float or None
        The same with the point chosen inside each fold, where it was asked for.
    nested_metrics : dict
        So too every metric that was asked for.
    nested_machines : dict
        How many folds chose which machine, where that was chosen inside each fold too.
    rows : array
        The rows that the search used, in order; all, unless there are too many.
    n_independent : int
        How many rows those are, a group of rows counted once: what an interval of the error rests on.
    tested, predictions : arrays
        Rows that folds test and their classes out of fold at the chosen point: each of ``rows`` once, in order,
        unless folds of your own leave rows out or test some of them several times.
    nested_predictions : array or None
        The same with the point chosen inside each fold; of several repetitions, those of the first.
    nested_probabilities : array (m, ℓ) or None
        With a calibration, those of the nested predictions: the map of a fold is fitted to the scores of the folds
        that chose its point, none of which has seen the fold. None where the folds are index arrays of your own.
    repeat_errors : list of float
        The nested error of each repetition: what the choice of folds is worth.
    probabilities : array (m, ℓ) or None
        With a calibration, those of the tested rows, each from a map that was fitted without the row.
    chance : PermutationResult or None
        The test of the chosen point against chance, where permutations were asked for: the error observed is the
        nested one, if there is one.
    conformal : ConformalSets or None
        With a calibration, what sets of classes with a wanted coverage are made from.
    costs : array or None
        The cost matrix by which the class is decided, where the metric ``cost`` chose.
    notes : list of str
        What was decided on the way.
    """

    machine: str
    estimator: Any
    results: pd.DataFrame
    grid: dict[str, list[Any]]
    extended: bool
    best_params: dict[str, Any]
    error: float
    spread: float
    rows: Array | range
    tested: Array
    predictions: Array
    folds: int
    n_independent: int
    nested_error: float | None = None
    nested_spread: float | None = None
    nested_predictions: Array | None = None
    nested_probabilities: Array | None = None
    repeat_errors: list[float] = field(default_factory=list)
    metric: str = ERROR.name
    metrics: dict[str, float] = field(default_factory=dict)
    nested_metrics: dict[str, float] = field(default_factory=dict)
    nested_machines: dict[str, int] = field(default_factory=dict)
    probabilities: Array | None = None
    chance: PermutationResult | None = None
    conformal: ConformalSets | None = None
    costs: Array | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def out_of_fold(self) -> OutOfFold:
        """The predictions to show: nested ones, where they were asked for."""
        if self.nested_predictions is not None:
            return OutOfFold(self.tested, self.nested_predictions, self.nested_probabilities, True)
        return OutOfFold(self.tested, self.predictions, self.probabilities, False)

    def __repr__(self) -> str:
        nested = "" if self.nested_error is None else f", nested_error={self.nested_error:.4g}"
        return (
            f"Selection({self.machine}: error={self.error:.4g}{nested} over {self.folds} folds of "
            f"{len(self.rows)} rows and {len(self.results)} points, best_params={self.best_params})"
        )


def select(
    X: Any,
    y: Any,
    machine: str = "oneLSM",
    grid: str | Mapping[str, Any] = "auto",
    *,
    folds: Any = 10,
    seed: int = 0,
    nested: bool = False,
    repeats: int = 1,
    permutations: int = 0,
    groups: Any = EQUAL_ROWS,
    metric: str | Metric | Sequence[str | Metric] = ERROR.name,
    costs: Any = None,
    calibration: str | None = None,
    sample_weight: Any = None,
    prepare: Prepare | None = None,
    say: Say | None = None,
    on_step: OnStep | None = None,
    advice: str = IN_PYTHON,
) -> Selection:
    """Choose the parameters of a machine by cross-validation over a grid, and fit it to all rows.

    Parameters
    ----------
    X : array-like (n, d)
        Finite numbers, scaled as you wish them compared (``mcls fit`` scales to [−1, 1]). The fitted estimator
        keeps the column names of a DataFrame and refuses others.
    y : array-like (n,)
        Class labels.
    machine : str
        A name of the registry with options: ``"voSVM:labelbook=pm1"``, ``"oneLSM:class_weight=balanced"``. An option
        given is not tuned.
    grid : "auto", "paper", ranges or dict
        ``auto``: widths from 1/16 to 4 times the median distance between rows, and regularisation from 2^-10 to 2^4
        (2^-4 to 2^10 where smaller is smoother), extended around the best point until it lies inside or at a limit:
        1/128 and 32 times the median distance, 2^-30 and 2^14 (2^-14 and 2^30). ``paper``: the registry's grid.
        Ranges, as in ``"gamma=2^-8..2^2,sigma=2^-2..2^6"``, or parameter → values take the place of the registry's.
    folds : int, "loo", "logo", splitter or list of (train, test)
        Stratified folds, one fold per row, one fold per group, a splitter of scikit-learn, or index arrays, which may
        overlap.
    seed : int
        Everything random comes from it.
    nested : bool
        Also estimate the error honestly: each fold is judged at the point that the other folds choose, exactly and for
        three to four times the price of the search where the machine's algebra allows. The automatic grid, with its
        extension, comes from all rows all the same, and so does any scaling done before, unless ``prepare`` does it.
        Inside index arrays of your own, ten stratified folds choose.
    repeats : int
        Partitions that the nested error is averaged over.
    permutations : int
        Also test the machine at the chosen point against chance, by dealing the classes anew so many times
        (``mcls.evaluation.permutations``): ``chance`` of the result has the p-value.
    groups : "equal rows", None or array-like (n,)
        Rows of one group are never split; by default those that are equal: no row is judged by its own copy.
    metric : str or list of str
        What chooses the point: ``error``, ``balanced-error``, ``macro-f1``, ``kappa``, ``log-loss``, ``brier``,
        ``auc``, ``top2-error`` or ``cost``; of a list, the first. The others are reported.
    costs : array-like (ℓ, ℓ), optional
        Of the metric ``cost``: rows the true and columns the predicted class, in sorted order. Where ``cost`` chooses,
        it also decides the class out of fold: the one with the least expected cost.
    calibration : None, "temperature", "matrix", "auto" or "decide"
        Give the estimator ``predict_proba``, calibrated on the out-of-fold scores that the search has at the chosen
        point: no further fit. "auto" takes the map with the smaller cross-validated log-loss; "decide" is the matrix
        map, and the class is the one that it makes most probable.
    sample_weight : array-like (n,), optional
        Weights of the rows, in training and in every metric: a row of weight 2 counts as two rows.
    prepare : callable, optional
        Gives the features (n, d) of all rows, scaled, encoded or imputed by what the training rows say, whose numbers
        (m,) it is given. Each outer fold of the nested error then prepares its features for itself, at the price of
        one search per fold. ``X`` is what all rows give.
    say : callable, optional
        Told each note as it is made, for instance ``print``.
    on_step : callable, optional
        Told what is being done, how much of it, and of how much: ``("grid points", 9, 81)``.
    advice : str
        How notes write a machine and a grid to try next.

    Returns
    -------
    Selection

    Notes
    -----
    The automatic grid is searched on growing samples, and what they leave of it on all rows
    (``mcls.models.growing``). oneLSM and ovA are searched on up to 20,000 rows, and with landmarks on any number;
    other machines, and grids of your own, on a seeded stratified sample where there are more than 2500 rows: the
    error is measured there, and the fit is to all rows. Where the kernel matrix of all rows does not fit in memory,
    oneLSM is cross-validated and fitted by ``solver="nystrom"``.

    Examples
    --------
    >>> from mcls import select
    >>> from mcls.data import load_dataset
    >>> iris = load_dataset("iris")
    >>> found = select(iris.X, iris.y, grid={"gamma": [0.1, 1.0], "sigma": [0.5, 2.0]})
    >>> found.best_params
    {'sigma': 2.0, 'gamma': 1.0}
    >>> found.results[["sigma", "gamma", "rank"]].iloc[0].tolist()
    [2.0, 1.0, 1.0]
    """
    most = most_rows(machine, grid)  # refuses a wrong name before the rows are looked at
    metrics = check_metrics(metric, costs, y)
    settings: dict[str, Any] = {"folds": folds, "seed": seed, "groups": groups, "sample_weight": sample_weight}
    settings |= {"prepare": prepare}
    data = TrainingRows.read(X, y, say=say, most=most, **settings)
    check_chance(data, permutations)
    candidate = Candidate.read(data, machine, grid, metrics, on_step)
    calibration = check_calibration(candidate, calibration)
    partitions = data.partitions(repeats) if nested else []
    keep_scores = calibration is not None
    found, outcomes = candidate.search(data, keep_scores, partitions)
    if nested and outcomes is None:
        outcomes = candidate.nested(data, found, partitions, keep_scores)
    standing = None
    if calibration is not None:
        (standing,) = standings_of(found, data, metrics, calibration, either=False)
        y, w = data.codes[data.rows], data.weights_of_search
        if outcomes is not None and all(o.inside is not None for part in outcomes for o in part):
            mapped = [
                chosen_inside([part], [candidate.machine], y, w, metrics, calibration, False) for part in outcomes
            ]
            if not standing.decides:  # the classes and what the search said of them stay
                mapped = [
                    [replace(o, probabilities=m.probabilities) for o, m in zip(*parts)]
                    for parts in zip(outcomes, mapped)
                ]
            outcomes = mapped
    asked: dict[str, Any] = {
        "calibration": calibration,
        "permutations": permutations,
        "say": say,
        "advice": advice,
    }
    return finish(candidate, data, found, outcomes, standing, **asked)


def standings_of(
    found: GridResult, data: TrainingRows, metrics: Sequence[Metric], calibration: str | None, either: bool = True
) -> list[Standing]:
    """The ways to decide at the chosen point of a search, judged by its folds; rows in the order of ``tested``."""
    tested, order = in_order(found)
    folds = np.repeat(np.arange(len(found.tests)), [len(test) for test in found.tests])[order]
    F, y = np.concatenate(found.scores[found.best])[order], data.codes[data.rows[tested]]
    w = None if data.weights is None else data.weights[data.rows[tested]]
    return standings(F, y, folds, _map_folds(found, tested), w, metrics, calibration, either)


def in_order(found: GridResult) -> tuple[Array, Array]:
    """The rows that folds test, in order, and where they are among the test rows of fold after fold."""
    tested = np.concatenate(found.tests)
    order = np.argsort(tested, kind="stable")
    return tested[order], order


def check_chance(data: TrainingRows, permutations: int) -> None:
    """Refuse, before the work begins, a test against chance that cannot be made; 0 permutations ask for none."""
    if permutations != 0:
        check_permutations(permutations)
        check_partition(data.splits, len(data.rows))


def check_metrics(metric: Any, costs: Any, y: Any) -> tuple[Metric, ...]:
    """The metrics that a user names, with a cost matrix that fits the classes."""
    return read_metrics(metric, None if costs is None else check_costs(costs, len(np.unique(np.asarray(y)))))


def check_calibration(candidate: Candidate, calibration: str | None) -> str | None:
    """The calibration that is wanted, as an argument or as an option of the machine."""
    if not isinstance(candidate.estimator, BaseMachine):
        if calibration is not None:
            raise McLsError(
                f"{candidate.machine} is scikit-learn's and is not calibrated here; use its CalibratedClassifierCV"
            )
        return None
    if "calibration" not in parameter_checks(type(candidate.estimator)):
        return None  # a machine of somebody's own that does not take the parameter has no probabilities
    wanted = candidate.estimator.calibration if calibration is None else calibration
    parameter_checks(type(candidate.estimator))["calibration"]("calibration", wanted)
    return wanted


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
        with threadpool_limits(1):
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


def _map_folds(found: GridResult, tested: Array) -> Array | None:
    """The fold of each tested row for the fit of a map, at most five: those of the search, put together.

    Rows that stay together in the search stay together here, and so does a row that several folds test.
    """
    fold_of = np.zeros(found.n_rows, dtype=np.intp)
    for k, test in enumerate(found.tests):
        fold_of[test] = k % 5
    folds = np.unique(fold_of[tested], return_inverse=True)[1]
    return folds if folds.any() else None
