"""Cells on Dask: the same results, every loss told in one line, and no waiting without end."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

from mcls import clusters
from mcls.cli.app import main
from mcls.errors import ClusterError, McLsError
from mcls.experiments.cluster import Cluster
from mcls.experiments.runner import compute

from .small import make_experiment, without_times

distributed = pytest.importorskip("distributed", reason="the extra mcls[dask] is not installed")
pytest.importorskip("cryptography", reason="the extra mcls[dask] is not installed")

WORKER = "import sys; {before}; from dask.__main__ import main; main()"
SOME = {"machines": ["oneLSM", "ovO"], "datasets": "iris:sample=60"}


def start(*args: str, before: str = "pass") -> subprocess.Popen:
    command = [sys.executable, "-c", WORKER.format(before=before), *args]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@contextmanager
def running(n_workers: int, before: str = "pass"):
    """A scheduler and workers of one thread each, as processes: address, scheduler, workers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    address = f"tcp://127.0.0.1:{port}"
    quiet = ["--no-dashboard"]
    processes = [start("scheduler", "--host", "127.0.0.1", "--port", port, *quiet)]
    processes += [
        start("worker", address, "--nthreads", "1", "--no-nanny", *quiet, before=before) for _ in range(n_workers)
    ]
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", int(port)), timeout=1).close()
                break
            except OSError:
                time.sleep(0.1)
        yield address, processes[0], processes[1:]
    finally:
        for process in processes:
            process.kill()
            process.wait()


def mcls(*args: object, capsys) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main([str(arg) for arg in args])
    return (ended.value.code, *capsys.readouterr())


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "lab.yaml"
    path.write_text(
        "datasets: iris:sample=60\nmachines: [oneLSM, ovO]\nfolds: 3\nreplicates: 3\n"
        "grid: {gamma: [0.25, 4], sigma: [0.5, 2]}\n"
    )
    return path


class Kills:
    """Progress that kills a process when the first cell arrives."""

    def __init__(self, process):
        self._process = process

    def start(self, total):
        pass

    def advance(self, cell, record):
        self._process.kill()

    def wait(self, count):
        pass

    def stop(self):
        pass


def test_one_of_two_workers_is_killed_and_the_other_alone_gives_the_results_of_this_process(tmp_path, monkeypatch):
    here, both, one = (make_experiment(tmp_path / name, **SOME) for name in ("here", "both", "one"))
    assert here.run().computed == 6
    with running(2) as (address, _, workers), distributed.Client(address, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)
        assert both.run(backend="dask", scheduler=address, progress=Kills(workers[0])).computed == 6
        assert sum(client.nthreads().values()) == 1
        with monkeypatch.context() as patch:
            patch.setattr("mcls.experiments.cells.Cell.compute", None)  # not in this process
            assert one.run(backend="dask", scheduler=address).computed == 6
    for cell in here.plan.cells:
        mine = here.store.result(cell)
        for theirs in (both.store.result(cell), one.store.result(cell)):
            assert theirs["result"] == mine["result"]
            assert theirs["environment"]["packages"] == mine["environment"]["packages"]
    csv = [without_times((made.folder / "summary.csv").read_text()) for made in (here, both, one)]
    assert csv[0] == csv[1] == csv[2]


@pytest.mark.parametrize("killed", ["workers", pytest.param("scheduler", marks=pytest.mark.full)])
def test_a_cluster_that_is_lost_is_one_line_and_the_run_goes_on_later(
    config, tmp_path, capsys, monkeypatch, killed
):
    monkeypatch.setattr(clusters, "PATIENCE", 2.0)
    written = []

    def kills(record):
        write(record)
        written.append(record["key"])
        for process in [scheduler] if killed == "scheduler" else workers:
            process.send_signal(signal.SIGKILL)

    from mcls.experiments.store import Store

    write = Store(tmp_path / "out/lab/cells").write
    with running(1) as (address, scheduler, workers):
        monkeypatch.setattr(Store, "write", lambda self, record: kills(record))
        code, _, err = mcls("run", config, "--out", tmp_path / "out", "--scheduler", address, capsys=capsys)
    monkeypatch.undo()
    assert code == 1
    lines = [line for line in err.splitlines() if not re.match(r"\d+/\d+ cells, ", line)]
    assert len(lines) == 1, err
    gone = "the Dask scheduler at .* is gone" if killed == "scheduler" else "no Dask worker has been there for 2 s"
    assert re.match(
        f"mcls: {gone}.*; finished cells are kept in .*: the same command goes on from there$", lines[0]
    )
    code, out, _ = mcls("run", config, "--out", tmp_path / "out", "-j", 1, capsys=capsys)
    assert code == 0
    assert f"{6 - len(written)} cells computed, {len(written)} reused, 0 failed" in out


def test_a_worker_without_mcls_is_told_before_anything_is_sent(config, tmp_path, capsys):
    with running(1, before="sys.modules['mcls'] = None") as (address, *_):
        code, _, err = mcls("run", config, "--out", tmp_path / "out", "--scheduler", address, capsys=capsys)
    assert code == 1
    assert err.count("\n") == 1
    assert re.match(r"mcls: the Dask worker at tcp://.* cannot import mcls .*: install it there; ", err)
    assert not list((tmp_path / "out/lab/cells").glob("*.json"))


def test_a_private_cluster_has_the_same_versions_and_talks_to_nobody_else(tmp_path, monkeypatch):
    cell = make_experiment(tmp_path, **SOME).plan.cells[0]
    private = Cluster(None, 1)
    try:
        private.submit(compute, cell)
        ((arrived, record),) = private.ready(60)
        assert arrived == cell
        assert record["status"] == "done"
        address = private._cluster.client.scheduler.address
        assert address.startswith("tls://127.0.0.1:")
        with pytest.raises(OSError):
            distributed.Client(address.replace("tls", "tcp"), timeout=1, set_as_default=False)
        stranger = distributed.Security.temporary()
        with pytest.raises(OSError):
            distributed.Client(address, timeout=1, security=stranger, set_as_default=False)
        # A worker that differs is refused by name.
        private._cluster._checked.clear()
        found = iter([{"Python": "3.11", "numpy": "2.1"}, {"Python": "3.11", "numpy": "1.9"}])
        monkeypatch.setattr(clusters, "_versions", lambda environment: next(found))
        with pytest.raises(
            ClusterError, match=r"the Dask worker at tls://.* has numpy 1.9 and this process 2.1: "
        ):
            private._cluster.look()
    finally:
        private.close(stop=False)


@pytest.mark.parametrize("address", ["nonsense://x:1", "tcp://127.0.0.1:1"])
def test_an_absent_scheduler_is_told(tmp_path, address, monkeypatch):
    real = distributed.Client
    monkeypatch.setattr(distributed, "Client", lambda *a, **k: real(*a, **{**k, "timeout": 0.5}))
    with pytest.raises(McLsError, match=f"no Dask scheduler answers at {address}"):
        make_experiment(tmp_path).run(backend="dask", scheduler=address)
