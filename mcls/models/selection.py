"""Choosing a machine's parameters by exact cross-validation, then fitting it: ``mcls.select``."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data
from threadpoolctl import threadpool_limits

from mcls.errors import McLsError
from mcls.evaluation.folds import EQUAL_ROWS, Fold, given_folds, groups_of, make_folds, parse_folds, row_groups
from mcls.evaluation.grid import GridResult, OnStep, search
from mcls.evaluation.parameter_grids import effective_grid
from mcls.evaluation.protocols import Rows, fewer_folds_note, hold_out_rows, nested_outcomes
from mcls.evaluation.task import Task
from mcls.machines.foreign import as_machine
from mcls.machines.registry import MACHINES, Machine, get_machine
from mcls.models import grids, growing
from mcls.models.grids import Ladder
from mcls.models.memory import available_bytes, exact_fit_bytes
from mcls.seeds import derive
from mcls.solvers import inverse
from mcls.specs import format_options, format_spec, parse_spec

Array = np.ndarray
Say = Callable[[str], None]

#: With more rows than this, parameters are chosen on a stratified sample of so many, unless the machine has a way to
#: search many rows: a sweep by a decomposition costs 9n³ operations per width.
SWEEP_ROWS = 2500
#: The same for machines that certify their classes (``KernelMachine.certifier``).
CERTIFIED_ROWS = 20_000
#: How a machine and a grid are given, in Python and on the command line.
IN_PYTHON = 'machine="{machine}", grid="{grid}"'
AS_FLAGS = "--machine {machine} --grid {grid}"


@dataclass(frozen=True, repr=False)
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
    grid : dict
        The values tried of each parameter. Where the automatic grid was extended (``extended``), not every
        combination of them was: ``results`` lists the points.
    error, spread : float
        Of the chosen point, measured on ``rows``. Optimistic, since the folds that chose it also judge it.
    nested_error, nested_spread : float or None
        The same with the point chosen inside each fold, where it was asked for.
    rows : array
        The rows that the search used, in order; all, unless there are too many.
    n_independent : int
        How many rows those are, a group of rows counted once: what an interval of the error rests on.
    tested, predictions : arrays
        Rows that folds test and their classes out of fold at the chosen point: each of ``rows`` once, in order,
        unless folds of your own leave rows out or test some of them several times.
    nested_predictions : array or None
        The same with the point chosen inside each fold.
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
    rows: Array
    tested: Array
    predictions: Array
    folds: int
    n_independent: int
    nested_error: float | None = None
    nested_spread: float | None = None
    nested_predictions: Array | None = None
    notes: list[str] = field(default_factory=list)

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
    groups: Any = EQUAL_ROWS,
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
        A name of the registry with options: ``"voSVM:labelbook=pm1"``. An option given is not tuned.
    grid : "auto", "paper", ranges or dict
        ``auto``: widths from 1/16 to 4 times the median distance between rows, and regularisation from 2^-10 to 2^4
        (2^-4 to 2^10 where smaller is smoother), extended around the best point until it lies inside or at a limit:
        1/128 and 32 times the median distance, 2^-30 and 2^14 (2^-14 and 2^30). ``paper``: the registry's grid.
        Ranges, as in ``"gamma=2^-8..2^2,sigma=2^-2..2^6"``, or parameter → values take the place of the registry's.
    folds : int, "loo", splitter or list of (train, test)
        Stratified folds, one fold a row, a splitter of scikit-learn, or index arrays, which may overlap.
    seed : int
        Everything random comes from it.
    nested : bool
        Also estimate the error with a search inside each outer fold: ``folds`` times the work. The automatic
        grid, with its extension, comes from all rows all the same, and so does any scaling done before. Inside
        index arrays of your own, ten stratified folds choose.
    groups : "equal rows", None or array-like (n,)
        Rows of one group are never split; by default those that are equal: no row is judged by its own copy.
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
    return quest.finish(found, quest.nested(found) if nested else None, say, advice)


def prepare(
    X: Any,
    y: Any,
    machine: str,
    grid: Any,
    *,
    folds: Any = 10,
    seed: int = 0,
    groups: Any = EQUAL_ROWS,
    say: Say | None = None,
    on_step: OnStep | None = None,
    same_rows: bool = False,
) -> Quest:
    """Check everything that can be checked before the work begins.

    ``same_rows`` asks for rows that do not depend on the machine, for comparisons.
    """
    _refuse_other_machines(machine)
    name, options = parse_spec(machine)
    entry = get_machine(name)
    estimator = entry.create(**options)
    table = X
    X, y = validate_data(entry.create(**options), X, y, dtype=np.float64)
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise McLsError(f"at least two classes are needed; the data holds one: {str(classes[0])!r}")
    notes: list[str] = []

    def note(text: str) -> None:
        notes.append(text)
        if say is not None:
            say(text)

    if estimator.get_params(deep=False).get("kernel") == "precomputed":
        raise McLsError("a kernel is chosen here from the rows themselves: give another than 'precomputed'")
    groups = row_groups(X, codes, groups, note)
    rows = np.arange(len(X))
    estimator = _that_fits(entry, estimator, len(X), "solver" in options, note)
    most = SWEEP_ROWS if same_rows or grid != "auto" else _searchable(estimator, len(X))
    most = min(most, entry.search_rows or most)
    if len(X) > most:
        rows = _sample(codes, rows, most, seed)
        note(f"parameters are chosen on a stratified sample of {len(rows)} of the {len(X)} rows")
    if entry.draws(estimator) and "random_state" not in options:
        estimator.set_params(random_state=seed)
    folds = read_folds(folds)
    splits, inner_folds = _split(codes, rows, folds, seed, groups)
    for text in fewer_folds_note(Rows(codes[rows], groups_of(groups, rows)), folds):
        note(text)
    own = grids.read_grid(grid, entry, estimator)
    ladders = grids.ladders(entry, X[rows], seed) if grid == "auto" else {}
    own = {**own, **{name: ladder.start for name, ladder in ladders.items()}}
    values = effective_grid(entry, estimator, options, {}, own)
    ladders = {name: ladder for name, ladder in ladders.items() if name in values}
    sizes = growing.sizes_below(len(rows)) if growing.WIDTH in ladders and not isinstance(folds, list) else []
    if sizes:
        note(f"widths are ruled out on samples of {' and '.join(map(str, sizes))} rows, the others on {len(rows)}")
    spec = format_spec(entry.name, options)
    return Quest(
        *(spec, entry, estimator, table, X, codes, classes, rows, values, ladders),
        *(splits, inner_folds, seed, notes, groups, on_step, sizes),
    )


class Nested(NamedTuple):
    """The honest estimate: mean and standard deviation over the outer folds, and the classes they predict."""

    error: float
    spread: float
    fold_predictions: list[Array]  # (|test|,) codes, one array per fold


@dataclass(frozen=True)
class Quest:
    """A search that is ready to run: the machine, its grid, and the rows it is chosen on."""

    machine: str
    entry: Machine
    estimator: Any
    table: Any  # X as it was given, with its column names if it has any
    X: Array
    codes: Array
    classes: Array
    rows: Array
    grid: dict[str, list[Any]]
    ladders: dict[str, Ladder]  # of the parameters whose values are automatic
    splits: list[Fold]  # of ``rows``
    inner_folds: Any
    seed: int
    notes: list[str]
    groups: Array | None = None
    on_step: OnStep | None = None
    sizes: Sequence[int] = ()  # of the samples on which widths are ruled out first

    def search(self) -> GridResult:
        """Cross-validate the grid on the rows of the search; an automatic one is narrowed down and extended."""
        samples: dict[int | None, tuple[Array, list[Fold]]] = {None: (self.rows, self.splits)}
        for size in self.sizes:
            rows = _sample(self.codes, self.rows, size, self.seed)
            samples[size] = rows, _split(self.codes, rows, self.inner_folds, self.seed, self.groups)[0]

        def sweep(size: int | None, grid: Any) -> GridResult:
            rows, splits = samples[size]
            # Widths side by side on one BLAS thread each: short calls with many threads are slower.
            with threadpool_limits(1):
                return search(
                    self._searched(len(rows)),
                    self.X[rows],
                    self.codes[rows],
                    grid,
                    splits,
                    smoother=self.entry.smoother,
                    n_classes=len(self.classes),
                    n_threads=os.cpu_count() or 1,
                    on_step=self.on_step,
                )

        if self.sizes:
            most = _affordable(self._searched(len(self.rows)), len(self.rows))
            return growing.grow(self.grid, self.ladders, self.sizes, sweep, self.entry.smoother, most)
        found = sweep(None, self.grid)
        if not self.ladders:
            return found
        return grids.extend(found, self.ladders, lambda grid: sweep(None, grid), self.entry.smoother)

    def nested(self, found: GridResult) -> Nested:
        """The error on the same outer folds, parameters chosen inside each fold among the points that were searched."""
        with threadpool_limits(1):
            task = self.task(found, self.rows)
            outcomes = nested_outcomes(task, derive(self.seed, "folds"), self.splits, self.inner_folds)
        errors = [outcome.error for outcome in outcomes]
        return Nested(float(np.mean(errors)), float(np.std(errors)), [outcome.predictions for outcome in outcomes])

    def task(self, found: GridResult, rows: Array) -> Task:
        """The same question as a protocol asks it, on some rows."""
        y = np.unique(self.codes[rows], return_inverse=True)[1]
        rest: dict[str, Any] = {"smoother": dict(self.entry.smoother), "groups": groups_of(self.groups, rows)}
        grid = [grids.as_grid(point) for point in found.points] if self.ladders else self.grid
        return Task(self._searched(len(self.rows)), self.X[rows], y, grid, "none", on_step=self.on_step, **rest)

    def finish(
        self, found: GridResult, nested: Nested | None = None, say: Say | None = None, advice: str = IN_PYTHON
    ) -> Selection:
        """Fit the chosen point to all rows."""
        grid = {
            name: sorted({point[name] for point in found.points}) if name in self.ladders else values
            for name, values in self.grid.items()
        }
        extended = grid != self.grid
        # Of a list of values that holds for any data, the ends are no edge.
        ranged = {n: d for n, d in self.entry.smoother.items() if isinstance(self.entry.grid[n], str)}
        remarks = grids.remarks(found.best_point, grid, self.ladders, ranged, self.machine, advice)
        if say is not None:
            for text in remarks:
                say(text)
        if self.on_step is not None:
            self.on_step("fitting to all rows", 0, None)
        estimator = self.estimator.set_params(**found.best_point)
        estimator.fit(self.table, self.classes[self.codes])
        tested = np.concatenate(found.tests)
        order = np.argsort(tested, kind="stable")
        return Selection(
            machine=self.machine,
            estimator=estimator,
            results=found.frame(),
            grid=grid,
            extended=extended,
            best_params=found.best_point,
            error=found.best_error,
            spread=float(found.fold_errors[found.best].std()),
            rows=self.rows,
            tested=self.rows[tested[order]],
            predictions=self.classes[
                np.concatenate([codes[found.best] for codes in found.fold_predictions])[order]
            ],
            folds=found.fold_errors.shape[1],
            n_independent=len(self.rows if self.groups is None else np.unique(self.groups[self.rows])),
            nested_error=nested.error if nested else None,
            nested_spread=nested.spread if nested else None,
            nested_predictions=self.classes[np.concatenate(nested.fold_predictions)[order]] if nested else None,
            notes=[*self.notes, *remarks],
        )

    def _searched(self, n: int) -> Any:
        """A copy of the machine to cross-validate on n rows; with a landmark for every row it is the exact one."""
        made = type(self.estimator)(**self.estimator.get_params(deep=False))
        parameters = made.get_params(deep=False)
        if parameters.get("solver") == "nystrom" and "n_landmarks" not in self.grid:
            made.set_params(solver="exact" if parameters["n_landmarks"] >= n else "nystrom")
        return made


def read_folds(folds: Any) -> Any:
    """A number, ``loo`` or a splitter as it is, and any other collection as a list."""
    if not isinstance(folds, str):
        return list(folds) if isinstance(folds, Iterable) else folds
    try:
        return parse_folds(folds)
    except McLsError as error:
        raise McLsError(f"folds {error}") from None


def _split(codes: Array, rows: Array, folds: Any, seed: int, groups: Array | None) -> tuple[list[Fold], Any]:
    """Folds of the rows of a search, as positions among them, and what splits the training rows of each."""
    if not isinstance(folds, list):
        return make_folds(codes[rows], folds, derive(seed, "folds"), groups_of(groups, rows)), folds
    place = np.full(len(codes), -1)
    place[rows] = np.arange(len(rows))
    pairs = [tuple(place[part][place[part] >= 0] for part in pair) for pair in given_folds(codes, folds)]
    return given_folds(codes[rows], [pair for pair in pairs if all(map(len, pair))]), 10


def _sample(codes: Array, rows: Array, size: int, seed: int) -> Array:
    """A seeded stratified sample of some rows, in order."""
    return rows[np.sort(hold_out_rows(codes[rows], size / len(rows), derive(seed, "sample"), None)[0])]


def _searchable(estimator: Any, n: int) -> int:
    """How many of n rows a search can take."""
    machine = as_machine(estimator)
    if machine.folds_together:
        return n
    return CERTIFIED_ROWS if machine.works_on == "kernel" and machine.certifier(n) is not None else SWEEP_ROWS


def _affordable(machine: Any, n: int) -> int:
    """How many points of an automatic grid are searched on n rows; up to ``SWEEP_ROWS``, as many as there are."""
    if n <= SWEEP_ROWS:
        return growing.MANY
    with_landmarks = as_machine(machine).folds_together
    cost = 2 * n * machine.n_landmarks**2 if with_landmarks else inverse.OPERATIONS * n**3
    return max(1, int(growing.OPERATIONS / cost))


def _that_fits(entry: Machine, estimator: Any, n: int, solver_given: bool, note: Say) -> Any:
    """The estimator, by landmarks where the kernel matrix of n rows does not fit."""
    params = estimator.get_params(deep=False)
    if params.get("solver") == "nystrom" or "kernel" not in params:
        return estimator
    needed, free = exact_fit_bytes(n), available_bytes()
    if needed <= free:
        return estimator
    told = f"the kernel matrix of {n} rows needs {needed / 1e9:.1f} GB, and {free / 1e9:.1f} GB are free"
    if not entry.many_rows or solver_given:
        able = ", ".join(format_spec(m.name, m.many_rows) for m in MACHINES.values() if m.many_rows)
        raise McLsError(f"{told}; use {able}, or fewer rows")
    note(f"{told}: {format_options(entry.many_rows)} instead")
    return estimator.set_params(**entry.many_rows)


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
