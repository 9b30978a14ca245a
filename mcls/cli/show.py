"""Printing tables and failures the same way in every command."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mcls.errors import printable
from mcls.files import csv_text
from mcls.terminal import counted, echo, output

if TYPE_CHECKING:
    from mcls.experiments.runner import Outcome


def print_table(title: str | None, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table; numbers to the right, words to the left. Outside a terminal nothing is cut off."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    made = Table(
        title=Text(printable(title)) if title else None,
        title_justify="left",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    for j, column in enumerate(columns):
        numeric = all(_is_number(row[j]) for row in rows)
        # In a narrow terminal only long words wrap; a name cut short says nothing.
        widest = max(len(cell) for cell in [column, *(row[j] for row in rows)])
        made.add_column(
            Text(printable(column)),
            justify="right" if numeric else "left",
            no_wrap=widest <= 12,
            min_width=min(widest, 8),
            overflow="fold",
        )
    for row in rows:
        made.add_row(*(Text(printable(cell)) for cell in row))
    with output() as console:
        wide = console.options.update(width=10_000)
        if not console.is_terminal:
            console.width = console.measure(made, options=wide).maximum
        elif console.measure(made, options=wide).maximum >= console.width:
            made.padding = (0, 0, 0, 0)  # close up before anything wraps
            console.width = max(console.width, console.measure(made, options=wide).minimum)  # nothing is cut off
        console.print(made)


def print_csv(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table as CSV."""
    sys.stdout.write(csv_text([map(printable, row) for row in (columns, *rows)]))


def print_note(text: str) -> None:
    """Say on standard error what is worth knowing and no mistake."""
    echo(f"note: {text}", err=True)


def print_failures(outcome: Outcome) -> None:
    """Say which cells failed and why, what was left undone, and how many cells came with a warning."""
    from mcls.specs import format_spec

    if outcome.warned:
        first = outcome.warned[0]
        echo(
            f"{counted(len(outcome.warned), 'cell')} came with warnings, such as {first['dataset']} {first['machine']} "
            f"replicate {first['replicate']}: {' '.join(first['warnings'][0].split())}",
            err=True,
        )
    alike: dict[tuple[str, str, str], list[int]] = {}
    for record in outcome.failed:
        machine = format_spec(record["machine"], record["options"])
        alike.setdefault((record["dataset"], machine, record["error"]), []).append(record["replicate"])
    for (dataset, machine, error), replicates in alike.items():
        echo(f"failed: {dataset} {machine}, replicate {' '.join(map(str, replicates))}: {error}", err=True)
    if outcome.not_run:
        echo(f"{outcome.not_run} cells were not run", err=True)


def _is_number(text: str) -> bool:
    try:
        float(text or 0)
    except ValueError:
        return False
    return True
