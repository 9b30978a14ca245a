"""The user's own tables: CSV or TSV to a ``Dataset``; reading and turning to numbers are separate steps.

``read_table`` gives columns of numbers and columns of text, ``numbers`` turns them to a matrix and complains
about text: an encoder of text columns can stand between the two.

A file is read twice, row by row: first to learn what its columns are, then to fill arrays of the right type.
So a table costs 8 bytes a cell, not a Python string a cell.
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mcls.data.dataset import Dataset
from mcls.data.lines import find_separator, table_rows
from mcls.errors import McLsError, unknown_name

MISSING = {"", "?", "na", "n/a", "#n/a", "nan", "null"}  # not "none": that is a class of lenses
INDEX = re.compile(r"-?\d+")
DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+")
NO_COMMA = "write decimals with a point, not a comma"


class Cell(NamedTuple):
    """A cell's text and the line of the file it stands on."""

    line: int
    text: str

    def __str__(self) -> str:
        shown = self.text if len(self.text) <= 40 else f"{self.text[:40]}…"
        return f"the row at line {self.line} has '{shown}'"


class NumberColumn(NamedTuple):
    """A column whose cells are all finite numbers."""

    name: str
    values: NDArray[np.float64]  # (n,)


class TextColumn(NamedTuple):
    """Any other column: codes into the sorted different texts, and the first cell that is no number."""

    name: str
    codes: NDArray[np.int64]  # (n,)
    levels: tuple[str, ...]
    first: Cell | None


def load_table(
    path: Path | str,
    target: str | int = -1,
    header: bool | None = None,
    sep: str = "auto",
) -> Dataset:
    """Load a table of your own: numeric features and one class column.

    Parameters
    ----------
    path : Path or str
        A CSV or TSV file in UTF-8, which may be gzipped (``.gz``).
    target : str or int
        The class column: its name in the header, or its index from 0 (negative: from the end).
    header : bool, optional
        Whether the first row names the columns, which are x0, x1, … where none does. If you do not say, it does when
        it has text over a column of numbers, or the target's name, or is 0, 1, 2, … or 1, 2, 3, … to the last column.
    sep : str
        The separator; "auto" finds comma, semicolon or tab.

    Returns
    -------
    Dataset
        Named after the file; classes in the order of their numbers, or of the alphabet.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "fruit.csv"
    >>> _ = file.write_text("weight,length,kind\\n120,19.5,banana\\n150,8,apple\\n")
    >>> fruit = load_table(file, target="kind")
    >>> fruit, fruit.classes, fruit.feature_names
    (Dataset(fruit: 2 × 2, 2 classes), ('apple', 'banana'), ('weight', 'length'))
    """
    features, labels = read_table(path, target, header, sep)
    X = numbers(features, path)
    check_classes(labels, path)
    return Dataset(
        name=table_name(path),
        X=X,
        y=labels.codes,
        classes=labels.levels,
        feature_names=tuple(column.name for column in features),
    )


def table_name(path: Path | str) -> str:
    """The name of a data set from a file's: without its folder and endings."""
    return Path(path).name.removesuffix(".gz").rsplit(".", 1)[0]


def check_classes(labels: TextColumn, path: Path | str) -> None:
    """Refuse a class column with one class, or with a class for every other row."""
    if len(labels.levels) < 2:
        raise McLsError(f"{path}: column '{labels.name}' holds one class only: '{labels.levels[0]}'")
    if len(labels.levels) > max(10, len(labels.codes) // 2):
        raise McLsError(
            f"{path}: column '{labels.name}' has {len(labels.levels)} different values in "
            f"{len(labels.codes)} rows; it looks like a measurement, not a class: name the class column"
        )


def numbers(columns: Sequence[NumberColumn | TextColumn], path: Path | str) -> NDArray[np.float64]:
    """Stack columns to X (n, d); the first column of text is an error that shows its first text."""
    for column in columns:
        if isinstance(column, TextColumn):
            hint = comma_hint(column) or "; turn it to numbers or remove the column"
            raise McLsError(f"{path}: column '{column.name}' is not numeric: {column.first}{hint}")
    return np.column_stack([column.values for column in columns if isinstance(column, NumberColumn)])


def comma_hint(column: TextColumn) -> str:
    """What to do about a column of text that begins with a decimal comma; nothing to say about any other."""
    comma = column.first is not None and DECIMAL_COMMA.fullmatch(column.first.text)
    return f"; {NO_COMMA}" if comma else ""


def read_table(
    path: Path | str,
    target: str | int = -1,
    header: bool | None = None,
    sep: str = "auto",
    drop: Sequence[str] = (),
) -> tuple[list[NumberColumn | TextColumn], TextColumn]:
    """Read a table's feature columns, as numbers or text, and its class column; see ``load_table``.

    Columns named in ``drop`` are left out, whatever their cells hold.
    """
    path = Path(path)
    layout = _scan(path, target, header, sep, drop)
    label = _column_index(path, layout, target)
    used = [j for j, name in enumerate(layout.names) if name not in drop]
    if label not in used:
        raise McLsError(f"{path}: '{layout.names[label]}' is the class column, which cannot be dropped")
    if len(used) == 1:
        raise McLsError(f"{path}: no column is left to learn from beside the class")
    text = {j for j in used if layout.first_text[j] is not None} | {label}
    for j in used:
        if layout.first_infinite[j] is not None and j not in text:
            raise McLsError(f"{path}: column '{layout.names[j]}' is not finite: {layout.first_infinite[j]}")
    columns = _fill(path, layout, used, text)
    labels = columns.pop(label)
    assert isinstance(labels, TextColumn)
    return list(columns.values()), _as_classes(labels)


@dataclass(frozen=True)
class _Layout:
    """What the first reading found."""

    sep: str
    has_header: bool
    names: list[str]
    first_text: list[Cell | None]  # by column: the first cell that is no number
    first_infinite: list[Cell | None]  # by column: the first number that is not finite


class _Seen:
    """The first cell of each kind, by column, over the rows shown to it in any order."""

    def __init__(self, width: int) -> None:
        self.number: list[Cell | None] = [None] * width
        self.text: list[Cell | None] = [None] * width
        self.infinite: list[Cell | None] = [None] * width
        self.missing: list[Cell | None] = [None] * width

    def add(self, line: int, cells: Sequence[str]) -> None:
        for j, text in enumerate(cells):
            value = parse_number(text)
            if text.lower() in MISSING:
                kind = self.missing
            elif value is None:
                kind = self.text
            elif math.isinf(value):
                kind = self.infinite
            else:
                kind = self.number
            known = kind[j]
            if known is None or line < known.line:
                kind[j] = Cell(line, text)


def parse_number(text: str) -> float | None:
    """The number a cell holds, or None."""
    # float() also takes 1_000, which no table means as a number.
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


def _scan(path: Path, target: str | int, header: bool | None, sep: str, drop: Sequence[str]) -> _Layout:
    """Read the file once: its width, which columns are numbers, whether there is a header, what is missing."""
    tried = "commas, semicolons or tabs" if sep == "auto" else repr(sep)
    sep = find_separator(path) if sep == "auto" else sep
    rows = table_rows(path, sep)
    head_line, head = next(rows, (0, []))
    if not head:
        raise McLsError(f"{path} is empty")
    if len(head) == 1:
        raise McLsError(f"{path} has one column only; expected features and a class, separated by {tried}")
    seen, n_rows = _Seen(len(head)), 0
    for line, cells in rows:
        if len(cells) != len(head):
            raise McLsError(f"{path}: line {line} has {len(cells)} cells, line {head_line} has {len(head)}")
        seen.add(line, cells)
        n_rows += 1
    has_header = _is_header(path, head, seen, n_rows, target) if header is None else header
    if not has_header:
        seen.add(head_line, head)
        n_rows += 1
    elif n_rows == 0:
        raise McLsError(f"{path} has a header but no rows")
    names = head if has_header else [f"x{j}" for j in range(len(head))]
    for j, name in enumerate(names):
        if not name and name not in drop:
            raise McLsError(
                f"{path}: column {j} has no name in the header; name it, or remove it if it counts rows"
            )
        if name in names[:j]:
            raise McLsError(f"{path}: the header names '{name}' twice; rename one of the two columns")
    if unknown := [name for name in drop if name not in names]:
        raise unknown_name(f"column in {path}:", unknown[0], names)
    gaps = [(cell, name) for cell, name in zip(seen.missing, names) if cell is not None and name not in drop]
    if gaps:
        cell, name = min(gaps)
        raise McLsError(f"{path}: a value is missing in column '{name}': {cell}; fill it in or remove the row")
    return _Layout(sep, has_header, names, seen.text, seen.infinite)


def _is_header(path: Path, head: Sequence[str], seen: _Seen, n_rows: int, target: str | int) -> bool:
    """Tell a header by text over numbers, by the target's name, by counting, or by words and nothing below."""
    # Digits are more likely an index: "4" in the first row says nothing.
    if isinstance(target, str) and target in head and not INDEX.fullmatch(target):
        return True
    if counts_columns(head):
        return True
    if not n_rows:
        return all(parse_number(cell) is None for cell in head)
    over_numbers = [cell for cell, number, text in zip(head, seen.number, seen.text) if number and not text]
    if not over_numbers and any(seen.text):
        for cell in seen.text:
            if cell is not None and DECIMAL_COMMA.fullmatch(cell.text):
                raise McLsError(f"{path}: no column is numeric: {cell}; {NO_COMMA}")
        raise McLsError(
            f"{path}: no column is numeric below the first row; say whether that row is a header: "
            "--header or --no-header (in a config header: true or false)"
        )
    return any(parse_number(cell) is None and cell.lower() not in MISSING for cell in over_numbers)


def counts_columns(cells: Sequence[str]) -> bool:
    """Whether a row only counts the columns from 0 or 1, as pandas heads an array; its column of row numbers is ''.

    >>> [counts_columns(row.split(",")) for row in ("0,1,2", "1,2", ",0,1,2", "0,2", "0")]
    [True, True, True, False, False]
    """
    names = list(cells[1:] if cells[0] == "" else cells)
    return len(names) > 1 and any(names == [str(first + j) for j in range(len(names))] for first in (0, 1))


def _column_index(path: Path, layout: _Layout, target: str | int) -> int:
    """Find the class column by name or by index; digits that are no name count as an index."""
    if isinstance(target, str):
        if target in layout.names:
            return layout.names.index(target)
        if not INDEX.fullmatch(target):
            if layout.has_header:
                raise unknown_name(f"column in {path}:", target, layout.names)
            raise McLsError(f"{path} has no header, so no column named '{target}'; give the class column's index")
        target = int(target)
    width = len(layout.names)
    if not -width <= target < width:
        raise McLsError(
            f"{path} has {width} columns; the class column's index must be from {-width} to {width - 1}"
        )
    return target % width


def _fill(
    path: Path, layout: _Layout, used: Sequence[int], text: set[int]
) -> dict[int, NumberColumn | TextColumn]:
    """Read the file again, into one array per column that is used."""
    values = {j: array("d") for j in used if j not in text}
    codes = {j: array("q") for j in text}
    known: dict[int, dict[str, int]] = {j: {} for j in text}  # by column: text -> code, as they come
    rows = table_rows(path, layout.sep)
    if layout.has_header:
        next(rows)
    for _, cells in rows:
        for j, numeric in values.items():
            numeric.append(float(cells[j]))
        for j, coded in codes.items():
            coded.append(known[j].setdefault(cells[j], len(known[j])))
    columns: dict[int, NumberColumn | TextColumn] = {}
    for j in used:
        name = layout.names[j]
        if j in text:
            levels = sorted(known[j])
            rank = {level: code for code, level in enumerate(levels)}
            recode = np.array([rank[level] for level in known[j]], dtype=np.int64)  # as they came -> sorted
            came = np.frombuffer(codes[j], dtype=np.int64)
            columns[j] = TextColumn(name, recode[came], tuple(levels), layout.first_text[j])
        else:
            columns[j] = NumberColumn(name, np.frombuffer(values[j], dtype=np.float64))
    return columns


def _as_classes(labels: TextColumn) -> TextColumn:
    """Order classes that are all numbers by number, and hold 1 and 1.0 for the same class."""
    if labels.first is not None:
        return labels
    values = [float(level) for level in labels.levels]
    distinct = sorted(set(values))
    recode = np.array([distinct.index(value) for value in values])
    names = tuple(class_of_number(value) for value in distinct)
    return TextColumn(labels.name, recode[labels.codes], names, None)


def class_of_number(value: float) -> str:
    """The name of a class that is a number.

    >>> class_of_number(1.0), class_of_number(2.5)
    ('1', '2.5')
    """
    return str(int(value)) if value.is_integer() else repr(value)
