"""Files: outputs replaced whole, links and devices left what they are, permissions kept, old temporaries cleared."""

from __future__ import annotations

import os
import stat
import threading
import time
from pathlib import Path

import pytest

from mcls.errors import McLsError
from mcls.files import STALE_AFTER, clear_stale, open_atomic, require_file, write_atomic

pytestmark = pytest.mark.skipif(os.name == "nt", reason="permissions, links and pipes as POSIX has them")


@pytest.fixture
def umask():
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("mask, expected", [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_new_file_has_what_the_umask_leaves(tmp_path, umask, mask, expected):
    umask(mask)
    write_atomic(tmp_path / "m", "new")
    assert mode(tmp_path / "m") == expected


@pytest.mark.parametrize("kept", [0o600, 0o640, 0o400, 0o666])
def test_a_replaced_file_keeps_its_permissions_from_the_first_byte_on(tmp_path, umask, kept):
    (tmp_path / "m").write_text("old")
    (tmp_path / "m").chmod(kept)
    with open_atomic(tmp_path / "m") as stream:
        (temporary,) = tmp_path.glob(".mcls-*.tmp")
        assert mode(temporary) == kept
        stream.write(b"new")
    assert (tmp_path / "m").read_text() == "new"
    assert mode(tmp_path / "m") == kept


def test_a_link_stays_one_and_what_it_leads_to_is_replaced(tmp_path):
    for folder in ("here", "there"):
        (tmp_path / folder).mkdir()
    there = tmp_path / "there" / "m"
    there.write_text("old")
    (tmp_path / "here" / "one").symlink_to("two")
    (tmp_path / "here" / "two").symlink_to("../there/m")
    write_atomic(tmp_path / "here" / "one", "new")
    assert (tmp_path / "here" / "one").is_symlink()
    assert (tmp_path / "here" / "two").is_symlink()
    assert not there.is_symlink()
    assert there.read_text() == "new"
    there.unlink()  # a link that leads nowhere makes what it leads to
    write_atomic(tmp_path / "here" / "one", "again")
    assert there.read_text() == "again"
    assert sorted(p.name for p in (tmp_path / "here").iterdir()) == ["one", "two"]


def test_a_pipe_is_written_to_and_stays_one(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    write_atomic(pipe, "content")
    reader.join(1 if not stat.S_ISFIFO(pipe.stat().st_mode) else 60)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert read == [b"content"]
    assert [p.name for p in tmp_path.iterdir()] == ["pipe"]


def test_a_device_is_written_to_and_stays_one(tmp_path):
    device = tmp_path / "null"
    try:
        os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        device.write_bytes(b"")
    except OSError:
        pytest.skip("no device can be made here")
    write_atomic(device, "content")
    assert stat.S_ISCHR(device.stat().st_mode)


def test_the_folder_is_flushed_after_the_rename(tmp_path, monkeypatch):
    done: list[str] = []
    replace = os.replace

    def flushed(handle: int) -> None:
        done.append("flush of the folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "flush of the file")

    def renamed(source: Path, target: Path) -> None:
        done.append("rename")
        replace(source, target)

    monkeypatch.setattr("mcls.files.os.fsync", flushed)
    monkeypatch.setattr("mcls.files.os.replace", renamed)
    write_atomic(tmp_path / "m", "new")
    assert done == ["flush of the file", "rename", "flush of the folder"]


def test_a_name_of_any_length_that_the_system_takes(tmp_path):
    write_atomic(tmp_path / ("m" * 255), "new")
    assert [len(p.name) for p in tmp_path.iterdir()] == [255]


def age(path: Path, seconds: float) -> None:
    os.utime(path, (time.time() - seconds,) * 2)


def test_what_killed_commands_left_is_cleared_by_the_next_one(tmp_path):
    with open_atomic(tmp_path / "m"):
        (killed,) = tmp_path.iterdir()
    assert [p.name for p in tmp_path.iterdir()] == ["m"]
    (tmp_path / "m").unlink()
    old, young, foreign = killed, tmp_path / ".mcls-young.tmp", tmp_path / ".other.tmp"
    for path in (old, young, foreign):
        path.write_text("half")
    age(old, STALE_AFTER + 60)
    age(foreign, 10 * STALE_AFTER)
    age(young, STALE_AFTER - 60)
    (tmp_path / "next").mkdir()
    clear_stale(tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == [".mcls-young.tmp", ".other.tmp", "next"]
    age(young, STALE_AFTER + 60)
    young.rename(tmp_path / "next" / young.name)
    write_atomic(tmp_path / "next" / "m", "new")  # the first output to a folder clears it
    assert [p.name for p in (tmp_path / "next").iterdir()] == ["m"]


def test_only_files_are_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    (tmp_path / "file").write_text("")
    for name in ("pipe", "link"):
        with pytest.raises(McLsError, match=rf"{name} is a pipe, .*: save it to a file first"):
            require_file(tmp_path / name)
    with pytest.raises(McLsError, match="/dev/zero is a device"):
        require_file("/dev/zero")
    for path in (tmp_path / "file", tmp_path, tmp_path / "absent", tmp_path / "file" / "below"):
        require_file(path)
