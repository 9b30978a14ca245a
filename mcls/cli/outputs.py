"""What the commands that write a file share: where it may go, how it is written, Ctrl-C and a full disk in one line."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from mcls.errors import McLsError
from mcls.files import open_atomic
from mcls.terminal import data_output, echo

STANDARD_OUTPUT = Path("-")


def standard_output_place(path: Path | None) -> Path | None:
    """An output as it was named, ``-`` for the other names of standard output."""
    return STANDARD_OUTPUT if str(path) in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1") else path


def check_output(path: Path, *inputs: Path, kind: str, force: bool) -> None:
    """Refuse a place that cannot be written to, or holds what would be missed, before any work is done.

    Parameters
    ----------
    inputs : Path
        Files that the command reads: none of them is ever written to.
    kind : {"model", "table", "picture", "card", "config"}
        What the command writes. An existing file of this kind is replaced, but not a config, which may have been
        edited.
    force : bool
        Replace any other file too.
    """
    if path == STANDARD_OUTPUT:
        return
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        mode = 0
    except OSError as error:
        raise McLsError(f"cannot write {path}: {error.strerror or error}") from None
    if stat.S_ISDIR(mode):
        raise McLsError(f"{path} is a folder; give the name of a file in it")
    if mode and not stat.S_ISREG(mode):
        if not os.access(path, os.W_OK):
            raise McLsError(f"{path} cannot be written to")
        return
    folder = Path(os.path.realpath(path)).parent if path.is_symlink() else path.parent
    if not folder.is_dir():
        raise McLsError(f"there is no folder {folder} to write {path.name} to")
    if not os.access(folder, os.W_OK):
        raise McLsError(f"the folder {folder} cannot be written to")
    if not mode:
        return
    for given in inputs:
        if os.path.exists(given) and os.path.samefile(path, given):
            raise McLsError(f"{path} is an input of this command; give another file to write to")
    if not force and os.path.getsize(path) and not _holds(path, kind):
        what = "already" if kind == "config" else f"and is not a {kind}"
        raise McLsError(f"{path} exists {what}; give another file to write to, or --force to replace it")


def check_drawing(picture: Path | None, *inputs: Path, force: bool) -> None:
    """The same for a picture that may be asked for."""
    if picture is not None:
        from mcls.models.judging import check_picture

        check_output(picture, *inputs, kind="picture", force=force)
        check_picture(picture)


def _holds(path: Path, kind: str) -> bool:
    """Whether a file is of the kind that a command may replace by another of its kind."""
    from mcls.data.lines import table_rows
    from mcls.models.archive import is_archive
    from mcls.models.skops_files import is_skops_file

    try:
        if kind == "model":
            return is_archive(path) or is_skops_file(path)
        if kind == "card":
            with path.open("rb") as stream:
                return stream.read(14) == b"# Model card: "
        if kind == "picture":
            with path.open("rb") as stream:
                return stream.read(5).startswith((b"\x89PNG", b"%PDF-", b"<?xml"))
        if kind == "table":
            widths = {len(cells) for _, (_, cells) in zip(range(20), table_rows(path))}
            return len(widths) == 1 and widths != {1}
    except (OSError, McLsError):
        pass  # what cannot be read is not known to be one
    return False


@contextlib.contextmanager
def open_output(path: Path) -> Iterator[IO[bytes]]:
    """Open the place a user named, ``-`` for standard output; trouble with the disk is a user's error."""
    if path == STANDARD_OUTPUT:
        with data_output() as stream:
            yield stream
        return
    try:
        with open_atomic(path) as stream:
            yield stream
    except OSError as error:
        raise McLsError(f"cannot write {path}: {error.strerror or error}; nothing was left half-written") from None


def beside(path: Path) -> contextlib.AbstractContextManager[object]:
    """Where a command tells what it did: on standard error if its standard output holds what it made."""
    return contextlib.redirect_stdout(sys.stderr) if path == STANDARD_OUTPUT else contextlib.nullcontext()


@contextlib.contextmanager
def interruptible(state: str | Callable[[], str]) -> Iterator[None]:
    """Say after Ctrl-C what there is and what to do, found out then, and end with the shell's code for it."""
    try:
        yield
    except KeyboardInterrupt:
        echo(f"mcls: interrupted; {state if isinstance(state, str) else state()}", err=True)
        raise SystemExit(130) from None
