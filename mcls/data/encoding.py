"""What each column of a training table becomes: the encoder is learnt here, and what cannot be used is told at once.

A column that **counts the rows** is refused unless the user keeps it: where a file is sorted, or was before its rows
were shuffled or drawn, its row numbers give the class away, and no later table has them. So is a column with another
text in nearly every row: a name or a remark.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mcls.data.cells import date_order, parse_number, plain_code
from mcls.data.dataset import Dataset
from mcls.data.encoder import (
    MISSING_LEVEL,
    MOST_LEVELS,
    Cells,
    DateColumn,
    DatePart,
    EncodedColumn,
    Encoder,
    OneHotColumn,
    OrdinalColumn,
    Reading,
    ScaledColumn,
    date_parts,
)
from mcls.data.formats import ColumnRules, TableFormat, matching
from mcls.data.roles import take_roles
from mcls.data.scanning import Gaps, TextCell, comma_hint
from mcls.data.tables import (
    Column,
    NumberColumn,
    ReadTable,
    TextColumn,
    check_classes,
    read_table,
    table_name,
)
from mcls.errors import McLsError

Array = np.ndarray

FEWEST_COUNTED = 10  # in fewer rows, evenly spaced numbers do not surprise
EQUAL_PAIRS = 7  # of whole numbers that are all different, so many pairs would be equal by chance: 1 in a thousand
OFTEN_MISSING = 0.05  # share of the rows from which on a feature tells that a value is missing
_DRESS = re.compile(r"[%€$£¥‰,'’\s]")  # of numbers that are written for people
_MISSES = "misses a value"
_ELSEWHERE = "(in a config drop: [a, b], in compare FILE.csv:drop=a+b, in Python drop=['a', 'b'], and so on)"


def is_often(missing: int, n: int) -> bool:
    """Whether so many missing values of n are worth a feature that tells where.

    >>> is_often(1, 100), is_often(5, 100)
    (False, True)
    """
    return 0 < missing >= OFTEN_MISSING * n


class NumberFacts(NamedTuple):
    """What is learnt from a column of numbers; ``median`` is None where nobody asks for it."""

    name: str
    n: int
    low: float
    high: float
    median: float | None
    counts_rows: bool
    gaps: Gaps | None = None
    infinite: TextCell | None = None


class TextFacts(NamedTuple):
    """What is learnt from a column of text: its different texts, sorted, and the rows of each."""

    name: str
    n: int
    levels: tuple[str, ...]
    rows: Array  # (levels,)
    first: TextCell | None = None
    gaps: Gaps | None = None


ColumnFacts = NumberFacts | TextFacts


def facts_of(column: Column, medians: bool = True) -> ColumnFacts:
    """The facts of a column that is in memory.

    >>> facts_of(NumberColumn("x", np.array([3.0, 1.0, 5.0])))[:5]
    ('x', 3, 1.0, 5.0, 3.0)
    """
    if isinstance(column, TextColumn):
        rows = np.bincount(column.codes[column.codes >= 0], minlength=len(column.levels))
        return TextFacts(column.name, len(column.codes), column.levels, rows, column.first, column.gaps)
    known = column.known
    low, high = (float(known.min()), float(known.max())) if len(known) else (np.nan, np.nan)
    median = float(np.median(known)) if medians and len(known) else None
    return NumberFacts(
        column.name, len(column.values), low, high, median, counts_rows(column), column.gaps, column.infinite
    )


class Refusal(NamedTuple):
    """Why a column cannot be used, and what can be done beside leaving it out."""

    column: str
    why: str
    advice: str = ""


def learn_encoder(
    columns: Sequence[Column], path: Any, rules: ColumnRules | None = None, decimal: str = "."
) -> Encoder:
    """Take the ranges of the numbers, the texts and the dates of a training table, and its medians to impute by.

    All columns that cannot be used are told at once. One that counts the rows must be named in ``rules.keep``, unless
    it is the only one.
    """
    rules = rules or ColumnRules()
    return learn_from_facts([facts_of(column, rules.impute) for column in columns], path, rules, decimal)


def learn_from_facts(columns: Sequence[ColumnFacts], path: Any, rules: ColumnRules, decimal: str = ".") -> Encoder:
    """The encoder of columns of which only the facts are known; see ``learn_encoder``."""
    names = [column.name for column in columns]
    keep = matching(rules.keep, names, path)
    coded = set(rules.as_text(names, path))
    made: list[EncodedColumn] = []
    refused: list[Refusal] = []
    for column in columns:
        try:
            if len(columns) > 1 and column.name not in keep and _counts(column):
                raise _Unusable(
                    "counts the rows, which gives the class away where the file is or was sorted",
                    f"use it with --keep {shlex.quote(column.name)}",
                )
            made.append(_learn(column, rules, column.name in coded, decimal))
        except _Unusable as error:
            refused.append(Refusal(column.name, *error.args))
    if refused:
        raise McLsError(f"{path}: {_told(refused)}")
    return Encoder(columns=tuple(made))


def learning_notes(encoder: Encoder) -> list[str]:
    """What the user should know of how columns were taken: dates, and values that were missing."""
    notes = []
    for column in encoder.columns:
        if isinstance(column, DateColumn):
            parts = ", ".join(part.name for part in column.parts)
            notes.append(f"column '{column.name}' holds dates, of which it gives: {parts} (--drop leaves it out)")
    filled = [column.name for column in encoder.columns if getattr(column, "indicator", None)]
    if filled:
        notes.append(f"often missing, so that a feature tells where: {', '.join(filled[:8])}")
    return notes


class _Unusable(Exception):  # noqa: N818  (never leaves this file)
    """Why a column cannot be used, and the advice."""


def _told(refused: Sequence[Refusal]) -> str:
    """All refusals in one line."""
    drop = " ".join(f"--drop {shlex.quote(one.column)}" for one in refused)
    if len(refused) == 1:
        (one,) = refused
        advice = f" or {one.advice}" if one.advice else ""
        if one.why.startswith(_MISSES):
            where = one.why.removeprefix(_MISSES)
            return (
                f"a value is missing in column '{one.column}'{where}; {one.advice}, "
                f"or leave the column out with {drop} {_ELSEWHERE}"
            )
        return f"column '{one.column}' {one.why}; leave it out with {drop}{advice} {_ELSEWHERE}"
    told = "; ".join(f"'{one.column}' {one.why}" for one in refused)
    advice = ", ".join(dict.fromkeys(one.advice for one in refused if one.advice))
    return (
        f"{len(refused)} columns cannot be learnt from: {told}. Leave them out with {drop}"
        f"{f'; or {advice}' if advice else ''} {_ELSEWHERE}"
    )


def _counts(column: ColumnFacts) -> bool:
    return isinstance(column, NumberFacts) and column.counts_rows


def counts_rows(column: Column) -> bool:
    """Whether a column numbers the rows: evenly in the order of the file, or in any order and with gaps.

    In any order, whole numbers are row numbers where they are all different and so near each other that as many drawn
    at random would repeat: n draws from m numbers have n(n − 1)/2m pairs of equal ones on average.

    >>> counts_rows(NumberColumn("id", np.arange(5.0, 25.0))), counts_rows(NumberColumn("x", np.arange(20.0) ** 2))
    (True, False)
    >>> shuffled = np.random.default_rng(0).permutation(60)[:40]  # some rows of a larger table
    >>> counts_rows(NumberColumn("id", shuffled * 1.0)), counts_rows(NumberColumn("x", shuffled // 2 * 1.0))
    (True, False)
    """
    if isinstance(column, TextColumn) or len(column.values) < FEWEST_COUNTED:
        return False
    values = column.values
    first, second = values[:2].tolist()
    step = second - first
    if not (first.is_integer() and step.is_integer()):
        return False
    with np.errstate(over="ignore"):
        if step != 0 and np.array_equal(values, first + step * np.arange(len(values))):
            return True
    return all_different(values, values.min(), values.max())


def all_different(values: Array, low: float, high: float) -> bool:
    """Whether whole numbers from a range never repeat, though as many drawn from it at random would.

    >>> all_different(np.array([3.0, 1.0, 2.0, 5.0]), 1.0, 5.0)  # four are too few to tell
    False
    """
    n = len(values)
    with np.errstate(over="ignore", invalid="ignore"):
        room = high - low + 1
    if not 0 < EQUAL_PAIRS * room < n * (n - 1) / 2:  # NaN is not either
        return False
    return bool((values == np.floor(values)).all()) and len(np.unique(values)) == n


def column_values(column: Column) -> Cells:
    """The cells of a column as an encoder reads them."""
    if isinstance(column, NumberColumn):
        return column.values
    texts = np.array([*column.levels, ""], dtype=object)  # the last for -1: missing
    return texts[column.codes].tolist()


def read_values(columns: Sequence[Column], encoder: Encoder, decimal: str = ".") -> dict[str, Array]:
    """Each column of a training table as the numbers that its encoder reads: of a text, only the different ones."""
    log = Reading(decimal)
    values = {}
    for known, column in zip(encoder.columns, columns, strict=True):
        if isinstance(column, TextColumn):
            values[known.name] = np.append(known.read(column.levels, log), np.nan)[column.codes]
        else:
            values[known.name] = known.read(column.values, log)
    return values


def load_encoded(
    path: Path | str,
    target: str | int = -1,
    form: TableFormat | None = None,
    rules: ColumnRules | None = None,
    group: str | None = None,
    weight: str | None = None,
) -> Dataset:
    """Load a table as ``load_table`` does, and columns of text, of dates and with missing values too.

    Numbers are as read, NaN where one is missing: scaling and imputing them is the experiment's business. A table of
    numbers alone is what ``load_table`` gives, with the same fingerprint. The columns that hold the ``group`` and the
    ``weight`` of each row are found in ``extra`` under these names.
    """
    read = read_table(path, target, form, rules)
    check_classes(read.labels.levels, len(read.labels.codes), read.labels.name, path)
    columns, extra = take_roles(read.columns, path, group, weight)
    read = read._replace(columns=columns)
    encoder = learn_encoder(columns, path, rules, read.form.decimal or ".")
    return as_dataset(table_name(path), read, encoder, extra)


def as_dataset(name: str, read: ReadTable, encoder: Encoder, extra: Mapping[str, Array] | None = None) -> Dataset:
    """A table's numbers as read and its other columns as numbers, with its classes."""
    X = encoder.plain(read_values(read.columns, encoder, read.form.decimal or "."))
    notes = (*read.notes, *learning_notes(encoder))
    labels = read.labels
    return Dataset(name, X, labels.codes, labels.levels, encoder.feature_names, extra=extra or {}, notes=notes)


def _learn(column: ColumnFacts, rules: ColumnRules, coded: bool, decimal: str) -> EncodedColumn:
    if column.gaps is not None and not rules.impute:
        more = f", and in {column.gaps.rows - 1} more" if column.gaps.rows > 1 else ""
        raise _Unusable(
            f"{_MISSES}: {column.gaps.first}{more}",
            "fill in what is missing with --missing impute",
        )
    if column.gaps is not None and column.gaps.rows == column.n:
        raise _Unusable("is empty")
    often = column.gaps is not None and is_often(column.gaps.rows, column.n)
    filling: dict[str, Any] = {"indicator": True} if often else {}
    if isinstance(column, NumberFacts):
        return _learn_numbers(column, rules, filling)
    if column.name in rules.orders:
        return _learn_order(column, rules)
    if not coded and (order := date_order(column.levels)) is not None:
        return _learn_dates(column, order, rules, filling)
    return _learn_texts(column, rules, coded, decimal)


def _learn_numbers(column: NumberFacts, rules: ColumnRules, filling: dict[str, Any]) -> ScaledColumn:
    if column.infinite is not None:
        raise _Unusable(f"is not finite: {column.infinite}")
    if not np.isfinite(column.high - column.low):
        raise _Unusable(f"goes from {column.low:g} to {column.high:g}: too far apart")
    fill = column.median if rules.impute else None
    return ScaledColumn(name=column.name, low=column.low, high=column.high, fill=fill, **filling)


def _learn_order(column: TextFacts, rules: ColumnRules) -> OrdinalColumn:
    levels = tuple(map(plain_code, rules.orders[column.name]))
    if odd := [text for text in column.levels if text not in levels]:
        raise _Unusable(f"has '{odd[0][:40]}', which its order {'<'.join(levels)} does not name")
    places = np.array([levels.index(text) for text in column.levels], dtype=float)
    fill: dict[str, Any] = {"fill": _median(places, column.rows), "impute": True} if rules.impute else {}
    return OrdinalColumn(name=column.name, levels=levels, codes=True, **fill)


def _learn_dates(column: TextFacts, order: str, rules: ColumnRules, filling: dict[str, Any]) -> DateColumn:
    if order == "unclear":
        raise _Unusable(
            f"holds dates whose days and months cannot be told apart ({column.first}): write them as 2024-12-31"
        )
    bare = DateColumn(name=column.name, order=order, parts=(DatePart(name="year", low=0, high=0),), fill=0)  # type: ignore[arg-type]
    days = bare.read(column.levels, Reading())
    ranges = {name: (float(part.min()), float(part.max())) for name, part in date_parts(days).items()}
    moving = {name: ends for name, ends in ranges.items() if ends[0] < ends[1]} or {"year": ranges["year"]}
    parts = tuple(DatePart(name=name, low=low, high=high) for name, (low, high) in moving.items())  # type: ignore[arg-type]
    fill = {"fill": _median(days, column.rows)} if rules.impute else {}
    return DateColumn(name=column.name, order=order, parts=parts, **fill, **filling)  # type: ignore[arg-type]


def _median(values: Array, rows: Array) -> float:
    """The median of values of which each stands in so many rows.

    >>> _median(np.array([5.0, 1.0, 2.0]), np.array([1, 1, 2]))
    2.0
    """
    order = np.argsort(values, kind="stable")
    above = np.cumsum(rows[order])
    n = int(above[-1])
    middle = values[order][np.searchsorted(above, [(n - 1) // 2, n // 2], side="right")]
    return float(middle.mean())


def _learn_texts(column: TextFacts, rules: ColumnRules, coded: bool, decimal: str) -> OneHotColumn:
    if not coded:
        if hint := comma_hint(column.first):
            raise _Unusable(f"is not numeric: {column.first}{hint}")
        if mistyped := _mostly_numbers(column, decimal):
            thousands = " (with a decimal comma a point is not part of a number)" if decimal == "," else ""
            raise _Unusable(f"is numeric but for {mistyped} cells: {column.first}{thousands}")
    n, different = column.n, len(column.levels)
    levels = column.levels
    if column.gaps is not None and MISSING_LEVEL not in levels:
        levels = (*levels, MISSING_LEVEL)
    if different > max(10, n // 2) or len(levels) > MOST_LEVELS:
        example = f" ({column.first})" if column.first is not None else ""
        if 2 * sum(map(_is_dressed_number, levels)) > len(levels):
            raise _Unusable(
                f"has numbers that are written with more than digits{example}: take out signs of currency and percent, "
                "and marks of thousands"
            )
        raise _Unusable(
            f"has {different} different texts in {n} rows{example}: "
            "it looks like a name or a remark, which cannot be learnt from"
        )
    flags: dict[str, Any] = {**({"codes": True} if coded else {}), **({"impute": True} if rules.impute else {})}
    return OneHotColumn(name=column.name, levels=levels, **flags)


def _mostly_numbers(column: TextFacts, decimal: str) -> int:
    """How many cells are not numbers, where so many are that the others look mistyped; else zero."""
    numeric = np.array([_is_number(level, decimal) for level in column.levels])
    others = int(column.rows[~numeric].sum())
    return others if numeric.sum() > 10 and others < 0.2 * column.rows.sum() else 0


def _is_dressed_number(text: str) -> bool:
    """Whether a text is a number but for signs of currency or percent, marks of thousands or a typographer's minus.

    >>> [_is_dressed_number(text) for text in ("$1,001.50", "5 %", "\N{MINUS SIGN}3.5", "1 234 €", "A-3", "12.1.2020")]
    [True, True, True, True, False, False]
    """
    plain = _DRESS.sub("", text).replace("\N{MINUS SIGN}", "-")
    return plain != text and _is_number(plain, ".")


def _is_number(text: str, decimal: str) -> bool:
    value = parse_number(text, decimal)
    return value is not None and bool(np.isfinite(value))
