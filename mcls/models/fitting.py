"""From a table in a file to a model of it: read, encode, choose, fit."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mcls.data.dataset import Dataset
from mcls.data.encoder import Reading
from mcls.data.encoding import counts_rows, learn_encoder, learning_notes, read_values
from mcls.data.formats import ColumnRules, TableFormat
from mcls.data.roles import GROUP, WEIGHT, take_roles
from mcls.data.tables import ReadTable, check_classes, read_table
from mcls.errors import McLsError
from mcls.evaluation.costs import read_costs
from mcls.evaluation.folds import EQUAL_ROWS
from mcls.evaluation.grid import OnStep
from mcls.evaluation.metrics import ERROR, read_metrics
from mcls.evaluation.statistics import wilson
from mcls.evaluation.task import named_weights
from mcls.machines.base import BaseMachine
from mcls.machines.registry import get_machine
from mcls.models.candidates import Say
from mcls.models.judging import Confusion
from mcls.models.ranking import AUTO, AUTO_MACHINES, BEST, BEST_MACHINES, Ranking, rank
from mcls.models.selection import AS_FLAGS, Selection, select
from mcls.models.state import check_labelbook, machine_class
from mcls.models.table import Facts, TableModel
from mcls.plugins import origin_of
from mcls.specs import format_spec, parse_spec


class Fitted(NamedTuple):
    """The model, how it was chosen, the confusion out of fold (nested, if asked for), and of several the ranking."""

    model: TableModel
    selection: Selection
    confusion: Confusion
    ranking: Ranking | None


def fit_table(
    path: Path | str,
    target: str | int = -1,
    machine: str = BEST,
    grid: Any = "auto",
    *,
    form: TableFormat | None = None,
    rules: ColumnRules | None = None,
    folds: int | str = 10,
    seed: int = 0,
    nested: bool = True,
    repeats: int = 1,
    groups: Any = EQUAL_ROWS,
    metric: Any = ERROR.name,
    costs: Path | str | None = None,
    class_weight: str | None = None,
    group: str | None = None,
    weight: str | None = None,
    calibration: str | None = "auto",
    say: Say | None = None,
    on_step: OnStep | None = None,
) -> Fitted:
    """Fit a machine to a table of your own; see ``mcls.data.encoder`` for how columns become features.

    ``machine`` is a name with options, ``best`` for a choice among a few that is judged as a whole (see
    ``mcls.models.contest``), or ``auto`` for all fast ones and a test of the best two; ``target`` is that of
    ``mcls.data.load_table``; ``group`` and ``weight`` name columns, ``costs`` is the file of the matrix of the metric
    ``cost``; the others are those of ``mcls.select``.
    """
    check_machine(machine, grid, class_weight)
    read_metrics(
        metric, None if costs is None else np.zeros((2, 2))
    )  # a wrong name is refused before the table is read
    path = Path(path)
    read = read_table(path, target, form, rules)
    settings: dict[str, Any] = {"folds": folds, "seed": seed, "nested": nested, "groups": groups, "metric": metric}
    settings |= {"costs": costs, "class_weight": class_weight, "group": group, "weight": weight}
    settings |= {"calibration": calibration}
    settings |= {"repeats": repeats}
    settings |= {"say": say, "on_step": on_step, "advice": AS_FLAGS}
    return fit_columns(read, path, machine, grid, rules, **settings)


def check_machine(machine: str, grid: Any, class_weight: str | None = None) -> None:
    """Refuse before the work what cannot be done or saved."""
    for each in several(machine) or [machine]:
        _check_savable(_weighing(each, class_weight))
    if machine.strip().lower() == AUTO and isinstance(grid, str) and "=" in grid:
        raise McLsError("ranges belong to one machine: name it, or give --machine auto the grid auto or paper")


def several(machine: str) -> tuple[str, ...]:
    """The machines that ``best`` and ``auto`` stand for; none for the name of one machine."""
    return {BEST: BEST_MACHINES, AUTO: AUTO_MACHINES}.get(machine.strip().lower(), ())


def _weighing(machine: str, class_weight: str | None) -> str:
    """The machine with weights of classes among its options, where they are asked for."""
    if class_weight is None:
        return machine
    if class_weight != "balanced":
        raise McLsError(f"class_weight of a table is None or 'balanced', got {class_weight!r}")
    name, options = parse_spec(machine)
    if not get_machine(name).cls.takes_weights:
        raise McLsError(
            f"{name} takes no weights; leave --class-weight out or use another machine, such as oneLSM"
        )
    return format_spec(name, {**options, "class_weight": class_weight})


def fit_columns(
    read: ReadTable,
    path: Path,
    machine: str,
    grid: Any,
    rules: ColumnRules | None = None,
    *,
    costs: Path | str | None = None,
    class_weight: str | None = None,
    group: str | None = None,
    weight: str | None = None,
    **settings: Any,
) -> Fitted:
    """Fit a machine to columns that are read; see ``fit_table``, and ``mcls.select`` for the ``settings``."""
    labels, decimal, say = read.labels, read.form.decimal or ".", settings.get("say")
    check_classes(labels, path)
    columns, roles = take_roles(read.columns, path, group, weight)
    if group is not None:
        settings["groups"] = roles[GROUP]
    if weight is not None:
        settings["sample_weight"] = named_weights(roles[WEIGHT], len(labels.codes), f"{path}: column '{weight}'")
    if costs is not None:
        settings["costs"] = read_costs(costs, sorted(labels.levels))
    encoder = learn_encoder(columns, path, rules, decimal)
    notes = [*read.notes, *learning_notes(encoder)]
    if len(columns) == 1 and counts_rows(columns[0]):
        notes.append(
            f"column '{columns[0].name}' counts the rows: where the file is sorted, it gives the class away"
        )
    if any(column.gaps is not None for column in columns):
        notes.append(
            "missing values are filled in from all rows, as the scaling comes from all rows; "
            "a config with scaling: fold learns both from the training rows of each fold"
        )
    if say is not None:
        for note in notes:
            say(note)
    values = read_values(columns, encoder, decimal)
    X = encoder.features(values, Reading())
    y = np.array(labels.levels)[labels.codes]
    ranking = None
    if several(machine):
        machines = [_weighing(name, class_weight) for name in several(machine)]
        selection, ranking = rank(X, y, grid, machines, test=machine.strip().lower() == AUTO, **settings)
    else:
        selection = select(X, y, _weighing(machine, class_weight), grid, **settings)
    # As read, not as scaled: a table of numbers has the fingerprint that load_table gives it.
    data = Dataset(path.name, encoder.plain(values), labels.codes, labels.levels, encoder.feature_names)
    wrong = float((selection.predictions != y[selection.rows]).mean())  # of all folds together
    shown = selection.out_of_fold
    confusion = Confusion.of(
        y[shown.rows], shown.predictions, selection.estimator.classes_, probabilities=shown.probabilities
    )
    facts = Facts(
        file=path.name,
        fingerprint=data.fingerprint,
        rows=data.n,
        classes=data.counts,
        machine=selection.machine,
        grid=selection.grid,
        chosen=selection.best_params,
        folds=selection.folds,
        seed=settings.get("seed", 0),
        rows_searched=len(selection.rows),
        cv_error=selection.error,
        cv_spread=selection.spread,
        cv_interval=wilson(wrong * selection.n_independent, selection.n_independent),
        nested_error=selection.nested_error,
        notes=[*notes, *selection.notes],
        dropped=[*read.dropped, *(name for name in (group, weight) if name is not None)],
        metric=selection.metric,
        metrics=selection.metrics if list(selection.metrics) != [ERROR.name] else {},
        group=group,
        weight=weight,
        confusion=_in_order(confusion, data.classes),
    )
    model = TableModel(selection.estimator, encoder, labels.name, facts, selection.conformal, selection.costs)
    return Fitted(model, selection, confusion, ranking)


def _in_order(confusion: Confusion, classes: Sequence[str]) -> list[list[int]]:
    """The counts with rows and columns in the order of ``Facts.classes``."""
    places = [confusion.true.index(name) for name in classes]
    return confusion.counts[np.ix_(places, places)].tolist()


def _check_savable(machine: str) -> None:
    """Refuse a machine that no model file can hold before the work, not after it."""
    name, options = parse_spec(machine)
    entry = get_machine(name)
    made = entry.create(**options)
    if not isinstance(made, BaseMachine) and not origin_of("machine", entry.name):
        raise McLsError(
            f"a model file cannot hold {name}, which is scikit-learn's code; to judge it on a table beside one of "
            f"mcls: mcls compare oneLSM {shlex.quote(machine)} --dataset TABLE.csv:target=CLASS (from "
            "Python, mcls.save keeps a fitted one in a .skops file)"
        )
    machine_class(type(made).__name__)
    check_labelbook(options.get("labelbook"))
