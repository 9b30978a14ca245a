"""Claims: who computes which cell when several runs share a folder.

A claim is a POSIX record lock on one byte of a file in the folder, the byte being given by the cell's key. The system
drops it when the process ends, however it ends. Processes of one host see each other's claims on any local file
system; those of several hosts do where the network file system passes such locks on (NFS 4, NFS 3 with its lock
service, Lustre and GPFS do by default; SMB and most FUSE file systems do not). Where there are no locks, every run
computes all its cells: more work, and the same results.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_NAME = ".claims"
_PRESENCE = 0  # this byte is shared by all who have the file open


class Claims:
    """The claims of this process on the cells of a folder; a context manager.

    Two of them on one folder in one process know nothing of each other, since such locks belong to a process.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / _NAME
        self._file = -1

    def __enter__(self) -> Claims:
        if fcntl is None:
            return self
        with contextlib.suppress(OSError):  # what stands in the way of writing is told when a cell is written
            self._path.parent.mkdir(parents=True, exist_ok=True)
            while self._file < 0:
                self._open()
        return self

    def _open(self) -> None:
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.lockf(self._file, fcntl.LOCK_SH, 1, _PRESENCE)
            same = os.path.samestat(os.fstat(self._file), os.stat(self._path))
        except FileNotFoundError:
            same = False
        except OSError:  # no locks here
            self._close()
            raise
        if not same:  # the last one to leave has removed it meanwhile
            self._close()

    def _close(self) -> None:
        os.close(self._file)
        self._file = -1

    def __exit__(self, *_: object) -> None:
        if self._file < 0:
            return
        with contextlib.suppress(OSError):  # somebody else is at work
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _PRESENCE)
            self._path.unlink()
        self._close()

    def take(self, name: str) -> bool:
        """Claim a cell by its key; False when another run has it."""
        if self._file < 0:
            return True
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _byte(name))
        except (BlockingIOError, PermissionError):  # EAGAIN or EACCES
            return False
        except OSError:  # the locks are used up or gone: go on without
            return True
        return True

    def release(self, name: str) -> None:
        """Give a claim back."""
        if self._file >= 0:
            with contextlib.suppress(OSError):
                fcntl.lockf(self._file, fcntl.LOCK_UN, 1, _byte(name))


def _byte(key: str) -> int:
    """A place for a cell in a file of 2^60 bytes (none of which is ever written)."""
    return 1 + int(key[:15], 16)
