"""Parquet and Feather (Arrow) files, read by pyarrow a few thousand rows at a time: as rows of text, or as arrays."""

from __future__ import annotations

import contextlib
import csv
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from mcls.errors import McLsError

#: ``TableFormat.kind`` → what they are called.
ARROW_KINDS = {"parquet": "a Parquet file", "arrow": "a Feather file"}
MOST_CELLS = 2**33
MOST_COLUMNS = 2**16
MOST_GROUP_BYTES = 2**31  # of one row group, unpacked
_BATCH_ROWS = 2000
_INDEX = re.compile(r"__index_level_\d+__")  # what pandas adds for the row labels of a frame


def arrow_rows(path: Path, kind: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (row number, cells as text): first, with number 0, the names of the columns.

    A number keeps all its digits, an empty value is an empty text, a moment is written as in ISO 8601. Nested and
    binary columns are refused.
    """
    with trouble(path, kind) as pa:
        schema, batches = (_parquet if kind == "parquet" else _feather)(pa, path)
        _check(pa, path, schema)
        used = [j for j, name in enumerate(schema.names) if not _INDEX.fullmatch(name)]
        yield 0, [schema.names[j].strip() for j in used]
        number = 0
        for batch in batches:
            _check_texts(path, batch, number)
            for cells in zip(*[_shared_texts(batch.column(j)) for j in used]):
                number += 1
                if "\0" in "".join(cells):
                    raise McLsError(f"{path}: row {number} has a NUL character, which no text has; take it out")
                yield number, list(cells)


def _pyarrow(path: Path, kind: str) -> Any:
    try:
        import pyarrow
        import pyarrow.ipc
    except ImportError:
        raise McLsError(
            f"{path} is {ARROW_KINDS[kind]}, and pyarrow is not installed: pip install 'mcls[parquet]', "
            "or write the table as CSV"
        ) from None
    return pyarrow


@contextlib.contextmanager
def trouble(path: Path, kind: str) -> Iterator[Any]:
    """pyarrow itself; what goes wrong with a file is an error of one line."""
    pa = _pyarrow(path, kind)
    try:
        yield pa
    except (pa.ArrowException, OSError, MemoryError, OverflowError, UnicodeError) as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise McLsError(f"cannot read {path} as {ARROW_KINDS[kind]}: {reason}") from None


def parquet_file(path: Path) -> Any:
    """An open Parquet file whose claims are within bounds and whose columns can be read."""
    with trouble(path, "parquet") as pa:
        from pyarrow import parquet

        limits = {"thrift_string_size_limit": 2**26, "thrift_container_size_limit": 2**20}
        file = parquet.ParquetFile(path, pre_buffer=False, **limits)
        facts = file.metadata
        if facts.num_rows * facts.num_columns > MOST_CELLS:
            raise McLsError(f"{path} claims {facts.num_rows} rows; a table has at most {MOST_CELLS} cells")
        for group in range(facts.num_row_groups):
            if facts.row_group(group).total_byte_size > MOST_GROUP_BYTES:
                raise McLsError(f"{path}: a row group has more than {MOST_GROUP_BYTES} bytes; write smaller ones")
        _check(pa, path, file.schema_arrow)
        # A text that a page holds once may fill a thousand rows: it is read once, as an entry of a dictionary.
        texts = [field.name for field in file.schema_arrow if _is_string(pa.types, field.type)]
        if texts:
            file = parquet.ParquetFile(path, metadata=facts, read_dictionary=texts, pre_buffer=False, **limits)
    return file


def arrow_columns(path: Path) -> dict[str, str]:
    """What the columns of a Parquet file are declared to hold: "number", "text", or for no values at all "nothing"."""
    schema = parquet_file(path).schema_arrow
    return {field.name.strip(): _declared(field.type) for field in schema if not _INDEX.fullmatch(field.name)}


def _declared(kind: Any) -> str:
    from pyarrow import types

    if types.is_dictionary(kind):
        kind = kind.value_type
    if types.is_null(kind):
        return "nothing"
    numeric = types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)
    return "number" if numeric else "text"


def read_batches(path: Path, groups: range, names: Sequence[str], rows: int) -> Iterator[dict[str, Any]]:
    """Some columns of some row groups of a Parquet file, as arrays of pyarrow of so many rows at most."""
    with trouble(path, "parquet"):
        file = parquet_file(path)
        written = {name.strip(): name for name in file.schema_arrow.names}
        columns = [written[name] for name in names]
        before = sum(file.metadata.row_group(i).num_rows for i in range(groups.start))
        for batch in file.iter_batches(rows, row_groups=list(groups), columns=columns, use_threads=False):
            _check_texts(path, batch, before)
            before += len(batch)
            yield {name: batch.column(written[name]) for name in names}


def as_numbers(array: Any) -> Any:
    """An array of numbers as float64 (m,), NaN where a value is missing; None where it holds something else."""
    import pyarrow as pa

    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    declared = _declared(array.type)
    if declared == "text":
        return None
    return array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)


def as_texts(array: Any) -> tuple[Any, list[str]]:
    """Codes (m,) into different texts, −1 where a value is missing, and the texts, some of which may be equal."""
    import numpy as np
    import pyarrow as pa

    if pa.types.is_null(array.type):
        return np.full(len(array), -1), []
    if not pa.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    codes = array.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    texts = array.dictionary
    if len(texts) <= len(codes):
        return codes, _texts(texts.to_pylist())
    known, codes = np.unique(codes, return_inverse=True)  # of the texts of a whole row group
    codes, known = codes - (len(known) and known[0] < 0), known[known >= 0]
    if _is_view(texts.type):  # pyarrow cannot take some of these
        return codes, _texts([texts[i].as_py() for i in known.tolist()])
    return codes, _texts(texts.take(pa.array(known)).to_pylist())


def cell_texts(array: Any) -> list[str]:
    """The values of an array as texts, empty where one is missing."""
    import pyarrow as pa

    plain = pa.types.is_floating(array.type) or pa.types.is_integer(array.type)
    if plain and not array.null_count:
        return list(map(str, array.to_numpy(zero_copy_only=False).tolist()))
    return _shared_texts(array)


def _parquet(pa: Any, path: Path) -> tuple[Any, Iterator[Any]]:
    file = parquet_file(path)
    return file.schema_arrow, file.iter_batches(batch_size=_BATCH_ROWS, use_threads=False)


def _feather(pa: Any, path: Path) -> tuple[Any, Iterator[Any]]:
    reader = pa.ipc.open_file(pa.memory_map(str(path)))

    def pieces() -> Iterator[Any]:
        cells = 0
        for i in range(reader.num_record_batches):
            batch = reader.get_batch(i)
            cells += batch.num_rows * batch.num_columns
            if cells > MOST_CELLS:
                raise McLsError(f"{path} has too many rows; a table has at most {MOST_CELLS} cells")
            yield from (batch.slice(at, _BATCH_ROWS) for at in range(0, batch.num_rows, _BATCH_ROWS))

    return reader.schema, pieces()


def _check(pa: Any, path: Path, schema: Any) -> None:
    """Refuse what has no columns, too many, or columns whose values are not numbers, texts, dates or truth values."""
    if not 0 < len(schema.names) <= MOST_COLUMNS:
        raise McLsError(f"{path} has {len(schema.names)} columns; a table has 1 to {MOST_COLUMNS}")
    odd = [f"'{field.name}' ({str(field.type)[:60]})" for field in schema if not _plain(pa.types, field.type)]
    if odd:
        more = f" and {len(odd) - 5} more" if len(odd) > 5 else ""
        raise McLsError(
            f"{path}: a cell must be a number, a text, a date or true or false, but not so in the columns "
            f"{', '.join(odd[:5])}{more}; write the table without them"
        )


def _plain(types: Any, kind: Any) -> bool:
    if types.is_dictionary(kind):
        kind = kind.value_type
    tests = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean, types.is_string, types.is_null,
             types.is_large_string, types.is_date, types.is_timestamp, types.is_time)  # fmt: skip
    return any(test(kind) for test in tests) or _is_view(kind)


def _is_string(types: Any, kind: Any) -> bool:
    return bool(types.is_string(kind) or types.is_large_string(kind) or _is_view(kind))


def _is_view(kind: Any) -> bool:
    return str(kind) == "string_view"  # which pyarrow knows from version 16 on


def _check_texts(path: Path, batch: Any, before: int) -> None:
    """Refuse what is no array, and texts that no table has, before they are made: as a row of a text file."""
    import numpy as np
    import pyarrow as pa

    batch.validate(full=True)
    for array in batch.columns:
        texts = array.dictionary if pa.types.is_dictionary(array.type) else array
        if not _is_string(pa.types, texts.type):
            continue
        rows = np.flatnonzero(_sizes(texts) > csv.field_size_limit())
        if not len(rows):
            continue
        if texts is not array:
            codes = array.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
            rows = np.flatnonzero(np.isin(codes, rows))
        if len(rows):
            raise McLsError(
                f"{path}: row {before + rows[0] + 1}: field larger than field limit ({csv.field_size_limit()})"
            )


def _sizes(texts: Any) -> Any:
    """The number of characters (m,) of texts, 0 where one is missing; of views, which may all be of one, the bytes."""
    import numpy as np
    from pyarrow import compute

    if not _is_view(texts.type):
        return compute.utf8_length(texts).fill_null(0).to_numpy(zero_copy_only=False)
    if not len(texts):
        return np.zeros(0, dtype=np.int32)
    stop = texts.offset + len(texts)
    views = np.frombuffer(texts.buffers()[1], dtype=np.int32, count=4 * stop).reshape(stop, 4)
    return np.where(texts.is_valid().to_numpy(zero_copy_only=False), views[texts.offset :, 0], 0)


def _shared_texts(array: Any) -> list[str]:
    """The values of an array as texts, equal ones made once where the array has a dictionary."""
    import pyarrow as pa

    if not pa.types.is_dictionary(array.type):
        return _texts(array.to_pylist())
    codes, texts = as_texts(array)
    texts.append("")
    return [texts[code] for code in codes.tolist()]


def _texts(values: list[Any]) -> list[str]:
    return ["" if value is None else value.strip() if isinstance(value, str) else str(value) for value in values]
