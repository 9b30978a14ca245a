"""The command line, called in this process."""

from __future__ import annotations

import contextlib
import io

import pytest

from mcls.cli.app import main


def call(*args: object) -> tuple[int, str, str]:
    """Run a command: its exit code, its standard output, its standard error."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit) as ended:
        main([str(a) for a in args])
    code = ended.value.code
    return (code if isinstance(code, int) else 0), out.getvalue(), err.getvalue()
