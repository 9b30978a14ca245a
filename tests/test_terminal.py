"""What is printed: plain where NO_COLOR asks for it, and without padding outside a terminal."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from mcls.cli.app import main
from mcls.cli.show import print_table
from mcls.terminal import make_console, output

pty = pytest.importorskip("pty", reason="a terminal to print to")


def in_a_terminal(*args: str, **variables: str) -> str:
    """What a command prints to a terminal."""
    ours, theirs = pty.openpty()
    environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    environment |= {"TERM": "xterm-256color", "COLUMNS": "100", **variables}
    command = [sys.executable, "-m", "mcls", *args]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment):
        os.close(theirs)
        read = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # the other end is closed
                part = b""
            if not part:
                break
            read += part
    os.close(ours)
    return read.decode()


@pytest.mark.parametrize("command", [["--help"], ["data", "list"], ["labelbooks"]], ids=" ".join)
def test_no_color_leaves_no_codes_at_all(command):
    plain = in_a_terminal(*command, NO_COLOR="1")
    assert len(plain) > 100
    assert "\x1b" not in plain
    if command != ["labelbooks"]:  # its table has no style to begin with
        assert "\x1b[1" in in_a_terminal(*command)


@pytest.mark.parametrize(
    "command",
    [["data", "list"], ["data", "show", "iris"], ["machines"], ["tables"], ["tables", "noumir2011", "--no-run"]],
    ids=" ".join,
)
def test_nothing_is_padded_outside_a_terminal(command, capsys, tmp_path):
    with pytest.raises(SystemExit) as ended:
        main([*command, *(["--out", str(tmp_path)] if "--no-run" in command else [])])
    assert ended.value.code == 0
    lines = capsys.readouterr().out.split("\n")
    assert len(lines) > 5
    assert [line for line in lines if line != line.rstrip()] == []


def test_the_columns_stay_where_they_are(capsys):
    print_table("a title", ["word", "number"], [["x", "1"], ["longer", "22.5"]])
    assert capsys.readouterr().out.splitlines()[::2] == ["a title", " word    number", " x            1", ""]


def test_a_terminal_gets_its_codes_unless_no_color_is_set(monkeypatch, capsys):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    for variable, codes in (("", True), ("1", False)):
        monkeypatch.setenv("NO_COLOR", variable)
        with output() as console:
            console.print("word", style="bold red")
        assert ("\x1b" in capsys.readouterr().out) == codes
        assert (make_console(stderr=True).color_system is not None) == codes
