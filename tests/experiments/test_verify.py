"""Checking a folder of results: what is damaged is found, and only that is removed."""

from __future__ import annotations

import json
import os

import pytest

from mcls.errors import McLsError
from mcls.experiments.claims import Claims
from mcls.experiments.records import encode
from mcls.experiments.verify import verify

from .small import make_experiment
from .test_claims import hold, in_child


@pytest.fixture
def experiment(tmp_path):
    made = make_experiment(tmp_path / "out", machines="ovO", datasets="iris:sample=60", replicates=5)
    made.run()
    return made


def test_every_kind_of_cell_is_counted_and_the_damaged_ones_are_removed(experiment, tmp_path):
    flipped, cut, old, newer, sound = (experiment.store.path(cell.key) for cell in experiment.plan.cells)
    raw = bytearray(flipped.read_bytes())
    raw[len(raw) // 2] ^= 1
    flipped.write_bytes(raw)
    cut.write_bytes(cut.read_bytes()[:100])
    old.write_bytes(b"{\n" + old.read_bytes().split(b"\n", 2)[2])
    newer.write_bytes(encode({**json.loads(newer.read_bytes()), "format": 2}))
    (experiment.store.folder / "notes.json").write_text("mine")
    for folder in (tmp_path, experiment.folder, experiment.store.folder):
        found = verify(folder)
        assert (found.sound, found.unchecked, found.newer, found.removed) == (2, 1, 1, 0)
        assert found.damaged == {flipped: "its checksum does not fit", cut: "its checksum does not fit"}
    assert verify(tmp_path, repair=True).removed == 2
    assert sorted(p.name for p in experiment.store.folder.iterdir()) == sorted(
        [old.name, newer.name, sound.name, "notes.json"]
    )
    assert verify(tmp_path).damaged == {}
    newer.unlink()
    assert experiment.run().computed == 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a second process at once")
def test_a_cell_that_a_run_has_claimed_is_left_to_it(experiment, tmp_path):
    path = experiment.store.path(experiment.plan.cells[0].key)
    path.write_bytes(b"half")
    process, pipe = in_child(hold, experiment.store.folder, [path.stem])
    pipe.recv()
    assert verify(tmp_path, repair=True).removed == 0
    process.kill()
    process.join()
    assert verify(tmp_path, repair=True).removed == 1
    with Claims(experiment.store.folder):
        pass
    assert not (experiment.store.folder / ".claims").exists()


def test_a_folder_without_cells_is_told(tmp_path):
    for folder in (tmp_path, tmp_path / "none"):
        with pytest.raises(McLsError, match="there are no cells in"):
            verify(folder)
