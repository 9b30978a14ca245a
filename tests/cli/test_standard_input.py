"""A table from standard input: what is kept of it on the disk goes, however the command ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from mcls.cli import standard_input
from tests.command import piped

QUICK = ("--machine", "oneLSM", "--grid", "sigma=1,gamma=1", "--no-nested")
TABLE = b"a,b,kind\n" + b"".join(
    b"%d,%d,%s\n" % (i * 7 % 13, i * i % 7, b"xy"[i % 2 : i % 2 + 1]) for i in range(30)
)


@pytest.fixture
def spool(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(standard_input.tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.mark.skipif(not hasattr(os, "fork"), reason="signals of POSIX")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_of_a_command_that_is_ended(number, spool):
    command = [sys.executable, "-m", "mcls", "fit", "-", "-o", str(spool / "m.mcls")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdin is not None
        process.stdin.write(TABLE)
        process.stdin.flush()  # more could come, so the command waits
        deadline = time.monotonic() + 60
        while not (kept := list(spool.glob("mcls-input-*/standard input"))) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert kept
        time.sleep(0.1)
        process.send_signal(number)
        assert process.wait(60) == -number
    if number == signal.SIGKILL:  # nobody can tidy up then: the next command does
        folder = kept[0].parent
        assert folder.is_dir()
        os.utime(folder, (0, 0))
        assert piped("fit", "-", *QUICK, "-o", spool / "m.mcls", given=TABLE).returncode == 0
    assert not list(spool.glob("mcls-input-*"))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="locks of POSIX")
def test_what_another_command_still_reads_stays(spool):
    import fcntl

    folder = spool / "mcls-input-busy"
    folder.mkdir()
    os.utime(folder, (0, 0))
    lock = os.open(folder, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    standard_input._clear_left_behind()
    assert folder.is_dir()
    os.close(lock)
    standard_input._clear_left_behind()
    assert not folder.exists()


def test_notes_call_it_standard_input(tmp_path):
    latin = TABLE.replace(b"a,b,kind", "größe,b,kind".encode("latin-1"))
    done = piped("fit", "-", "-o", tmp_path / "m.mcls", *QUICK, given=latin)
    assert done.returncode == 0, done.stderr
    assert "note: standard input is not UTF-8" in done.stderr.decode()
    assert b"standard-input" not in done.stdout + done.stderr


def test_complaints_call_it_so_wherever_it_is_kept(tmp_path, monkeypatch):
    (tmp_path / "my files").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "my files"))
    done = piped("fit", "-", "-o", tmp_path / "m.mcls", *QUICK, given=TABLE + b"1,2\n")
    assert done.returncode == 2
    assert done.stderr.startswith(b"mcls: standard input: line 32 has 2 cells")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with a name")
def test_what_others_put_beside_it_is_neither_waited_for_nor_followed(spool):
    """The folder of temporary files belongs to all users of a machine."""
    os.mkfifo(spool / "mcls-input-pipe")
    (spool / "mine").mkdir()
    (spool / "mcls-input-link").symlink_to("mine")
    (spool / "mcls-input-file").touch()
    for path in spool.iterdir():
        os.utime(path, (0, 0), follow_symlinks=False)
    standard_input._clear_left_behind()
    assert len(list(spool.iterdir())) == 4
