"""Tables too large for memory, in one file or several: which files, which columns, and the pieces they are read in.

A piece is what one process reads at a time, and may read at any time: some row groups of a Parquet file, or the bytes
between two line ends of a CSV file. Which pieces there are depends on the files alone, so that sums over pieces are
the same wherever the pieces are read.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from mcls.data.arrow import arrow_columns, parquet_file
from mcls.data.formats import ColumnRules, TableFormat
from mcls.data.lines import sniff, table_rows
from mcls.data.scanning import column_index, scan
from mcls.errors import McLsError, unknown_name

Kind = Literal["number", "text"]

#: Files of a folder that are parts of a table.
ENDINGS = (".parquet", ".pq", ".csv", ".tsv")
#: A table of more rows is read piece by piece; those of a long text are estimated from its first lines.
MANY_ROWS = 20_000
_FIRST_BYTES = 2**16
#: Rows of a piece of a Parquet file, at least; a row group that has more is one piece.
PIECE_ROWS = 2**17
#: Bytes of a piece of text, at least.
PIECE_BYTES = 2**25
_WILD = frozenset("*?[")
_SCANNED = 10  # chunks of the first file that tell what its columns are
#: Encodings whose line ends are not one byte.
_WIDE = ("utf-16", "utf-32")


class Piece(NamedTuple):
    """Some rows of a file: row groups, or bytes, from ``start`` to before ``stop``."""

    number: int  # among all pieces
    path: str
    start: int
    stop: int


@dataclass(frozen=True)
class Parts:
    """A table in one file or more that all have the same columns.

    Attributes
    ----------
    title : str
        How the table is called in messages.
    files : tuple of Path
        In their order.
    form : TableFormat
        How they are written.
    names : tuple of str
        The columns of the first file, in its order.
    kinds : dict
        What each column that is used holds, as far as the first rows tell.
    target : str
        The class column.
    group, weight : str or None
        The columns that are not features.
    coded : frozenset of str
        Columns whose texts, or numbers, are codes.
    dropped : list of str
        Columns that are left out.
    notes : list of str
        What the user should know of how the files are read.
    """

    title: str
    files: tuple[Path, ...]
    form: TableFormat
    names: tuple[str, ...]
    kinds: dict[str, Kind]
    target: str
    group: str | None
    weight: str | None
    coded: frozenset[str]
    dropped: list[str]
    notes: list[str]

    @property
    def features(self) -> list[str]:
        """The columns to learn from."""
        return [name for name in self.kinds if name not in (self.target, self.group, self.weight)]

    @property
    def decimal(self) -> str:
        """The decimal mark."""
        return self.form.decimal or "."

    def with_text(self, name: str) -> Parts:
        """The same where a column turned out to hold text."""
        return replace(self, kinds={**self.kinds, name: "text"})

    def pieces(self) -> list[Piece]:
        """The pieces of all files."""
        made: list[Piece] = []
        for path in self.files:
            if self.form.kind == "parquet":
                spans = _row_group_spans(path)
            else:
                spans = byte_spans(path, skip_head=bool(self.form.header), size=PIECE_BYTES)
            made += [Piece(len(made) + i, str(path), *span) for i, span in enumerate(spans)]
        if not made:
            raise McLsError(f"{self.title} has a header but no rows")
        return made


def find_files(paths: Sequence[Path | str]) -> list[Path]:
    """The files that a user named: themselves, those of a folder, or those that match a pattern, in order.

    Hidden files of a folder, and those that begin with an underscore, are not parts of a table.
    """
    found: list[Path] = []
    for path in map(Path, paths):
        if os.path.isdir(path):
            try:
                names = sorted(os.listdir(path))
            except OSError as error:
                raise McLsError(f"cannot look into the folder {path}: {error.strerror}") from None
            inside = [path / n for n in names if Path(n).suffix.lower() in ENDINGS and n[0] not in "._"]
            if not inside:
                raise McLsError(f"the folder {path} holds no table ({', '.join(ENDINGS)})")
            found += inside
        elif not os.path.exists(path) and _WILD & set(str(path)):
            matching = sorted(map(Path, glob.glob(str(path))))
            if not matching:
                raise McLsError(f"no file matches {path}")
            found += matching
        else:
            found.append(path)
    twice = next((path for i, path in enumerate(found) if path in found[:i]), None)
    if twice is not None:
        raise McLsError(f"{twice} is given twice")
    kinds = {path.suffix.lower() in (".parquet", ".pq") for path in found}
    if len(kinds) > 1:
        raise McLsError(f"{found[0]} and {found[-1]} are not written in the same way: give files of one kind")
    return found


def is_large(path: Path, form: TableFormat | None = None) -> bool:
    """Whether a single file is better read piece by piece."""
    found = sniff(path, form).form
    if found.kind == "parquet":
        return bool(parquet_file(path).metadata.num_rows > MANY_ROWS)
    if not seekable(path, found):
        return False
    with open(path, "rb") as stream:
        first = stream.read(_FIRST_BYTES)
        rows = path.stat().st_size * first.count(b"\n") / max(1, len(first))
        if MANY_ROWS / 2 < rows < 2 * MANY_ROWS:  # near the limit they are counted
            chunks = iter(lambda: stream.read(2**20), b"")
            rows = first.count(b"\n") + sum(chunk.count(b"\n") for chunk in chunks) - 1  # but for the header
    return rows > MANY_ROWS


def seekable(path: Path, form: TableFormat) -> bool:
    """Whether a file is text that can be read from any of its lines on."""
    return form.kind == "text" and path.suffix != ".gz" and not str(form.encoding).startswith(_WIDE)


def open_parts(
    files: Sequence[Path],
    target: str | int,
    form: TableFormat | None = None,
    rules: ColumnRules | None = None,
    group: str | None = None,
    weight: str | None = None,
) -> Parts:
    """Look at the first rows of the first file, and at the columns of the others, which must be the same."""
    rules, first = rules or ColumnRules(), files[0]
    found, notes = sniff(first, form)
    if found.kind != "parquet" and not seekable(first, found):
        raise McLsError(
            f"{first} cannot be read piece by piece: unpack it, save it as CSV in UTF-8, or as Parquet"
        )
    layout = scan(first, target, found, rules, _SCANNED)
    found = replace(found, header=layout.has_header)
    label = layout.names[column_index(first, layout, target)]
    if label in layout.dropped:
        raise McLsError(f"{first}: '{label}' is the class column, which cannot be dropped")
    used = [name for name in layout.names if name not in layout.dropped]
    for role, name in (("group", group), ("weight", weight)):
        if name is not None and name not in used:
            raise unknown_name(f"column for the {role} of each row in {first}:", name, used)
    coded = frozenset(rules.as_text([name for name in used if name != label], first))
    holds = dict(zip(layout.names, layout.seen.text))
    types = arrow_columns(first) if found.kind == "parquet" else {}
    kinds: dict[str, Kind] = {
        name: "text" if name in (*coded, label) or _is_text(types.get(name), holds[name]) else "number"
        for name in used
    }
    notes = [*notes, *layout.notes]
    title = first.name if len(files) == 1 else f"{first.name} and {len(files) - 1} more"
    made = Parts(
        title, tuple(files), found, tuple(layout.names), kinds, label, group, weight, coded, layout.dropped, notes
    )
    if not made.features:
        raise McLsError(f"{first}: no column is left to learn from beside the class")
    if weight is not None and kinds[weight] == "text":
        raise McLsError(f"{first}: column '{weight}' must hold weights, which are numbers; {holds[weight]}")
    for path in files[1:]:
        _check_same(made, first, path, types)
    return made


def _is_text(arrow_type: str | None, seen: Any) -> bool:
    return arrow_type == "text" if arrow_type in ("text", "number") else seen is not None


def _check_same(parts: Parts, first: Path, path: Path, types: dict[str, str]) -> None:
    """Refuse a file whose columns are not those of the first."""
    if parts.form.kind == "parquet":
        if sniff(path).form.kind != "parquet":
            raise McLsError(f"{path} is not a Parquet file, and {first.name} is")
        theirs = arrow_columns(path)
        for name, kind in types.items():
            own = theirs.get(name)
            if {kind, own} == {"text", "number"}:
                raise McLsError(
                    f"{path}: column '{name}' holds {own}s, in {first.name} it holds {kind}s: "
                    "all parts of a table have the same columns"
                )
        names = tuple(theirs)
    else:
        form = replace(parts.form, header=None)
        head = next(table_rows(path, form), (0, []))[1]
        names = tuple(head) if parts.form.header else parts.names[: len(head)]
    if missing := [name for name in parts.names if name not in names]:
        raise McLsError(f"{path}: column '{missing[0]}' is missing, which {first.name} has")
    if more := [name for name in names if name not in parts.names]:
        raise McLsError(f"{path}: column '{more[0]}' is new; {first.name} does not have it")
    if parts.form.kind != "parquet" and names != parts.names:
        raise McLsError(f"{path}: its columns are in another order than those of {first.name}")


def _row_group_spans(path: Path) -> Iterator[tuple[int, int]]:
    facts = parquet_file(path).metadata
    start = rows = 0
    for group in range(facts.num_row_groups):
        rows += facts.row_group(group).num_rows
        if rows >= PIECE_ROWS:
            yield start, group + 1
            start, rows = group + 1, 0
    if rows:
        yield start, facts.num_row_groups


def byte_spans(path: Path, skip_head: bool, size: int) -> Iterator[tuple[int, int]]:
    """Spans of bytes that end with a row, of a size at least; a line end between two quotes is none."""
    with open(path, "rb") as stream:
        start = len(_head(stream)) if skip_head else 0
        stream.seek(start)
        place, open_quote = start, False
        while data := stream.read(size):
            at = len(data)
            while True:  # back to the last line end outside quotes
                at = data.rfind(b"\n", 0, at)
                if at < 0 or (open_quote + data.count(b'"', 0, at)) % 2 == 0:
                    break
            if len(data) < size:
                yield start, place + len(data)
                return
            open_quote = (open_quote + data.count(b'"')) % 2 == 1
            place += len(data)
            if at >= 0:
                stop = place - len(data) + at + 1
                yield start, stop
                start = stop
            elif place - start > 8 * size:
                raise McLsError(f"{path}: no line ends within {place - start} bytes: is this a table?")
        if start < place:
            yield start, place


def _head(stream: Any) -> bytes:
    """The bytes of the first row that is not blank, with blank ones before it."""
    head = b""
    while line := stream.readline():
        head += line
        if line.strip() and head.count(b'"') % 2 == 0:
            break
    return head
