"""The user's own tables: columns of numbers and columns of text out of a file.

``read_table`` gives the columns as they stand, with what is missing or not finite noted; ``numbers`` turns them to a
matrix and complains about text, and the encoder of ``mcls.data.encoding`` makes features of both.

A file is read twice, some thousand rows at a time: first to learn what its columns are, then to fill arrays of the
right type. So a table costs 8 bytes for each cell, not a Python string.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mcls.data.cells import class_of_number, is_missing, parse_number, parse_numbers, plain_code
from mcls.data.dataset import Dataset
from mcls.data.formats import ColumnRules, TableFormat
from mcls.data.lines import sniff
from mcls.data.scanning import Gaps, Layout, TextCell, column_index, comma_hint, pieces, scan
from mcls.errors import McLsError


class NumberColumn(NamedTuple):
    """A column whose cells are all numbers, NaN where one is missing."""

    name: str
    values: NDArray[np.float64]  # (n,)
    gaps: Gaps | None = None
    infinite: TextCell | None = None

    @property
    def known(self) -> NDArray[np.float64]:
        """The values that are not missing."""
        return self.values[~np.isnan(self.values)]


class TextColumn(NamedTuple):
    """Any other column: codes into the sorted different texts, −1 where one is missing."""

    name: str
    codes: NDArray[np.int64]  # (n,)
    levels: tuple[str, ...]
    first: TextCell | None  # the first cell that is not a number
    gaps: Gaps | None = None


Column = NumberColumn | TextColumn


class ReadTable(NamedTuple):
    """A table as read: the columns to learn from, the class column, and what was found out on the way."""

    columns: list[Column]
    labels: TextColumn
    dropped: list[str]
    form: TableFormat
    notes: list[str]


def load_table(
    path: Path | str,
    target: str | int = -1,
    header: bool | None = None,
    sep: str = "auto",
    *,
    decimal: str | None = None,
    encoding: str | None = None,
) -> Dataset:
    """Load a table of your own: numeric features and one class column.

    Parameters
    ----------
    path : Path or str
        A CSV or TSV file, which may be gzipped (``.gz``), a Parquet file or a Feather file.
    target : str or int
        The class column: its name in the header, or its index from 0 (negative: from the end).
    header : bool, optional
        Whether the first row names the columns, which are x0, x1, … where none does. If you do not say, it does when
        it has text over a column of numbers, or the target's name, or is 0, 1, 2, … or 1, 2, 3, … to the last column.
    sep : str
        The separator; "auto" finds comma, semicolon or tab.
    decimal, encoding : str, optional
        Those of :class:`~mcls.data.formats.TableFormat`; found out where they are not given.

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
    form = TableFormat(None if sep == "auto" else sep, decimal, encoding, header)
    read = read_table(path, target, form)
    X = numbers(read.columns, path)
    check_classes(read.labels.levels, len(read.labels.codes), read.labels.name, path)
    return Dataset(
        name=table_name(path),
        X=X,
        y=read.labels.codes,
        classes=read.labels.levels,
        feature_names=tuple(column.name for column in read.columns),
        notes=tuple(read.notes),
    )


def table_name(path: Path | str) -> str:
    """The name of a data set from a file's: without its folder and endings."""
    return Path(path).name.removesuffix(".gz").rsplit(".", 1)[0]


def check_classes(classes: Sequence[str], rows: int, column: str, path: Path | str) -> None:
    """Refuse a class column with one class, or with a class for every other row."""
    if len(classes) < 2:
        raise McLsError(f"{path}: column '{column}' holds one class only: '{classes[0]}'")
    if len(classes) > max(10, rows // 2):
        raise McLsError(
            f"{path}: column '{column}' has {len(classes)} different values in "
            f"{rows} rows; it looks like a measurement, not a class: name the class column"
        )


def alike_notes(classes: Sequence[str]) -> list[str]:
    """A note on classes that differ in capitals or spaces alone: most likely somebody typed one in two ways.

    >>> alike_notes(["No", "Yes", "no", "yes", "yes ?"])
    ["classes that differ in capitals or spaces alone: 'No' and 'no', 'Yes' and 'yes'; are they meant to be the same?"]
    """
    ways: dict[str, list[str]] = {}
    for name in classes:
        ways.setdefault("".join(name.casefold().split()), []).append(f"'{name}'")
    several = [" and ".join(names) for names in ways.values() if len(names) > 1]
    if not several:
        return []
    shown = ", ".join(several[:3]) + (", …" if len(several) > 3 else "")
    return [f"classes that differ in capitals or spaces alone: {shown}; are they meant to be the same?"]


def numbers(columns: Sequence[Column], path: Path | str) -> NDArray[np.float64]:
    """Stack columns to X (n, d); the first column of text, or with a gap, is an error that shows the cell."""
    if gaps := [(column.gaps.first, column.name) for column in columns if column.gaps is not None]:
        cell, name = min(gaps)
        raise McLsError(
            f"{path}: a value is missing in column '{name}': {cell}; "
            "fill it in or remove the row (mcls fit --missing impute fills it in)"
        )
    for column in columns:
        if isinstance(column, TextColumn):
            hint = comma_hint(column.first) or "; turn it to numbers or remove the column"
            raise McLsError(f"{path}: column '{column.name}' is not numeric: {column.first}{hint}")
        if column.infinite is not None:
            raise McLsError(f"{path}: column '{column.name}' is not finite: {column.infinite}")
    return np.column_stack([column.values for column in columns if isinstance(column, NumberColumn)])


def read_table(
    path: Path | str,
    target: str | int = -1,
    form: TableFormat | None = None,
    rules: ColumnRules | None = None,
) -> ReadTable:
    """Read a table's columns, as numbers or text, and its class column; see ``load_table``.

    Columns that the rules drop are left out, whatever their cells hold; those that are categorical or ordinal are
    read as text.
    """
    path, rules = Path(path), rules or ColumnRules()
    form, notes = sniff(path, form)
    layout = scan(path, target, form, rules)
    label = column_index(path, layout, target)
    used = [j for j, name in enumerate(layout.names) if name not in layout.dropped]
    if label not in used:
        raise McLsError(f"{path}: '{layout.names[label]}' is the class column, which cannot be dropped")
    if len(used) == 1:
        raise McLsError(f"{path}: no column is left to learn from beside the class")
    if (gaps := layout.seen.gaps(label)) is not None:
        raise McLsError(
            f"{path}: a value is missing in column '{layout.names[label]}': {gaps.first}; "
            "a row without its class cannot be learnt from: fill it in or remove the row"
        )
    coded = rules.as_text([name for j, name in enumerate(layout.names) if j != label and j in used], path)
    text = {j for j in used if layout.seen.text[j] is not None or layout.names[j] in coded} | {label}
    columns = _fill(path, layout, used, text, {j for j in used if layout.names[j] in coded})
    labels = columns.pop(label)
    assert isinstance(labels, TextColumn)
    return ReadTable(
        list(columns.values()), as_classes(labels, layout.decimal), layout.dropped, form, [*notes, *layout.notes]
    )


def _fill(path: Path, layout: Layout, used: Sequence[int], text: set[int], coded: set[int]) -> dict[int, Column]:
    """Read the file again, into one array per column that is used."""
    values: dict[int, list[NDArray[np.float64]]] = {j: [] for j in used if j not in text}
    codes: dict[int, list[NDArray[np.int64]]] = {j: [] for j in text}
    known: dict[int, dict[str, int]] = {j: {} for j in text}  # by column: text -> code, as they come
    for _, rows in pieces(path, layout.form, skip=int(layout.has_header)):
        cells = list(zip(*rows))
        for j, arrays in values.items():
            read = parse_numbers(cells[j], layout.decimal)
            if read is None:
                raise McLsError(f"{path} has changed while it was read")
            arrays.append(read)
        for j, places in known.items():
            texts = map(plain_code, cells[j]) if j in coded else cells[j]
            codes[j].append(
                np.array(
                    [-1 if is_missing(t) else places.setdefault(t, len(places)) for t in texts], dtype=np.int64
                )
            )
    columns: dict[int, Column] = {}
    for j in used:
        name, gaps = layout.names[j], layout.seen.gaps(j)
        if j in text:
            columns[j] = text_column(name, np.concatenate(codes[j]), list(known[j]), layout.seen.text[j], gaps)
        else:
            columns[j] = NumberColumn(name, np.concatenate(values[j]), gaps, layout.seen.infinite[j])
    return columns


def text_column(
    name: str, came: NDArray[np.int64], texts: Sequence[str], first: TextCell | None, gaps: Gaps | None
) -> TextColumn:
    """A column from codes into texts as they came (−1: missing), which are sorted here."""
    levels = sorted(texts)
    rank = {level: code for code, level in enumerate(levels)}
    recode = np.array(
        [*(rank[level] for level in texts), -1], dtype=np.int64
    )  # as they came -> sorted; -1 is last
    return TextColumn(name, recode[came], tuple(levels), first, gaps)


def as_classes(labels: TextColumn, decimal: str) -> TextColumn:
    """Order classes that are all numbers by number, and hold 1 and 1.0 for the same class."""
    if labels.first is not None:
        return labels
    values = [parse_number(level, decimal) or 0.0 for level in labels.levels]
    distinct = sorted(set(values))
    recode = np.array([distinct.index(value) for value in values])
    names = tuple(class_of_number(value) for value in distinct)
    return TextColumn(labels.name, recode[labels.codes], names, None)
