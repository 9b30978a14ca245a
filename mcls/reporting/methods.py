"""The "methods" paragraph of a study, in words that a paper can use, from what its parts declare."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from mcls.errors import McLsError
from mcls.evaluation.folds import LEAVE_ONE_GROUP_OUT, LEAVE_ONE_OUT
from mcls.evaluation.protocols import get_protocol
from mcls.experiments.cells import Cell
from mcls.experiments.config import DatasetEntry
from mcls.machines.external import tunes_itself
from mcls.machines.registry import get_machine
from mcls.reporting.board import Board
from mcls.reporting.plots.heatmap import power

_SCALING = {
    "dataset": "Features were scaled to [−1, 1] over each data set",
    "fold": "Features were scaled to [−1, 1] from the training rows of each split alone",
    "standard": "Features were standardised over each data set",
    "none": "Features were used as they are",
}
_SYMBOLS = {"gamma": "γ", "sigma": "σ", "lambda1": "λ₁", "lambda2": "λ₂"}


def methods(board: Board, reference: str | None, ranked: bool) -> str:
    """A paragraph: data and what was done to them, machines, parameters, protocol, metrics, tests, software.

    The ``reference`` is the machine that the others were tested against, None where nothing was tested.
    """
    sentences = [_data(board), *_treatments(board), _machines(board), *_grids(board), *_protocols(board)]
    scalings = list(dict.fromkeys(row.row.cells[0].scaling for row in board.rows.values()))
    sentences.append(" or ".join(_SCALING.get(scaling, scaling) for scaling in scalings) + ".")
    measured = "; ".join(f"{metric.name} is the {metric.summary}" for metric in board.metrics)
    several = any(len(row.row.cells) > 1 for row in board.rows.values())
    what = "the mean and standard deviation over the replicates" if several else "the mean over the splits"
    sentences.append(f"We report {what} ({measured}).")
    if reference is not None:
        test = "5×2cv F-test" if board.protocols == ["5x2cv"] else "corrected resampled t-test"
        sentences.append(
            f"Differences to {_said(reference)} were tested on the same splits by the {test}, with Holm's correction "
            "for the number of machines."
        )
    if ranked:
        sentences.append(
            "Average ranks over the data sets were compared by Friedman's test and Nemenyi's critical difference."
        )
    return " ".join([*sentences, _software(board)])


def _listed(words: Sequence[Any]) -> str:
    shown = [str(word) for word in words]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _data(board: Board) -> str:
    shown = []
    for name in board.datasets:
        data = next(row.data for (dataset, _), row in board.rows.items() if dataset == name)
        shown.append(f"{name} ({data.n} rows, {len(data.classes)} classes)")
    noun = "the data set" if len(shown) == 1 else f"{len(shown)} data sets:"
    return f"Experiments were run on {noun} {_listed(shown)}."


def _treatments(board: Board) -> list[str]:
    """What was done to tables of the user's own before a machine saw them, from the configs as run."""
    told: dict[str, list[str]] = {}
    for study in board.studies:
        for fields in study.fields_as_run.get("datasets", []):
            try:
                entry = DatasetEntry.model_validate(fields)
            except ValidationError:  # edited by hand
                continue
            named = f"{entry.label} ({study.name})"
            name = named if named in board.datasets else entry.label
            for sentence in _treated(entry, str(study.fields_as_run.get("scaling"))):
                told.setdefault(sentence, []).append(name)
    return [sentence.format(_listed(list(dict.fromkeys(names)))) for sentence, names in told.items()]


def _treated(entry: DatasetEntry, scaling: str) -> list[str]:
    """Sentences with a place for the names of the data sets that they are about."""
    sentences = []
    if entry.drop:
        sentences.append(f"Of {{}} {_columns(entry.drop)} left out.")
    if entry.categorical:
        sentences.append(f"Of {{}} {_columns(entry.categorical)} taken for codes of categories.")
    if entry.missing == "impute":
        rows = "training rows of each split" if scaling == "fold" else "data set"
        sentences.append(
            f"Missing numbers of {{}} were replaced by the median over the {rows}; a missing text was a level of its "
            "own."
        )
    if entry.group is not None:
        sentences.append(f"Rows of {{}} with one value of {_quoted(entry.group)} were kept in one fold.")
    if entry.weight is not None:
        sentences.append(f"Rows of {{}} were weighted by the column {_quoted(entry.weight)}.")
    return sentences


def _columns(names: Sequence[str]) -> str:
    listed = _listed([_quoted(name) for name in names])
    return f"the column {listed} was" if len(names) == 1 else f"the columns {listed} were"


def _quoted(name: str) -> str:
    return "'{}'".format(name.replace("{", "{{").replace("}", "}}"))


def _machines(board: Board) -> str:
    shown = []
    for label in board.machines:
        name = label.split(", ")[0]
        summary, reference = described(name)
        about = "; ".join(filter(None, (summary, reference)))
        shown.append(f"{_said(label)} ({about})" if summary else _said(label))
    return f"We judged {_listed(shown)}."


def _said(label: str) -> str:
    """A machine in a sentence, where commas stand between two of them.

    >>> _said("voLSSVM, alignment, gamma=1")
    'voLSSVM with alignment, gamma=1'
    """
    return label.replace(", ", " with ", 1)


def described(machine: str) -> tuple[str, str]:
    """Summary and reference of a machine; empty for one of a plug-in that is not loaded."""
    try:
        entry = get_machine(machine)
    except McLsError:
        return "", ""
    return entry.summary, "" if entry.reference == entry.target else entry.reference  # where a plug-in names none


def _grids(board: Board) -> list[str]:
    """A sentence per different grid, with the machines that share it."""
    grids: dict[str, list[str]] = {}
    for (_, machine), row in board.rows.items():
        grid = row.row.cells[0].grid
        shown = [f"{_SYMBOLS.get(n, n)} {'∈' if len(v) > 1 else '='} {_values(v)}" for n, v in grid.items()]
        text = _listed(shown) if shown else ""
        known = grids.setdefault(text, [])
        if _said(machine) not in known:
            known.append(_said(machine))
    itself = dict.fromkeys(_said(m) for (_, m), row in board.rows.items() if tunes_itself(row.row.machine))
    tuned = [f"{_listed(names)}: {text}" for text, names in grids.items() if "∈" in text]
    told = [f"{_listed(list(itself))} chose parameters in every fit."] if itself else []
    for text, names in grids.items():
        fixed = [name for name in names if name not in itself]
        if fixed and "∈" not in text:
            told.append(f"{_listed(fixed)} had fixed parameters{f' ({text})' if text else ''}.")
    by = " or ".join(dict.fromkeys(row.metrics[0] for row in board.rows.values()))
    return ([f"Parameters were chosen by the {by} on grids ({'; '.join(tuned)})."] if tuned else []) + told


def _values(values: Sequence[Any]) -> str:
    if len(values) == 1:
        return f"{values[0]:g}" if isinstance(values[0], float) else str(values[0])
    shown = [power(value) for value in values]
    if len(shown) > 3 and all(re.fullmatch("2[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+", text) for text in shown):
        return f"{{{shown[0]}, …, {shown[-1]}}}"
    return f"{{{', '.join(f'{v:g}' if isinstance(v, float) else str(v) for v in values)}}}"


def _protocols(board: Board) -> list[str]:
    told: dict[str, None] = {}
    fewer: dict[str, None] = {}
    for row in board.rows.values():
        cells = row.row.cells
        told[_protocol(cells[0], len(cells))] = None
        if row.row.nested:
            told["Beside it: " + _protocol(row.row.nested[0], len(row.row.nested))] = None
        wanted = cells[0].settings.get("folds")
        if row.results and isinstance(wanted, int) and (folds := round(1.0 / row.share_tested)) < wanted:
            fewer[f"Of {row.dataset} there were {folds} folds, as many as its largest class allows."] = None
    return [*told, *fewer]


def _protocol(cell: Cell, replicates: int) -> str:
    fixed = False
    try:
        entry = get_protocol(cell.protocol)
        words, fixed = filled(entry.words, cell.settings) if entry.words else entry.summary, entry.fixed
    except McLsError:  # a plug-in's, which is not loaded
        words = cell.protocol
    grouped = ", rows with equal features kept together" if cell.grouped else ""
    partitions = cell.settings.get("repeats", 1)
    grouped += f", over {partitions} partitions of the rows" if partitions > 1 else ""
    random = (
        ""
        if cell.settings.get("folds") in (LEAVE_ONE_OUT, LEAVE_ONE_GROUP_OUT)
        else " with different random splits"
    )
    times = f", repeated {replicates} times{random}" if replicates > 1 and not fixed else ""
    return f"The protocol was {words}{grouped}{times} (seed derived from the experiment's)."


def filled(words: str, settings: Mapping[str, Any]) -> str:
    """A protocol's words with its settings.

    >>> filled("stratified {folds}-fold cross-validation", {"folds": "loo"})
    'leave-one-out cross-validation'
    """
    text = words.format(**settings)
    parts, train = "a random split into training and test rows", settings.get("train")
    if train == "declared":
        text = text.replace(parts, "the split into training and test rows that the source of the data declares")
    elif isinstance(train, float):
        text = text.replace(parts, f"a random split into training rows ({100 * train:g} %) and test rows")
    elif isinstance(train, int):
        text = text.replace(parts, f"the first {train} rows for training and the others for testing")
    elif isinstance(train, list):
        text = text.replace(
            parts, f"a random split into training rows ({_listed(train)} of the classes) and test rows"
        )
    text = re.sub(r"(?:stratified )?(nested )?loo-fold", r"\1leave-one-out", text)
    return re.sub(r"(?:stratified )?(nested )?logo-fold", r"\1leave-one-group-out", text)


def _software(board: Board) -> str:
    for row in board.rows.values():
        for record in row.records:
            if record is not None:
                packages = record["environment"].get("packages", {})
                named = [
                    f"{name} {packages[name]}" for name in ("mcls", "scikit-learn", "numpy") if packages.get(name)
                ]
                plugged = [each.row.cells[0].plugins for each in board.rows.values()]
                libraries = {name: text for of in plugged for name, text in of.items() if " " not in name}
                return f"Software: {', '.join(named + [f'{k} {v}' for k, v in libraries.items()])}."
    return ""
