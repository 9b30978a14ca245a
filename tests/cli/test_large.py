"""``mcls fit`` on tables that are read piece by piece: files and folders, budgets, Dask, and what is refused."""

from __future__ import annotations

import os
import threading

import numpy as np
import pandas as pd
import pytest

import mcls
from mcls import clusters
from mcls.data import parts
from mcls.models.dask_workers import DaskWorkers
from mcls.models.large import LargeSettings, fit_large
from mcls.models.saving import dump

from ..command import call

GRID = "gamma=0.1+1,sigma=1"


def made_up(n=1200, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    made = pd.DataFrame({f"f{j}": rng.normal(size=n) + 2 * (y == j) for j in range(3)})
    return made.assign(kind=np.array(["a", "b", "c"])[y])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(parts, "PIECE_ROWS", 150)
    (tmp_path / "data").mkdir()
    made = made_up()
    for i in range(3):
        made[400 * i : 400 * (i + 1)].to_parquet(tmp_path / "data" / f"part-{i}.parquet", row_group_size=100)
    return tmp_path / "data"


def test_a_folder_a_pattern_and_files_are_one_table(folder, tmp_path):
    files = sorted(folder.iterdir())
    models = []
    for i, given in enumerate(([folder], [folder / "*.parquet"], files)):
        out = tmp_path / f"{i}.mcls"
        args = ["fit", *given, "--target", "kind", "--machine", "oneLSM:n_landmarks=50", "--grid", GRID, "-o", out]
        code, told, notes = call(*args)
        assert code == 0, notes
        assert "part-0.parquet and 2 more: 1200 rows, 3 columns" in told
        assert "oneLSM:n_landmarks=50: CV error" in told
        assert "honest error" not in told
        assert "beside the exact machine on 1200 rows" in notes
        models.append(out.read_bytes())
    assert models[0] == models[1] == models[2]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["0.mcls", "1.mcls", "2.mcls", "data"]
    assert call("inspect", tmp_path / "0.mcls")[0] == 0


def test_no_file_of_the_folder_is_written_to_and_none_beside_a_device(folder, tmp_path, snapshot):
    args = ["fit", folder, "--target", "kind", "--machine", "oneLSM:n_landmarks=50", "--grid", GRID, "-o"]
    before = snapshot(folder)
    for given in (folder, folder / "*.parquet"):
        code, _, err = call("fit", given, *args[2:], folder / "part-1.parquet", "--force")
        assert (code, err.count("\n")) == (2, 1)
        assert "is an input of this command" in err
    assert snapshot(folder) == before
    (tmp_path / "m.passes").write_text("dear diary")
    code, _, err = call(*args, tmp_path / "m")
    assert (code, (tmp_path / "m.passes").read_text()) == (0, "dear diary")
    assert "m.passes is another file and is left alone" in err
    if hasattr(os, "mkfifo"):
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        reader = threading.Thread(target=pipe.read_bytes, daemon=True)
        reader.start()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("mcls.models.resuming.open_atomic", None)  # nothing is kept
            assert call(*args, pipe)[0] == 0
        reader.join(60)


def test_a_budget_and_a_memory_are_kept_or_refused_in_one_line(tmp_path):
    made_up(200).to_parquet(tmp_path / "t.parquet")
    args = ["fit", tmp_path / "t.parquet", "--target", "kind", "--grid", GRID, "-o", tmp_path / "m"]
    code, _, notes = call(*args, "--budget", "60s", "--memory", "1.5GB", "--folds", 4)
    assert code == 0, notes
    assert "landmarks are chosen for the time and memory given" in notes
    for wrong, told in (
        (["--budget", "0.001s"], "too little for 100 landmarks"),
        (["--memory", "100MB"], "allowed by --memory"),
        (["--budget", "soon"], "--budget is a time such as 60s"),
        (["--memory", "much"], "--memory is an amount such as 4GB"),
        (["--machine", "oneLSM:n_landmarks=900", "--memory", "300MB"], "allowed: use fewer landmarks"),
        (["--machine", "ovO", "--memory", "1GB"], "only oneLSM with landmarks can be fitted"),
        (["--folds", "loo", "--memory", "1GB"], "folds are given by their number"),
        (["-j", "2"], "--backend dask"),
        (["--grid", "labelbook=pm1+indicators", "--memory", "1GB"], "searched over the kernel and gamma"),
    ):
        code, out, err = call(*args[:-1], tmp_path / "n", *wrong)
        assert code == 2
        assert told in err
        assert err.count("\n") == 1 or err.splitlines()[-1].startswith("mcls: ")
        assert "Traceback" not in err
        assert out == ""
        assert not (tmp_path / "n").exists()


def test_parts_of_another_kind_are_one_line(folder, tmp_path):
    made_up(30).assign(f1="x").to_parquet(folder / "part-9.parquet")
    code, _, err = call("fit", folder, "--target", "kind", "-o", tmp_path / "m")
    assert (code, err.count("\n")) == (2, 1)
    assert "part-9.parquet: column 'f1' holds texts, in part-0.parquet it holds numbers" in err
    made_up(30).assign(f1=[[1.0]] * 30).to_parquet(folder / "part-9.parquet")
    code, _, err = call("fit", folder, "--target", "kind", "-o", tmp_path / "m")
    assert (code, err.count("\n")) == (2, 1)
    assert "'f1' (list<" in err
    (folder / "part-9.parquet").write_bytes(b"PAR1\0 broken")
    code, _, err = call("fit", folder, "--target", "kind", "-o", tmp_path / "m")
    assert (code, err.count("\n")) == (2, 1)
    assert "cannot read" in err


@pytest.mark.full
def test_dask_gives_the_same_bytes_also_when_a_worker_is_killed(folder):
    pytest.importorskip("distributed")
    from ..experiments.test_cluster import running

    files = sorted(folder.iterdir())
    settings = LargeSettings("oneLSM:n_landmarks=50", {"sigma": [1.0], "gamma": [0.1, 1.0]}, folds=4)
    here = dump(fit_large(files, "kind", settings).model)
    steps = []
    with running(2) as (address, _, workers), DaskWorkers(address, 1) as dask:
        dask._client.wait_for_workers(2, timeout=60)

        def kills(what, done, total=None):
            steps.append(what)
            if "summed" in what and workers[0].poll() is None:
                workers[0].kill()

        made = fit_large(files, "kind", settings, workers=dask, on_step=kills)
        assert workers[0].wait(timeout=60) != 0
    assert dump(made.model) == here
    assert "pieces of the table judged" in steps


def test_a_private_cluster_and_an_absent_scheduler(folder, tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed")
    args = ["fit", folder, "--target", "kind", "--machine", "oneLSM:n_landmarks=50", "--grid", GRID]
    assert call(*args, "-o", tmp_path / "here.mcls")[0] == 0
    code, _, err = call(*args, "-o", tmp_path / "there.mcls", "--backend", "dask", "-j", 1)
    assert code == 0, err
    assert (tmp_path / "here.mcls").read_bytes() == (tmp_path / "there.mcls").read_bytes()
    assert mcls.load(tmp_path / "there.mcls").facts.rows == 1200
    real = distributed.Client
    monkeypatch.setattr(distributed, "Client", lambda *a, **k: real(*a, **{**k, "timeout": 0.5}))
    code, out, err = call(*args, "-o", tmp_path / "none.mcls", "--scheduler", "tcp://127.0.0.1:9")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "no Dask scheduler answers at tcp://127.0.0.1:9" in err


def test_a_fit_whose_cluster_is_lost_is_one_line_and_no_mistake_of_the_user(folder, tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    from ..experiments.test_cluster import running

    monkeypatch.setattr(clusters, "PATIENCE", 1.0)
    args = ["fit", folder, "--target", "kind", "--machine", "oneLSM:n_landmarks=50", "--grid", GRID]
    with running(0) as (address, *_):
        code, out, err = call(*args, "-o", tmp_path / "m", "--scheduler", address)
    assert (code, out, err) == (1, "", "mcls: no Dask worker has been there for 1 seconds\n")

    def loses(*_):
        workers[0].kill()
        workers[0].wait()

    monkeypatch.setattr(DaskWorkers, "share", loses)
    with running(1) as (address, _, workers):
        code, out, err = call(*args, "-o", tmp_path / "m", "--scheduler", address)
    assert (code, out) == (1, "")
    told = "mcls: no Dask worker has been there for 1 seconds; the same command goes on after the last whole pass"
    assert told in err.splitlines()  # older versions of Dask may speak after it
    assert not (tmp_path / "m").exists()
