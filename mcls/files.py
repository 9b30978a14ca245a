"""Files in and out: an input is a regular file, an output is whole or not there, and text stays text.

CSV that we write holds no formulas, Markdown no HTML, whatever the names in them.
"""

from __future__ import annotations

import contextlib
import csv
import io
import os
import re
import secrets
import shutil
import stat
import time
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from mcls.errors import McLsError

#: Names of what is being written; nothing else is ever cleared away.
TEMPORARY = ".mcls-*.tmp"
STALE_AFTER = 24 * 3600.0  # seconds; a younger temporary file may belong to a command that is still going

_cleared: set[Path] = set()


def write_atomic(path: Path | str, content: bytes | str) -> None:
    """Write a file as ``open_atomic`` does.

    Whatever happens on the way (a full disk, a kill), ``path`` holds either its old content or the new.
    """
    with open_atomic(path) as stream:
        stream.write(content.encode("utf-8") if isinstance(content, str) else content)


@contextlib.contextmanager
def open_atomic(path: Path | str, private: bool = False) -> Iterator[IO[bytes]]:
    """Open an output for content that comes in pieces: the file is replaced when the block ends without an error.

    A symbolic link stays one: what it leads to is replaced. The new file has the permissions of the old one, or those
    that the umask gives; with ``private`` none for others, whatever the old one had. What is not a regular file (a
    device, a pipe) cannot be replaced and is written to directly.
    """
    try:
        old = os.stat(path).st_mode
    except FileNotFoundError:
        old = None
    if old is not None and not stat.S_ISREG(old):
        with open(path, "wb") as stream:
            yield stream
        return
    target = Path(os.path.realpath(path))
    if target.parent not in _cleared:
        _cleared.add(target.parent)
        clear_stale(target.parent)
    name = target.parent / TEMPORARY.replace("*", secrets.token_hex(8))
    try:
        with open(name, "xb", opener=_private if private or old is not None else None) as stream:
            if old is not None and not private:
                os.chmod(name, stat.S_IMODE(old))
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(name, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
    _sync_folder(target.parent)


def _private(name: str, flags: int) -> int:
    """Open a file that others cannot read while it is not known who may."""
    return os.open(name, flags, 0o600)


def _sync_folder(folder: Path) -> None:
    """Bring a rename to the disk; a system that cannot do so for a folder is left to its own ways."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def clear_stale(folder: Path, pattern: str = TEMPORARY) -> None:
    """Remove what killed commands left half-written in a folder, files or folders, unless it may still be in use."""
    for path in folder.glob(pattern):
        with contextlib.suppress(OSError):
            if time.time() - path.lstat().st_mtime > STALE_AFTER:
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def require_file(path: Path | str) -> None:
    """Refuse an input that is a device, a pipe or a socket: it may be endless, or never begin.

    What is not there, or a folder, is left to whoever opens it.
    """
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        kind = "a pipe" if stat.S_ISFIFO(mode) else "a socket" if stat.S_ISSOCK(mode) else "a device"
        raise McLsError(f"{path} is {kind}, and an input is read more than once: save it to a file first")


def zip_names(path: Path) -> list[str]:
    """The names of the members of a zip archive, none where a file only begins like one."""
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.namelist()
    except Exception:  # zipfile raises whatever the damaged bytes lead it to
        return []


def csv_text(rows: Iterable[Iterable[Any]]) -> str:
    """Rows as CSV; a text that a spreadsheet would take for a formula gets an apostrophe in front.

    >>> csv_text([["a", -1, "=1+1"], ["-2.5", "-x", None]])
    "a,-1,'=1+1\\n-2.5,'-x,\\n"
    """
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows([no_formula(cell) for cell in row] for row in rows)
    return buffer.getvalue()


def without_html(text: str) -> str:
    """Text for Markdown in which no HTML begins.

    >>> without_html("p < 0.05, <b>bold</b>")
    'p < 0.05, &lt;b>bold&lt;/b>'
    """
    return re.sub(r"<(?=[A-Za-z/!?])", "&lt;", text)


def no_formula(cell: Any) -> Any:
    """A text that a spreadsheet would take for a formula with an apostrophe in front; anything else as it is.

    A class may be called ``+`` or ``-``: a sign alone is no formula.
    """
    if not isinstance(cell, str) or len(cell) < 2 or not cell.startswith(("=", "+", "-", "@", "\t", "\r")):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell
