"""A table that comes by standard input."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

import typer

from mcls.errors import McLsError

STANDARD_INPUT = Path("-")
MOST_INPUT = 2**34  # bytes of standard input that are kept on the disk while a command runs


def from_standard_input(context: typer.Context, path: Path) -> Path:
    """The path as it was given, or for ``-`` that of a temporary file with what standard input holds.

    A table is read more than once, so it is kept on the disk until the command ends.
    """
    if path != STANDARD_INPUT or context.resilient_parsing:
        return path
    try:
        folder = Path(tempfile.mkdtemp(prefix="mcls-"))
        context.call_on_close(lambda: shutil.rmtree(folder, ignore_errors=True))
        spooled = folder / "standard-input"
        with open(spooled, "wb") as kept:
            written = 0
            while piece := os.read(sys.stdin.fileno(), 2**20):
                written += len(piece)
                if written > MOST_INPUT:
                    raise McLsError(f"standard input has more than {MOST_INPUT} bytes; save it to a file first")
                kept.write(piece)
    except (OSError, ValueError, AttributeError) as error:
        if isinstance(error, McLsError):
            raise
        raise McLsError(
            f"cannot keep standard input on the disk: {getattr(error, 'strerror', None) or error}"
        ) from None
    with open(spooled, "rb") as kept:
        packed = kept.read(2) == b"\x1f\x8b"
    return spooled.rename(folder / "standard-input.gz") if packed else spooled


def tables_from_standard_input(context: typer.Context, paths: list[Path]) -> list[Path]:
    """The same for a table in several files."""
    return [from_standard_input(context, path) for path in paths]
