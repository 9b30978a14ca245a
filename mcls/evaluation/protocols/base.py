"""What a protocol declares, and what the protocols share.

A protocol takes a ``Task`` and a seed and returns a dict of plain JSON values. Every result has

``error``
    the protocol's figure, a fraction;
``chosen``
    the grid point of each selection (one, or one per outer fold or half);
``predictions``
    packed class codes (n,), −1 where a row was never predicted (see ``mcls.packing``).

Where other metrics than the error are asked for, it also has

``metrics``
    the protocol's figure of each metric, None where it is not defined;
``split_metrics``
    each metric on each split.

``published`` and ``half-split`` add ``facts``, one dict per fold, of machines that have some to tell
(see ``mcls.machines.base.BaseMachine.facts``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from mcls import plugins
from mcls.errors import McLsError, unknown_name
from mcls.evaluation.folds import LEAVE_ONE_OUT, Fold, groups_of, largest_class, make_folds, members, parse_folds
from mcls.evaluation.grid_result import GridResult
from mcls.evaluation.metrics import ERROR
from mcls.evaluation.scoring import mean_over_folds
from mcls.evaluation.task import Task
from mcls.machines.foreign import as_machine
from mcls.seeds import derive
from mcls.terminal import counted

Array = np.ndarray
Result = dict[str, Any]
Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Rows:
    """What splits are made from: the class codes, and what else is known of the rows."""

    y: Array  # (n,) class codes 0..ℓ−1
    groups: Array | None = None  # (n,)
    declared: Array | None = None  # (n,) "train" or "test", where the data set's source says so


def _ten(settings: Settings) -> int:
    return 10


@dataclass(frozen=True)
class Protocol:
    """One way to judge a machine; the config's schema, the checks and the summary follow from what stands here.

    Attributes
    ----------
    name, summary : str
        As configs name it, and one sentence for people.
    splits : callable
        ``(rows, seed, settings)`` to a list of (train, test) index arrays.
    judge : callable
        ``(task, seed, settings, splits)`` to a result.
    settings : dict
        What a config may set, with the default of each; ``SETTINGS`` has the readers.
    replicates : callable
        How often it is repeated by default, from the settings; ``fixed`` if that cannot be chosen.
    seed_group : str
        Protocols of one group draw the same splits, so that they differ by the selection alone.
    chooses_inside : bool
        Whether parameters are chosen by cross-validation inside the training rows.
    honest : str
        The protocol whose error can stand beside this one's, in a config: ``nested: 1``.
    words : str
        As a paper would say it, with the settings in braces: "stratified {folds}-fold cross-validation".
    """

    name: str
    summary: str
    splits: Callable[[Rows, int, Settings], list[Fold]]
    judge: Callable[[Task, int, Settings, list[Fold]], Result]
    settings: Settings = field(default_factory=dict)
    replicates: Callable[[Settings], int] = _ten
    fixed: bool = False
    seed_group: str = ""
    chooses_inside: bool = True
    honest: str = ""
    words: str = ""

    def __call__(self, task: Task, seed: int, **settings: Any) -> Result:
        """Judge a task; a setting that is not given has its default."""
        complete = {**self.settings, **settings}
        splits = self.splits(Rows(task.y, task.groups, task.declared_split), seed, complete)
        return self.judge(task, seed, complete, splits)


PROTOCOLS: dict[str, Protocol] = {}
#: Partitions at most.
MOST_REPEATS = 1000


def parse_repeats(value: Any) -> int:
    """Read a number of partitions.

    >>> parse_repeats(10)
    10
    """
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MOST_REPEATS:
        return value
    raise McLsError(f"must be a whole number from 1 to {MOST_REPEATS}; got {value!r}")


#: Setting in a config → function that reads its value, or refuses it.
SETTINGS: dict[str, Callable[[Any], Any]] = {
    "folds": parse_folds,
    "inner_folds": parse_folds,
    "repeats": parse_repeats,
}


def register(protocol: Protocol) -> Protocol:
    """Add a protocol; its name must be new and its settings must have readers."""
    if protocol.name in PROTOCOLS:
        raise McLsError(f"a protocol named '{protocol.name}' is registered already")
    for setting in protocol.settings:
        if setting not in SETTINGS:
            raise McLsError(f"protocol '{protocol.name}': no reader is known for the setting '{setting}'")
    PROTOCOLS[protocol.name] = protocol
    plugins.note("protocol", protocol.name)
    return protocol


plugins.registers(Protocol, register)


def get_protocol(name: str) -> Protocol:
    """Look a protocol up by its name."""
    if name not in PROTOCOLS and not plugins.load_entry("protocol", name):
        raise unknown_name("protocol", name, [*PROTOCOLS, *plugins.entry_names("protocol")])
    return PROTOCOLS[name]


def fold_splits(rows: Rows, seed: int, settings: Settings) -> list[Fold]:
    """The k folds that ``folds`` asks for; with ``repeats``, those of so many partitions one after another."""
    seeds = [seed, *(derive(seed, "repeat", i) for i in range(1, settings.get("repeats", 1)))]
    return [fold for each in seeds for fold in make_folds(rows.y, settings["folds"], each, rows.groups)]


def partitions_of(folds: Sequence[Fold]) -> list[list[Fold]]:
    """The folds of several partitions, listed one after another, partition by partition.

    A new partition begins where a fold tests a row that the partition has tested already.
    """
    parts: list[list[Fold]] = []
    tested: set[int] = set()
    for fold in folds:
        rows = set(np.asarray(fold[1]).tolist())
        if not parts or tested & rows:
            parts.append([])
            tested = set()
        parts[-1].append(fold)
        tested |= rows
    return parts


def check_splits(rows: Rows, protocol: str, settings: Settings, chooses: bool = True) -> None:
    """Refuse rows that a protocol cannot split, before anything is computed.

    ``chooses`` says whether there is a grid to choose from by cross-validation inside the training rows.
    """
    entry = get_protocol(protocol)
    splits = entry.splits(rows, 0, settings)
    if not entry.chooses_inside or not chooses:
        return
    y, groups = rows.y, rows.groups
    if any(largest_class(y[train], groups_of(groups, train)) < 2 for train, _ in splits):
        raise McLsError(
            "the parameters are chosen by cross-validation inside the training rows, which then need a class with "
            f"at least 2 of them; the largest class has {members(largest_class(y, groups), groups)} in all: "
            f"too few for 'protocol: {protocol}'"
        )


def split_notes(rows: Rows, class_names: Sequence[str], protocol: str, settings: Settings) -> list[str]:
    """What a user should know of the splits: fewer folds than asked for, classes that cannot be predicted."""
    y, groups = rows.y, rows.groups
    notes = []
    if "folds" in get_protocol(protocol).settings:
        notes += fewer_folds_note(rows, settings["folds"])
    sizes = [largest_class(y[y == c], groups_of(groups, y == c)) for c in range(len(class_names))]
    if alone := [name for name, size in zip(class_names, sizes) if size == 1]:
        shown = ", ".join(f"'{name}'" for name in alone[:3]) + (", …" if len(alone) > 3 else "")
        notes.append(
            f"a class of {members(1, groups)} ({shown}) is never in training and testing at once: always an error"
        )
    return notes


def fewer_folds_note(rows: Rows, wanted: Any) -> list[str]:
    """A note where no class has as many rows as folds were asked for."""
    largest = largest_class(rows.y, rows.groups)
    if not isinstance(wanted, int) or wanted == LEAVE_ONE_OUT or wanted <= largest:
        return []
    return [f"{largest} folds instead of {wanted}: no class has more than {members(largest, rows.groups)}"]


class Inside(NamedTuple):
    """Scores at the point that a fold is judged at: its own, and those by which its probabilities are calibrated."""

    scores: Array  # (|test|, ℓ)
    rows: Array  # (m,) that the inner folds test
    folds: Array  # (m,) inner fold of each
    inner_scores: Array  # (m, ℓ), from machines that have seen neither the row nor the fold


@dataclass(frozen=True)
class Outcome:
    """One split, judged at the point chosen on its training rows."""

    test: Array
    predictions: Array  # (|test|,)
    error: float
    point: dict[str, Any]
    inner_error: float | None
    values: Mapping[str, float] = field(default_factory=dict)  # of every metric
    inside: Inside | None = None  # where scores were kept
    probabilities: Array | None = None  # (|test|, ℓ), where they were asked for
    machine: str = ""  # where that was chosen inside too


def choose_and_judge(task: Task, X: Array, split: Fold, inner_folds: Any, seed: int) -> Outcome:
    """Choose a point on the training rows of a split, fit there, and predict its test rows."""
    train, test = split
    if task.n_points == 1:  # nothing to choose
        point, inner_error = {k: v[0] for k, v in task.grids[0].items()}, None
    else:
        inner = inner_search(task, X, train, inner_folds, seed)
        point, inner_error = inner.best_point, float(inner.best_error)
    judged = judge_split(task, X, split, inner_folds, seed, at=point)
    values = judged.best_values
    return Outcome(test, judged.fold_predictions[0][0], values["error"], plain(point), inner_error, values)


def inner_search(task: Task, X: Array, rows: Array, inner_folds: Any, seed: int) -> GridResult:
    """A grid search on some rows alone; its best point is the one that the task settles on.

    It judges by the metric that chooses alone: nobody looks at the others there, and some cost a fit of a temperature
    at every point.
    """
    task = replace(task, metrics=task.metrics[:1])
    found = task.search(X, _inner(task, rows, inner_folds, seed), rows=rows, keep_scores=task.near > 0)
    if not task.near:
        return found
    kept = {i: np.concatenate(scores) for i, scores in found.scores.items()}
    return replace(
        found, best=task.settled(found, range(len(found.tests)), kept, rows[np.concatenate(found.tests)])
    )


def judge_split(task: Task, X: Array, split: Fold, inner_folds: Any, seed: int, at: Any = None) -> GridResult:
    """Judge every point, or the one that is given, on the test rows of a split.

    Where a metric needs probabilities, their temperature comes from the scores of the training rows out of the inner
    folds: the test rows take no part in it. A classifier that calibrates itself needs none, and no fit inside.
    """
    if not task.needs_probabilities:
        return task.search(X, [split], at=at)
    if as_machine(task.estimator).calibrates_itself:
        return task.search(X, [split], at=at, calibrators={0: []})
    train = split[0]
    inner = [(train[a], train[b]) for a, b in _inner(task, train, inner_folds, seed)]
    return task.search(X, [split, *inner], at=at, calibrators={0: range(1, len(inner) + 1)})


def _inner(task: Task, rows: Array, inner_folds: Any, seed: int) -> list[Fold]:
    try:
        return make_folds(task.y[rows], inner_folds, seed, groups_of(task.groups, rows))
    except McLsError as error:
        raise McLsError(
            f"the honest error splits the {counted(len(rows), 'training row')} of a fold again, and {error}"
        ) from None


def metric_fields(task: Task, splits: Sequence[Mapping[str, float]]) -> Result:
    """What a result has of the metrics, from their values on each split; nothing where only the error is asked for.

    The figure of a metric is its mean over the splits; those on which it is not defined are left out.
    """
    names = [metric.name for metric in task.metrics]
    if names == [ERROR.name]:
        return {}
    values = np.array([[split[name] for split in splits] for name in names])  # (metrics, splits)
    return {
        "metrics": dict(zip(names, map(defined, mean_over_folds(values)))),
        "split_metrics": {name: [defined(v) for v in of] for name, of in zip(names, values)},
    }


def defined(value: float) -> float | None:
    """A figure as JSON can hold it: None where it is not defined."""
    return None if np.isnan(value) else float(value)


def merged(outcomes: Sequence[Outcome], n: int) -> Array:
    """The predictions of all splits (n,), −1 for a row that none tests."""
    codes = np.full(n, -1)
    for outcome in outcomes:
        codes[outcome.test] = outcome.predictions
    return codes


def plain(point: Mapping[str, Any]) -> dict[str, Any]:
    """A grid point as JSON values."""
    return {name: scalar(value) for name, value in point.items()}


def scalar(value: Any) -> Any:
    """A NumPy scalar as Python's own number."""
    return value.item() if isinstance(value, np.generic) else value
