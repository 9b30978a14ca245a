"""Tables too large for memory: a model predicts or judges them chunk by chunk."""

from __future__ import annotations

import csv
import io
import operator
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from glob import escape
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

import numpy as np

from mcls.data.cells import parse_number
from mcls.data.dataset import Dataset
from mcls.data.encoder import Cells, Reading, ScaledColumn
from mcls.data.encoding import read_values
from mcls.data.formats import ColumnRules, TableFormat
from mcls.data.lines import sniff, table_rows
from mcls.data.scanning import counts_columns
from mcls.data.tables import read_table
from mcls.errors import McLsError, unknown_name
from mcls.evaluation.costs import least_cost_classes
from mcls.models.chunks import Raw, raw_chunks
from mcls.models.judging import Confusion
from mcls.models.large_result import FINGERPRINT, fingerprint
from mcls.models.passes import row_fingerprints
from mcls.models.ranges import RangeWatch
from mcls.models.table import Reads, TableModel
from mcls.terminal import counted

if TYPE_CHECKING:
    from mcls.evaluation.grid import OnStep
    from mcls.models.training_rows import Say

Array = np.ndarray

PREDICTION = "prediction"
REASON = "reason"
ON_ERROR = ("stop", "skip")
MOST_KEPT = 2**24  # probabilities of a labelled table, for what is computed from all of them
MOST_UNKNOWN = 100  # classes of a labelled table that the model does not know


class Layout(NamedTuple):
    """How a table is to be read: its format, its column names (None without a header), its width."""

    form: TableFormat
    names: list[str] | None
    places: dict[str, int]  # column name → place in a row
    width: int
    notes: list[str]  # to be said when the table is read: what is refused is refused in one line

    @property
    def decimal(self) -> str:
        """The decimal mark."""
        return self.form.decimal or "."


class Chunk(NamedTuple):
    """Some rows: their features, why some of them cannot be read, and what stands in the table."""

    X: Array  # (m, d)
    reasons: dict[int, str]  # row → reason; only where bad rows are skipped
    raw: Raw
    labels: Cells | None  # the cells of the class column, where there is one

    def write(self, out: IO[str], delimiter: str, more: Sequence[Sequence[str]]) -> None:
        """Write the rows again, each with one cell more of every column of ``more``."""
        if self.raw.text is None:
            rows = map(operator.add, self.raw.cells(), map(list, zip(*more)))
            csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows(rows)
            return
        added = io.StringIO(newline="")
        csv.writer(added, delimiter=delimiter, lineterminator="\n").writerows([["", *new] for new in zip(*more)])
        ends = added.getvalue().removesuffix("\n").split("\n")  # each begins with a delimiter
        if len(ends) != len(self.raw.text):  # a class name has a line end in it
            self._replace(raw=self.raw._replace(text=None)).write(out, delimiter, more)
            return
        out.write("\n".join(map(operator.add, self.raw.text, ends)) + "\n")


class Care(NamedTuple):
    """What is to be done about a cell that the model cannot read, and a text that it does not know."""

    on_error: str = "stop"  # or "skip"
    strict: bool = False


CAREFUL = Care()


def open_table(model: Reads, path: Path, form: TableFormat | None = None) -> Layout:
    """Find the model's columns in a table: by the names in its first row, or by place.

    By place only where the training table had no header either (its columns are x0, x1, …); the class column
    may then be there or not.
    """
    form, notes = sniff(path, form)
    line, head = next(table_rows(path, form), (0, []))
    if not head:
        raise McLsError(f"{path} is empty")
    wanted = model.encoder.names
    try:
        if any(name in head for name in wanted) or not _nameless([*wanted, *model.dropped, model.target]):
            _check_names(model, wanted, line, head)
            return Layout(form, head, {name: j for j, name in enumerate(head)}, len(head), notes)
        places = _places(model, wanted, line, head, form.decimal or ".")
    except McLsError as error:
        raise McLsError(f"{path}: {error}") from None
    if counts_columns(head):
        first = f"line {line} of {path} ({', '.join(head[:3])}, …)"
        notes = [*notes, f"{first} was read as data: the training table had no header"]
    return Layout(form, None, places, len(head), notes)


def open_labelled(model: Reads, path: Path, form: TableFormat | None = None) -> Layout:
    """The same for a table that must have the class column."""
    layout = open_table(model, path, form)
    if model.target not in layout.places:
        raise McLsError(f"{path} has no class column '{model.target}' to compare the predictions with")
    return layout


def _check_names(model: Reads, wanted: list[str], line: int, head: list[str]) -> None:
    """Refuse a first row that is not a header with the model's columns."""
    # Of a model's names only those that are not numbers tell a header: a cell may be 0, and a column too.
    named = any(name in head for name in wanted if parse_number(name) is None)
    figure = next((cell for cell in head if parse_number(cell) is not None and cell not in wanted), None)
    if not named and figure is not None and not set(wanted) <= set(head):
        names = ", ".join(wanted[:8]) + (", …" if len(wanted) > 8 else "")
        raise McLsError(
            f"line {line} has '{figure[:40]}', so it is not a header; write one with the model's columns: {names}"
        )
    if twice := next((name for name in head if name and head.count(name) > 1), None):
        raise McLsError(f"the header names '{twice}' twice; rename one of the two columns")
    model.require(head)


def _places(model: Reads, wanted: list[str], line: int, head: list[str], decimal: str) -> dict[str, int]:
    """Where each column x0, x1, … of the model stands in rows like the first, with or without the class."""
    target = int(model.target[1:])
    without = len(wanted) + len(model.dropped)
    with_target = without + 1
    if len(head) not in (with_target, without):
        raise McLsError(f"line {line} has {len(head)} cells; the model expects {without}, or {with_target}")
    places = {name: int(name[1:]) for name in wanted}
    if len(head) == with_target:
        places[model.target] = target
    else:
        places = {name: j - (j > target) for name, j in places.items()}
    numeric = [head[places[column.name]] for column in model.encoder.columns if isinstance(column, ScaledColumn)]
    if numeric and all(parse_number(cell, decimal) is None for cell in numeric):
        raise McLsError(
            f"line {line} looks like a header, and the model was fitted to a table without one; "
            "remove that line, or call the columns x0, x1, … in the training table's order"
        )
    return places


def read_chunks(
    model: TableModel, path: Path, layout: Layout, say: Say | None = None, care: Care = CAREFUL
) -> Iterator[Chunk]:
    """Yield the table in encoded pieces of bounded size, and say after the last one if it is unlike the training."""
    watch, log = RangeWatch(model.encoder), Reading(layout.decimal, care.strict)
    encoder = model.encoder
    for raw in raw_chunks(path, layout.form, layout.names, layout.places, encoder, model.target):
        log.reasons.clear()
        seen = Reading(layout.decimal, care.strict)
        if raw.columns is not None:
            values = encoder.read(raw.columns, seen)
            X = encoder.features(values, seen)
            labels = raw.columns.get(model.target)
        if raw.columns is None or seen.reasons:
            rows = raw.cells()
            for i, cells in enumerate(rows):
                if len(cells) != layout.width:
                    log.refuse(i, "", f"the row has {len(cells)} cells, expected {layout.width}")
                    rows[i] = (cells + [""] * layout.width)[: layout.width]
            raw = raw._replace(cells=partial(_given, rows), text=None)
            columns = list(zip(*rows))
            values = encoder.read({name: columns[layout.places[name]] for name in encoder.names}, log)
            X = encoder.features(values, log)
            labels = columns[layout.places[model.target]] if model.target in layout.places else None
        else:
            log.add(seen)
        if care.on_error == "stop":
            _stop(path, raw.lines, log)
        watch.add(values)
        reasons = {i: f"column '{name}': {why}" if name else why for i, (name, why) in log.reasons.items()}
        yield Chunk(X, reasons, raw, labels)
    if say is not None:
        for note in (*layout.notes, watch.note(), log.unknown_note()):
            if note:
                say(note)


def _given(rows: list[list[str]]) -> list[list[str]]:
    return rows


def _stop(path: Path, lines: Sequence[int], log: Reading) -> None:
    """Refuse a table for the first row that cannot be read."""
    if log.reasons:
        row, (column, why) = min(log.reasons.items())
        where = f"line {lines[row]}, column '{column}': {why}" if column else f"line {lines[row]} {why[8:]}"
        raise McLsError(f"{path}: {where} (mcls predict --on-error skip goes on without such rows)")


class Extra(NamedTuple):
    """What is written beside the predictions: scores, probabilities, sets of classes."""

    scores: bool = False
    proba: bool = False
    coverage: float | None = None

    def check(self, model: TableModel) -> None:
        """Refuse what the model cannot give, before a table is read."""
        nothing = np.zeros((1, model.estimator.n_features_in_))
        if self.proba:
            model.probabilities(nothing)
        if self.coverage is not None:
            model.class_sets(nothing, self.coverage)

    def names(self, model: TableModel) -> list[str]:
        """The columns that are added."""
        return [
            *(f"score {name}" for name in model.classes if self.scores),
            *(f"probability {name}" for name in model.classes if self.proba),
            *([] if self.coverage is None else [f"classes at {self.coverage:g}"]),
        ]

    def columns(self, model: TableModel, X: Array, decimal: str) -> list[list[str]]:
        """Their cells as text, column by column."""
        numbers = [
            *(model.class_scores(X).T.tolist() if self.scores else []),
            *(model.probabilities(X).T.tolist() if self.proba else []),
        ]
        texts = [[repr(value).replace(".", decimal) for value in column] for column in numbers]
        if self.coverage is not None:
            texts.append([" | ".join(names) for names in model.class_sets(X, self.coverage)])
        return texts


NOTHING = Extra()


def predict_table(
    model: TableModel,
    path: Path,
    out: IO[str],
    extra: Extra = NOTHING,
    say: Say | None = None,
    on_step: OnStep | None = None,
    form: TableFormat | None = None,
    care: Care = CAREFUL,
) -> int:
    """Write the table again with a column ``prediction`` and what else is asked for; returns the rows.

    A row that cannot be read is an error, or with ``care.on_error`` ``skip`` has an empty prediction and a reason in
    one more column. ``say`` is told at the end what the user should know of the table, ``on_step`` the rows done.
    """
    if care.on_error not in ON_ERROR:
        raise unknown_name("way with errors:", care.on_error, ON_ERROR)
    layout = open_table(model.reads, path, form)
    skip = care.on_error == "skip"
    added = [PREDICTION, *extra.names(model), *[REASON] * skip]
    delimiter = str(layout.form.delimiter)
    if layout.names is not None:
        for name in added:
            if name in layout.names:
                raise McLsError(f"{path} has a column '{name}' already; rename or remove it")
        csv.writer(out, delimiter=delimiter, lineterminator="\n").writerow([*layout.names, *added])
    count = skipped = 0
    for chunk in read_chunks(model, path, layout, say, care):
        new = [model.decide(chunk.X).tolist(), *extra.columns(model, chunk.X, layout.decimal)]
        for column in new:
            for i in chunk.reasons:
                column[i] = ""
        if skip:
            new.append([chunk.reasons.get(i, "") for i in range(len(chunk.X))])
        chunk.write(out, delimiter, new)
        count += len(chunk.X)
        skipped += len(chunk.reasons)
        if on_step is not None:
            on_step("rows", count, None)
    if say is not None and skipped:
        say(
            f"{counted(skipped, 'row')} of {count} could not be read: no prediction, and why in the column '{REASON}'"
        )
    if say is not None and not count:
        say(f"{path} has a header but no rows")
    return count


def judge_table(
    model: TableModel,
    path: Path,
    say: Say | None = None,
    on_step: OnStep | None = None,
    form: TableFormat | None = None,
    care: Care = CAREFUL,
) -> Confusion:
    """Predict a labelled table and count each class's predictions; classes the model never saw are errors.

    ``say`` and ``on_step`` as for ``predict_table``.
    """
    layout = open_labelled(model.reads, path, form)
    classes = model.classes
    counts = {name: np.zeros(len(classes), dtype=np.int64) for name in classes}
    truths: list[Array] = []
    probabilities: list[Array] = []
    places = {name: j for j, name in enumerate(classes)}
    for X, _, _, labels in read_chunks(model, path, layout, say, care):
        assert labels is not None
        names = {text: model.class_name(text, layout.decimal) for text in set(labels)}
        y = np.array([places.get(names[text], -1) for text in labels])
        if model.has_probabilities and sum(map(len, truths)) * len(classes) < MOST_KEPT:
            P = model.probabilities(X)
            truths.append(y[y >= 0])
            probabilities.append(P[y >= 0])
            # The largest probability is that of the predicted class.
            best = P.argmax(axis=1) if model.costs is None else least_cost_classes(P, model.costs)
        else:
            best = np.searchsorted(model.estimator.classes_, model.decide(X))
        known = y >= 0
        pairs = np.bincount(y[known] * len(classes) + best[known], minlength=len(classes) ** 2)
        for name, row in zip(classes, pairs.reshape(len(classes), -1)):
            counts[name] += row
        for i in np.flatnonzero(~known).tolist():
            name = names[labels[i]]
            if name not in counts:
                if len(counts) == len(classes) + MOST_UNKNOWN:
                    raise McLsError(
                        f"{path}: column '{model.target}' holds more than {MOST_UNKNOWN} classes that the model "
                        f"does not know, such as '{name[:40]}': is it the class column?"
                    )
                counts[name] = np.zeros(len(classes), dtype=np.int64)
            counts[name][best[i]] += 1
        if on_step is not None:
            on_step("rows", sum(int(row.sum()) for row in counts.values()), None)
    if not any(row.any() for row in counts.values()):
        raise McLsError(f"{path} has a header but no rows")
    made = Confusion(tuple(counts), tuple(classes), np.array(list(counts.values())))
    if not probabilities:
        return made
    return replace(made, y=np.concatenate(truths), probabilities=np.concatenate(probabilities))


def is_training_table(model: TableModel, path: Path, form: TableFormat | None = None) -> bool:
    """Whether a table holds the very rows that a model was fitted to; its columns may come in another order."""
    if model.facts.fingerprint.startswith(FINGERPRINT):
        return _fingerprint(model, path, form) == model.facts.fingerprint
    layout, known = open_table(model.reads, path, form), model.encoder.columns
    wanted = {model.target, *model.encoder.names}
    others = model.facts.dropped if layout.names is None else [name for name in layout.names if name not in wanted]
    texts = [column.name for column in known if not isinstance(column, ScaledColumn)]
    rules = ColumnRules(drop=_exact(others), categorical=_exact(texts), missing="impute")
    try:
        read = read_table(path, model.target, replace(layout.form, header=layout.names is not None), rules)
    except McLsError:  # a class is missing, for one
        return False
    columns = {column.name: column for column in read.columns}
    values = read_values([columns[name] for name in model.encoder.names], model.encoder, layout.decimal)
    X, labels = model.encoder.plain(values), read.labels
    data = Dataset(path.name, X, labels.codes, labels.levels, model.encoder.feature_names)
    return data.fingerprint == model.facts.fingerprint


def _fingerprint(model: TableModel, path: Path, form: TableFormat | None) -> str | None:
    """The fingerprint of a table, piece by piece; None where a row cannot be read or its class is not known."""
    layout, total = open_table(model.reads, path, form), np.zeros(2, dtype=np.uint64)
    places = {name: c for c, name in enumerate(model.classes)}
    try:
        for X, _, _, labels in read_chunks(model, path, layout):
            names = {text: places[model.class_name(text, layout.decimal)] for text in set(labels or ())}
            total += row_fingerprints(X, np.array([names[text] for text in labels or ()]))
    except (McLsError, KeyError):
        return None
    return fingerprint(total)


def _exact(names: list[str]) -> list[str]:
    """Names as patterns that match nothing else."""
    return [escape(name) for name in names]


def _nameless(names: list[str]) -> bool:
    """Whether the names are those that a table without a header is given: x0, x1, …, each once."""
    return sorted(names) == sorted(f"x{j}" for j in range(len(names)))
