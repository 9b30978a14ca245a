"""The rows of a piece of a table as columns, some thousand at a time: by pyarrow, or by pandas' reader of CSV.

pandas reads text without quotes fast; it fills short rows up without a word, so the delimiters are counted. Where they
are not as many as the rows need, or where there are quotes, the rows are read one by one, as those of a small table
are.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.errors import ParserError

from mcls.data.arrow import as_numbers, as_texts, read_batches
from mcls.data.cells import MISSING, is_missing, parse_number, parse_numbers, plain_code
from mcls.data.formats import TableFormat
from mcls.data.parts import Parts, Piece
from mcls.data.scanning import TextCell
from mcls.data.tables import Column, NumberColumn, text_column
from mcls.errors import McLsError

Array = np.ndarray

#: Rows that are read at once.
BLOCK_ROWS = 2**14
#: What makes pandas read numbers to the last digit, as Python does: since version 3.1 it always does.
_EXACT: Any = {} if tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1) else {"float_precision": "round_trip"}
#: Every way to write that a value is missing.
NA_VALUES = sorted({"".join(w) for word in MISSING for w in product(*({c.lower(), c.upper()} for c in word))})


class Block(NamedTuple):
    """Some rows of a piece, by column."""

    start: int  # the first row, counted from that of the piece
    rows: int
    columns: dict[str, Column]


class NotNumbers(Exception):  # noqa: N818  (told to whoever reads on, not to the user)
    """A column that held numbers so far has a cell of text."""

    def __init__(self, column: str, cell: TextCell) -> None:
        super().__init__(column, cell)
        self.column, self.cell = column, cell


def read_blocks(parts: Parts, piece: Piece) -> Iterator[Block]:
    """Yield the rows of a piece; a column of numbers with a cell of text raises ``NotNumbers``."""
    start = 0
    raw = _arrow_blocks(parts, piece) if parts.form.kind == "parquet" else _text_blocks(parts, piece)
    for columns in raw:
        made = {name: _column(parts, name, cells, start) for name, cells in columns.items()}
        rows = len(next(iter(columns.values())))
        yield Block(start, rows, made)
        start += rows


def _column(parts: Parts, name: str, cells: Any, start: int) -> Column:
    """A column from an array of pyarrow, an array of numbers, or cells of text."""
    if parts.kinds[name] == "number":
        values = cells if isinstance(cells, np.ndarray) else None
        if values is None:
            values = as_numbers(cells) if not isinstance(cells, list) else parse_numbers(cells, parts.decimal)
        if values is None:
            codes, texts = _coded(cells)
            known = [parse_number(text, parts.decimal) if not is_missing(text) else np.nan for text in texts]
            odd = np.array([value is None for value in known], dtype=bool)
            if odd.any():
                at = int(np.flatnonzero(odd[codes] & (codes >= 0))[0])
                raise NotNumbers(name, TextCell(start + at, texts[codes[at]]))
            values = np.append(np.array(known, dtype=float), np.nan)[codes]
        return NumberColumn(name, values)
    codes, texts = _coded(cells)
    if name in parts.coded:
        texts = [plain_code(text) for text in texts]
    places: dict[str, int] = {}  # texts that differ in white space alone are one
    recode = [-1 if is_missing(text) else places.setdefault(text, len(places)) for text in texts]
    came = np.array([*recode, -1], dtype=np.int64)[codes]
    return text_column(name, came, list(places), None, None)


def _coded(cells: Any) -> tuple[Array, list[str]]:
    """Codes (m,) into texts, −1 where a value is missing."""
    if isinstance(cells, np.ndarray):  # numbers that are codes
        cells = list(map(str, cells.tolist()))
    if not isinstance(cells, list):
        return as_texts(cells)
    codes, texts = pd.factorize(np.array(cells, dtype=object))
    return codes, [str(text).strip() for text in texts]


def _arrow_blocks(parts: Parts, piece: Piece) -> Iterator[dict[str, Any]]:
    groups = range(piece.start, piece.stop)
    yield from read_batches(Path(piece.path), groups, list(parts.kinds), BLOCK_ROWS)


def _text_blocks(parts: Parts, piece: Piece) -> Iterator[dict[str, Any]]:
    data = read_bytes(piece)
    try:
        frame = fast_frame(data, parts.form, parts.names, [n for n in parts.kinds if parts.kinds[n] == "text"])
        if frame is not None:
            columns: dict[str, Any] = {}
            for j, name in enumerate(parts.names):
                if name in parts.kinds:
                    columns[name] = parsed_cells(frame[j])
            rows = len(frame)
        else:
            cells = slow_rows(Path(piece.path), data, parts.form, len(parts.names))
            by_place = list(zip(*cells))
            columns = {name: list(by_place[j]) for j, name in enumerate(parts.names) if name in parts.kinds}
            rows = len(cells)
    except UnicodeError as error:
        raise McLsError(f"{piece.path} is not {parts.form.encoding} text: {error}") from None
    for start in range(0, rows, BLOCK_ROWS):
        yield {name: cells[start : start + BLOCK_ROWS] for name, cells in columns.items()}


def read_bytes(piece: Piece) -> bytes:
    """The bytes of a piece of text."""
    try:
        with open(piece.path, "rb") as stream:
            stream.seek(piece.start)
            return stream.read(piece.stop - piece.start)
    except OSError as error:
        raise McLsError(f"cannot read {piece.path}: {error.strerror or error}") from None


def fast_frame(data: bytes, form: TableFormat, names: Sequence[str], texts: Sequence[str]) -> pd.DataFrame | None:
    """Rows of text by pandas, columns by their place; None where only reading cell by cell is sure to be right."""
    if b'"' in data or b"\0" in data:
        return None
    width, delimiter = len(names), str(form.delimiter)
    lines = data.count(b"\n") + (not data.endswith(b"\n"))
    if data.count(delimiter.encode()) != lines * (width - 1):
        return None
    try:
        frame = pd.read_csv(
            io.BytesIO(data),
            sep=delimiter,
            header=None,
            names=list(range(width)),
            index_col=False,
            dtype={j: str for j, name in enumerate(names) if name in texts},
            keep_default_na=False,
            decimal=form.decimal or ".",
            encoding="utf-8-sig" if form.encoding == "utf-8" else form.encoding,
            quoting=csv.QUOTE_NONE,
            engine="c",
            low_memory=False,
            skipinitialspace=True,
            **{"na_values": {j: NA_VALUES for j, name in enumerate(names) if name not in texts}, **_EXACT},
        )
    except (ParserError, pd.errors.EmptyDataError):
        return None
    return frame if len(frame) == lines else None


def parsed_cells(cells: pd.Series) -> Array | list[str]:
    """A column that pandas has read: numbers (m,), or texts, empty where one is missing."""
    if cells.dtype.kind in "iuf":
        return cells.to_numpy(dtype=float)
    return [text if isinstance(text, str) else "" if text is None or text != text else str(text) for text in cells]


def slow_rows(path: Path, data: bytes, form: TableFormat, width: int) -> list[list[str]]:
    """Rows of text, cell by cell, each of the same width."""
    encoding = "utf-8-sig" if form.encoding == "utf-8" else str(form.encoding)
    stream = io.StringIO(data.decode(encoding), newline="")
    reader = csv.reader(stream, delimiter=str(form.delimiter), strict=True, skipinitialspace=True)
    rows = []
    try:
        for cells in reader:
            if cells and (len(cells) > 1 or cells[0].strip()):
                if len(cells) != width:
                    shown = str(form.delimiter).join(cells)[:60]
                    raise McLsError(f"{path}: a row has {len(cells)} cells, expected {width}: {shown}")
                rows.append([cell.strip() for cell in cells])
    except csv.Error as error:
        raise McLsError(f"{path}: {error}") from None
    return rows
