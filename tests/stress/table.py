"""The table of what was tried and what failed, with its date and versions."""

from __future__ import annotations

import csv
import io
import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from mcls.files import write_atomic

from .attack import Result

_COLUMNS = ("attack", "what", "tried", "failed", "seconds")
_HEADING = "# What was tried against mcls, and what failed\n\n"
#: Around the table in a page that shows it.
MARKS = ("<!-- begin: written by make stress -->\n", "<!-- end: written by make stress -->\n")


def write(results: Sequence[Result], folder: Path) -> None:
    """Write ``stress.csv`` and ``stress.md``."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [
        (r.attack.name, r.attack.what, str(r.tried), r.skipped or str(r.failed), f"{r.seconds:.0f}")
        for r in results
    ]
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows([_COLUMNS, *rows])
    write_atomic(folder / "stress.csv", buffer.getvalue())
    tried, failed = sum(r.tried for r in results), sum(r.failed for r in results)
    packages = ", ".join(f"{name} {version(name)}" for name in ("mcls", "numpy", "scipy", "scikit-learn"))
    lines = [
        f"{datetime.now(UTC):%Y-%m-%d}, {packages}, Python {platform.python_version()} on {platform.system()} "
        f"{platform.machine()}, {os.cpu_count()} cores: {tried} tried, {failed} failed. `make stress` repeats it.",
        "",
        "| " + " | ".join(_COLUMNS) + " |",
        "|---|---|---:|---:|---:|",
        *("| " + " | ".join(row) + " |" for row in rows),
    ]
    write_atomic(folder / "stress.md", _HEADING + "\n".join(lines) + "\n")


def show(folder: Path, page: Path) -> None:
    """Put the table between the marks of a page."""
    text = page.read_text(encoding="utf-8")
    before, rest = text.split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    write_atomic(page, before + MARKS[0] + shown(folder) + MARKS[1] + after)


def shown(folder: Path) -> str:
    """What stands between the marks."""
    return (folder / "stress.md").read_text(encoding="utf-8").removeprefix(_HEADING)
