"""A failure at the N-th system call that writes: a kill, a signal, or an error of the disk.

Opening for writing, renaming, removing, making folders and locking are seen by audit hooks, whatever code makes them;
writes and ``fsync`` through ``os`` and through every file object that Python opens. One try by hand:
``python -m tests.stress.inject 12 kill -- run lab.yaml --out out -j 1``.
"""

from __future__ import annotations

import _io
import builtins
import errno
import io
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

from .calls import touched

#: What happens at the step. ``kill`` comes before the call, ``torn`` in the middle of a write (before any other call);
#: ``full`` is a disk that is full from there on, ``broken`` one call that fails.
ACTIONS = ("kill", "torn", "full", "broken", "term", "int")
_SIGNALS = {"kill": signal.SIGKILL, "torn": signal.SIGKILL, "term": signal.SIGTERM, "int": signal.SIGINT}
_ERRORS = {"full": errno.ENOSPC, "broken": errno.EIO}
#: What a full disk refuses; it lets files be removed, renamed and locked.
_NEEDS_ROOM = ("open", "os.mkdir", "write", "fsync", "os.link", "os.symlink")


class Injector:
    """Counts the steps that write below some folders and acts at one of them.

    Parameters
    ----------
    roots : sequence of str
        The folders that count.
    at : int
        The step, from 1; 0 never acts.
    action : str
        One of ``ACTIONS``.
    note : callable, optional
        Told each step.
    """

    def __init__(
        self, roots: Sequence[str], at: int, action: str, note: Callable[[str], None] | None = None
    ) -> None:
        self.roots = tuple(os.path.realpath(root) + os.sep for root in roots)
        self.at, self.action, self.note = at, action, note
        self.count = 0
        self._counting = threading.Lock()
        self._inside = threading.local()  # steps of another thread count, whatever this one does

    def install(self) -> None:
        """See every call of this process from now on."""
        real_open, real_write, real_fsync = _io.open, os.write, os.fsync
        injector = self

        class Raw(io.FileIO):
            """The innermost layer of a file that is written."""

            def write(self, data: Any) -> int:
                injector.step("write", _name(self.fileno()), lambda half: super(Raw, self).write(half), data)
                return super().write(data)

        def opened(file: Any, mode: str = "r", buffering: int = -1, *rest: Any, **named: Any) -> Any:
            closefd, opener = named.pop("closefd", True), named.pop("opener", None)
            if not set(mode) & set("wax+"):
                return real_open(file, mode, buffering, *rest, closefd=closefd, opener=opener, **named)
            raw = Raw(file, mode.replace("b", "").replace("t", ""), closefd, opener)
            if buffering == 0:
                return raw
            binary = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
            if "b" in mode:
                return binary
            text = io.TextIOWrapper(binary, *rest, **named)
            text.mode = mode  # type: ignore[misc]
            return text

        def write(handle: int, data: Any) -> int:
            self.step("write", _name(handle), lambda half: real_write(handle, half), data)
            return real_write(handle, data)

        def fsync(handle: Any) -> None:
            self.step("fsync", _name(handle if isinstance(handle, int) else handle.fileno()))
            real_fsync(handle)

        builtins.open = io.open = _io.open = opened  # type: ignore[assignment]
        os.write, os.fsync = write, fsync
        sys.addaudithook(self._hook)

    def _hook(self, event: str, args: tuple[Any, ...]) -> None:
        if not self._busy:
            self._busy = True  # resolving a path looks at files, too
            try:
                paths = touched(event, args)
            finally:
                self._busy = False
            if paths:
                self.step(event, paths[-1])

    @property
    def _busy(self) -> bool:
        """Whether this thread is within a step already."""
        return getattr(self._inside, "busy", False)

    @_busy.setter
    def _busy(self, busy: bool) -> None:
        self._inside.busy = busy

    def step(self, what: str, path: str, part: Callable[[Any], object] | None = None, data: Any = None) -> None:
        """Take note of one call, and act if it is the one; of a write, half is written first."""
        if self._busy or not path.startswith(self.roots):
            return
        self._busy = True
        try:
            with self._counting:
                self.count += 1
                place = self.count
            if self.note:
                self.note(f"{what} {path}")
            later = self.action == "full" and 0 < self.at < place and what in _NEEDS_ROOM
            if place != self.at and not later:
                return
            if part is not None and self.action in ("torn", "full", "broken"):
                part(memoryview(data).cast("B")[: len(data) // 2])
            if self.action in _SIGNALS:
                os.kill(os.getpid(), _SIGNALS[self.action])
            else:
                number = _ERRORS[self.action]
                raise OSError(number, os.strerror(number), path)
        finally:
            self._busy = False


def _name(handle: int) -> str:
    """The file that a descriptor leads to."""
    try:
        return os.readlink(f"/proc/self/fd/{handle}")
    except OSError:
        return ""


if __name__ == "__main__":
    from mcls.cli.app import main

    at, action, _, *arguments = sys.argv[1:]
    Injector([os.getcwd()], int(at), action, lambda text: print(text, file=sys.stderr)).install()
    main(arguments)
