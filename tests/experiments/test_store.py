"""The store: whole files or none, and nothing mistaken for a result."""

from __future__ import annotations

import csv
import errno
import io
import json
import os

import pytest

from mcls.errors import McLsError
from mcls.experiments.plan import Plan
from mcls.experiments.runner import compute
from mcls.experiments.store import Store, write_file

from .small import make_experiment


@pytest.fixture
def cell(tmp_path):
    return make_experiment(tmp_path).plan.cells[0]


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "cells")


def test_a_record_comes_back_as_it_was(store, cell):
    record = compute(cell)
    store.write(record)
    assert store.read(cell) == store.result(cell) == json.loads(json.dumps(record))
    assert list(store.keys()) == [cell.key]
    assert {"environment", "seconds", "finished", "parameters", "identity"} <= record.keys()
    assert record["identity"]["seed"] == cell.seed


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"null",
        b"[1, 2]",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"format": 1, "key": "K", "status": "done"}',
        b'{"format": 1, "key": "K", "status": "done", "result": 3}',
        b'{"format": 0, "key": "K", "status": "done", "result": {}}',
        b'{"format": 1, "key": "another", "status": "done", "result": {}}',
        b'{"format": 1, "key": "K", "status": "well", "result": {}}',
        b'{"format": 1, "key": "K", "status": "done", "result": {}, "parameters": 3}',
    ],
)
def test_damaged_and_foreign_files_are_as_good_as_missing(store, cell, content):
    store.folder.mkdir()
    store.path(cell.key).write_bytes(content.replace(b"K", cell.key.encode()))
    assert store.read(cell) is store.brief(cell) is None
    assert list(store.damaged) == [store.path(cell.key)]


def test_a_cell_of_the_wrong_form_is_missing_and_named(store, cell):
    record = compute(cell)
    store.write({**record, "result": {**record["result"], "chosen": None}})
    assert store.result(cell) is None
    assert "chosen" in store.damaged[store.path(cell.key)]


def test_in_brief_a_record_is_read_again_when_it_has_changed(store, cell):
    assert store.look(cell) == (None, None)
    record = compute(cell)
    store.write(record)
    stamp, brief = store.look(cell)
    assert (brief.status, brief.engine, brief.error) == ("done", "fast", record["result"]["error"])
    assert list(brief.chosen) == record["result"]["chosen"]
    assert store.look(cell)[1] is brief
    store.write({**record, "status": "failed", "error": "RuntimeError: no"})
    assert store.brief(cell).status == "failed"
    assert store.stamp(cell) != stamp
    assert store.damaged == {}


def test_a_file_that_holds_the_content_already_is_left_alone(tmp_path):
    path = tmp_path / "new" / "a.csv"
    write_file(path, "x,y\n")
    inode = path.stat().st_ino
    write_file(path, b"x,y\n")
    assert path.stat().st_ino == inode
    write_file(path, "x,z\n")
    assert path.read_text() == "x,z\n"


def test_every_truncation_of_a_file_is_missing_or_whole(store, cell):
    record = compute(cell)
    store.write(record)
    whole = store.path(cell.key).read_bytes()
    for length in range(0, len(whole) - 1, 97):
        store.path(cell.key).write_bytes(whole[:length])
        assert store.read(cell) is None


def test_a_failed_record_is_no_result(store, cell):
    record = {**compute(cell), "status": "failed", "error": "RuntimeError: no"}
    store.write(record)
    assert store.read(cell)["status"] == "failed"
    assert store.result(cell) is None


def test_a_changed_default_makes_a_record_stale_and_a_new_parameter_does_not(store, cell):
    record = compute(cell)
    fewer = {k: v for k, v in record["parameters"].items() if k != "label_sigma"}
    store.write({**record, "parameters": fewer})
    assert store.result(cell) is not None
    store.write({**record, "parameters": {**record["parameters"], "label_sigma": 7.0}})
    assert store.result(cell) is None


@pytest.mark.parametrize("fails", ["replace", "fsync", "write"])
def test_a_full_disk_is_one_clear_line_and_leaves_what_was_there(store, cell, monkeypatch, fails):
    record = compute(cell)
    store.write(record)
    before = store.path(cell.key).read_bytes()

    def full(*args, **kwargs):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    if fails == "write":

        def opened(*args, **kwargs):
            open(*args, **kwargs).close()
            full()

        monkeypatch.setattr("mcls.files.open", opened, raising=False)
    else:
        monkeypatch.setattr(os, fails, full)
    with pytest.raises(McLsError, match=r"cannot write .*No space left on device; nothing was left half-written"):
        store.write({**record, "seconds": 1.0})
    monkeypatch.undo()
    assert store.path(cell.key).read_bytes() == before
    assert list(store.folder.iterdir()) == [store.path(cell.key)]


def test_a_store_that_keeps_its_records_reads_a_file_again_only_when_it_has_changed(tmp_path, cell):
    store = Store(tmp_path / "cells", keep=True)
    assert store.read(cell) is None
    record = compute(cell)
    store.write(record)
    first = store.read(cell)
    assert first == store.result(cell) == json.loads(json.dumps(record))
    assert store.read(cell) is first
    store.write(record | {"seconds": 12345.0})
    assert store.read(cell)["seconds"] == 12345.0
    store.path(cell.key).write_bytes(b"{")
    assert store.read(cell) is None
    assert store.path(cell.key) in store.damaged


ONE = {"datasets": ["iris:sample=60"], "machines": ["oneLSM"], "replicates": 2}


def rows(experiment):
    return list(csv.DictReader(io.StringIO((experiment.folder / "summary.csv").read_text())))


def test_a_cell_that_lacks_a_metric_is_computed_again_and_an_old_one_stays_valid(tmp_path):
    assert make_experiment(tmp_path, **ONE).run().computed == 2
    more = make_experiment(tmp_path, **ONE, metric=["error", "log-loss", "balanced-error"])
    assert more.summary()[0].done == 0
    assert more.run().computed == 2
    (row,) = rows(more)
    assert 0 < float(row["log-loss"]) < 1
    assert 0 < float(row["balanced-error"]) < 20  # percent
    assert row["balanced-error_std"]
    page = (more.folder / "summary.md").read_text()
    assert "`balanced-error`: mean over the classes of the error of their rows in percent" in page
    assert "| log-loss |" in page
    again = Plan.read(more.folder / "plan.json")
    assert [cell.key for cell in again.cells] == [cell.key for cell in more.plan.cells]
    assert again.cells[0].metrics == ("error", "log-loss", "balanced-error")
    assert make_experiment(tmp_path, **ONE).run().computed == 0
