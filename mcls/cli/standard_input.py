"""A table that comes by standard input."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path
from types import FrameType

import typer

from mcls.errors import McLsError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

STANDARD_INPUT = Path("-")
MOST_INPUT = 2**34  # bytes of standard input that are kept on the disk while a command runs
_PREFIX = "mcls-input-"
_MADE = 60.0  # seconds after which a folder has certainly been locked by the command that made it


def from_standard_input(context: typer.Context, path: Path) -> Path:
    """The path as it was given, or for ``-`` that of a temporary file with what standard input holds.

    A table is read more than once, so it is kept on the disk until the command ends.
    """
    if path != STANDARD_INPUT or context.resilient_parsing:
        return path
    try:
        folder = _make_folder(context)
        spooled = folder / "standard input"
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
    return spooled.rename(folder / "standard input.gz") if packed else spooled


def tables_from_standard_input(context: typer.Context, paths: list[Path]) -> list[Path]:
    """The same for a table in several files."""
    return [from_standard_input(context, path) for path in paths]


def in_words(text: str) -> str:
    """A message in which standard input is called that, and not by the file that keeps it."""
    folder = re.escape(tempfile.tempdir or "")  # known where it was used; it may have spaces in it
    return re.sub(rf"(?:{folder}[/\\]|\S*){_PREFIX}\w+[/\\]standard input(\.gz)?", "standard input", text)


def _make_folder(context: typer.Context) -> Path:
    """A temporary folder that goes when the command ends or is terminated; after a kill, with the next command."""
    _clear_left_behind()
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    context.call_on_close(lambda: shutil.rmtree(folder, ignore_errors=True))
    if fcntl is not None:
        lock = os.open(folder, os.O_RDONLY)  # the system drops it when the process ends, however it ends
        context.call_on_close(lambda: os.close(lock))
        with contextlib.suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    if threading.current_thread() is threading.main_thread():
        owner, before = os.getpid(), signal.getsignal(signal.SIGTERM)

        def end(number: int, frame: FrameType | None) -> None:
            if os.getpid() == owner:
                shutil.rmtree(folder, ignore_errors=True)
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)

        signal.signal(signal.SIGTERM, end)
        context.call_on_close(lambda: signal.signal(signal.SIGTERM, before))
    return folder


def _clear_left_behind() -> None:
    """Remove the folders of commands that were killed, which hold no lock any more."""
    if fcntl is None:
        return
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):  # also where it is locked, or somebody else's
            if time.time() - folder.lstat().st_mtime < _MADE or folder.is_symlink():
                continue
            # Where others may write, too: a pipe of that name would be waited for, a link followed.
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)
