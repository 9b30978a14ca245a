"""Tables too large for memory: a model predicts or judges them chunk by chunk."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

import numpy as np

from mcls.data.encoder import ScaledColumn, as_dataset
from mcls.data.lines import find_separator, table_rows
from mcls.data.tables import NumberColumn, counts_columns, parse_number, read_table
from mcls.errors import McLsError
from mcls.models.judging import Confusion
from mcls.models.ranges import RangeWatch
from mcls.models.table import TableModel

if TYPE_CHECKING:
    from mcls.evaluation.grid import OnStep
    from mcls.models.selection import Say

Array = np.ndarray

CHUNK_ROWS = 2000
CHUNK_CHARACTERS = 2**22
PREDICTION = "prediction"
MOST_UNKNOWN = 100  # classes of a labelled table that the model does not know


class Layout(NamedTuple):
    """How a table is to be read: its separator, its column names (None without a header), its width."""

    sep: str
    names: list[str] | None
    places: dict[str, int]  # column name → place in a row
    width: int


class Chunk(NamedTuple):
    """Some rows: their cells, and their features."""

    rows: list[list[str]]
    X: Array  # (m, d)


def open_table(model: TableModel, path: Path, say: Say | None = None) -> Layout:
    """Find the model's columns in a table: by the names in its first row, or by place.

    By place only where the training table had no header either (its columns are x0, x1, …); the class column
    may then be there or not.
    """
    sep = find_separator(path)
    line, head = next(table_rows(path, sep), (0, []))
    if not head:
        raise McLsError(f"{path} is empty")
    wanted = [column.name for column in model.encoder.columns]
    try:
        if any(name in head for name in wanted) or not _nameless([*wanted, *model.facts.dropped, model.target]):
            _check_names(model, wanted, line, head)
            return Layout(sep, head, {name: j for j, name in enumerate(head)}, len(head))
        places = _places(model, wanted, line, head)
    except McLsError as error:
        raise McLsError(f"{path}: {error}") from None
    if say is not None and counts_columns(head):
        say(f"line {line} of {path} ({', '.join(head[:3])}, …) was read as data: the training table had no header")
    return Layout(sep, None, places, len(head))


def _check_names(model: TableModel, wanted: list[str], line: int, head: list[str]) -> None:
    """Refuse a first row that is not a header with the model's columns."""
    # Of a model's names only those that are no numbers tell a header: a cell may be 0, and a column too.
    named = any(name in head for name in wanted if parse_number(name) is None)
    figure = next((cell for cell in head if parse_number(cell) is not None and cell not in wanted), None)
    if not named and figure is not None and not set(wanted) <= set(head):
        names = ", ".join(wanted[:8]) + (", …" if len(wanted) > 8 else "")
        raise McLsError(
            f"line {line} has '{figure[:40]}', so it is no header; write one with the model's columns: {names}"
        )
    if len(set(head)) != len(head):
        twice = next(name for name in head if head.count(name) > 1)
        raise McLsError(f"the header names '{twice}' twice; rename one of the two columns")
    model.require(head)


def _places(model: TableModel, wanted: list[str], line: int, head: list[str]) -> dict[str, int]:
    """Where each column x0, x1, … of the model stands in rows like the first, with or without the class."""
    target = int(model.target[1:])
    without = len(wanted) + len(model.facts.dropped)
    with_target = without + 1
    if len(head) not in (with_target, without):
        raise McLsError(f"line {line} has {len(head)} cells; the model expects {without}, or {with_target}")
    places = {name: int(name[1:]) for name in wanted}
    if len(head) == with_target:
        places[model.target] = target
    else:
        places = {name: j - (j > target) for name, j in places.items()}
    numeric = [head[places[column.name]] for column in model.encoder.columns if isinstance(column, ScaledColumn)]
    if numeric and all(parse_number(cell) is None for cell in numeric):
        raise McLsError(
            f"line {line} looks like a header, and the model was fitted to a table without one; "
            "remove that line, or call the columns x0, x1, … in the training table's order"
        )
    return places


def read_chunks(model: TableModel, path: Path, layout: Layout, say: Say | None = None) -> Iterator[Chunk]:
    """Yield the table in encoded pieces of bounded size, and say after the last one if it is unlike the training."""
    watch = RangeWatch(model.encoder)
    rows = table_rows(path, layout.sep)
    if layout.names is not None:
        next(rows)
    lines: list[int] = []
    piece: list[list[str]] = []
    characters = 0
    for line, cells in rows:
        if len(cells) != layout.width:
            raise McLsError(f"{path}: line {line} has {len(cells)} cells, expected {layout.width}")
        lines.append(line)
        piece.append(cells)
        characters += sum(map(len, cells))
        if len(piece) == CHUNK_ROWS or characters > CHUNK_CHARACTERS:
            yield Chunk(piece, _encode(model, path, layout, lines, piece, watch))
            lines, piece, characters = [], [], 0
    if piece:
        yield Chunk(piece, _encode(model, path, layout, lines, piece, watch))
    if say is not None and (note := watch.note()):
        say(note)


def predict_table(
    model: TableModel,
    path: Path,
    out: IO[str],
    scores: bool = False,
    say: Say | None = None,
    on_step: OnStep | None = None,
) -> int:
    """Write the table again with a column ``prediction`` (and one a class with its score); returns the rows.

    ``say`` is told at the end what the user should know of the table, ``on_step`` the rows done so far.
    """
    layout = open_table(model, path, say)
    added = [PREDICTION, *(f"score {name}" for name in model.classes if scores)]
    writer = csv.writer(out, delimiter=layout.sep, lineterminator="\n")
    if layout.names is not None:
        for name in added:
            if name in layout.names:
                raise McLsError(f"{path} has a column '{name}' already; rename or remove it")
        writer.writerow([*layout.names, *added])
    count = 0
    for rows, X in read_chunks(model, path, layout, say):
        values = model.class_scores(X) if scores else None
        for i, (cells, predicted) in enumerate(zip(rows, model.estimator.predict(X))):
            writer.writerow([*cells, predicted, *(values[i].tolist() if values is not None else [])])
        count += len(rows)
        if on_step is not None:
            on_step("rows", count, None)
    if say is not None and not count:
        say(f"{path} has a header but no rows")
    return count


def judge_table(model: TableModel, path: Path, say: Say | None = None, on_step: OnStep | None = None) -> Confusion:
    """Predict a labelled table and count each class's predictions; classes the model never saw are errors.

    ``say`` and ``on_step`` as for ``predict_table``.
    """
    layout = open_table(model, path, say)
    if model.target not in layout.places:
        raise McLsError(f"{path} has no class column '{model.target}' to compare the predictions with")
    at = layout.places[model.target]
    classes = model.classes
    counts = {name: np.zeros(len(classes), dtype=np.int64) for name in classes}
    for rows, X in read_chunks(model, path, layout, say):
        best = np.searchsorted(model.estimator.classes_, model.estimator.predict(X))
        for cells, j in zip(rows, best):
            name = model.class_name(cells[at])
            if name not in counts:
                if len(counts) == len(classes) + MOST_UNKNOWN:
                    raise McLsError(
                        f"{path}: column '{model.target}' holds more than {MOST_UNKNOWN} classes that the model "
                        f"does not know, such as '{name[:40]}': is it the class column?"
                    )
                counts[name] = np.zeros(len(classes), dtype=np.int64)
            counts[name][j] += 1
        if on_step is not None:
            on_step("rows", sum(int(row.sum()) for row in counts.values()), None)
    if not any(row.any() for row in counts.values()):
        raise McLsError(f"{path} has a header but no rows")
    return Confusion(tuple(counts), tuple(classes), np.array(list(counts.values())))


def is_training_table(model: TableModel, path: Path) -> bool:
    """Whether a table holds the very rows that a model was fitted to; its columns may come in another order."""
    layout, known = open_table(model, path), model.encoder.columns
    wanted = {model.target, *(column.name for column in known)}
    others = model.facts.dropped if layout.names is None else [name for name in layout.names if name not in wanted]
    try:
        columns, labels = read_table(path, model.target, layout.names is not None, layout.sep, others)
    except McLsError:  # a class is missing, for one
        return False
    read = {column.name: column for column in columns}
    used = [read[column.name] for column in known]
    if any(isinstance(a, NumberColumn) != isinstance(b, ScaledColumn) for a, b in zip(used, known)):
        return False
    return as_dataset(path.name, used, labels, model.encoder).fingerprint == model.facts.fingerprint


def _nameless(names: list[str]) -> bool:
    """Whether the names are those that a table without a header is given: x0, x1, …, each once."""
    return sorted(names) == sorted(f"x{j}" for j in range(len(names)))


def _encode(
    model: TableModel, path: Path, layout: Layout, lines: list[int], rows: list[list[str]], watch: RangeWatch
) -> Array:
    cells = {}
    for column in model.encoder.columns:
        at = layout.places[column.name]
        for line, row in zip(lines, rows):
            if problem := model.problem(column, row[at]):
                raise McLsError(f"{path}: line {line}, column '{column.name}': {problem}")
        cells[column.name] = [row[at] for row in rows]
    watch.add(cells)
    try:
        return model.encoder.encode(cells)
    except McLsError as error:
        raise McLsError(f"{path}: lines {lines[0]} to {lines[-1]}: {error}") from None
