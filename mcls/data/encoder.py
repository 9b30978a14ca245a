"""From a table's columns to features: the rule by which a model reads numbers, texts, orders and dates.

- A column whose every cell is a number is **scaled**: the training table's smallest value becomes −1, its largest
  +1, and later tables are mapped by the same line (so they may leave [−1, 1]). A constant column becomes 0.
- A column of text is **one-hot**: one feature for each different text of the training table, 1 where the row has that
  text and 0 elsewhere. Two different texts are then at the squared distance 2, half of the most that a number can give.
  A text that the training table did not hold is 0 in all of them, and counted.
- A column of **ordered** texts has its places evenly spaced from −1 to +1; an unknown text is in the middle.
- A **date** becomes its parts (year, month, day, day of the week, hour), each scaled as a number.

Where the model was told to impute, a missing number or date is the median of the training rows, a missing text the
level ``missing``; a number or date that was missing often has one more feature, 1 where it is missing.

Each column *reads* cells to numbers (a value, a code or days; NaN where one is missing) and makes *features* of these.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from mcls.data.cells import class_of_number, is_missing, parse_date, parse_number, parse_numbers, plain_code
from mcls.errors import McLsError

Array = np.ndarray
Cells = Sequence[str] | Array  # texts, empty where one is missing; or numbers, NaN where one is

MOST_LEVELS = 1000
MISSING_LEVEL = "missing"
UNKNOWN = -1.0  # the code of a text that the training table did not hold


@dataclass
class Reading:
    """How cells are read, and what was seen: rows that cannot be read, and texts that are not known."""

    decimal: str = "."
    strict: bool = False  # an unknown text makes a row unreadable
    reasons: dict[int, tuple[str, str]] = field(default_factory=dict)  # row → (column, why)
    unknown: Counter[str] = field(default_factory=Counter)  # column → rows
    example: dict[str, str] = field(default_factory=dict)  # column → the first unknown text

    def refuse(self, row: int, column: str, why: str) -> None:
        """Note why a row cannot be read, unless there is a reason already."""
        self.reasons.setdefault(row, (column, why))

    def add(self, other: Reading) -> None:
        """Take over the unknown texts of rows that all can be read."""
        self.unknown.update(other.unknown)
        self.example |= {name: text for name, text in other.example.items() if name not in self.example}

    def unknown_note(self) -> str | None:
        """What there is to say about texts that the training table did not hold."""
        if not self.unknown:
            return None
        told = [f"'{name}' in {n} row{'s' * (n != 1)} (such as '{self.example[name][:40]}')"
                for name, n in self.unknown.most_common()]  # fmt: skip
        more = f" and {len(told) - 5} more columns" if len(told) > 5 else ""
        known = "texts that the training table did not have count as none of the known ones"
        return f"{known}: {', '.join(told[:5])}{more}"


class _Plain(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class _Column(_Plain):
    name: str

    def encode(self, cells: Cells, reading: Reading | None = None) -> Array:
        """Features (m, k) of cells; a cell that cannot be read is an error unless ``reading`` takes note of it."""
        log = reading or Reading()
        cells = cells if isinstance(cells, np.ndarray) else [str(cell) for cell in cells]
        made: Array = self.features(self.read(cells, log), log)
        if reading is None and log.reasons:
            row, (column, why) = min(log.reasons.items())
            raise McLsError(f"row {row}, column '{column}': {why}")
        return made

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the features."""
        raise NotImplementedError

    def read(self, cells: Cells, log: Reading) -> Array:
        """The cells as numbers (m,)."""
        raise NotImplementedError

    def features(self, values: Array, log: Reading) -> Array:
        """What a model sees (m, k)."""
        raise NotImplementedError

    def plain(self, values: Array) -> Array:
        """The same before any scaling and imputation, NaN where a number is missing: what an experiment sees."""
        raise NotImplementedError


class _Imputed(_Column):
    """A column whose missing values have a number in their place; None where the model was not told to impute."""

    fill: float | None = None
    indicator: Literal[True] | None = None

    @property
    def feature_names(self) -> tuple[str, ...]:
        return (*self._value_names, *([f"{self.name} is missing"] if self.indicator else []))

    @property
    def _value_names(self) -> tuple[str, ...]:
        return (self.name,)

    def _with_indicator(self, made: Array, missing: Array) -> Array:
        return np.column_stack([made, missing.astype(float)]) if self.indicator else made

    def _refuse_missing(self, values: Array, cells: Cells, log: Reading, what: str) -> None:
        for i in np.flatnonzero(np.isnan(values)).tolist() if self.fill is None else ():
            log.refuse(i, self.name, f"'{_shown(cells[i])}' is not {what}")


class ScaledColumn(_Imputed):
    """A column of numbers and its training range."""

    kind: Literal["number"] = "number"
    low: float
    high: float

    def read(self, cells: Cells, log: Reading) -> Array:
        """Numbers (m,)."""
        values = _numbers(self.name, cells, log)
        self._refuse_missing(values, cells, log, "a finite number")
        return values

    def features(self, values: Array, log: Reading) -> Array:
        """Map to [−1, 1] by the training range."""
        missing = np.isnan(values)
        x = np.where(missing, 0.0 if self.fill is None else self.fill, values)
        scaled = _scale(x, self.low, self.high)
        for i in np.flatnonzero(~np.isfinite(scaled)).tolist():
            log.refuse(i, self.name, f"{x[i]:g} is too far from the range {self.low:g} to {self.high:g}")
        return self._with_indicator(np.where(np.isfinite(scaled), scaled, 0.0)[:, None], missing)

    def plain(self, values: Array) -> Array:
        """The numbers themselves."""
        return self._with_indicator(values[:, None], np.isnan(values))


class _Levels(_Column):
    levels: tuple[str, ...] = Field(min_length=1, max_length=MOST_LEVELS)
    codes: Literal[True] | None = None  # numbers that are codes: 3 and 3.0 are one
    impute: Literal[True] | None = None

    @cached_property
    def places(self) -> dict[str, int]:
        """Text → its place among the levels."""
        return {level: j for j, level in enumerate(self.levels)}

    def read(self, cells: Cells, log: Reading) -> Array:
        """Places of the levels (m,); −1 for an unknown text, NaN for one that is missing."""
        texts = _texts(cells)
        if self.codes:
            texts = list(map(plain_code, texts))
        found = np.array([self.places.get(text, UNKNOWN) for text in texts])
        for i in np.flatnonzero(found == UNKNOWN).tolist():
            if is_missing(texts[i]):
                found[i] = np.nan
                if not self.impute:
                    why = f"'{_shown(cells[i])}' is a missing value, and the model was not told to impute"
                    log.refuse(i, self.name, why)
            elif log.strict:
                known = ", ".join(self.levels[:8]) + (", …" if len(self.levels) > 8 else "")
                log.refuse(i, self.name, f"'{texts[i][:40]}' was not in the training table (known: {known})")
            else:
                log.unknown[self.name] += 1
                log.example.setdefault(self.name, texts[i])
        return found


class OneHotColumn(_Levels):
    """A column of text and the texts of its training table."""

    kind: Literal["text"] = "text"

    @property
    def feature_names(self) -> tuple[str, ...]:
        """One feature for each text."""
        return tuple(f"{self.name}={level}" for level in self.levels)

    def features(self, values: Array, log: Reading) -> Array:
        """One column for each level, 1 where the cell is that level."""
        return self.plain(values)

    def plain(self, values: Array) -> Array:
        """The same."""
        places = np.where(
            np.isnan(values), self.places.get(MISSING_LEVEL, UNKNOWN) if self.impute else UNKNOWN, values
        )
        # One more row, of zeros, for what is not known: its code is -1.
        return np.vstack([np.eye(len(self.levels)), np.zeros(len(self.levels))])[places.astype(np.int64)]


class OrdinalColumn(_Levels):
    """A column of texts with an order, given by the user."""

    kind: Literal["ordinal"] = "ordinal"
    fill: float | None = None

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The column itself."""
        return (self.name,)

    def features(self, values: Array, log: Reading) -> Array:
        """Places evenly spaced over [−1, 1]; an unknown text is in the middle."""
        middle = (len(self.levels) - 1) / 2
        places = np.where(np.isnan(values), middle if self.fill is None else self.fill, values)
        return _scale(np.where(places == UNKNOWN, middle, places), 0.0, float(len(self.levels) - 1))[:, None]

    def plain(self, values: Array) -> Array:
        """Places 0, 1, … among the levels; what is not known counts as missing."""
        return np.where(values == UNKNOWN, np.nan, values)[:, None]


class DatePart(_Plain):
    """One number of a date, and its training range."""

    name: Literal["year", "month", "day", "weekday", "hour"]
    low: float
    high: float


class DateColumn(_Imputed):
    """A column of dates, of which the parts that change are features."""

    kind: Literal["date"] = "date"
    order: Literal["ymd", "dmy", "mdy"]
    parts: tuple[DatePart, ...] = Field(min_length=1, max_length=5)
    WRITTEN: ClassVar[dict[str, str]] = {"ymd": "2024-12-31", "dmy": "31.12.2024", "mdy": "12/31/2024"}

    @property
    def _value_names(self) -> tuple[str, ...]:
        return tuple(f"{self.name} {part.name}" for part in self.parts)

    def read(self, cells: Cells, log: Reading) -> Array:
        """Days since 1970 (m,)."""
        days: dict[str, float | None] = {}  # of each different text
        values = np.full(len(cells), np.nan)
        for i, text in enumerate(_texts(cells)):
            if text not in days:
                days[text] = parse_date(text, self.order)
            value = days[text]
            if value is not None:
                values[i] = value
            elif not is_missing(text):
                log.refuse(i, self.name, f"'{text[:40]}' is not a date such as {self.WRITTEN[self.order]}")
        self._refuse_missing(values, cells, log, f"a date such as {self.WRITTEN[self.order]}")
        return values

    def features(self, values: Array, log: Reading) -> Array:
        """Each part scaled by its training range."""
        missing = np.isnan(values)
        known = np.where(missing, 0.0 if self.fill is None else self.fill, values)
        made = date_parts(known)
        scaled = [_scale(made[part.name], part.low, part.high) for part in self.parts]
        return self._with_indicator(np.column_stack(scaled), missing)

    def plain(self, values: Array) -> Array:
        """The parts as numbers."""
        missing = np.isnan(values)
        made = date_parts(np.where(missing, 0.0, values))
        parts = np.column_stack([made[part.name] for part in self.parts])
        parts[missing] = np.nan
        return self._with_indicator(parts, missing)


def date_parts(days: Array) -> dict[str, Array]:
    """Year, month, day, day of the week (Monday is 1) and hour of days since 1970.

    >>> {name: part.tolist() for name, part in date_parts(np.array([19753.5])).items()}
    {'year': [2024.0], 'month': [1.0], 'day': [31.0], 'weekday': [3.0], 'hour': [12.0]}
    """
    whole = np.floor(days)
    dates = whole.astype("datetime64[D]")
    months = dates.astype("datetime64[M]")
    return {
        "year": dates.astype("datetime64[Y]").astype(float) + 1970.0,
        "month": months.astype(float) % 12 + 1.0,
        "day": (dates - months).astype(float) + 1.0,
        "weekday": (whole + 3) % 7 + 1.0,
        "hour": np.round((days - whole) * 24, 6),
    }


EncodedColumn = Annotated[ScaledColumn | OneHotColumn | OrdinalColumn | DateColumn, Field(discriminator="kind")]


class Encoder(_Plain):
    """The columns of a training table, and how each becomes features.

    Examples
    --------
    >>> size, hue = ScaledColumn(name="size", low=0, high=10), OneHotColumn(name="hue", levels=("r", "g"))
    >>> encoder = Encoder(columns=(size, hue))
    >>> encoder.encode({"hue": ["g", "r", "b"], "size": [5, 10, 0]})
    array([[ 0.,  0.,  1.],
           [ 1.,  1.,  0.],
           [-1.,  0.,  0.]])
    """

    columns: tuple[EncodedColumn, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _check(self) -> Self:
        names = [column.name for column in self.columns]
        if len(set(names)) != len(names):
            raise ValueError("two columns have one name")
        return self

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [column.name for column in self.columns]

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the features, in order."""
        return tuple(name for column in self.columns for name in column.feature_names)

    def read(self, columns: Mapping[str, Cells], log: Reading) -> dict[str, Array]:
        """Each column's cells as numbers (m,)."""
        return {column.name: column.read(columns[column.name], log) for column in self.columns}

    def features(self, values: Mapping[str, Array], log: Reading) -> Array:
        """Features (m, d) from what ``read`` gave."""
        return np.concatenate([column.features(values[column.name], log) for column in self.columns], axis=1)

    def plain(self, values: Mapping[str, Array]) -> Array:
        """The same before scaling and imputation."""
        return np.concatenate([column.plain(values[column.name]) for column in self.columns], axis=1)

    def encode(self, columns: Mapping[str, Cells], reading: Reading | None = None) -> Array:
        """Features (m, d) of columns by name; a cell that cannot be read is an error unless ``reading`` notes it."""
        return np.concatenate([column.encode(columns[column.name], reading) for column in self.columns], axis=1)


def _scale(x: Array, low: float, high: float) -> Array:
    span = high - low
    with np.errstate(over="ignore", invalid="ignore"):
        return 2 * ((x - low) / span) - 1 if span > 0 else np.zeros_like(x)


def _numbers(name: str, cells: Cells, log: Reading) -> Array:
    """Numbers, NaN where one is missing; what is neither is noted."""
    values = cells.astype(float) if isinstance(cells, np.ndarray) else None
    if values is None:
        texts = _texts(cells)
        values = parse_numbers(texts, log.decimal)
        if values is None:
            values = np.full(len(texts), np.nan)
            for i, text in enumerate(texts):
                value = parse_number(text, log.decimal)
                if value is not None:
                    values[i] = value
                elif not is_missing(text):
                    log.refuse(i, name, f"'{text[:40]}' is not a finite number")
    for i in np.flatnonzero(np.isinf(values)).tolist():
        log.refuse(i, name, f"'{_shown(cells[i])}' is not a finite number")
        values[i] = np.nan
    return values


def _texts(cells: Cells) -> Sequence[str]:
    if isinstance(cells, np.ndarray):
        return ["" if np.isnan(value) else class_of_number(float(value)) for value in cells]
    return cells


def _shown(cell: Any) -> str:
    return str(cell)[:40]
