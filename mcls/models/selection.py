"""Choosing a machine's parameters by exact cross-validation, then fitting it: ``mcls.select``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mcls.errors import McLsError
from mcls.evaluation.costs import check_costs
from mcls.evaluation.folds import EQUAL_ROWS
from mcls.evaluation.grid import OnStep
from mcls.evaluation.metrics import ERROR, Metric, read_metrics
from mcls.evaluation.permutations import (
    check_partition,
    check_permutations,
)
from mcls.evaluation.task import Prepare
from mcls.machines.base import BaseMachine, parameter_checks
from mcls.models.candidates import Candidate, most_rows
from mcls.models.contest import chosen_inside, standings
from mcls.models.finishing import finish, judged_at_best
from mcls.models.searching import CandidateSearch
from mcls.models.selected import IN_PYTHON, Selection
from mcls.models.training_rows import Say, TrainingRows
from mcls.solvers.remembered import solutions_remembered

Array = np.ndarray


@solutions_remembered()
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
        a few times the price of the search where the machine's algebra allows. The automatic grid, with its
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
    keep_scores = calibration is not None or candidate.task.near > 0
    found, outcomes = CandidateSearch(candidate, data, keep_scores, partitions).run()
    if nested and outcomes is None:
        outcomes = candidate.nested(data, found, partitions, keep_scores)
    standing = None
    if calibration is not None:
        ((standing,),) = standings([judged_at_best(found, candidate.task)], metrics, calibration, either=False)
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
