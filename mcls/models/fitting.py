"""From a table in a file to a model of it: read, encode, choose, fit."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from mcls.data.dataset import Dataset
from mcls.data.encoder import Reading
from mcls.data.encoding import counts_rows, learn_encoder, learning_notes, read_values
from mcls.data.formats import ColumnRules, TableFormat
from mcls.data.parts import find_files, is_large
from mcls.data.relearning import features_learnt_from
from mcls.data.roles import GROUP, WEIGHT, take_roles
from mcls.data.tables import ReadTable, alike_notes, check_classes, read_table
from mcls.errors import McLsError, unknown_name
from mcls.evaluation.costs import read_costs
from mcls.evaluation.folds import EQUAL_ROWS
from mcls.evaluation.grid import OnStep
from mcls.evaluation.metrics import ERROR, read_metrics
from mcls.evaluation.task import named_weights
from mcls.machines.base import BaseMachine
from mcls.machines.registry import get_machine
from mcls.models.candidates import named_machine, require_name
from mcls.models.judging import Confusion
from mcls.models.large import LargeSettings, fit_large, why_not
from mcls.models.ranking import AUTO, AUTO_MACHINES, BEST, BEST_MACHINES, Ranking, rank
from mcls.models.selected import AS_FLAGS, Selection
from mcls.models.selection import select
from mcls.models.skops_files import dump_skops, require_skops
from mcls.models.spreading import Workers
from mcls.models.state import check_labelbook, machine_class
from mcls.models.table import Check, ModelFacts, Reads, TableModel, left_out
from mcls.models.training_rows import Say
from mcls.plugins import origin_of
from mcls.specs import format_spec, parse_spec

_ONLY_SKLEARN = "a .skops file holds machines of scikit-learn only"
#: Rows that the columns of the honest error are learnt from: all, or those that each fold trains on.
SCALINGS = ("dataset", "fold")
_REHEARSAL = 100  # rows on which it is tried out whether a classifier of scikit-learn can be saved


class Fitted(NamedTuple):
    """The model, how it was chosen, the confusion out of fold (nested, if asked for), and of several the ranking."""

    model: TableModel
    selection: Selection
    confusion: Confusion
    ranking: Ranking | None


def fit_table(
    path: Path | str | Sequence[Path | str],
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
    permutations: int = 0,
    groups: Any = EQUAL_ROWS,
    metric: Any = ERROR.name,
    costs: Path | str | None = None,
    class_weight: str | None = None,
    group: str | None = None,
    weight: str | None = None,
    calibration: str | None = "auto",
    scaling: str | None = None,
    skops: bool = False,
    seconds: float | None = None,
    memory: float | None = None,
    workers: Workers | None = None,
    resume_at: Path | None = None,
    check: Check | None = None,
    say: Say | None = None,
    on_step: OnStep | None = None,
) -> Fitted:
    """Fit a machine to a table of your own; see ``mcls.data.encoder`` for how columns become features.

    ``machine`` is a name with options, ``best`` for a choice among a few that is judged as a whole (see
    ``mcls.models.contest``), or ``auto`` for all fast ones and a test of the best two; ``target`` is that of
    ``mcls.data.load_table``; ``group`` and ``weight`` name columns, ``costs`` is the file of the matrix of the metric
    ``cost``; the others are those of ``mcls.select``. With ``scaling="fold"``, what the honest error needs to know of
    the columns (ranges, medians, texts) comes from the training rows of each fold, with ``"dataset"`` from all rows;
    by default it is ``"fold"`` where values are missing. With ``skops``, the model is for a .skops file, which takes
    machines of scikit-learn (``sk:…``), and only those.

    A table in several files, a large one, and one with limits of ``seconds`` or ``memory`` in bytes is read piece by
    piece (``mcls.models.large``): there ``workers`` say who reads, and ``resume_at`` where an interrupted fit goes on.
    ``check`` is told what the model will read of a table before the search, which it may refuse.
    """
    check_machine(machine, grid, class_weight, skops)
    read_metrics(
        metric, None if costs is None else np.zeros((2, 2))
    )  # a wrong name is refused before the table is read
    files = find_files([path] if isinstance(path, str | Path) else path)
    one = BEST_MACHINES[0] if machine.strip().lower() == BEST else machine  # pieces serve one machine
    large = LargeSettings(
        _weighing(one, class_weight), grid, folds, seed, groups, metric, costs, calibration, repeats, permutations,
        scaling, seconds, memory,
    )  # fmt: skip
    asked = len(files) > 1 or seconds is not None or memory is not None or workers is not None
    if asked or (why_not(large) is None and is_large(files[0], form)):
        roles: dict[str, Any] = {"group": group, "weight": weight, "workers": workers, "resume_at": resume_at}
        told: dict[str, Any] = {"check": check, "say": say, "on_step": on_step}
        found = fit_large(files, target, large, form=form, rules=rules, **roles, **told)
        return Fitted(*found, ranking=None)
    path = files[0]
    read = read_table(path, target, form, rules)
    settings: dict[str, Any] = {"folds": folds, "seed": seed, "nested": nested, "groups": groups, "metric": metric}
    settings |= {"costs": costs, "class_weight": class_weight, "group": group, "weight": weight}
    settings |= {"calibration": calibration, "scaling": scaling}
    settings |= {"repeats": repeats, "permutations": permutations}
    settings |= {"say": say, "on_step": on_step, "advice": AS_FLAGS}
    return fit_columns(read, path, machine, grid, rules, skops=skops, check=check, **settings)


def check_machine(machine: str, grid: Any, class_weight: str | None = None, skops: bool = False) -> None:
    """Refuse before the work what cannot be done or saved."""
    require_name(machine)
    if skops and several(machine):
        raise McLsError(f"{_ONLY_SKLEARN}: give --machine sk:NAME, or a file that ends in .mcls")
    for each in several(machine) or [machine]:
        _check_savable(_weighing(each, class_weight), skops)
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
    entry = get_machine(name)
    own = issubclass(entry.cls, BaseMachine)
    if not (entry.cls.takes_weights if own else "class_weight" in entry.create().get_params()):
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
    scaling: str | None = None,
    skops: bool = False,
    check: Check | None = None,
    **settings: Any,
) -> Fitted:
    """Fit a machine to columns that are read; see ``fit_table``, and ``mcls.select`` for the ``settings``."""
    labels, decimal, say = read.labels, read.form.decimal or ".", settings.get("say")
    check_classes(labels.levels, len(labels.codes), labels.name, path)
    if scaling not in (None, *SCALINGS):
        raise unknown_name("scaling", str(scaling), SCALINGS)
    columns, roles = take_roles(read.columns, path, group, weight)
    if group is not None:
        settings["groups"] = roles[GROUP]
    if weight is not None:
        settings["sample_weight"] = named_weights(roles[WEIGHT], len(labels.codes), f"{path}: column '{weight}'")
    if costs is not None:
        settings["costs"] = read_costs(costs, sorted(labels.levels))
    encoder = learn_encoder(columns, path, rules, decimal)
    if check is not None:
        check(Reads(encoder, labels.name, left_out(read.dropped, group, weight)))
    notes = [*read.notes, *learning_notes(encoder), *alike_notes(labels.levels)]
    if len(columns) == 1 and counts_rows(columns[0]):
        notes.append(
            f"column '{columns[0].name}' counts the rows: where the file is sorted, it gives the class away"
        )
    scaling = scaling or ("fold" if any(column.gaps is not None for column in columns) else "dataset")
    if say is not None:
        for note in notes:
            say(note)
    values = read_values(columns, encoder, decimal)
    X = encoder.features(values, Reading())
    if scaling == "fold":
        settings["prepare"] = lambda train: features_learnt_from(encoder, values, train)
    y = np.array(labels.levels)[labels.codes]
    if skops:
        _rehearse(named_machine(machine)[1], X, y)
    ranking = None
    if several(machine):
        machines = [_weighing(name, class_weight) for name in several(machine)]
        selection, ranking = rank(X, y, grid, machines, test=machine.strip().lower() == AUTO, **settings)
    else:
        if not isinstance(get_machine(parse_spec(machine)[0]).create(), BaseMachine):
            settings["calibration"] = None  # a classifier of scikit-learn has its own probabilities, or none
        selection = select(X, y, _weighing(machine, class_weight), grid, **settings)
    # As read, not as scaled: a table of numbers has the fingerprint that load_table gives it.
    data = Dataset(path.name, encoder.plain(values), labels.codes, labels.levels, encoder.feature_names)
    wrong = float((selection.predictions != y[selection.tested]).mean())  # of all folds together
    shown = selection.out_of_fold
    confusion = Confusion.of(
        y[shown.rows], shown.predictions, selection.estimator.classes_, probabilities=shown.probabilities
    )
    facts = ModelFacts.of(
        selection,
        wrong,
        file=path.name,
        fingerprint=data.fingerprint,
        rows=data.n,
        classes=data.counts,
        seed=settings.get("seed", 0),
        scaling=scaling,
        notes=[*notes, *selection.notes],
        dropped=read.dropped,
        group=group,
        weight=weight,
        confusion=_in_order(confusion, data.classes),
    )
    model = TableModel(selection.estimator, encoder, labels.name, facts, selection.conformal, selection.costs)
    return Fitted(model, selection, confusion, ranking)


def _in_order(confusion: Confusion, classes: Sequence[str]) -> list[list[int]]:
    """The counts with rows and columns in the order of ``ModelFacts.classes``."""
    places = [confusion.true.index(name) for name in classes]
    return confusion.counts[np.ix_(places, places)].tolist()


def _check_savable(machine: str, skops: bool) -> None:
    """Refuse a machine that no model file can hold before the work, not after it."""
    name, options = parse_spec(machine)
    entry = get_machine(name)
    made = entry.create(**options)
    foreign = not isinstance(made, BaseMachine) and not origin_of("machine", entry.name)
    if foreign and not type(made).__module__.startswith("sklearn."):
        library = type(made).__module__.partition(".")[0]
        raise McLsError(
            f"no model file holds {name}, whose code is that of {library}; judge it on a "
            f"table beside one of mcls: mcls compare oneLSM {shlex.quote(machine)} --dataset TABLE.csv:target=CLASS"
        )
    if foreign and skops:
        require_skops()
        return
    if foreign:
        raise McLsError(
            f"a .mcls file cannot hold {name}, which is scikit-learn's code: keep it in a .skops file (-o "
            "model.skops; pip install 'mcls[skops]'), or judge it on a table beside one of mcls: mcls compare oneLSM "
            f"{shlex.quote(machine)} --dataset TABLE.csv:target=CLASS"
        )
    if skops:
        raise McLsError(f"{_ONLY_SKLEARN}; give a file that ends in .mcls for {name}")
    machine_class(type(made).__name__)
    check_labelbook(options.get("labelbook"))


def _rehearse(classifier: Any, X: np.ndarray, y: np.ndarray) -> None:
    """Refuse before the work a classifier that no file will hold: what it consists of shows once it is fitted.

    Few rows are enough for that; one that cannot learn from so few is left to the fit itself.
    """
    some = np.random.default_rng(0).permutation(len(y))[:_REHEARSAL]
    rows = np.union1d(np.unique(y, return_index=True)[1], some)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            fitted = clone(classifier).fit(X[rows], y[rows])
        except ValueError:
            return
    dump_skops(fitted)
