"""The benchmarks as ``make bench`` wrote them: rows of text, and one table of all of them for the report."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from mcls.reporting.paper import computer
from mcls.reporting.table import Entry, Table, make, words

_NUMBERS = ("seconds", "peer seconds", "ratio")


def read_rows(path: Path) -> list[dict[str, str]]:
    """The lines of a benchmark's CSV file, column → text; none when the file is not there."""
    if not path.is_file():
        return []
    with open(path, encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def bench_table(folder: Path, quick: bool) -> Table | None:
    """Everything that was measured, in one table; None when nothing was."""
    rows = [row for path in sorted(folder.glob("*.csv")) for row in read_rows(path)]
    if not rows:
        return None
    columns = list(rows[0])
    notes = [
        "seconds: wall time of ours, then of the peer in the same run on the same data, folds and grid; ratio: how "
        "many times ours is faster. note: what was checked. To measure again: make bench."
    ]
    if (folder / "environment.json").is_file():
        environment = json.loads((folder / "environment.json").read_text(encoding="utf-8"))
        notes.append(f"Measured on {computer(environment)}, one BLAS thread.")
    entries = [[_entry(column, row.get(column, "")) for column in columns] for row in rows]
    return make("performance-bench", "performance: measured against peers", columns, entries, notes, quick)


def _entry(column: str, text: str) -> Entry:
    return Entry(text, float(text)) if column in _NUMBERS and text else words(text)
