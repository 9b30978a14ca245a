"""Printing tables and failures the same way in every command."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mcls.errors import printable
from mcls.files import csv_text
from mcls.terminal import counted, echo, output

if TYPE_CHECKING:
    from mcls.experiments.runner import RunOutcome
    from mcls.experiments.store import Store

_MOST_NAMED = 5  # damaged cells
_MOST_LAID_OUT = 1000  # rows of a table
_KINDS = {"number": "of numbers", "text": "of text", "ordinal": "ordered", "date": "of dates"}


def print_table(title: str | None, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table; numbers to the right, words to the left. Outside a terminal nothing is cut off."""
    if len(rows) > _MOST_LAID_OUT:
        _print_lines(title, columns, rows)
        return
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    made = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
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
        if title:  # on a line of its own, which is not broken at the width of the table
            console.print(Text(printable(title), "italic"), soft_wrap=True)
        console.print(made)


def _print_lines(title: str | None, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """The same table line by line, without a look at the width of the terminal: thousands of rows in no time."""
    from rich.cells import cell_len

    made = []
    for name, *cells in zip(columns, *rows):
        shown = [printable(text) for text in (name, *cells)]
        widths = [cell_len(text) for text in shown]
        widest, right = max(widths), all(map(_is_number, cells))
        blanks = (" " * (widest - width) for width in widths)
        made.append([blank + text if right else text + blank for text, blank in zip(shown, blanks)])
    head, *body = ((" " + "  ".join(line)).rstrip() for line in zip(*made))
    rule = " " + "─" * (sum(cell_len(column[0]) for column in made) + 2 * len(made) - 2)
    sys.stdout.write("\n".join([*([title] if title else []), "", head, rule, *body, "", ""]))


def print_csv(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table as CSV."""
    sys.stdout.write(csv_text([map(printable, row) for row in (columns, *rows)]))


def print_note(text: str) -> None:
    """Say on standard error what is worth knowing and no mistake."""
    echo(f"note: {text}", err=True)


def print_damaged(*stores: Store) -> None:
    """Name the damaged cells that were come across, a few of many."""
    damaged = {path: reason for store in stores for path, reason in store.damaged.items()}
    for path, reason in list(damaged.items())[:_MOST_NAMED]:
        print_note(f"{path} is damaged and counts as missing: {reason}")
    if (more := len(damaged) - _MOST_NAMED) > 0:
        print_note(f"{more} more cells are damaged; to list them all: mcls store verify DIR")


def print_failures(outcome: RunOutcome) -> None:
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
        echo(f"{counted(outcome.not_run, 'cell')} not run", err=True)


def _is_number(text: str) -> bool:
    try:
        float(text or 0)
    except ValueError:
        return False
    return True


def kind_counts(kinds: Sequence[str]) -> str:
    """How many columns there are of each kind, in words.

    >>> kind_counts(["number", "number", "date"])
    '2 of numbers, 0 of text, 1 of dates'
    """
    count = Counter(kinds)
    return ", ".join(
        f"{count[kind]} {words}" for kind, words in _KINDS.items() if count[kind] or kind in ("number", "text")
    )
