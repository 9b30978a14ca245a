"""What a paper is to the report: its tables, the studies behind each, and the functions that fill them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from mcls.errors import unknown_name
from mcls.reporting.agreement import Verdict
from mcls.reporting.plots import Plot
from mcls.reporting.studies import AbsentDataError, Studies, StudyRow
from mcls.reporting.table import Entry, Lacking, Table, make, number, words


@dataclass(frozen=True)
class TableSpec:
    """One table of a paper: the configs it is filled from, and the function that does it.

    ``extra`` configs need data that may not be on this machine; without them the table says so.
    """

    id: str
    title: str
    studies: tuple[str, ...]
    build: Callable[[Studies], list[Table]]
    extra: tuple[str, ...] = ()


@dataclass(frozen=True)
class Paper:
    """A paper, its tables and its plots; ``agreement`` gives a verdict on every figure of its published tables."""

    name: str
    title: str
    tables: tuple[TableSpec, ...]
    plots: tuple[Plot, ...] = ()
    agreement: Callable[[Studies], Iterator[Verdict]] | None = None

    def table(self, wanted: str) -> TableSpec:
        """A table by its number or name."""
        for spec in self.tables:
            if spec.id == wanted.lower():
                return spec
        raise unknown_name(f"table of {self.name}", wanted, [spec.id for spec in self.tables])


def run_command(paper: str, table: str, studies: Studies) -> str:
    """The command that runs what a table lacks."""
    return f"mcls tables {paper} --table {table}{' --quick' if studies.quick else ''}"


#: The columns of a table whose data are not on this machine.
NOT_RUN = ("state",)


def not_run(name: str, title: str, reason: AbsentDataError, quick: bool) -> Table:
    """The table of a study whose data are not here."""
    return make(
        name, title, NOT_RUN, [[words(f"not run: {reason}", "weak")]], quick=quick, lacking=Lacking("not run")
    )


def difference(ours: float | None, theirs: float | None, source: str = "") -> Entry:
    """Ours minus theirs, with its sign; linked to what ours comes from."""
    return number(None if ours is None or theirs is None else ours - theirs, source=source, sign=True)


def ratio(value: float | None, base: float | None) -> float | None:
    """How many times the base."""
    return None if value is None or not base else value / base


def mean_entry(figures: StudyRow | None, digits: int = 2) -> Entry:
    """The mean error of a row, or what is wanting."""
    if figures is None:
        return number(None)
    if figures.line.mean is None:
        return words(figures.line.state, "weak")
    return number(figures.line.mean, digits, figures.anchor)


def processors(figures: Sequence[StudyRow], alone: bool = True) -> list[str]:
    """One note that names the machine the times were measured on, with one cell at a time or with others beside it."""
    seen: dict[str, None] = {}
    for each in figures:
        for record in each.records:
            if record is not None:
                seen[computer(record["environment"])] = None
    how = "one cell at a time, one BLAS thread" if alone else "one BLAS thread, with other cells beside it"
    return [f"Measured on {' and '.join(seen)}, {how}."] if seen else []


def computer(environment: dict[str, Any]) -> str:
    """The machine of an environment in a few words."""
    blas: dict[str, Any] = next((x for x in environment["libraries"] if x["user_api"] == "blas"), {})
    library = f"{blas.get('internal_api', 'BLAS')} {blas.get('version') or ''}".strip()
    return f"{environment['cpu']} ({environment['cores']} cores; {library})"
