"""Claims: seen by other processes, free again when their owner ends in whatever way, and without litter."""

from __future__ import annotations

import errno
import multiprocessing
import os

import pytest

from mcls.experiments import claims as module
from mcls.experiments.claims import Claims

fcntl = pytest.importorskip("fcntl", reason="there are no such locks on Windows")
KEYS = ["0123456789abcdef01234567", "1123456789abcdef01234567"]


def in_child(work, *args):
    """Start a process that has no lock of ours, and a pipe to it."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    process = context.Process(target=work, args=(there, *args))
    process.start()
    return process, here


def hold(pipe, folder, keys) -> None:
    with Claims(folder) as claims:
        pipe.send([claims.take(key) for key in keys])
        pipe.recv()
        claims.release(keys[0])
        pipe.send("released")
        pipe.recv()


def test_a_claim_is_seen_by_other_processes_until_it_is_given_back(tmp_path):
    process, pipe = in_child(hold, tmp_path, KEYS)
    assert pipe.recv() == [True, True]
    with Claims(tmp_path) as claims:
        assert [claims.take(key) for key in KEYS] == [False, False]
        pipe.send("release")
        pipe.recv()
        assert [claims.take(key) for key in KEYS] == [True, False]
        pipe.send("end")
        process.join()
        assert claims.take(KEYS[1])
    assert list(tmp_path.iterdir()) == []  # the last one puts out the light


def test_claims_of_a_killed_process_are_free(tmp_path):
    process, pipe = in_child(hold, tmp_path, KEYS)
    assert pipe.recv() == [True, True]
    process.kill()
    process.join()
    assert [path.name for path in tmp_path.iterdir()] == [".claims"]
    with Claims(tmp_path) as claims:
        assert claims.take(KEYS[0])
    assert list(tmp_path.iterdir()) == []


def test_the_file_stays_while_somebody_has_it_open(tmp_path):
    process, pipe = in_child(hold, tmp_path, KEYS)
    pipe.recv()
    with Claims(tmp_path):
        pass
    assert (tmp_path / ".claims").exists()
    with Claims(tmp_path) as claims:
        assert not claims.take(KEYS[0])
    process.kill()
    process.join()


def test_a_file_removed_between_opening_and_locking_is_not_used(tmp_path, monkeypatch):
    real, removed = os.open, []

    def opens(path, *args):
        file = real(path, *args)
        if not removed:
            removed.append(path)
            os.unlink(path)  # what the last one to leave does
        return file

    monkeypatch.setattr(os, "open", opens)
    with Claims(tmp_path) as claims:
        monkeypatch.undo()
        process, pipe = in_child(hold, tmp_path, KEYS)
        assert claims.take("2" * 24)
        assert pipe.recv() == [True, True]
        assert not claims.take(KEYS[0])
        process.kill()
        process.join()


@pytest.mark.parametrize("trouble", [errno.ENOLCK, errno.ENOTSUP])
def test_without_locks_every_cell_is_ours(tmp_path, monkeypatch, trouble):
    def refused(*args):
        raise OSError(trouble, os.strerror(trouble))

    monkeypatch.setattr(fcntl, "lockf", refused)
    with Claims(tmp_path) as claims:
        assert claims.take(KEYS[0])
        claims.release(KEYS[0])


def test_without_the_module_too(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "fcntl", None)
    with Claims(tmp_path) as claims:
        assert claims.take(KEYS[0])
        claims.release(KEYS[0])
    assert list(tmp_path.iterdir()) == []
