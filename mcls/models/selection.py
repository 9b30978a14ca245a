"""Choosing a machine's parameters by exact cross-validation, then fitting it: ``mcls.select``."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_X_y
from threadpoolctl import threadpool_limits

from mcls.errors import McLsError, unknown_name
from mcls.evaluation import protocols
from mcls.evaluation.folds import EQUAL_ROWS, LEAVE_ONE_OUT, groups_of, make_folds, members, row_groups
from mcls.evaluation.grid import GridResult, OnStep, search
from mcls.evaluation.protocols import Task, hold_out_rows
from mcls.experiments.config import effective_grid
from mcls.experiments.specs import format_spec, parse_scalar, parse_spec
from mcls.kernels import squared_distances
from mcls.machines.registry import Machine, get_machine
from mcls.models.memory import available_bytes, exact_fit_bytes
from mcls.seeds import derive

Array = np.ndarray
Say = Callable[[str], None]

GRIDS = ("auto", "paper")
#: With more rows than this, parameters are chosen on a stratified sample of so many: a sweep costs 9n³ a width.
SWEEP_ROWS = 2500
#: Landmarks of a oneLSM whose kernel matrix does not fit.
LANDMARKS = 4000
#: Widths of the automatic grid, as powers of two times the median distance between two rows.
_WIDTHS = np.linspace(-4.0, 2.0, 9)
#: The other parameters, from the weakest regularisation to the strongest.
_STRENGTHS = np.arange(-10.0, 5.0, 2.0)


@dataclass(frozen=True)
class Selection:
    """A fitted machine and how it was chosen.

    Attributes
    ----------
    estimator : fitted machine
        Trained on all rows with the chosen parameters.
    results : DataFrame
        A row a grid point: its parameters, ``error`` (mean over the folds), ``spread`` (standard deviation over
        the folds), ``rank``, and the error of each fold.
    best_params : dict
        The chosen point.
    error, spread : float
        Of the chosen point. Optimistic, since the folds that chose it also judge it.
    nested_error, nested_spread : float or None
        The same with the point chosen inside each fold, where it was asked for.
    rows : array
        The rows that the search used, in order; all, unless there are too many.
    n_independent : int
        How many rows those are, a group of rows counted once: what an interval of the error rests on.
    predictions : array
        Out-of-fold class of each of those rows at the chosen point.
    notes : list of str
        What was decided on the way.
    """

    machine: str
    estimator: Any
    results: pd.DataFrame
    grid: dict[str, list[Any]]
    best_params: dict[str, Any]
    error: float
    spread: float
    rows: Array
    predictions: Array
    folds: int
    n_independent: int
    nested_error: float | None = None
    nested_spread: float | None = None
    notes: list[str] = field(default_factory=list)


def select(
    X: Any,
    y: Any,
    machine: str = "oneLSM",
    grid: str | Mapping[str, Any] = "auto",
    *,
    folds: int | str = 10,
    seed: int = 0,
    nested: bool = False,
    groups: Any = EQUAL_ROWS,
    say: Say | None = None,
    on_step: OnStep | None = None,
) -> Selection:
    """Choose the parameters of a machine by cross-validation over a grid, and fit it to all rows.

    Parameters
    ----------
    X : array-like (n, d)
        Finite numbers, scaled as you wish them compared (``mcls fit`` scales to [−1, 1]).
    y : array-like (n,)
        Class labels.
    machine : str
        A name of the registry with options: ``"voSVM:labelbook=pm1"``. An option given is not tuned.
    grid : "auto", "paper", ranges or dict
        ``auto``: widths from 1/16 to 4 times the median distance between rows, and regularisation from
        2^-10 to 2^4 (2^-4 to 2^10 where smaller is smoother). ``paper``: the registry's grid. Ranges, as in
        ``"gamma=2^-8..2^2,sigma=2^-2..2^6"``, or parameter → values take the place of the registry's.
    folds : int or "loo"
        Stratified folds, or one fold a row.
    seed : int
        Everything random comes from it.
    nested : bool
        Also estimate the error with a search inside each outer fold: ``folds`` times the work. The automatic
        grid comes from all rows all the same, and so does any scaling done before.
    groups : "equal rows", None or array-like (n,)
        Rows of one group are never split; by default those that are equal: no row is judged by its own copy.
    say : callable, optional
        Told each note as it is made, for instance ``print``.
    on_step : callable, optional
        Told what is being done, how much of it, and of how much: ``("grid points", 9, 81)``.

    Returns
    -------
    Selection

    Notes
    -----
    With more than 2500 rows the search runs on a seeded stratified sample of 2500, and the fit on all rows.
    Where the kernel matrix of all rows does not fit in memory, oneLSM is fitted by ``solver="nystrom"``.
    For probabilities, calibrate what was chosen, with scikit-learn:
    ``CalibratedClassifierCV(clone(found.estimator)).fit(X, y).predict_proba(X_new)``.

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
    quest = prepare(X, y, machine, grid, folds=folds, seed=seed, groups=groups, say=say, on_step=on_step)
    found = quest.search()
    estimate = quest.nested() if nested else (None, None)
    return quest.finish(found, estimate, say)


def prepare(
    X: Any,
    y: Any,
    machine: str,
    grid: Any,
    *,
    folds: int | str = 10,
    seed: int = 0,
    groups: Any = EQUAL_ROWS,
    say: Say | None = None,
    on_step: OnStep | None = None,
) -> Quest:
    """Check everything that can be checked before the work begins."""
    _refuse_other_machines(machine)
    X, y = check_X_y(X, y, dtype=np.float64)
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise McLsError(f"at least two classes are needed; the data holds one: {str(classes[0])!r}")
    name, options = parse_spec(machine)
    entry = get_machine(name)
    notes: list[str] = []

    def note(text: str) -> None:
        notes.append(text)
        if say is not None:
            say(text)

    estimator = entry.create(**options)
    if "random_state" in estimator.get_params(deep=False) and "random_state" not in options:
        estimator.set_params(random_state=derive(seed, entry.name) % 2**31)
    if estimator.get_params(deep=False).get("kernel") == "precomputed":
        raise McLsError("a kernel is chosen here from the rows themselves: give another than 'precomputed'")
    groups = row_groups(X, codes, groups, note)
    rows = np.arange(len(X))
    if len(X) > SWEEP_ROWS:
        rows = np.sort(hold_out_rows(codes, SWEEP_ROWS / len(X), derive(seed, "sample"), None)[0])
        note(f"parameters are chosen on a stratified sample of {len(rows)} of the {len(X)} rows")
    estimator = _that_fits(entry, estimator, len(X), "solver" in options, note)
    values = effective_grid(entry, estimator, options, {}, _own_grid(grid, entry, estimator, X[rows], seed))
    spec = format_spec(entry.name, options)
    return Quest(spec, entry, estimator, X, codes, classes, rows, values, folds, seed, notes, groups, on_step)


@dataclass(frozen=True)
class Quest:
    """A search that is ready to run: the machine, its grid, and the rows it is chosen on."""

    machine: str
    entry: Machine
    estimator: Any
    X: Array
    codes: Array
    classes: Array
    rows: Array
    grid: dict[str, list[Any]]
    folds: int | str
    seed: int
    notes: list[str]
    groups: Array | None = None
    on_step: OnStep | None = None

    def search(self) -> GridResult:
        """Cross-validate every point of the grid on the rows of the search."""
        y = self.codes[self.rows]
        splits = make_folds(y, self.folds, derive(self.seed, "folds"), groups_of(self.groups, self.rows))
        # Widths side by side on one BLAS thread each: short calls with many threads are slower.
        with threadpool_limits(1):
            return search(
                self._searched(),
                self.X[self.rows],
                y,
                self.grid,
                splits,
                smoother=self.entry.smoother,
                n_classes=len(self.classes),
                n_threads=os.cpu_count() or 1,
                on_step=self.on_step,
            )

    def nested(self) -> tuple[float, float]:
        """Mean and standard deviation over the outer folds of the error, parameters chosen inside each fold."""
        with threadpool_limits(1):
            outcome = protocols.nested(self.task(self.rows), derive(self.seed, "folds"), self.folds, self.folds)
        return outcome["error"], float(np.std(outcome["fold_errors"]))

    def task(self, rows: Array) -> Task:
        """The same question as a protocol asks it, on some rows."""
        y = np.unique(self.codes[rows], return_inverse=True)[1]
        rest: dict[str, Any] = {"smoother": dict(self.entry.smoother), "groups": groups_of(self.groups, rows)}
        return Task(self._searched(), self.X[rows], y, self.grid, "none", on_step=self.on_step, **rest)

    def finish(
        self,
        found: GridResult,
        nested: tuple[float | None, float | None] = (None, None),
        say: Say | None = None,
    ) -> Selection:
        """Fit the chosen point to all rows."""
        remarks = self._remarks(found)
        if say is not None:
            for text in remarks:
                say(text)
        estimator = self.estimator.set_params(**found.best_point)
        if self.on_step is not None:
            self.on_step("fitting to all rows", 0, None)
        estimator.fit(self.X, self.classes[self.codes])
        return Selection(
            machine=self.machine,
            estimator=estimator,
            results=found.frame(),
            grid=self.grid,
            best_params=found.best_point,
            error=found.best_error,
            spread=float(found.fold_errors[found.best].std()),
            rows=self.rows,
            predictions=self.classes[found.predictions[found.best]],
            folds=found.fold_errors.shape[1],
            n_independent=len(self.rows if self.groups is None else np.unique(self.groups[self.rows])),
            nested_error=nested[0],
            nested_spread=nested[1],
            notes=[*self.notes, *remarks],
        )

    def _remarks(self, found: GridResult) -> list[str]:
        """What the user should know of a search: fewer folds than asked for, a choice at the edge of the grid."""
        remarks = []
        folds = found.fold_errors.shape[1]
        if self.folds != LEAVE_ONE_OUT and folds < int(self.folds):
            remarks.append(
                f"{folds} folds instead of {self.folds}: no class has more than {members(folds, self.groups)}"
            )
        tuned = {  # the widths and the strengths of regularisation
            name: values
            for name, values in self.grid.items()
            if name in self.entry.smoother and all(value > 0 for value in values)
        }
        edges: dict[str, str] = {}
        for name, values in tuned.items():
            ends = {min(values): "smallest", max(values): "largest"}
            if len(values) > 2 and found.best_point[name] in ends:
                edges[name] = ends[found.best_point[name]]
        if edges:
            where = " and ".join(f"the {edge} {name}" for name, edge in edges.items())
            wider = ",".join(_wider(name, values, edges.get(name)) for name, values in tuned.items())
            remarks.append(
                f"the choice lies at the edge of the grid ({where}); to widen it: "
                f"--machine {self.machine} --grid {wider}"
            )
        return remarks

    def _searched(self) -> Any:
        """The machine that is cross-validated: on the rows of a search the exact solver is the faster one."""
        made = type(self.estimator)(**self.estimator.get_params(deep=False))
        return made.set_params(solver="exact") if made.get_params().get("solver") == "nystrom" else made


def _that_fits(entry: Machine, estimator: Any, n: int, solver_given: bool, note: Say) -> Any:
    """The estimator, by landmarks where the kernel matrix of n rows does not fit."""
    params = estimator.get_params(deep=False)
    if params.get("solver") == "nystrom" or "kernel" not in params:
        return estimator
    needed, free = exact_fit_bytes(n), available_bytes()
    if needed <= free:
        return estimator
    told = f"the kernel matrix of {n} rows needs {needed / 1e9:.1f} GB, and {free / 1e9:.1f} GB are free"
    if entry.name != "oneLSM" or solver_given:
        raise McLsError(f"{told}; use oneLSM:solver=nystrom, or fewer rows")
    note(f"{told}: solver=nystrom with {LANDMARKS} landmarks instead")
    return estimator.set_params(solver="nystrom", n_landmarks=LANDMARKS)


def _refuse_other_machines(machine: Any) -> None:
    """Say what ``machine`` may be where it is something else, or the command line's ``auto``."""
    if not isinstance(machine, str):
        raise McLsError(
            f"machine is given by its name, such as 'oneLSM' or 'voSVM:labelbook=pm1', "
            f"not as an object of class {type(machine).__name__}; a scikit-learn classifier as 'sk:RidgeClassifier', "
            "with grid={...}"
        )
    if machine.strip().lower() == "auto":
        raise McLsError(
            "select tunes one machine, named such as 'oneLSM'; to rank several: mcls.models.ranking.rank(X, y), "
            "or mcls fit --machine auto"
        )


def _wider(name: str, values: list[Any], edge: str | None) -> str:
    """Values as a range of powers of two, four more beyond the end that was chosen.

    >>> _wider("gamma", [0.25, 1.0, 5.0], "largest")
    'gamma=2^-2..2^7'
    """
    low, high = math.floor(math.log2(min(values))), math.ceil(math.log2(max(values)))
    return f"{name}=2^{low - 4 * (edge == 'smallest')}..2^{high + 4 * (edge == 'largest')}"


def _parse_ranges(text: str) -> dict[str, Any]:
    """Read ``gamma=2^-8..2^2,sigma=0.5+1+2``: ranges, values, or values joined by plus signs."""
    try:
        _, ranges = parse_spec(f"grid:{text}")
    except McLsError:
        raise McLsError(
            f"'{text}' is no grid; write sigma=2^-2..2^6 for a range and sigma=0.5+1+2 for a list, "
            "and join parameters by commas"
        ) from None
    lists = {name: v.split("+") for name, v in ranges.items() if isinstance(v, str) and "+" in v and ".." not in v}
    return {**ranges, **{name: [parse_scalar(item) for item in items] for name, items in lists.items()}}


def _own_grid(grid: Any, entry: Machine, estimator: Any, X: Array, seed: int) -> Mapping[str, Any]:
    if isinstance(grid, str) and "=" in grid:
        grid = _parse_ranges(grid)
    if isinstance(grid, Mapping):
        for name in grid:
            if name not in estimator.get_params(deep=False):
                raise unknown_name(f"parameter of {entry.name}", name, estimator.get_params(deep=False))
        return grid
    if grid not in GRIDS:
        raise unknown_name("grid", str(grid), GRIDS)
    return {} if grid == "paper" else automatic_grid(entry, X, seed)


def automatic_grid(entry: Machine, X: Array, seed: int = 0) -> dict[str, list[float]]:
    """Values of the parameters that a machine tunes: widths by the data, the others by the strength they have.

    ``sigma`` goes in nine steps from 1/16 to 4 times the median distance between two rows. A parameter that
    regularises (``Machine.smoother`` says in which direction) goes from 2^-10 to 2^4, or from 2^-4 to 2^10 where
    smaller is smoother. Any other keeps the registry's values.
    """
    values: dict[str, list[float]] = {}
    for name in entry.grid:
        if name == "sigma":
            values[name] = (median_distance(X, seed) * 2.0**_WIDTHS).tolist()
        elif name in entry.smoother:
            values[name] = sorted((2.0 ** (entry.smoother[name] * _STRENGTHS)).tolist())
    return values


def median_distance(X: Array, seed: int = 0) -> float:
    """Median distance between two different rows of a sample of at most 1000; 1 where all rows are the same."""
    sample = X[np.random.default_rng(derive(seed, "median")).permutation(len(X))[:1000]]
    D2 = squared_distances(sample)[np.triu_indices(len(sample), 1)]
    different = D2[D2 > 0]
    return float(np.sqrt(np.median(different))) if len(different) else 1.0
