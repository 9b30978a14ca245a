"""From a table's columns to features: the rule by which a model reads numbers and text.

- A column whose every cell is a number is **scaled**: the training table's smallest value becomes −1, its largest
  +1, and later tables are mapped by the same line (so they may leave [−1, 1]). A constant column becomes 0.
- Any other column is **one-hot**: one feature a different text of the training table, 1 where the row has that text
  and 0 elsewhere. Two different texts are then at the squared distance 2, half of the most that a number can give.
  A text that the training table did not hold is an error, as is a column of nearly as many texts as rows.
- A column that **counts the rows** is refused unless the user keeps it: where a file is sorted, its row numbers give
  the class away, and no later table has them.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from mcls.data.dataset import Dataset
from mcls.data.roles import take_roles
from mcls.data.tables import NumberColumn, TextColumn, check_classes, comma_hint, read_table, table_name
from mcls.errors import McLsError, unknown_name

Array = np.ndarray

MOST_LEVELS = 1000
_ELSEWHERE = "(drop: or keep: in a config, FILE.csv:drop=COLUMN in compare)"
FEWEST_COUNTED = 10  # in fewer rows, evenly spaced numbers are no surprise


class _Plain(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class ScaledColumn(_Plain):
    """A column of numbers and its training range."""

    kind: Literal["number"] = "number"
    name: str
    low: float
    high: float

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The column itself."""
        return (self.name,)

    def encode(self, values: Any) -> Array:
        """Map to [−1, 1] by the training range: (m, 1)."""
        x = np.array([float(value) for value in values])
        span = self.high - self.low
        with np.errstate(over="ignore"):
            scaled = 2 * ((x - self.low) / span) - 1 if span > 0 else np.zeros_like(x)
        if not np.isfinite(scaled).all():
            worst = float(x[~np.isfinite(scaled)][0])
            raise McLsError(
                f"column '{self.name}': {worst:g} is too far from the range {self.low:g} to {self.high:g}"
            )
        return scaled[:, None]


class OneHotColumn(_Plain):
    """A column of text and the texts of its training table."""

    kind: Literal["text"] = "text"
    name: str
    levels: tuple[str, ...] = Field(min_length=1, max_length=MOST_LEVELS)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """One feature a text."""
        return tuple(f"{self.name}={level}" for level in self.levels)

    @cached_property
    def places(self) -> dict[str, int]:
        """Text → its feature."""
        return {level: j for j, level in enumerate(self.levels)}

    def encode(self, values: Sequence[str]) -> Array:
        """One column a level, 1 where the cell is that level: (m, levels)."""
        return np.eye(len(self.levels))[[self.places[value] for value in values]]


Column = Annotated[ScaledColumn | OneHotColumn, Field(discriminator="kind")]


class Encoder(_Plain):
    """The columns of a training table, and how each becomes features.

    Examples
    --------
    >>> size, hue = ScaledColumn(name="size", low=0, high=10), OneHotColumn(name="hue", levels=("r", "g"))
    >>> encoder = Encoder(columns=(size, hue))
    >>> encoder.encode({"hue": ["g", "r"], "size": [5, 10]})
    array([[0., 0., 1.],
           [1., 1., 0.]])
    """

    columns: tuple[Column, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _check(self) -> Self:
        names = [column.name for column in self.columns]
        if len(set(names)) != len(names):
            raise ValueError("two columns have one name")
        return self

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the features, in order."""
        return tuple(name for column in self.columns for name in column.feature_names)

    def encode(self, columns: Mapping[str, Any]) -> Array:
        """Features (m, d) from columns by name: numbers, and texts that are known."""
        return np.concatenate([column.encode(columns[column.name]) for column in self.columns], axis=1)


def learn_encoder(columns: Sequence[NumberColumn | TextColumn], path: Any, keep: Sequence[str] = ()) -> Encoder:
    """Take the ranges of the numbers and the texts of a training table.

    A column that counts the rows must be named in ``keep``, unless it is the only one.
    """
    names = [column.name for column in columns]
    if unknown := [name for name in keep if name not in names]:
        raise unknown_name(f"column in {path}:", unknown[0], names)
    for column in columns:
        if len(columns) > 1 and column.name not in keep and counts_rows(column):
            name = shlex.quote(column.name)
            raise McLsError(
                f"{path}: column '{column.name}' counts the rows, which gives the class away where the file is "
                f"sorted; leave it out with --drop {name} or use it with --keep {name} {_ELSEWHERE}"
            )
    return Encoder(columns=tuple(_learn(column, path) for column in columns))


def counts_rows(column: NumberColumn | TextColumn) -> bool:
    """Whether a column holds whole numbers that are all different, evenly spaced and in the order of the file.

    >>> counts_rows(NumberColumn("id", np.arange(5.0, 25.0))), counts_rows(NumberColumn("x", np.arange(20.0) ** 2))
    (True, False)
    """
    if isinstance(column, TextColumn) or len(column.values) < FEWEST_COUNTED:
        return False
    first, second = column.values[:2].tolist()
    step = second - first
    if step == 0 or not (first.is_integer() and step.is_integer()):
        return False
    with np.errstate(over="ignore"):
        return np.array_equal(column.values, first + step * np.arange(len(column.values)))


def column_values(column: NumberColumn | TextColumn) -> Any:
    """The cells of a column as ``Encoder.encode`` takes them."""
    if isinstance(column, NumberColumn):
        return column.values
    return [column.levels[code] for code in column.codes]


def load_encoded(
    path: Path | str,
    target: str | int = -1,
    header: bool | None = None,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    group: str | None = None,
    weight: str | None = None,
) -> Dataset:
    """Load a table as ``load_table`` does, and columns of text too: one 0/1 feature for each of their texts.

    Numbers are as read: scaling them is the experiment's business. A table of numbers alone is what ``load_table``
    gives, with the same fingerprint. Columns in ``drop`` are left out; ``keep`` is that of ``learn_encoder``.
    The columns that hold the ``group`` and the ``weight`` of each row are found in ``extra`` under these names.
    """
    columns, labels = read_table(path, target, header, drop=drop)
    check_classes(labels, path)
    columns, extra = take_roles(columns, path, group, weight)
    return as_dataset(table_name(path), columns, labels, learn_encoder(columns, path, keep), extra)


def as_dataset(
    name: str,
    columns: Sequence[NumberColumn | TextColumn],
    labels: TextColumn,
    encoder: Encoder,
    extra: Mapping[str, Array] | None = None,
) -> Dataset:
    """A table's numbers as read and its texts as 0/1 features, with its classes."""
    features = [
        known.encode(column_values(column)) if isinstance(column, TextColumn) else column.values[:, None]
        for known, column in zip(encoder.columns, columns)
    ]
    X = np.concatenate(features, axis=1)
    return Dataset(name, X, labels.codes, labels.levels, encoder.feature_names, extra=extra or {})


def _learn(column: NumberColumn | TextColumn, path: Any) -> ScaledColumn | OneHotColumn:
    if isinstance(column, NumberColumn):
        low, high = float(column.values.min()), float(column.values.max())
        if not np.isfinite(high - low):
            raise McLsError(f"{path}: column '{column.name}' goes from {low:g} to {high:g}: too far apart")
        return ScaledColumn(name=column.name, low=low, high=high)
    if hint := comma_hint(column):
        raise McLsError(f"{path}: column '{column.name}' is not numeric: {column.first}{hint}")
    if mistyped := _mostly_numbers(column):
        raise McLsError(f"{path}: column '{column.name}' is numeric but for {mistyped} cells: {column.first}")
    n, different = len(column.codes), len(column.levels)
    if different > min(max(10, n // 2), MOST_LEVELS):
        raise McLsError(
            f"{path}: column '{column.name}' has {different} different texts in {n} rows ({column.first}): "
            "it looks like a name or a remark, which cannot be learnt from; leave it out with "
            f"--drop {shlex.quote(column.name)} {_ELSEWHERE}"
        )
    return OneHotColumn(name=column.name, levels=column.levels)


def _mostly_numbers(column: TextColumn) -> int:
    """How many cells are no numbers, where so many are that the others look mistyped; else zero."""
    numeric = np.array([_is_number(level) for level in column.levels])
    rows = numeric[column.codes]
    return int((~rows).sum()) if numeric.sum() > 10 and rows.mean() > 0.8 else 0


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False
