"""What the commands that write a file share: a look at the place first, Ctrl-C and trouble with the disk in a line."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import typer

from mcls.errors import McLsError


def check_output(path: Path) -> None:
    """Refuse a place that cannot be written to before any work is done."""
    if path.is_dir():
        raise McLsError(f"{path} is a folder; give the name of a file in it")
    if not path.parent.is_dir():
        raise McLsError(f"there is no folder {path.parent} to write {path.name} to")
    if not os.access(path.parent, os.W_OK):
        raise McLsError(f"the folder {path.parent} cannot be written to")


@contextlib.contextmanager
def interruptible(state: str) -> Iterator[None]:
    """Say after Ctrl-C what there is and what to do, and end with the shell's code for it."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo(f"mcls: interrupted; {state}", err=True)
        raise SystemExit(130) from None


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn trouble with the disk into a user's error."""
    try:
        yield
    except OSError as error:
        raise McLsError(f"cannot write {path}: {error.strerror or error}; nothing was left half-written") from None
