"""The rows of a text table: its separator, its encoding, and what to do with a file that is another thing."""

from __future__ import annotations

import csv
import gzip
import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from mcls.errors import McLsError
from mcls.files import require_file

SEPARATORS = ("\t", ";", ",")  # in this order: a comma may stand inside cells of the other two
MAX_LINE = 2**24  # characters; more is no table but a file without line ends
BAD_BYTE = re.compile("[\udc80-\udcff]")  # how Python writes a byte that is no UTF-8 (surrogateescape)


def find_separator(path: Path | str) -> str:
    """Choose the first separator that splits the first lines into equally many cells, and at least two."""
    with _open(path) as stream:
        sample = [line for _, line in zip(range(20), _lines(path, stream)) if line.strip()]
    for sep in SEPARATORS:
        try:
            widths = {len(row) for row in csv.reader(sample, delimiter=sep)}
        except csv.Error:
            continue
        if min(widths, default=0) > 1 and len(widths) == 1:
            return sep
    return max(SEPARATORS, key=lambda sep: sample[0].count(sep)) if sample else ","


def table_rows(path: Path | str, sep: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number, cells without white space around them), blank lines left out."""
    with _open(path) as stream:
        try:
            reader = csv.reader(_lines(path, stream), delimiter=sep, strict=True, skipinitialspace=True)
        except TypeError:
            raise McLsError(f"the separator must be one character, not {sep!r}") from None
        try:
            for cells in reader:
                if cells and (len(cells) > 1 or cells[0].strip()):
                    yield reader.line_num, [cell.strip() for cell in cells]
        except csv.Error as error:
            raise McLsError(f"{path}: line {reader.line_num}: {error}") from None


def _open(path: Path | str) -> IO[str]:
    path = Path(path)
    try:
        require_file(path)
        opener = gzip.open if path.suffix == ".gz" else open
        with opener(path, "rb") as raw:
            start = raw.read(512)
        if other := _other_kind(path, start):
            raise McLsError(f"{path} is {other}")
        return opener(path, "rt", encoding="utf-8-sig", errors="surrogateescape", newline="")
    except (OSError, EOFError, zlib.error) as error:
        raise McLsError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None


def _other_kind(path: Path, start: bytes) -> str | None:
    """What a file is that is no table, and what to do with it; None where its first bytes may be a table's."""
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "UTF-16; save it as UTF-8"
    for magic, kind in ((b"PAR1", "parquet"), (b"ARROW1", "feather")):
        if start.startswith(magic) and b"\0" in start:  # a column may be called PAR1
            read = f"pandas.read_{kind}({path.name!r}).to_csv('{path.stem}.csv', index=False)"
            return f"a {kind.capitalize()} file; a table is text: write it as CSV, in Python with {read}"
    if start.startswith(b"\xd0\xcf\x11\xe0"):
        return _WORKBOOK
    if start.startswith(b"PK\x03\x04"):
        try:
            with zipfile.ZipFile(path) as archive:
                names = archive.namelist()
        except (zipfile.BadZipFile, OSError):
            names = []
        if "model.json" in names:
            return f"a model, not a table; mcls inspect {path} shows it, mcls predict {path} TABLE.csv uses it"
        if any(name.startswith("xl/") or name == "content.xml" for name in names):
            return _WORKBOOK
        return "a zip archive; unpack it and give the table inside"
    if start.startswith(b"\x1f\x8b"):
        return f"compressed; rename it to {path.name}.gz"
    if b"\0" in start:
        return "not text; a table is a CSV or TSV file in UTF-8"
    return None


_WORKBOOK = "a workbook of a spreadsheet; save its sheet as CSV in UTF-8 there, and give that file"


def _lines(path: Path | str, stream: IO[str]) -> Iterator[str]:
    """Yield lines of bounded length, all of them text."""
    number = 0
    try:
        while line := stream.readline(MAX_LINE + 1):
            number += 1
            if len(line) > MAX_LINE:
                raise McLsError(f"{path}: line {number} is longer than {MAX_LINE} characters: is this a table?")
            if not line.isascii() and (bad := BAD_BYTE.search(line)):
                byte = ord(bad[0]) - 0xDC00
                raise McLsError(f"{path} is not UTF-8 text (byte 0x{byte:02x} in line {number}); save it as UTF-8")
            yield line
    except (OSError, EOFError, zlib.error) as error:
        raise McLsError(f"cannot read {path}: {error}") from None
