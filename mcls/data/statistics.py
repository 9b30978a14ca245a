"""What one pass over a large table counts: ranges, texts, gaps, classes, and a sample of its rows.

Each piece is counted by itself, and the counts are merged in the order of the pieces, wherever they were made. The
sample has the rows with the smallest keys. A key is the scrambled number of a row, so the sample is random, the same
for the same pieces and seed, and found among the samples of the pieces.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mcls.data.blocks import Block, read_blocks
from mcls.data.cells import parse_number
from mcls.data.encoding import (
    FEWEST_COUNTED,
    ColumnFacts,
    NumberFacts,
    TextFacts,
    all_different,
    column_values,
)
from mcls.data.parts import Parts, Piece
from mcls.data.scanning import Gaps, TextCell
from mcls.data.tables import Column, NumberColumn, TextColumn, as_classes, check_classes
from mcls.errors import McLsError

Array = np.ndarray

#: Rows of the sample.
SAMPLE_ROWS = 20_000
#: Different texts of a column that are counted.
MOST_TEXTS = 100_000
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def scramble(keys: Array) -> Array:
    """A random-looking one-to-one map of 64-bit numbers (the finish of SplitMix64)."""
    keys = keys + _GOLDEN
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))


def row_keys(seed: int, piece: int, start: int, rows: int) -> Array:
    """A key (rows,) for each row of a piece from ``start`` on; all different."""
    numbers = np.arange(start, start + rows, dtype=np.uint64) + (np.uint64(piece) << np.uint64(36))
    return scramble(numbers ^ scramble(np.array([seed], dtype=np.uint64)))


def content_keys(X: Array, seed: int) -> Array:
    """A key (m,) for each row of numbers X (m, d); equal rows have equal keys."""
    keys = np.full(len(X), seed, dtype=np.uint64)
    for column in (np.ascontiguousarray(X.T) + 0.0).view(np.uint64):  # + 0.0: −0 is 0
        keys = scramble(keys ^ column)
    return keys


@dataclass(frozen=True)
class Numbers:
    """Counts of a column of numbers."""

    rows: int
    low: float
    high: float
    missing: int
    first_missing: TextCell | None
    infinite: TextCell | None
    first: float
    last: float
    step: float  # between neighbours where it is always the same; NaN where it is not

    @classmethod
    def of(cls, values: Array, start: int) -> Numbers:
        """What some rows have."""
        gaps, wild = np.isnan(values), np.isinf(values)
        known = values[~gaps & ~wild]
        steps = np.diff(values) if len(values) > 1 else np.zeros(1)
        return cls(
            len(values),
            float(known.min(initial=np.inf)),
            float(known.max(initial=-np.inf)),
            int(gaps.sum()),
            TextCell(start + int(gaps.argmax()), "") if gaps.any() else None,
            TextCell(start + int(wild.argmax()), str(values[wild.argmax()])) if wild.any() else None,
            float(values[0]),
            float(values[-1]),
            float(steps[0]) if (steps == steps[0]).all() else np.nan,
        )

    def merged(self, other: Numbers) -> Numbers:
        """The same with the rows that follow."""
        steps = [of.step for of in (self, other) if of.rows > 1]
        steady = all(step == other.first - self.last for step in steps)
        return Numbers(
            self.rows + other.rows,
            min(self.low, other.low),
            max(self.high, other.high),
            self.missing + other.missing,
            self.first_missing or other.first_missing,
            self.infinite or other.infinite,
            self.first,
            other.last,
            other.first - self.last if steady else np.nan,
        )

    def moved(self, rows: int, file: str) -> Numbers:
        """The same with lines counted from an earlier row of a file."""
        return replace(
            self,
            first_missing=_moved(self.first_missing, rows, file),
            infinite=_moved(self.infinite, rows, file),
        )

    def facts(self, name: str, sample: Array) -> NumberFacts:
        """What an encoder is learnt from; the median is that of the sample."""
        known = sample[np.isfinite(sample)]
        median = float(np.median(known)) if len(known) else None
        whole = self.step != 0 and float(self.first).is_integer() and float(self.step).is_integer()
        gaps = None if self.first_missing is None else Gaps(self.missing, self.first_missing)
        counting = bool(whole and self.rows >= FEWEST_COUNTED) or all_different(sample, self.low, self.high)
        return NumberFacts(name, self.rows, self.low, self.high, median, counting, gaps, self.infinite)


@dataclass(frozen=True)
class Texts:
    """Counts of a column of text."""

    rows: int
    levels: dict[str, int]  # text → rows
    missing: int
    first_missing: TextCell | None
    first: TextCell | None  # that is not a number
    most: int | None = None  # texts that are kept

    @classmethod
    def of(cls, column: TextColumn, start: int, decimal: str, most: int | None = None) -> Texts:
        """What some rows have."""
        gaps = column.codes < 0
        counts = np.bincount(column.codes[~gaps], minlength=len(column.levels)).tolist()
        odd = np.array([*(parse_number(level, decimal) is None for level in column.levels), False])
        others = odd[column.codes]
        at = int(others.argmax())
        return cls(
            len(column.codes),
            dict(islice(zip(column.levels, counts), most)),
            int(gaps.sum()),
            TextCell(start + int(gaps.argmax()), "") if gaps.any() else None,
            TextCell(start + at, column.levels[column.codes[at]]) if others.any() else None,
            most,
        )

    def merged(self, other: Texts) -> Texts:
        """The same with the rows that follow."""
        levels = dict(self.levels)
        for level, rows in other.levels.items():
            levels[level] = levels.get(level, 0) + rows
        return Texts(
            self.rows + other.rows,
            dict(islice(levels.items(), self.most)),
            self.missing + other.missing,
            self.first_missing or other.first_missing,
            self.first or other.first,
            self.most,
        )

    def moved(self, rows: int, file: str) -> Texts:
        """The same with lines counted from an earlier row of a file."""
        return replace(
            self, first_missing=_moved(self.first_missing, rows, file), first=_moved(self.first, rows, file)
        )

    def facts(self, name: str) -> TextFacts:
        """What an encoder is learnt from."""
        levels = tuple(sorted(self.levels))
        rows = np.array([self.levels[level] for level in levels], dtype=np.int64)
        gaps = None if self.first_missing is None else Gaps(self.missing, self.first_missing)
        return TextFacts(name, self.rows, levels, rows, self.first, gaps)


class Counts(NamedTuple):
    """What is known of the rows of a piece, or of several."""

    rows: int
    columns: dict[str, Numbers | Texts]
    keys: Array  # (s,) of the sample
    sample: dict[str, Array]  # (s,) numbers, or texts, empty where one is missing


def _moved(cell: TextCell | None, rows: int, file: str) -> TextCell | None:
    return None if cell is None else TextCell(cell.line + rows, cell.text, file)


def count_piece(piece: Piece, parts: Parts, seed: int, size: int = SAMPLE_ROWS) -> Counts:
    """Count the rows of a piece."""
    found = (_count_block(block, piece, parts, seed, size) for block in read_blocks(parts, piece))
    return reduce(lambda a, b: merge_counts(a, b, size), found)


def _count_block(block: Block, piece: Piece, parts: Parts, seed: int, size: int) -> Counts:
    keys = row_keys(seed, piece.number, block.start, block.rows)
    kept = np.sort(np.argsort(keys, kind="stable")[:size])
    columns: dict[str, Numbers | Texts] = {}
    for name, column in block.columns.items():
        if isinstance(column, NumberColumn):
            columns[name] = Numbers.of(column.values, block.start)
        else:
            most = 2 if name == parts.group else None  # all that matters is whether there are two groups
            columns[name] = Texts.of(column, block.start, parts.decimal, most)
    sample = {name: _cells(column, kept) for name, column in block.columns.items()}
    return Counts(block.rows, columns, keys[kept], sample)


def _cells(column: Column, rows: Array) -> Array:
    if isinstance(column, NumberColumn):
        return column.values[rows]
    return np.array(column_values(column), dtype=object)[rows]


def merge_counts(a: Counts, b: Counts, size: int = SAMPLE_ROWS) -> Counts:
    """The counts of both, b being of rows that follow."""
    keys = np.concatenate([a.keys, b.keys])
    kept = np.sort(np.argsort(keys, kind="stable")[:size])
    columns: dict[str, Numbers | Texts] = {}
    for name, counts in a.columns.items():
        other = b.columns[name]
        columns[name] = counts.merged(other)  # type: ignore[arg-type]
        if isinstance(columns[name], Texts) and len(columns[name].levels) > MOST_TEXTS:  # type: ignore[union-attr]
            raise McLsError(
                f"column '{name}' has more than {MOST_TEXTS} different texts: it looks like a name or a remark, "
                f"which cannot be learnt from; leave it out with --drop '{name}'"
            )
    sample = {name: np.concatenate([cells, b.sample[name]])[kept] for name, cells in a.sample.items()}
    return Counts(a.rows + b.rows, columns, keys[kept], sample)


def merge_pieces(found: Iterable[Counts], pieces: Sequence[Piece], parts: Parts) -> Counts:
    """The counts of all pieces, with the lines of cells counted from the beginning of each file."""
    before: dict[str, int] = {}

    def moved(counts: Counts, piece: Piece) -> Counts:
        rows = before.get(piece.path, 0)
        before[piece.path] = rows + counts.rows
        first = 1 + (parts.form.kind == "text" and bool(parts.form.header))
        file = Path(piece.path).name if len(parts.files) > 1 else ""
        columns = {name: of.moved(rows + first, file) for name, of in counts.columns.items()}
        return counts._replace(columns=columns)

    return reduce(merge_counts, (moved(*pair) for pair in zip(found, pieces, strict=True)))


def column_facts(counts: Counts, names: Sequence[str]) -> list[ColumnFacts]:
    """The facts of some columns."""
    made: list[ColumnFacts] = []
    for name in names:
        of = counts.columns[name]
        made.append(of.facts(name, counts.sample[name]) if isinstance(of, Numbers) else of.facts(name))
    return made


def check_roles(counts: Counts, parts: Parts) -> None:
    """Refuse groups and weights of rows that are missing, or are none, as ``mcls.data.roles`` does in memory."""
    for role, name in (("group", parts.group), ("weight", parts.weight)):
        if name is None:
            continue
        of, title = counts.columns[name], parts.title
        what = f"{title}: column '{name}'"
        if of.first_missing is not None:
            raise McLsError(f"{title}: the {role} of a row is missing in column '{name}': {of.first_missing}")
        if role == "weight" and isinstance(of, Texts):
            raise McLsError(f"{what} must hold weights, which are numbers; {of.first}")
        if role == "weight" and isinstance(of, Numbers) and of.high == 0 == of.low and of.infinite is None:
            raise McLsError(f"{what}: every weight is zero: there is no row to learn from")
        if role == "group" and (len(of.levels) == 1 if isinstance(of, Texts) else of.low == of.high):
            raise McLsError(f"{what} holds one group only; cross-validation needs at least two")


class Classes(NamedTuple):
    """The classes of a table: their names, the rows of each, and the code of every text of the class column."""

    names: tuple[str, ...]
    rows: Array  # (ℓ,)
    codes: dict[str, int]

    def code(self, labels: TextColumn) -> Array:
        """Codes (m,) of the classes of some rows."""
        try:
            return np.array([self.codes[level] for level in labels.levels], dtype=np.int64)[labels.codes]
        except (KeyError, IndexError):
            raise McLsError("the table has changed while it was read") from None


def find_classes(counts: Counts, parts: Parts) -> Classes:
    """The classes of a table; too many, one only, or a row without one are refused."""
    of = counts.columns[parts.target]
    assert isinstance(of, Texts)
    if of.first_missing is not None:
        raise McLsError(
            f"{parts.title}: a value is missing in column '{parts.target}': {of.first_missing}; "
            "a row without its class cannot be learnt from: fill it in or remove the row"
        )
    levels = tuple(sorted(of.levels))
    each = as_classes(
        TextColumn(parts.target, np.arange(len(levels)), levels, of.first), parts.decimal
    )  # one row for each text
    rows = np.bincount(each.codes, [of.levels[level] for level in levels], minlength=len(each.levels))
    check_classes(each.levels, counts.rows, parts.target, parts.title)
    return Classes(each.levels, rows.astype(np.int64), dict(zip(levels, each.codes.tolist())))
