"""The rows of a table as they stand in a file: how it is written, and what to do with a file that is another thing."""

from __future__ import annotations

import codecs
import csv
import gzip
import re
import zlib
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import IO, NamedTuple

from mcls.data.arrow import ARROW_KINDS, arrow_rows
from mcls.data.cells import DECIMAL_COMMA, DECIMAL_POINT, is_missing
from mcls.data.formats import TableFormat
from mcls.errors import McLsError
from mcls.files import require_file, zip_names

SEPARATORS = ("\t", ";", ",")  # in this order: a comma may stand inside cells of the other two
MAX_LINE = 2**24  # characters; a longer one belongs to a file without line ends, not to a table
BAD_BYTE = re.compile("[\udc80-\udcff]")  # how Python writes a byte that is not UTF-8 (surrogateescape)
_SAMPLE_BYTES = 2**16
_SAMPLE_ROWS = 1000
_BOMS = ((codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"), (codecs.BOM_UTF16_LE, "utf-16"),
         (codecs.BOM_UTF16_BE, "utf-16"))  # fmt: skip
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]")

Rows = Iterator[tuple[int, list[str]]]


class Sniffed(NamedTuple):
    """How a table is written, in full, and what the user should know of what was found out."""

    form: TableFormat
    notes: list[str]


def sniff(path: Path | str, given: TableFormat | None = None) -> Sniffed:
    """Find out what ``given`` leaves open: the encoding, the delimiter, the decimal mark."""
    path, form = Path(path), given or TableFormat()
    if form.kind != "text":  # found out before
        return Sniffed(form, [])
    start = _start(path, form)
    if kind := _arrow_kind(start):
        if options := form.given:
            raise McLsError(f"{path} is {ARROW_KINDS[kind]}, which has no {options[0]} to be told")
        if form.header is False:
            raise McLsError(f"{path} is {ARROW_KINDS[kind]}, whose columns have names: leave out --no-header")
        return Sniffed(replace(form, delimiter=",", decimal=".", encoding="utf-8", header=True, kind=kind), [])
    notes = []
    if form.encoding is None:
        encoding, note = _find_encoding(start)
        form = replace(form, encoding=encoding)
        notes += [f"{path.name} {note}"] if note else []
    if form.delimiter is None:
        form = replace(form, delimiter=_find_separator(path, form))
    if form.decimal is None:
        sample = [cells for _, cells in islice(table_rows(path, form), _SAMPLE_ROWS)]
        comma = None if form.delimiter == "," else _decimal_comma(sample)
        form = replace(form, decimal="," if comma else ".")
        if comma:
            notes.append(
                f"{path.name}: numbers such as {comma} are read with a decimal comma (--decimal . if not)"
            )
    return Sniffed(form, notes)


def is_text(path: Path | str, form: TableFormat | None = None) -> bool:
    """Whether a table is written as text, and not as Parquet or Feather; what is no table at all is refused."""
    return _arrow_kind(_start(Path(path), form or TableFormat())) is None


def table_rows(path: Path | str, form: TableFormat | None = None) -> Rows:
    """Yield (line number, cells without white space around them), blank lines left out."""
    path = Path(path)
    form = sniff(path, form).form if form is None or form.delimiter is None or form.encoding is None else form
    if form.kind in ARROW_KINDS:
        yield from arrow_rows(path, form.kind)
        return
    with _open(path, form) as stream:
        lines = _lines(path, stream, str(form.encoding))
        reader = csv.reader(lines, delimiter=str(form.delimiter), strict=True, skipinitialspace=True)
        try:
            for cells in reader:
                if cells and (len(cells) > 1 or cells[0].strip()):
                    yield reader.line_num, [cell.strip() for cell in cells]
        except csv.Error as error:
            read = f"read with {form.delimiter!r} between cells; --delimiter names another"
            raise McLsError(f"{path}: line {reader.line_num}: {error} ({read})") from None


def _find_separator(path: Path, form: TableFormat) -> str:
    """Choose the first separator that splits the first lines into equally many cells, and at least two."""
    with _open(path, form) as stream:
        sample = [line for _, line in zip(range(20), _lines(path, stream, str(form.encoding))) if line.strip()]
    possible = [sep for sep in SEPARATORS if sep != form.decimal]
    for sep in possible:
        try:
            widths = {len(row) for row in csv.reader(sample, delimiter=sep)}
        except csv.Error:
            continue
        if min(widths, default=0) > 1 and len(widths) == 1:
            return sep
    return max(possible, key=lambda sep: sample[0].count(sep)) if sample else possible[-1]


def _find_encoding(start: bytes) -> tuple[str, str | None]:
    """The encoding of a text from its first bytes, and what to say about it where it is not UTF-8."""
    for mark, encoding in _BOMS:
        if start.startswith(mark):
            return encoding, f"is read as {encoding.upper()}"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start, final=len(start) < _SAMPLE_BYTES)
    except UnicodeDecodeError as error:
        # Text of one byte per letter has none of UTF-8's longer letters before the first that is not UTF-8.
        if start[: error.start].isascii() and not _CONTROL.search(start):
            try:
                start.decode("cp1252")
            except UnicodeDecodeError:
                return "utf-8", None
            shown = start[max(0, error.start - 20) : error.start + 20].decode("cp1252")
            word = next((word for word in re.findall(r"\w+", shown) if not word.isascii()), shown.strip())
            return "cp1252", f"is not UTF-8: read as Windows-1252 ('{word}'; --encoding names another)"
    return "utf-8", None


def _decimal_comma(sample: list[list[str]]) -> str | None:
    """A number with a decimal comma, where most cells of a column are numbers and none in the table has a point."""
    found = None
    rows = [cells for cells in sample[1:] or sample if len(cells) == len(sample[0])]
    for cells in zip(*rows):
        if any(DECIMAL_POINT.fullmatch(cell) for cell in cells):
            return None
        commas = [cell for cell in cells if DECIMAL_COMMA.fullmatch(cell)]
        if commas and 2 * sum(map(_like_number, cells)) > len(cells):
            found = found or commas[0]
    return found


def _like_number(cell: str) -> bool:
    return bool(DECIMAL_COMMA.fullmatch(cell)) or cell.lstrip("+-").isdigit() or is_missing(cell)


def _trouble(path: Path, error: Exception) -> McLsError:
    return McLsError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}")


def _start(path: Path, form: TableFormat) -> bytes:
    """The first bytes of a table, unpacked."""
    try:
        require_file(path)
        with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as raw:
            start: bytes = raw.read(_SAMPLE_BYTES)
    except (OSError, EOFError, zlib.error) as error:
        raise _trouble(path, error) from None
    if other := _other_kind(path, start[:512], form) or _other_text(start):
        raise McLsError(f"{path} is {other}")
    return start


def _open(path: Path, form: TableFormat) -> IO[str]:
    # What is not a table was refused when its first bytes were looked at; it may have changed since.
    _start(path, form)
    opener = gzip.open if path.suffix == ".gz" else open
    encoding, errors = str(form.encoding), "strict"
    if encoding == "utf-8":
        encoding, errors = "utf-8-sig", "surrogateescape"
    try:
        return opener(path, "rt", encoding=encoding, errors=errors, newline="")
    except OSError as error:
        raise _trouble(path, error) from None


def _arrow_kind(start: bytes) -> str | None:
    for magic, kind in ((b"PAR1", "parquet"), (b"ARROW1", "arrow")):
        if start.startswith(magic) and b"\0" in start[:512]:  # a column may be called PAR1
            return kind
    return None


def _other_kind(path: Path, start: bytes, form: TableFormat) -> str | None:
    """What a file is that is not a table, and what to do with it; None where its first bytes may be a table's."""
    if start.startswith(b"\xd0\xcf\x11\xe0"):
        return _WORKBOOK
    if start.startswith(b"PK\x03\x04"):
        names = zip_names(path)
        if "model.json" in names:
            return f"a model, not a table; mcls inspect {path} shows it, mcls predict {path} TABLE.csv uses it"
        if any(name.startswith("xl/") or name == "content.xml" for name in names):
            return _WORKBOOK
        return "a zip archive; unpack it and give the table inside"
    if start.startswith(b"\x1f\x8b"):
        return f"compressed; rename it to {path.name}.gz"
    wide = (form.encoding or "").startswith(("utf-16", "utf-32")) or start.startswith(tuple(m for m, _ in _BOMS))
    if b"\0" in start and not wide and not _arrow_kind(start):
        return "not text; a table is a CSV or TSV file in UTF-8 (--encoding names another), Parquet or Feather"
    return None


def _other_text(start: bytes) -> str | None:
    """What a text is that is not a table, and what to do with it."""
    start = start.removeprefix(codecs.BOM_UTF8)
    return next((what for pattern, what in _OTHER_TEXTS if pattern.match(start)), None)


_OTHER_TEXTS = (
    (re.compile(rb"(?i)\s*+(?:%.*+\s*+)*+@relation\b"),
     "an ARFF file, as Weka and KEEL have; put the names of its @attribute lines into one line, separated by commas, "
     "above the rows that follow @data, and give a file of these"),
    (re.compile(rb"(?i)\s*<(?:!doctype|html|\?xml)"), "a web page or XML, not a table; a table is a CSV or TSV file"),
    (re.compile(rb"\s*(?:\{\s*\"|\[\s*[\[{])"), "JSON, not a table; save it as CSV (pandas: read_json, then to_csv)"),
    (re.compile(rb"(?i)\"?sep=.\"?\s*[\r\n]"),
     "a table below a line that only Excel knows ('sep=…'); take out that first line"),
)  # fmt: skip
_WORKBOOK = "a workbook of a spreadsheet; save its sheet as CSV in UTF-8 there, and give that file"


def _lines(path: Path, stream: IO[str], encoding: str) -> Iterator[str]:
    """Yield lines of bounded length, all of them text."""
    number = 0
    try:
        while line := stream.readline(MAX_LINE + 1):
            number += 1
            if len(line) > MAX_LINE:
                raise McLsError(f"{path}: line {number} is longer than {MAX_LINE} characters: is this a table?")
            if not line.isascii() and (bad := BAD_BYTE.search(line)):
                byte = ord(bad[0]) - 0xDC00
                raise McLsError(
                    f"{path} is not UTF-8 text (byte 0x{byte:02x} in line {number}); save it as UTF-8, "
                    "or name its encoding: --encoding latin-1"
                )
            if "\0" in line:  # NumPy's texts lose it at their end
                raise McLsError(f"{path}: line {number} has a NUL character, which no text has; take it out")
            yield line
    except UnicodeError as error:
        reason = getattr(error, "reason", None) or error
        raise McLsError(f"{path} is not {encoding} text after line {number}: {reason}") from None
    except (OSError, EOFError, zlib.error) as error:
        raise McLsError(f"cannot read {path}: {error}") from None
