"""The first reading of a table: its width, what its columns hold, whether its first row names them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mcls.data.cells import DECIMAL_COMMA, is_missing, parse_number, parse_numbers
from mcls.data.formats import ColumnRules, TableFormat
from mcls.data.lines import SEPARATORS, table_rows
from mcls.errors import McLsError, unknown_name

INDEX = re.compile(r"-?\d+")
_NO_COMMA = "write decimals with a point, or say --decimal , (decimal: comma in a config)"
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?")
CHUNK_ROWS = 2000
_LOOKED_AT = 20  # lines that are looked at for what else separates their cells
CHUNK_CHARACTERS = 2**22


class TextCell(NamedTuple):
    """A cell's text and the line of the file it stands on; of several files, also which."""

    line: int
    text: str
    file: str = ""

    def __str__(self) -> str:
        shown = self.text if len(self.text) <= 40 else f"{self.text[:40]}…"
        return f"the row at line {self.line}{f' of {self.file}' * bool(self.file)} has '{shown}'"


class Gaps(NamedTuple):
    """The cells of a column that hold nothing: how many rows, and the first."""

    rows: int
    first: TextCell


@dataclass(frozen=True)
class Layout:
    """What the first reading found."""

    form: TableFormat
    has_header: bool
    names: list[str]
    dropped: list[str]
    seen: Seen
    notes: list[str] = field(default_factory=list)

    @property
    def decimal(self) -> str:
        """The decimal mark."""
        return self.form.decimal or "."


class Seen:
    """The first cell of each kind, by column, over the rows shown to it in any order."""

    def __init__(self, width: int, decimal: str) -> None:
        self.decimal = decimal
        self.number: list[TextCell | None] = [None] * width
        self.text: list[TextCell | None] = [None] * width
        self.infinite: list[TextCell | None] = [None] * width
        self.missing: list[TextCell | None] = [None] * width
        self.n_missing = [0] * width

    def gaps(self, j: int) -> Gaps | None:
        """What column j misses."""
        first = self.missing[j]
        return None if first is None else Gaps(self.n_missing[j], first)

    def add(self, lines: Sequence[int], rows: Sequence[Sequence[str]]) -> None:
        """Look at some rows: a column of plain numbers at once, any other cell by cell."""
        for j, cells in enumerate(zip(*rows)):
            values = parse_numbers(cells, self.decimal)
            if values is not None and np.isfinite(values).all():
                self._note(self.number, j, lines[0], cells[0])
            else:
                self._add_cells(j, lines, cells)

    def _add_cells(self, j: int, lines: Sequence[int], cells: Sequence[str]) -> None:
        kinds: dict[str, list[TextCell | None]] = {}  # of each different text
        for line, text in zip(lines, cells):
            kind = kinds.get(text)
            if kind is None:
                kinds[text] = kind = self._kind(text)
                self._note(kind, j, line, text)
            self.n_missing[j] += kind is self.missing

    def _kind(self, text: str) -> list[TextCell | None]:
        value = parse_number(text, self.decimal)
        if is_missing(text) or (value is not None and math.isnan(value)):
            return self.missing
        return self.text if value is None else self.infinite if math.isinf(value) else self.number

    @staticmethod
    def _note(kind: list[TextCell | None], j: int, line: int, text: str) -> None:
        known = kind[j]
        if known is None or line < known.line:
            kind[j] = TextCell(line, text)


def pieces(path: Path, form: TableFormat, skip: int = 0) -> Iterator[tuple[list[int], list[list[str]]]]:
    """Yield (line numbers, rows) of bounded size, without the first ``skip`` rows."""
    lines: list[int] = []
    rows: list[list[str]] = []
    characters = 0
    for line, cells in table_rows(path, form):
        if skip:
            skip -= 1
            continue
        lines.append(line)
        rows.append(cells)
        characters += sum(map(len, cells))
        if len(rows) == CHUNK_ROWS or characters > CHUNK_CHARACTERS:
            yield lines, rows
            lines, rows, characters = [], [], 0
    if rows:
        yield lines, rows


def scan(
    path: Path, target: str | int, form: TableFormat, rules: ColumnRules, chunks: int | None = None
) -> Layout:
    """Read the file once: its width, which columns are numbers, whether there is a header, what is missing.

    ``chunks`` looks only at so many chunks of rows.
    """
    head_line, head = next(table_rows(path, form), (0, []))
    if not head:
        raise McLsError(f"{path} is empty")
    if len(head) == 1:
        tried = f"commas, semicolons or tabs (read with {form.delimiter!r}; --delimiter names another)"
        hint = _one_column_hint([cells[0] for _, cells in islice(table_rows(path, form), _LOOKED_AT)])
        raise McLsError(f"{path} has one column only; expected features and a class, separated by {tried}{hint}")
    seen, n_rows = Seen(len(head), form.decimal or "."), 0
    for lines, rows in islice(pieces(path, form, skip=1), chunks):
        for line, cells in zip(lines, rows):
            if len(cells) != len(head):
                one_more = n_rows == 0 and line == lines[0] and len(cells) == len(head) + 1
                hint = (
                    "; if the first one names the row, as R writes it, name it in the header too"
                    if one_more
                    else ""
                )
                raise McLsError(
                    f"{path}: line {line} has {len(cells)} cells, line {head_line} has {len(head)}{hint}"
                )
        seen.add(lines, rows)
        n_rows += len(rows)
    has_header = _is_header(path, head, seen, n_rows, target) if form.header is None else form.header
    if not has_header:
        seen.add([head_line], [head])
        n_rows += 1
    elif n_rows == 0:
        raise McLsError(f"{path} has a header but no rows")
    names = head if has_header else [f"x{j}" for j in range(len(head))]
    dropped, notes = rules.dropped(names, path), []
    for j, name in enumerate(names):
        if not name and name not in dropped:
            notes.append(_left_out(path, j, names, target, empty=seen.n_missing[j] == n_rows))
        if name and name in names[:j]:
            raise McLsError(f"{path}: the header names '{name}' twice; rename one of the two columns")
    return Layout(form, has_header, names, [*dropped, *[""] * bool(notes)], seen, notes)


def _one_column_hint(lines: Sequence[str]) -> str:
    """What lines that no known separator splits look like.

    >>> _one_column_hint(["1 2 x", "3 4 y"])
    '; these lines look like --delimiter space'
    >>> _one_column_hint(["# made in May", "a,b,kind", "1,2,x"])
    "; the first line, '# made in May', is none of the table's: take it out"
    """
    head, rest = lines[0], lines[1:]
    if rest and all(any(sep in line for sep in SEPARATORS) for line in rest[-len(rest) // 2 :]):
        return f"; the first line, '{head[:40]}', is none of the table's: take it out"
    for sep, word in (("|", "pipe"), (" ", "space")):
        if min(len(line.split(sep)) for line in lines) > 1:
            return f"; these lines look like --delimiter {word}"
    return ""


def _left_out(path: Path, j: int, names: Sequence[str], target: str | int, empty: bool) -> str:
    """The note on a column without a name: that of the rows' names, or one that separators at line ends make.

    Any other is refused, and so is one that is the class column by its index.
    """
    index = INDEX.fullmatch(str(target)) and target not in names
    if (index and int(target) % len(names) == j) or (j > 0 and not empty):
        raise McLsError(
            f"{path}: column {j} has no name in the header; name it, or leave it out with --drop '', and say with "
            "--target which column is the class"
        )
    why = "is empty" if empty else "names the rows, as R and pandas write it"
    return f"column {j} has no name and {why}: it is left out"


def _is_header(path: Path, head: Sequence[str], seen: Seen, n_rows: int, target: str | int) -> bool:
    """Tell a header by text over numbers, by the target's name, by counting, or by words and nothing below."""
    # Digits are more likely an index: "4" in the first row says nothing.
    if isinstance(target, str) and target in head and not INDEX.fullmatch(target):
        return True
    if counts_columns(head):
        return True
    counted = head[0] == "" and seen.number[0] and not (seen.text[0] or seen.n_missing[0])
    if counted and all(parse_number(cell) is None and not is_missing(cell) for cell in head[1:]):
        return True  # names over texts, and no name over the numbers of the rows
    if not n_rows:
        return all(parse_number(cell) is None for cell in head)
    over_numbers = [cell for cell, number, text in zip(head, seen.number, seen.text) if number and not text]
    if not over_numbers and any(seen.text):
        for cell in seen.text:
            if hint := comma_hint(cell):
                raise McLsError(f"{path}: no column is numeric: {cell}{hint}")
        raise McLsError(
            f"{path}: no column is numeric below the first row; say whether that row is a header: "
            "--header or --no-header (in a config header: true or false)"
        )
    return any(parse_number(cell, seen.decimal) is None and not is_missing(cell) for cell in over_numbers)


def comma_hint(first: TextCell | None) -> str:
    """What to do about a column whose first text is a number with a comma; nothing to say about any other.

    >>> comma_hint(TextCell(2, "1,007"))
    '; if its commas mark thousands, take them out; if decimals: write decimals with a point, or say --decimal , \
(decimal: comma in a config)'
    """
    if first is not None and _THOUSANDS.fullmatch(first.text):
        return f"; if its commas mark thousands, take them out; if decimals: {_NO_COMMA}"
    comma = first is not None and DECIMAL_COMMA.fullmatch(first.text)
    return f"; {_NO_COMMA}" if comma else ""


def counts_columns(cells: Sequence[str]) -> bool:
    """Whether a row only counts the columns from 0 or 1, as pandas heads an array; its column of row numbers is ''.

    >>> [counts_columns(row.split(",")) for row in ("0,1,2", "1,2", ",0,1,2", "0,2", "0")]
    [True, True, True, False, False]
    """
    names = list(cells[1:] if cells[0] == "" else cells)
    return len(names) > 1 and any(names == [str(first + j) for j in range(len(names))] for first in (0, 1))


def column_index(path: Path, layout: Layout, target: str | int) -> int:
    """Find the class column by name or by index; digits that name no column count as an index."""
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
