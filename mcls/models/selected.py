"""What a selection found: the fitted machine, its errors and how it was chosen."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from mcls.evaluation.conformal import ConformalSets
from mcls.evaluation.metrics import ERROR
from mcls.evaluation.permutations import (
    PermutationResult,
)

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
