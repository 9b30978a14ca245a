"""Options that every command on a table of the user's shares: how it is written, and what its columns are for."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from mcls.errors import McLsError

STANDARD_INPUT = Path("-")
MOST_INPUT = 2**34  # bytes of standard input that are kept on the disk while a command runs

Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first row names the columns; otherwise the table tells. Without names they are x0, x1, ...",
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option("--drop", metavar="COLUMN", help="Leave a column, or all like note*, out; repeat for more."),
]
Keep = Annotated[
    list[str] | None,
    typer.Option("--keep", metavar="COLUMN", help="Use a column although it counts the rows; repeat for more."),
]
Categorical = Annotated[
    list[str] | None,
    typer.Option("--categorical", metavar="COLUMN", help="Its numbers are codes, one 0/1 feature each; repeat."),
]
Ordinal = Annotated[
    list[str] | None,
    typer.Option("--ordinal", metavar="COLUMN=A<B<C", help="Its texts have this order; repeat for more."),
]
Missing = Annotated[
    str,
    typer.Option(
        metavar="refuse|impute",
        help="Missing values: refuse them, or use the median of the training rows, and for text a level of its own.",
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(metavar="CHARACTER", help="Between two cells; also comma, semicolon, tab, pipe, space."),
]
Decimal = Annotated[str | None, typer.Option(metavar=".|,", help="The mark before the digits of a fraction.")]
Encoding = Annotated[str | None, typer.Option(metavar="NAME", help="Of the table's text, such as latin-1.")]
Strict = Annotated[bool, typer.Option("--strict", help="Refuse a text that the training table did not have.")]

_KINDS = {"number": "of numbers", "text": "of text", "ordinal": "ordered", "date": "of dates"}


def kind_counts(kinds: Sequence[str]) -> str:
    """How many columns there are of each kind, in words.

    >>> kind_counts(["number", "number", "date"])
    '2 of numbers, 0 of text, 1 of dates'
    """
    count = Counter(kinds)
    return ", ".join(
        f"{count[kind]} {words}" for kind, words in _KINDS.items() if count[kind] or kind in ("number", "text")
    )


def from_standard_input(context: typer.Context, path: Path) -> Path:
    """The path as it was given, or for ``-`` that of a temporary file with what standard input holds.

    A table is read more than once, so it is kept on the disk until the command ends.
    """
    if path != STANDARD_INPUT or context.resilient_parsing:
        return path
    folder = Path(tempfile.mkdtemp(prefix="mcls-"))
    context.call_on_close(lambda: shutil.rmtree(folder, ignore_errors=True))
    spooled = folder / "standard-input"
    try:
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
        raise McLsError(f"cannot read standard input: {getattr(error, 'strerror', None) or error}") from None
    with open(spooled, "rb") as kept:
        packed = kept.read(2) == b"\x1f\x8b"
    return spooled.rename(folder / "standard-input.gz") if packed else spooled


def tables_from_standard_input(context: typer.Context, paths: list[Path]) -> list[Path]:
    """The same for a table in several files."""
    return [from_standard_input(context, path) for path in paths]
