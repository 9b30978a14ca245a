"""The cache: one folder per data set, holding files that match their card's checksum."""

from __future__ import annotations

import hashlib
import os
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from mcls.data.cards import Card, RawFile
from mcls.errors import McLsError, printable
from mcls.files import clear_stale

_INCOMING = ".incoming-"


class RefusedError(McLsError):
    """A file was had, but it is not the one the card describes."""


def cache_dir() -> Path:
    """Folder of everything fetched: ``MCLS_CACHE``, or the platform's user cache folder."""
    chosen = os.environ.get("MCLS_CACHE")
    if chosen:
        try:
            return Path(chosen).expanduser()
        except RuntimeError:
            raise McLsError(f"MCLS_CACHE names {chosen}, and there is no such home folder") from None
    from platformdirs import user_cache_path

    return user_cache_path("mcls", appauthor=False)


def cached_path(card: Card, file: RawFile) -> Path:
    """Where a file of a set lies in the cache, whether it is there or not."""
    return cache_dir() / card.name / file.name


def check_content(content: bytes, file: RawFile, where: str) -> bytes:
    """Give the content back if its checksum is the card's; refuse it, saying what was found, if not."""
    found = hashlib.sha256(content).hexdigest()
    if found == file.sha256:
        return content
    page = content[:1024].lstrip().lower().startswith((b"<!doctype", b"<html", b"<?xml"))
    if len(content) > file.bytes:  # only that much was read, so its checksum would say nothing
        description = f"more than {file.bytes} bytes"
    else:
        description = f"{len(content)} bytes with sha256 {found}"
    raise RefusedError(
        f"{where} is not the {file.name} that is expected: found {description}"
        f"{' (it looks like a web page)' if page else ''}, expected {file.bytes} bytes with sha256 {file.sha256}"
    )


def read_bounded(path: Path, file: RawFile) -> bytes:
    """Read one byte more than the card allows at most: enough to know that a file is too long."""
    try:
        with path.open("rb") as stream:
            return stream.read(file.bytes + 1)
    except OSError as error:
        raise McLsError(f"cannot read {path}: {error.strerror or error}") from None


def cached_files(card: Card) -> dict[str, bytes]:
    """Read the set's files that are in the cache; one that is damaged or cannot be read is left out with a warning."""
    found = {}
    for file in card.files:
        path = cached_path(card, file)
        if os.path.isfile(path):
            try:
                found[file.name] = check_content(read_bounded(path, file), file, str(path))
            except McLsError as error:
                warnings.warn(printable(f"ignored: {error}"), stacklevel=2)
    return found


def is_cached(card: Card, partly: bool = False) -> bool:
    """Say whether all files of a set (or some, with ``partly``) are in the cache, without reading them.

    Of a cache that cannot be entered nothing is there: what is shipped needs none.
    """
    paths = [cached_path(card, file) for file in card.files]
    if card.origin == "folder":
        paths = [folder_table_path(card)]
    there = [os.path.isfile(path) for path in paths]
    return any(there) if partly else bool(there) and all(there)


def folder_table_path(card: Card) -> Path:
    """Where the table made from a user's folder lies in the cache."""
    return cache_dir() / card.name / "table.npz"


@contextmanager
def staging() -> Iterator[Path]:
    """Open a folder inside the cache for files on their way in; it disappears, whatever happens.

    What a kill left of an older one disappears too.
    """
    root = cache_dir()
    try:
        root.mkdir(parents=True, exist_ok=True)
        clear_stale(root, f"{_INCOMING}*")
        with tempfile.TemporaryDirectory(prefix=_INCOMING, dir=root) as name:
            yield Path(name)
    except OSError as error:
        reason = error.strerror or error
        raise McLsError(f"cannot write to the cache {root}: {reason}; MCLS_CACHE names another folder") from None


def put_in_cache(card: Card, contents: Mapping[str, bytes]) -> None:
    """Move checked files into the set's folder, each by one rename."""
    with staging() as stage:
        for name, content in contents.items():
            with (stage / name).open("wb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
        folder = cache_dir() / card.name
        folder.mkdir(exist_ok=True)
        # All are on the disk before the first one is moved.
        for name in contents:
            os.replace(stage / name, folder / name)
