"""What ``select`` and ``rank`` search: the rows with their folds, and a machine with the ``Task`` that judges it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from mcls.errors import McLsError
from mcls.evaluation.folds import (
    Fold,
    groups_of,
)
from mcls.evaluation.grid import OnStep
from mcls.evaluation.grid_result import GridResult
from mcls.evaluation.metrics import Metric
from mcls.evaluation.parameter_grids import effective_grid
from mcls.evaluation.protocols import (
    Outcome,
    nested_fold_outcomes,
    nested_outcomes,
)
from mcls.evaluation.task import Task
from mcls.machines.base import BaseMachine
from mcls.machines.foreign import as_machine
from mcls.machines.registry import MACHINES, Machine, get_machine
from mcls.models import grids, growing
from mcls.models.budget import available_bytes, exact_fit_bytes
from mcls.models.grids import Ladder
from mcls.models.training_rows import SWEEP_ROWS, Say, TrainingRows
from mcls.seeds import derive
from mcls.specs import format_options, format_spec, parse_spec
from mcls.threads import blas_threads

Array = np.ndarray

#: As ``SWEEP_ROWS``, for machines that certify their classes (``KernelMachine.certifier``).
CERTIFIED_ROWS = 20_000


@dataclass(frozen=True)
class Candidate:
    """A machine that is ready to be searched: its task on the rows of the search, and the values its grid may take."""

    machine: str  # with the options that were given
    entry: Machine
    estimator: Any  # to be fitted to all rows
    task: Task
    ladders: dict[str, Ladder]  # of the parameters whose values are automatic
    sizes: Sequence[int]  # of the samples on which widths are ruled out first

    @classmethod
    def read(
        cls,
        data: TrainingRows,
        machine: str,
        grid: Any,
        metrics: tuple[Metric, ...],
        on_step: OnStep | None = None,
        near: float | None = None,
    ) -> Candidate:
        """Check everything that can be checked before the work begins; ``near`` of ``Task`` is the registry's."""
        entry, estimator, options = named_machine(machine)
        if estimator.get_params(deep=False).get("kernel") == "precomputed":
            raise McLsError("a kernel is chosen here from the rows themselves: give another than 'precomputed'")
        as_machine(estimator).training_weights(data.codes, range(len(data.classes)), data.weights)  # or refuses
        estimator = _that_fits(entry, estimator, len(data.X), "solver" in options, data.note)
        if entry.draws(estimator) and "random_state" not in options:
            estimator.set_params(random_state=data.seed)
        rows = data.rows
        own = grids.read_grid(grid, entry, estimator)
        kernel = estimator.get_params(deep=False).get("kernel", "gaussian")
        ladders = grids.ladders(entry, data.X[rows], data.seed, kernel) if grid == "auto" else {}
        own = {**own, **{name: ladder.start for name, ladder in ladders.items()}}
        values = effective_grid(entry, estimator, options, {}, own)
        task = Task(
            as_searched(estimator, values, len(rows)),
            data.X[rows],
            data.codes[rows],
            values,
            scaling="none",
            smoother=dict(entry.smoother),
            groups=groups_of(data.groups, rows),
            weights=None if data.weights is None else data.weights[rows],
            metrics=metrics,
            near=entry.near if near is None else near,
            on_step=on_step,
        )
        ladders = {name: ladder for name, ladder in ladders.items() if name in values}
        sizes = growing.sizes_below(len(rows)) if growing.WIDTH in ladders and not data.given_folds else []
        if sizes:
            *first, last = map(str, sizes)
            told = f"samples of {', '.join(first)} and {last}" if first else f"a sample of {last}"
            data.note(f"widths are ruled out on {told} rows, the others on {len(rows)}")
        return cls(format_spec(entry.name, options), entry, estimator, task, ladders, sizes)

    def searched(self, found: GridResult) -> Task:
        """The task with the points that were searched, which an extension has added to."""
        return (
            replace(self.task, grid=[grids.as_grid(point) for point in found.points])
            if self.ladders
            else self.task
        )

    def nested(
        self,
        data: TrainingRows,
        found: GridResult,
        partitions: Sequence[Sequence[Fold]],
        keep_scores: bool = False,
    ) -> list[list[Outcome]]:
        """Each fold judged at a point chosen without it, among those searched; one list per partition."""
        task, threads, prepare = self.searched(found), os.cpu_count() or 1, data.prepare_searched
        with blas_threads(1):
            if not partitions:
                return [nested_outcomes(task, derive(data.seed, "folds"), data.splits, data.inner_folds, prepare)]
            return nested_fold_outcomes(task, partitions, threads, keep_scores, prepare)


def most_rows(machine: str, grid: Any) -> Callable[[int], int]:
    """How many of n rows the search of a machine can take."""
    entry, estimator, options = named_machine(machine)

    def most(n: int) -> int:
        fitting = _that_fits(entry, clone(estimator), n, "solver" in options, lambda text: None)
        found = SWEEP_ROWS if grid != "auto" else _searchable(fitting, n)
        return min(found, entry.search_rows or found)

    return most


def _searchable(estimator: Any, n: int) -> int:
    """How many of n rows a search can take."""
    machine = as_machine(estimator)
    if machine.folds_together:
        return n
    return CERTIFIED_ROWS if certifies(estimator, n) else SWEEP_ROWS


def certifies(estimator: Any, n: int) -> bool:
    """Whether a machine has a way to sweep and to fit n rows that are many."""
    machine = as_machine(estimator)
    return machine.works_on == "kernel" and machine.certifier(n) is not None


def named_machine(machine: Any) -> tuple[Machine, Any, dict[str, Any]]:
    """The registry's entry of a machine, the estimator with its options, and these."""
    _refuse_other_machines(machine)
    name, options = parse_spec(machine)
    entry = get_machine(name)
    return entry, entry.create(**options), options


def as_searched(estimator: Any, grid: Mapping[str, list[Any]], n: int) -> Any:
    """A copy of the machine to cross-validate on n rows; with a landmark for every row it is the exact one."""
    made = type(estimator)(**estimator.get_params(deep=False))
    parameters = made.get_params(deep=False)
    if isinstance(made, BaseMachine) and "calibration" in parameters:
        made.set_params(calibration=None)  # the scores that a search gives are those before any map
    if parameters.get("solver") == "nystrom" and "n_landmarks" not in grid:
        made.set_params(solver="exact" if parameters["n_landmarks"] >= n else "nystrom")
    return made


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


def require_name(machine: Any) -> None:
    """Say what ``machine`` may be where it is something else than a text."""
    if not isinstance(machine, str):
        raise McLsError(
            f"machine is given by its name, such as 'oneLSM' or 'voSVM:labelbook=pm1', "
            f"not as an object of class {type(machine).__name__}; a scikit-learn classifier as 'sk:RidgeClassifier', "
            "with grid={...}"
        )


def _refuse_other_machines(machine: Any) -> None:
    """Say what ``machine`` may be where it is something else, or the command line's ``auto``."""
    require_name(machine)
    if machine.strip().lower() == "auto":
        raise McLsError(
            "select tunes one machine, named such as 'oneLSM'; to rank several: mcls.models.ranking.rank(X, y), "
            "or mcls fit --machine auto"
        )
