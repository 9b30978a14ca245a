"""From a table in a file to a model of it: read, encode, choose, fit."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mcls.data.dataset import Dataset
from mcls.data.encoder import Reading
from mcls.data.encoding import counts_rows, learn_encoder, learning_notes, read_values
from mcls.data.formats import ColumnRules, TableFormat
from mcls.data.tables import ReadTable, check_classes, read_table
from mcls.errors import McLsError
from mcls.evaluation.folds import EQUAL_ROWS
from mcls.evaluation.grid import OnStep
from mcls.evaluation.statistics import wilson
from mcls.machines.base import BaseMachine
from mcls.machines.registry import get_machine
from mcls.models.judging import Confusion
from mcls.models.ranking import Ranking, rank
from mcls.models.selection import AS_FLAGS, Say, Selection, select
from mcls.models.state import check_labelbook, machine_class
from mcls.models.table import Facts, TableModel
from mcls.plugins import origin_of
from mcls.specs import parse_spec

AUTO = "auto"


class Fitted(NamedTuple):
    """The model, how it was chosen, the confusion out of fold (nested, if asked for), and with ``auto`` the ranking."""

    model: TableModel
    selection: Selection
    confusion: Confusion
    ranking: Ranking | None


def fit_table(
    path: Path | str,
    target: str | int = -1,
    machine: str = "oneLSM",
    grid: Any = "auto",
    *,
    form: TableFormat | None = None,
    rules: ColumnRules | None = None,
    folds: int | str = 10,
    seed: int = 0,
    nested: bool = True,
    repeats: int = 1,
    groups: Any = EQUAL_ROWS,
    say: Say | None = None,
    on_step: OnStep | None = None,
) -> Fitted:
    """Fit a machine to a table of your own; see ``mcls.data.encoder`` for how columns become features.

    ``machine`` is a name with options, or ``auto`` for the best of the fast ones; ``target`` is that of
    ``mcls.data.load_table``; ``groups`` and ``on_step`` those of ``mcls.select``.
    """
    check_machine(machine, grid)
    path = Path(path)
    read = read_table(path, target, form, rules)
    settings: dict[str, Any] = {
        "folds": folds,
        "seed": seed,
        "nested": nested,
        "repeats": repeats,
        "groups": groups,
    }
    settings |= {"say": say, "on_step": on_step, "advice": AS_FLAGS}
    return fit_columns(read, path, machine, grid, rules, **settings)


def check_machine(machine: str, grid: Any) -> None:
    """Refuse before the work what cannot be done or saved."""
    automatic = machine.strip().lower() == AUTO
    if not automatic:
        _check_savable(machine)
    elif isinstance(grid, str) and "=" in grid:
        raise McLsError("ranges belong to one machine: name it, or give --machine auto the grid auto or paper")


def fit_columns(
    read: ReadTable, path: Path, machine: str, grid: Any, rules: ColumnRules | None = None, **settings: Any
) -> Fitted:
    """Fit a machine to columns that are read; ``settings`` are those of ``mcls.select``."""
    columns, labels, decimal, say = read.columns, read.labels, read.form.decimal or ".", settings.get("say")
    check_classes(labels, path)
    encoder = learn_encoder(columns, path, rules, decimal)
    notes = [*read.notes, *learning_notes(encoder)]
    if len(columns) == 1 and counts_rows(columns[0]):
        notes.append(
            f"column '{columns[0].name}' counts the rows: where the file is sorted, it gives the class away"
        )
    if say is not None:
        for note in notes:
            say(note)
    values = read_values(columns, encoder, decimal)
    X = encoder.features(values, Reading())
    y = np.array(labels.levels)[labels.codes]
    ranking = None
    if machine.strip().lower() == AUTO:
        selection, ranking = rank(X, y, grid, **settings)
    else:
        selection = select(X, y, machine, grid, **settings)
    # As read, not as scaled: a table of numbers has the fingerprint that load_table gives it.
    data = Dataset(path.name, encoder.plain(values), labels.codes, labels.levels, encoder.feature_names)
    wrong = float((selection.predictions != y[selection.rows]).mean())  # of all folds together
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
        dropped=read.dropped,
    )
    model = TableModel(selection.estimator, encoder, labels.name, facts)
    honest = selection.predictions if selection.nested_predictions is None else selection.nested_predictions
    confusion = Confusion.of(y[selection.tested], honest, selection.estimator.classes_)
    return Fitted(model, selection, confusion, ranking)


def _check_savable(machine: str) -> None:
    """Refuse a machine that no model file can hold before the work, not after it."""
    name, options = parse_spec(machine)
    entry = get_machine(name)
    made = entry.create(**options)
    if not isinstance(made, BaseMachine) and not origin_of("machine", entry.name):
        raise McLsError(
            f"a model file cannot hold {name}, which is scikit-learn's code; to judge it on a table beside one of "
            f"mcls: mcls compare oneLSM {shlex.quote(machine)} --dataset TABLE.csv:target=CLASS"
        )
    machine_class(type(made).__name__)
    check_labelbook(options.get("labelbook"))
