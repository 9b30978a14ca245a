"""The rows of a new table for a model, some thousand at a time: whole columns where that is safe, else cell by cell.

A CSV file without quotes, in ASCII, with no white space around its cells is *plain*: its lines can be written again as
they stand, and pandas reads its columns. A Parquet file has columns from the beginning. Rows in which something is
wrong are read again cell by cell: there is one place that complains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mcls.data.arrow import arrow_columns, as_numbers, as_texts, cell_texts, parquet_file, read_batches
from mcls.data.blocks import fast_frame, parsed_cells
from mcls.data.encoder import Cells, Encoder, ScaledColumn
from mcls.data.formats import TableFormat
from mcls.data.parts import byte_spans, seekable
from mcls.data.scanning import pieces

Array = np.ndarray

_SPAN = 2**22  # bytes of plain text
_ROWS = 2**13  # rows of a Parquet file
_WHITE = (b" ", b"\t")


class Raw(NamedTuple):
    """Some rows of a table."""

    lines: Sequence[int]  # where they stand in the file
    columns: dict[str, Cells] | None  # those that were asked for, read at once; None where only cells are at hand
    cells: Callable[[], list[list[str]]]  # the rows cell by cell
    text: list[str] | None  # the rows as they stand, where they can be written again like that


def raw_chunks(
    path: Path, form: TableFormat, names: list[str] | None, places: dict[str, int], encoder: Encoder, target: str
) -> Iterator[Raw]:
    """Yield the rows of a table whose columns stand in ``places``; ``names`` are those of its header, if it has one."""
    wanted = [name for name in (*encoder.names, target) if name in places]
    numbers = {column.name for column in encoder.columns if isinstance(column, ScaledColumn)}
    if form.kind == "parquet" and names is not None:
        yield from _arrow(path, names, wanted, numbers)
    elif seekable(path, form) and is_plain(path, str(form.delimiter)):
        width = len(names) if names is not None else None
        yield from _plain(path, form, names is not None, width, {name: places[name] for name in wanted}, numbers)
    else:
        for lines, rows in pieces(path, form, skip=int(names is not None)):
            yield Raw(lines, None, lambda rows=rows: rows, None)  # type: ignore[misc]


def is_plain(path: Path, delimiter: str) -> bool:
    """Whether the lines of a text can be split at its delimiters, and written again as they stand."""
    mark = delimiter.encode("utf-8")
    bad = [b'"', b"\0", b"\r\r", *(bytes([code]) for code in (0x0B, 0x0C, *range(0x1C, 0x20)))]
    bad += [pair for white in _WHITE if white != mark for pair in (white + mark, mark + white)]
    bad += [pair for white in _WHITE for pair in (white + b"\n", b"\n" + white, white + b"\r")]
    last = b"\n"
    with open(path, "rb") as stream:
        while data := stream.read(_SPAN):
            seam = last + data  # what is bad may stand across two reads
            if not data.isascii() or any(pair in seam for pair in bad):
                return False
            if seam.count(b"\r") != seam.count(b"\r\n") + seam.endswith(b"\r"):
                return False
            last = data[-1:]
    return not last.isspace() or last == b"\n"


def _plain(
    path: Path, form: TableFormat, header: bool, width: int | None, places: dict[str, int], numbers: set[str]
) -> Iterator[Raw]:
    delimiter = str(form.delimiter)
    with open(path, "rb") as stream:
        for start, stop in byte_spans(path, form, header, _SPAN):
            if stream.tell() != start:  # the header
                line = 1 + stream.read(start - stream.tell()).count(b"\n")
            elif start == 0:
                line = 1
            data = stream.read(stop - start)
            every = data.decode("ascii").replace("\r\n", "\n").removesuffix("\n").split("\n")
            kept = [i for i, text in enumerate(every) if text] if "" in every else range(len(every))
            text = [every[i] for i in kept] if "" in every else every
            lines = [line + i for i in kept] if "" in every else range(line, line + len(every))
            line += data.count(b"\n")
            if not text:
                continue
            width = width or text[0].count(delimiter) + 1
            names = [f"{j}" for j in range(width)]
            texts = [f"{place}" for name, place in places.items() if name not in numbers]
            frame = fast_frame(data, form, names, [*texts, *_others(names, places)])
            columns: dict[str, Cells] | None = None
            if frame is not None and len(frame) == len(text):
                columns = {name: parsed_cells(frame[place]) for name, place in places.items()}
            yield Raw(lines, columns, lambda text=text: [row.split(delimiter) for row in text], text)  # type: ignore[misc]


def _others(names: list[str], places: dict[str, int]) -> list[str]:
    """Columns that nobody asked for: whatever they hold."""
    asked = {f"{place}" for place in places.values()}
    return [name for name in names if name not in asked]


def _arrow(path: Path, names: list[str], wanted: list[str], numbers: set[str]) -> Iterator[Raw]:
    groups = range(parquet_file(path).metadata.num_row_groups)
    own = list(arrow_columns(path))
    row = 0
    for batch in read_batches(path, groups, own, _ROWS):
        columns: dict[str, Cells] | None = {}
        for name in wanted:
            values = as_numbers(batch[name]) if name in numbers else None
            if values is None:
                codes, texts = as_texts(batch[name])
                values = np.array([*texts, ""], dtype=object)[codes].tolist()
            assert columns is not None
            columns[name] = values
        n = len(batch[own[0]])

        def cells(batch: dict[str, object] = batch) -> list[list[str]]:
            texts = [cell_texts(batch[name]) for name in names]
            return list(map(list, zip(*texts)))

        yield Raw(range(row + 1, row + n + 1), columns, cells, None)
        row += n
