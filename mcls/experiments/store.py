"""The store: one small JSON file a cell, written whole or not at all."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mcls.errors import McLsError
from mcls.experiments.cells import FORMAT, Cell
from mcls.files import write_atomic

Record = dict[str, Any]

_STALE_AFTER = 3600.0  # seconds; a younger temporary file may belong to a run that is still going


class Store:
    """Results of cells in a folder.

    A record says ``status: done`` with its ``result``, or ``status: failed`` with its ``error``. Files that are
    damaged, foreign or of another format are passed over as if they were not there.

    Parameters
    ----------
    folder : Path
        Where the files are; it is made when the first one is written.

    Examples
    --------
    >>> list(Store(Path("nowhere")).records())
    []
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, key: str) -> Path:
        """The file of a cell."""
        return self.folder / f"{key}.json"

    def read(self, cell: Cell) -> Record | None:
        """The record of a cell, done or failed; None when there is none that fits it."""
        record = _parse(self.path(cell.key))
        if record is None or record["key"] != cell.key:
            return None
        # Keys leave defaults out; a default that has changed since makes the record one of another machine.
        now, then = cell.parameters(), record.get("parameters", {})
        if not isinstance(then, dict) or any(now[name] != then[name] for name in now.keys() & then.keys()):
            return None
        return record

    def result(self, cell: Cell) -> Record | None:
        """The record of a cell that is done; a failed one is never a result."""
        record = self.read(cell)
        return record if record is not None and record["status"] == "done" else None

    def write(self, record: Record) -> None:
        """Put a record in its place."""
        # One line a field: small, and a change shows in a diff as what it is.
        fields = (
            f" {json.dumps(k)}: {json.dumps(v, ensure_ascii=False, allow_nan=False)}" for k, v in record.items()
        )
        write_file(self.path(record["key"]), "{\n" + ",\n".join(fields) + "\n}\n")

    def records(self) -> Iterator[Record]:
        """All readable records, in the order of their keys."""
        for path in sorted(self.folder.glob("*.json")):
            record = _parse(path)
            if record is not None and record["key"] == path.stem:
                yield record

    def remove_stale_temporaries(self) -> None:
        """Remove what killed runs left half-written."""
        for path in self.folder.glob(".*.tmp"):
            with contextlib.suppress(OSError):
                if time.time() - path.stat().st_mtime > _STALE_AFTER:
                    path.unlink()


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file of results atomically, its folder made if need be; trouble with the disk is told in one line."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, content)
    except OSError as error:
        reason = error.strerror or str(error)
        raise McLsError(
            f"cannot write {path}: {reason}; nothing was left half-written, results so far are kept "
            "(make room, or give another folder with --out)"
        ) from None


def _parse(path: Path) -> Record | None:
    try:
        record = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or record.get("format") != FORMAT or not isinstance(record.get("key"), str):
        return None
    if record.get("status") == "done" and isinstance(record.get("result"), dict):
        return record
    if record.get("status") == "failed" and isinstance(record.get("error"), str):
        return record
    return None
