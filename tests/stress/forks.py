"""Commands as children: forked from this process, which has imported everything, or as fresh interpreters."""

from __future__ import annotations

import contextlib
import encodings
import importlib
import os
import pkgutil
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import scipy.linalg

import mcls
from mcls.cli.app import app, main
from mcls.machines.registry import get_machine

from .calls import touched
from .places import Ended, Place

Condition = Callable[[], bool]
_HELD_BACK = (signal.SIGINT, signal.SIGTERM)  # until the command begins
_STARTS = ("os.system", "os.exec", "os.posix_spawn", "os.fork", "subprocess.Popen")
_ANYWHERE = ("/dev/null", "/dev/tty")
#: Seconds after which a command has hung: far more than any takes, also on a machine with other work to do.
HUNG = 300.0


def import_everything() -> None:
    """Import what any command may need, so that no child has to; it may have become a user who cannot read it."""
    for module in pkgutil.iter_modules(encodings.__path__, "encodings."):
        with contextlib.suppress(ImportError):  # some are of other systems
            importlib.import_module(module.name)
    for module in pkgutil.walk_packages(mcls.__path__, "mcls."):
        if not module.name.startswith("mcls.benchmarks") and not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    assert app.made  # the commands are put together
    importlib.import_module("email.policy")  # for importlib.metadata, which looks the version up
    # OpenBLAS waits without end for its first buffers where there is no memory for them: not what is tried here.
    scipy.linalg.solve(np.eye(64) @ np.eye(64), np.ones(64), assume_a="pos")
    get_machine("sk:SVC")  # looks through scikit-learn, which imports Dask, which unpickles operators of its own


@dataclass
class Child:
    """A command under way."""

    pid: int
    place: Place

    def kill(self, number: int) -> None:
        """Send a signal to the command alone."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def wait(self, seconds: float = HUNG, until: Condition | None = None) -> Ended | None:
        """How it ended; None if what was waited for came first. What takes longer is killed, and has hung."""
        deadline = time.monotonic() + seconds
        while not (until and until()):
            pid, status, usage = os.wait4(self.pid, os.WNOHANG)
            if pid:
                return self._ended(status, usage, hung=False)
            if time.monotonic() > deadline:
                os.killpg(self.pid, signal.SIGKILL)
                _, status, usage = os.wait4(self.pid, 0)
                return self._ended(status, usage, hung=True)
            time.sleep(0.001)
        return None

    def end(self, seconds: float = HUNG) -> Ended:
        """How it ended."""
        ended = self.wait(seconds)
        assert ended is not None
        return ended

    def _ended(self, status: int, usage: Any, hung: bool) -> Ended:
        out, err, notes = (
            (self.place.logs / name).read_bytes().decode("utf-8", "backslashreplace")
            for name in ("out", "err", "notes")
        )
        code = os.waitstatus_to_exitcode(status)
        hung = hung or code == -signal.SIGXCPU
        return Ended(code, out, err, hung, tuple(notes.splitlines()), usage.ru_utime + usage.ru_stime)


def start(
    place: Place,
    args: Sequence[object],
    *,
    fresh: Sequence[str] | None = None,
    env: Mapping[str, str] | None = None,
    before: Callable[[], None] | None = None,
    watched: bool = False,
) -> Child:
    """Start a command in its place.

    Parameters
    ----------
    fresh : sequence of str, optional
        What an interpreter of its own is started with, such as ``["-m", "mcls"]``; otherwise the command line is
        called in the forked child.
    env : mapping, optional
        All variables; those of the place if None.
    before : callable, optional
        Called in the child just before the command.
    watched : bool
        Refuse and note every write outside the place, every process started and every connection to elsewhere.
    """
    for name in ("out", "err", "notes"):
        (place.logs / name).write_bytes(b"")
    sys.stdout.flush()
    sys.stderr.flush()
    signal.pthread_sigmask(signal.SIG_BLOCK, _HELD_BACK)
    pid = os.fork()
    if pid:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _HELD_BACK)
        return Child(pid, place)
    _in_the_child(place, [os.fsencode(str(a)) for a in args], fresh, env, before, watched)


def run(place: Place, *args: object, seconds: float = HUNG, **how: Any) -> Ended:
    """Run a command to its end."""
    return start(place, args, **how).end(seconds)


def limited(memory: int | None = None, cpu: int = 60) -> Callable[[], None]:
    """Limits for a child: megabytes beyond what this process has, and seconds of the processor."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 5))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if memory is not None:
            with open("/proc/self/statm", encoding="ascii") as stream:
                pages = int(stream.read().split()[0])
            size = pages * resource.getpagesize() + memory * 2**20
            resource.setrlimit(resource.RLIMIT_AS, (size, size))

    return limit


def _in_the_child(
    place: Place,
    args: list[bytes],
    fresh: Sequence[str] | None,
    env: Mapping[str, str] | None,
    before: Callable[[], None] | None,
    watched: bool,
) -> NoReturn:
    code = 99
    try:
        os.setsid()
        _settle(place, place.environment() if env is None else env)
        if fresh is not None:
            if before:
                before()
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _HELD_BACK)
            command = [os.fsencode(sys.executable), *map(os.fsencode, fresh), *args]
            os.execv(sys.executable, command)
        if watched:
            _watch(place)
        if before:
            before()
        code = _call([os.fsdecode(a) for a in args])
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(BaseException):
            sys.stderr.flush()
        os._exit(code)


def _settle(place: Place, env: Mapping[str, str]) -> None:
    """Be what a shell would have started: signals as they come, files in place of the terminal."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    writing = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    for number, path, flags in (
        (0, "/dev/null", os.O_RDONLY),
        (1, place.logs / "out", writing),
        (2, place.logs / "err", writing),
    ):
        handle = os.open(path, flags, 0o644)
        os.dup2(handle, number)
        os.close(handle)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115  (as long as the child lives)
    sys.stdout = open(1, "w", encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False, buffering=1)  # noqa: SIM115
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr  # type: ignore[misc]
    sys.dont_write_bytecode = True
    os.chdir(place.work)
    os.environ.clear()
    os.environ.update(env)
    tempfile.tempdir = None  # looked up once, by the parent in its own environment


def _call(args: list[str]) -> int:
    """Call the command line as its script does: its exit code, and what an interpreter says at the end."""
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _HELD_BACK)
        main(args)
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 0 if ended.code is None else 1
    except BaseException:
        traceback.print_exc()
        code = 1
    try:
        sys.stdout.flush()
    except (OSError, ValueError) as error:
        print(f"Exception ignored in: {error}", file=sys.stderr)
        code = 120
    return code


def _watch(place: Place) -> None:
    """Refuse what the command must not do, and note it."""
    root = os.path.realpath(place.root) + os.sep
    notes = os.open(place.logs / "notes", os.O_WRONLY | os.O_APPEND)

    def refuse(text: str) -> NoReturn:
        os.write(notes, (ascii(text) + "\n").encode())
        raise PermissionError(1, "not in a stress test")

    def hook(event: str, args: tuple[Any, ...]) -> None:
        for path in touched(event, args):
            if not path.startswith(root) and not (event == "open" and path in _ANYWHERE):
                refuse(f"{event} outside its folders: {path}")
        if event in _STARTS:
            refuse(f"started a process: {event} {args!r}")
        elif event == "pickle.find_class":
            refuse(f"unpickled {args!r}")
        elif event == "socket.connect" and isinstance(args[1], tuple) and args[1][0] not in ("127.0.0.1", "::1"):
            refuse(f"connected to {args[1]!r}")

    sys.addaudithook(hook)
