"""The folder of results: complete, confined to --out, and runnable again from its own config."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from mcls.errors import McLsError
from mcls.experiments import layout
from mcls.experiments.experiment import Experiment
from mcls.experiments.loading import load_config

from .small import make_experiment


def test_the_folder_has_everything(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    experiment = make_experiment(Path("out"), machines="ovO")
    experiment.run()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out"]
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["small"]
    names = ["cells", "config.yaml", "environment.json", "plan.json", "summary.csv", "summary.md"]
    assert sorted(p.name for p in experiment.folder.iterdir()) == names
    environment = json.loads((experiment.folder / "environment.json").read_text())
    assert {"python", "packages", "cpu", "cores", "platform", "libraries", "blas_threads"} <= environment.keys()
    assert any(library["user_api"] == "blas" for library in environment["libraries"])


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"nested": 2, "inner_folds": 4},
        {"protocol": "nested", "inner_folds": 3},
        {"protocol": "hold-out", "train": 40, "folds": None},
        {"protocol": "5x2cv", "replicates": None, "folds": None},
        {"machines": [{"name": "voLSSVM", "labelbook": ["alignment", "mincorr"], "options": {"bias": True}}]},
        {"machines": [{"name": "oneLSM", "grid": {"gamma": "2^-1..2^1"}}, "ovO:kernel=linear"]},
    ],
)
def test_the_config_as_run_finds_the_same_cells(tmp_path, changes):
    experiment = make_experiment(tmp_path, **changes)
    again = tmp_path / "config.yaml"
    again.write_text(experiment.config_as_run())
    config = load_config(again)
    assert Experiment.laid_out(config, tmp_path, tmp_path).plan.cells == experiment.plan.cells


def test_a_table_is_found_from_the_folder_of_results(tmp_path):
    rows = [f"{i % 7},{i * 3 % 5},{'ab'[i % 2]}" for i in range(30)]
    (tmp_path / "my.csv").write_text("u,v,kind\n" + "\n".join(rows) + "\n")
    (tmp_path / "lab.yaml").write_text(
        "datasets: {path: my.csv, target: kind}\nmachines: oneLSM\ngrid: {gamma: 1, sigma: [1, 2]}\nfolds: 3"
    )
    first = Experiment.laid_out(load_config(tmp_path / "lab.yaml"), tmp_path, tmp_path / "out")
    first.run()
    moved = first.folder / "config.yaml"
    second = Experiment.laid_out(load_config(moved), moved.parent, tmp_path / "out")
    assert second.run().reused == 10


def test_a_folder_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "out").write_text("a file in the way")
    with pytest.raises(McLsError, match=r"cannot write .*; nothing was left half-written"):
        make_experiment(tmp_path / "out").run()


def test_a_run_clears_what_killed_ones_left_half_written_long_ago(tmp_path):
    experiment = make_experiment(tmp_path)
    experiment.run()
    for folder in (experiment.folder, experiment.store.folder):
        for name, age in ((".mcls-0.tmp", 2 * 86400), (".mcls-1.tmp", 60)):
            (folder / name).touch()
            os.utime(folder / name, (time.time() - age,) * 2)
    experiment.run()  # nothing is left to write
    for folder in (experiment.folder, experiment.store.folder):
        assert [path.name for path in folder.glob(".mcls-*")] == [".mcls-1.tmp"]


def test_two_tables_of_one_file_name_stand_together(tmp_path):
    for folder, shift in (("north", 0.0), ("south", 0.5)):
        (tmp_path / folder).mkdir()
        rows = [f"{i % 7 + shift},{i * i % 11},{'ab'[i % 2]}\n" for i in range(40)]
        (tmp_path / folder / "soils.csv").write_text("x,y,kind\n" + "".join(rows))
    (tmp_path / "two.yaml").write_text(
        "datasets:\n- {path: north/soils.csv, name: north}\n- {path: south/soils.csv}\n"
        "machines: oneLSM\ngrid: {gamma: 1, sigma: 1}\nfolds: 3\nreplicates: 1\n"
    )
    plan = layout.plan(load_config(tmp_path / "two.yaml"), tmp_path)
    assert [row.dataset for row in plan.rows] == ["north", "soils"]
    assert len({row.cells[0].key for row in plan.rows}) == 2
    other = (tmp_path / "two.yaml").read_text().replace("name: north", "name: other")
    (tmp_path / "two.yaml").write_text(other)
    again = layout.plan(load_config(tmp_path / "two.yaml"), tmp_path)
    assert [row.cells[0].key for row in again.rows] == [
        row.cells[0].key for row in plan.rows
    ]  # a name is no result


def test_a_table_is_found_through_a_link_to_the_folder_of_results(tmp_path):
    study, disk = tmp_path / "study", tmp_path / "far" / "away" / "disk"
    for folder in (study, disk):
        folder.mkdir(parents=True)
    (study / "my.csv").write_text(
        "u,v,kind\n" + "".join(f"{i % 7},{i * 3 % 5},{'ab'[i % 2]}\n" for i in range(30))
    )
    (study / "lab.yaml").write_text("datasets: my.csv\nmachines: oneLSM\n")
    (study / "results").symlink_to(disk)
    first = Experiment.laid_out(load_config(study / "lab.yaml"), study, study / "results")
    first.folder.mkdir()
    (first.folder / "config.yaml").write_text(first.config_as_run())
    config = load_config(first.folder / "config.yaml")
    again = Experiment.laid_out(config, first.folder, tmp_path)
    assert [cell.key for cell in again.plan.cells] == [cell.key for cell in first.plan.cells]


def test_another_study_of_the_same_name_is_noticed(tmp_path):
    first = make_experiment(tmp_path)
    assert first.replaces() == []
    first.folder.mkdir()
    (first.folder / "config.yaml").write_text(first.config_as_run())
    assert make_experiment(tmp_path, datasets=["wine:sample=60"], machines="ovO").replaces() == []
    assert make_experiment(tmp_path, datasets=["glass"]).replaces() == ["iris", "wine"]
    (first.folder / "config.yaml").write_text("[")
    assert first.replaces() == []
