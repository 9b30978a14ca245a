"""The store: one small JSON file per cell, written whole or not at all."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcls.errors import McLsError
from mcls.experiments.cells import Cell
from mcls.experiments.records import Record, decode, encode
from mcls.files import write_atomic

#: What tells one content of a file from another: files are replaced, never changed.
Stamp = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Brief:
    """What a summary needs of a record: the rest is large, and a run may have many thousands."""

    status: str
    engine: str
    seconds: float = 0.0
    error: float | None = None
    oracle_error: float | None = None
    chosen: tuple[dict[str, Any], ...] = ()
    metrics: dict[str, float | None] = field(default_factory=dict)


class Store:
    """Results of cells in a folder.

    A record says ``status: done`` with its ``result``, or ``status: failed`` with its ``error``. A file that is
    damaged or foreign is passed over as if it were not there, and ``damaged`` names it.

    Parameters
    ----------
    folder : Path
        Where the files are; it is made when the first one is written.
    keep : bool
        Keep every record that was read, and read its file again only when it has changed: for tables and pages, which
        ask for the same records many times. A run has many thousands and keeps them in brief.

    Examples
    --------
    >>> list(Store(Path("nowhere")).keys())
    []
    """

    def __init__(self, folder: Path, keep: bool = False) -> None:
        self.folder = folder
        self.damaged: dict[Path, str] = {}  # of the files read so far: what is wrong with them
        self._looks: dict[str, tuple[Stamp | None, Brief | None]] = {}
        self._kept: dict[str, tuple[Stamp | None, Record | None]] | None = {} if keep else None
        self._prefix = os.path.join(folder, "")

    def path(self, key: str) -> Path:
        """The file of a cell."""
        return self.folder / f"{key}.json"

    def keys(self) -> Iterator[str]:
        """The keys of all files of cells, sorted."""
        names = (path.name for path in self.folder.glob("*.json"))
        yield from sorted(found[1] for name in names if (found := re.fullmatch(r"([0-9a-f]{24})\.json", name)))

    def read(self, cell: Cell) -> Record | None:
        """The record of a cell, done or failed; None when there is none that fits it."""
        if self._kept is None:
            return self._read(cell)
        stamp = self.stamp(cell)
        known = self._kept.get(cell.key)
        if known is None or known[0] != stamp:
            known = self._kept[cell.key] = stamp, None if stamp is None else self._read(cell)
        return known[1]

    def _read(self, cell: Cell) -> Record | None:
        try:
            with open(f"{self._prefix}{cell.key}.json", "rb", buffering=0) as stream:
                record = decode(stream.read(), cell.key)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            reason = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
            self.damaged[self.path(cell.key)] = reason
            return None
        # Keys leave defaults out; a default that has changed since makes the record one of another machine.
        now, then = cell.parameters(), record.get("parameters", {})
        if now != then and any(now[name] != then[name] for name in now.keys() & then.keys()):
            return None
        return record if record["status"] == "failed" or cell.answered_by(record["result"]) else None

    def result(self, cell: Cell) -> Record | None:
        """The record of a cell that is done; a failed one is never a result."""
        record = self.read(cell)
        return record if record is not None and record["status"] == "done" else None

    def stamp(self, cell: Cell) -> Stamp | None:
        """Which content the file of a cell has; None when there is no file."""
        try:
            status = os.stat(f"{self._prefix}{cell.key}.json")
        except OSError:
            return None
        return status.st_ino, status.st_size, status.st_mtime_ns

    def look(self, cell: Cell) -> tuple[Stamp | None, Brief | None]:
        """What ``read`` finds, in brief, and the stamp it has; the file is read again only when it has changed."""
        stamp = self.stamp(cell)
        known = self._looks.get(cell.key)
        if known is None or known[0] != stamp:
            known = self._looks[cell.key] = stamp, None if stamp is None else _brief(self.read(cell))
        return known

    def brief(self, cell: Cell) -> Brief | None:
        """What ``read`` finds, in brief."""
        return self.look(cell)[1]

    def known(self, cell: Cell) -> Brief | None:
        """What the last look at a cell found; the disk is asked only if there was none."""
        return self._looks[cell.key][1] if cell.key in self._looks else self.brief(cell)

    def write(self, record: Record) -> None:
        """Put a record in its place."""
        write_file(self.path(record["key"]), encode(record))


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file of results atomically, its folder made if need be; trouble with the disk is told in one line.

    A file that holds the content already is left as it is.
    """
    content = content.encode("utf-8") if isinstance(content, str) else content
    try:
        if path.is_file() and path.read_bytes() == content:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, content)
    except OSError as error:
        reason = error.strerror or str(error)
        raise McLsError(
            f"cannot write {path}: {reason}; nothing was left half-written, results so far are kept "
            "(make room, or give another folder with --out)"
        ) from None


def _brief(record: Record | None) -> Brief | None:
    if record is None:
        return None
    if record["status"] == "failed":
        return Brief("failed", record["engine"])
    result = record["result"]
    return Brief(
        "done",
        record["engine"],
        record["seconds"],
        result["error"],
        result.get("oracle_error"),
        tuple(result["chosen"]),
        result.get("metrics", {}),
    )
