"""The command line, called in this process, or in a forked child where its own streams matter."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
import tempfile
import traceback
from typing import IO, NoReturn

import pytest

from mcls.cli.app import app, main


def call(*args: object) -> tuple[int, str, str]:
    """Run a command: its exit code, its standard output, its standard error."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit) as ended:
        main([str(a) for a in args])
    code = ended.value.code
    return (code if isinstance(code, int) else 0), out.getvalue(), err.getvalue()


def piped(*args: object, given: bytes = b"", to: IO[bytes] | None = None) -> subprocess.CompletedProcess[bytes]:
    """Run a command with streams of its own: ``given`` is its input, ``to`` takes its output.

    Where there is ``fork``, the child has imported everything already; a new interpreter takes seconds to do so.
    """
    words = [str(a) for a in args]
    if not hasattr(os, "fork"):
        command = [sys.executable, "-m", "mcls", *words]
        return subprocess.run(
            command, input=given, stdout=to or subprocess.PIPE, stderr=subprocess.PIPE, check=False
        )
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        source.write(given)
        source.seek(0)
        assert app.made  # the commands are put together, and not again by every child
        pid = os.fork()
        if not pid:
            _in_the_child(words, source.fileno(), (to or out).fileno(), err.fileno())
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read())
        return subprocess.CompletedProcess(words, code, *texts)


def _in_the_child(args: list[str], *handles: int) -> NoReturn:
    code = 99
    try:
        for number, handle in enumerate(handles):
            os.dup2(handle, number)
        sys.stdin = sys.__stdin__ = open(0, encoding="utf-8", closefd=False)  # type: ignore[misc]  # noqa: SIM115
        sys.stdout = sys.__stdout__ = open(1, "w", encoding="utf-8", closefd=False)  # type: ignore[misc]  # noqa: SIM115
        sys.stderr = sys.__stderr__ = open(2, "w", encoding="utf-8", closefd=False)  # type: ignore[misc]  # noqa: SIM115
        try:
            main(args)
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 0
        sys.stdout.flush()
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(BaseException):
            sys.stderr.flush()
        os._exit(code)
