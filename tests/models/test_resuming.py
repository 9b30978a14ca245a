"""What an interrupted fit keeps: read back whole or not at all, for its owner alone, and never in a file of others."""

from __future__ import annotations

import os
import stat
import zipfile

import numpy as np
import pytest

from mcls.models import large
from mcls.models.resuming import Checkpoint, is_progress
from mcls.models.saving import dump
from tests.models.large import fit

ARRAYS = {"G": np.arange(6.0).reshape(2, 3), "kind": np.array(["a", "bc"]), "none": np.zeros((0, 4))}


@pytest.fixture
def kept(tmp_path):
    path = tmp_path / "m.mcls.passes"
    Checkpoint(path, "the same").put("sums", {"m": 3}, ARRAYS)
    return path


def test_what_was_kept_is_found_by_the_same_fit_alone(kept):
    again = Checkpoint(kept, "the same")
    assert again.resumed
    values, arrays = again.get("sums")
    assert values == {"m": 3}
    assert arrays.keys() == ARRAYS.keys()
    assert all(np.array_equal(arrays[name], ARRAYS[name]) for name in ARRAYS)
    assert not Checkpoint(kept, "another").resumed
    again.clear()
    assert not kept.exists()


def test_every_damaged_byte_is_noticed_or_without_meaning(kept):
    whole = kept.read_bytes()
    noticed = 0
    for at in range(0, len(whole), 3):
        kept.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << at % 8]) + whole[at + 1 :])
        read = Checkpoint(kept, "the same")
        noticed += not read.resumed
        if read.resumed:  # a date in the archive, say
            values, arrays = read.get("sums")
            assert values == {"m": 3}
            assert all(np.array_equal(arrays[name], ARRAYS[name]) for name in ARRAYS)
    assert noticed > len(whole) / 6
    for cut in range(0, len(whole), 97):
        kept.write_bytes(whole[:cut])
        assert not Checkpoint(kept, "the same").resumed


def rewritten(path, change, compression=zipfile.ZIP_STORED):
    """The same file with other members, whose checks of the archive fit."""
    with zipfile.ZipFile(path) as old:
        members = {name: old.read(name) for name in old.namelist()}
    change(members)
    with zipfile.ZipFile(path, "w", compression) as new:
        for name, content in members.items():
            new.writestr(name, content)


@pytest.mark.parametrize(
    "change",
    [
        lambda members: members.pop("sums/G.npy"),
        lambda members: members.update({"sums/H.npy": members["sums/G.npy"]}),
        lambda members: members.update({"sums/G.npy": members["sums/none.npy"]}),
        lambda members: members.update({"sums/G.npy": b"\x93NUMPY\x01\x00" + b"(" * 200}),
        lambda members: members.update(
            {"sums/G.npy": members["sums/G.npy"].replace(b"(2, 3), }      ", b"(99999999999,), }")}
        ),
        lambda members: members.update({"json.npy": members["json.npy"].replace(b'"sums":', b'"s-ms":')}),
        lambda members: members.update({"json.npy": members["json.npy"].replace(b'{"fing', b"[" * 7)}),
    ],
)
def test_what_was_tampered_with_is_as_good_as_none(kept, change):
    before = kept.read_bytes()
    rewritten(kept, change)
    assert kept.read_bytes() != before
    assert not Checkpoint(kept, "the same").resumed


def test_what_is_packed_is_not_unpacked(kept):
    rewritten(kept, lambda members: None)
    assert Checkpoint(kept, "the same").resumed
    rewritten(kept, lambda members: members.update({"sums/G.npy": bytes(2**24)}), zipfile.ZIP_DEFLATED)
    assert not Checkpoint(kept, "the same").resumed


@pytest.mark.skipif(os.name == "nt", reason="permissions as POSIX has them")
def test_others_cannot_read_the_rows_in_it(kept):
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    kept.chmod(0o666)  # as an earlier version wrote it, or somebody who may write to the folder
    Checkpoint(kept, "another").put("sums", {}, ARRAYS)
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


def occupy(path, how):
    if how == "pipe":
        os.mkfifo(path)
    elif how == "link":
        path.with_name("diary.txt").write_text("dear diary")
        path.symlink_to("diary.txt")
    elif how == "link to nowhere":
        path.symlink_to("later.txt")
    else:
        path.write_text("dear diary")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with a name")
@pytest.mark.parametrize("how", ["file", "pipe", "link", "link to nowhere"])
def test_another_file_of_that_name_is_left_alone(tmp_path, how):
    path = tmp_path / "m.mcls.passes"
    occupy(path, how)
    before = {p.name: p.lstat() for p in tmp_path.iterdir()}
    progress = Checkpoint(path, "the same")
    assert progress.foreign
    assert not progress.resumed
    assert not is_progress(path)
    progress.put("sums", {}, ARRAYS)  # a pipe would wait for its reader
    progress.clear()
    assert {p.name: p.lstat() for p in tmp_path.iterdir()}.keys() == before.keys()
    assert all((tmp_path / name).lstat().st_mtime_ns == facts.st_mtime_ns for name, facts in before.items())
    assert progress.get("sums") is not None  # in memory


@pytest.mark.usefixtures("small_pieces")
def test_an_interrupted_fit_goes_on_and_ends_in_the_same_bytes(table, tmp_path, monkeypatch):
    whole = dump(fit(table).model)
    at = tmp_path / "m.mcls.passes"
    for stop in ("sum_piece", "score_piece", "PassResults"):
        with monkeypatch.context() as broken:
            broken.setattr(large, stop, lambda *a: (_ for _ in ()).throw(KeyboardInterrupt))
            with pytest.raises(KeyboardInterrupt):
                fit(table, resume_at=at)
        assert at.is_file()
    told = []
    with monkeypatch.context() as counting:
        counting.setattr(large, "count_piece", None)  # the first pass is not gone through again
        assert dump(fit(table, say=told.append, resume_at=at).model) == whole
    assert told[0] == "an interrupted fit of the same table goes on"
    assert not at.exists()
    at.write_bytes(b"PK not a file of ours")
    assert dump(fit(table, resume_at=at).model) == whole
