"""What the passes over a large table have found so far, in a file beside the model: an interrupted fit goes on there.

The file is NumPy's own archive of plain arrays, never pickled; its JSON part holds what it was made from and the
checksums of the arrays. A file that was made from something else, or is damaged, is as good as none. It holds rows of
the table, so only its owner may read it. Another file of that name is left alone, and nothing is kept then.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mcls.environment import environment
from mcls.files import open_atomic

Array = np.ndarray

_FORMAT = 2
_HEAD = "json"
_BEGINS = b"PK\x03\x04"
_NAME_AT = 30  # bytes before the name of a zip's first member


def fingerprint_of(files: Sequence[Path], settings: Mapping[str, Any]) -> str:
    """What decides the result: the files, by name, size and time of change, and everything that was asked for."""
    facts = [(str(path), (stat := path.stat()).st_size, stat.st_mtime_ns) for path in files]
    text = json.dumps([_FORMAT, environment()["packages"], facts, dict(settings)], sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def is_progress(path: Path) -> bool:
    """Whether a file is one of these, or empty."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as stream:
            head = stream.read(_NAME_AT + len(_HEAD) + 4)
    except OSError:
        return False
    return not head or (head.startswith(_BEGINS) and head[_NAME_AT:] == f"{_HEAD}.npy".encode())


class Checkpoint:
    """Stages by name: JSON values and arrays.

    ``foreign`` says whether another file has the name, so that nothing is kept.

    Parameters
    ----------
    path : Path or None
        The file; None keeps nothing.
    fingerprint : str
        Of what the stages are made from.
    """

    def __init__(self, path: Path | None, fingerprint: str) -> None:
        self.foreign = path is not None and os.path.lexists(path) and not is_progress(path)
        self._path, self._fingerprint = None if self.foreign else path, fingerprint
        self._values: dict[str, Any] = {}
        self._arrays: dict[str, Array] = {}
        self.resumed = self._path is not None and self._path.is_file() and self._read(self._path)

    def _read(self, path: Path) -> bool:
        try:
            with zipfile.ZipFile(path) as members:
                if any(member.compress_type != zipfile.ZIP_STORED for member in members.infolist()):
                    return False  # what is packed may be of any size
            with np.load(path, allow_pickle=False) as kept:
                head = json.loads(bytes(kept[_HEAD]).decode("utf-8"))
                if head["fingerprint"] != self._fingerprint:
                    return False
                arrays = {name: kept[name] for name in kept.files if name != _HEAD}
            if head["sums"] != _checksums(arrays):
                return False
        except Exception:  # whatever the values of a file cause, it is the file that is wrong
            return False
        self._values, self._arrays = head["values"], arrays
        return True

    def get(self, stage: str) -> tuple[Any, dict[str, Array]] | None:
        """What a stage has found, or None where it has not been gone through."""
        if stage not in self._values:
            return None
        own = {name.partition("/")[2]: a for name, a in self._arrays.items() if name.startswith(f"{stage}/")}
        return self._values[stage], own

    def put(self, stage: str, values: Any, arrays: Mapping[str, Array], instead_of: str | None = None) -> None:
        """Keep what a stage has found, in the place of an earlier one; a full disk does not stop it."""
        if instead_of is not None:
            self._values.pop(instead_of, None)
            self._arrays = {n: a for n, a in self._arrays.items() if not n.startswith(f"{instead_of}/")}
        self._values[stage] = values
        self._arrays |= {f"{stage}/{name}": array for name, array in arrays.items()}
        if self._path is None:
            return
        head = {"fingerprint": self._fingerprint, "values": self._values, "sums": _checksums(self._arrays)}
        text = np.frombuffer(json.dumps(head).encode("utf-8"), dtype=np.uint8)
        with contextlib.suppress(OSError), open_atomic(self._path, private=True) as stream:
            assert isinstance(stream, io.BufferedIOBase)
            np.savez(stream, **{_HEAD: text}, **self._arrays)  # type: ignore[arg-type]

    def clear(self) -> None:
        """Remove the file: the work is done."""
        if self._path is not None:
            with contextlib.suppress(OSError):
                self._path.unlink(missing_ok=True)


def _checksums(arrays: Mapping[str, Array]) -> dict[str, str]:
    sums = {}
    for name, array in arrays.items():
        made = hashlib.sha256(f"{array.dtype.str} {array.shape}".encode())
        made.update(np.ascontiguousarray(array).data)
        sums[name] = made.hexdigest()
    return sums
