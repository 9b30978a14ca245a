"""A table on its way to a reader: entries that know their number, their source and how they fare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Tone = Literal["", "good", "near", "bad", "weak"]
State = Literal["complete", "incomplete", "not run"]

#: What every table of a quick run says of itself.
QUICK_NOTE = (
    "QUICK run: fewer replicates and folds, smaller grids, fewer rows of the larger data sets. "
    "It shows that everything works; its figures are not a reproduction."
)


@dataclass(frozen=True)
class Entry:
    """One field of a table.

    ``value`` sorts it; ``source`` links it to what produced it: the anchor of a row's cells (``#…``) or the file
    of one cell, relative to the folder of results.
    """

    text: str = ""
    value: float | None = None
    source: str = ""
    tone: Tone = ""
    bold: bool = False  # the best of its row or column


@dataclass(frozen=True)
class Lacking:
    """What is wanting behind a table: whether only some of its cells, or none, are done, and a note about it."""

    state: State = "complete"
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Table:
    """A table with its title and notes; ``name`` is the stem of its files, ``foot`` holds means over the rows.

    ``state`` says whether every cell behind it is done, only some are, or none is.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Entry, ...], ...]
    notes: tuple[str, ...] = ()
    quick: bool = False
    foot: tuple[tuple[Entry, ...], ...] = ()
    state: State = "complete"

    def __post_init__(self) -> None:
        for row in (*self.rows, *self.foot):
            if len(row) != len(self.columns):
                raise ValueError(f"{self.name}: a row has {len(row)} entries for {len(self.columns)} columns")

    @property
    def heading(self) -> str:
        """The title, marked when the run was a quick one."""
        return f"{self.title} [QUICK]" if self.quick else self.title

    @property
    def remarks(self) -> tuple[str, ...]:
        """The notes, those of a quick run first of all with the warning."""
        return (QUICK_NOTE, *self.notes) if self.quick else self.notes

    def is_numeric(self, column: int) -> bool:
        """Whether a column holds numbers: every entry has a value, says nothing, or says faintly why it has none."""
        entries = [row[column] for row in self.rows]
        return any(e.value is not None for e in entries) and all(
            e.value is not None or e.text == "" or e.tone == "weak" for e in entries
        )

    @property
    def numeric(self) -> list[bool]:
        """For each column, whether it holds numbers."""
        return [self.is_numeric(j) for j in range(len(self.columns))]


#: What stands where there is no figure.
NOTHING = "–"


def words(text: str, tone: Tone = "", source: str = "") -> Entry:
    """An entry of text."""
    return Entry(text, tone=tone, source=source)


def number(value: float | None, digits: int = 2, source: str = "", tone: Tone = "", sign: bool = False) -> Entry:
    """An entry of a number with so many decimals; a dash for None.

    >>> number(2.798).text, number(0.5, sign=True).text, number(None).text
    ('2.80', '+0.50', '–')
    """
    if value is None:
        return Entry(NOTHING, tone="weak")
    return Entry(f"{value:{'+' if sign else ''}.{digits}f}", float(value), source, tone)


def seconds(value: float | None, source: str = "") -> Entry:
    """A time with three significant digits.

    >>> seconds(0.012345).text, seconds(1234.5).text
    ('0.0123', '1234')
    """
    if value is None:
        return Entry(NOTHING, tone="weak")
    text = f"{value:.0f}" if value >= 100 else f"{value:.3g}"
    return Entry(text, float(value), source)


def make(
    name: str,
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[Entry]],
    notes: Sequence[str] = (),
    quick: bool = False,
    foot: Sequence[Sequence[Entry]] = (),
    lacking: Lacking = Lacking(),
) -> Table:
    """A table from lists; what is lacking is told after the notes."""
    return Table(
        name,
        title,
        tuple(columns),
        tuple(map(tuple, rows)),
        (*notes, *lacking.notes),
        quick,
        tuple(map(tuple, foot)),
        lacking.state,
    )
