"""Processes on this machine: what killed ones leave in shared memory is cleared away, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from mcls.experiments.pools import remove_litter

from .small import make_experiment


@pytest.fixture
def gone() -> int:
    """The number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_litter_of_processes_that_are_gone_is_removed(tmp_path, gone):
    names = {
        pid: [f"sem.loky-{pid}-ab_c1", f"joblib_memmapping_folder_{pid}_0f_1e"] for pid in (gone, os.getpid())
    }
    kept = [*names[os.getpid()], f"sem.other-{gone}-x", f"joblib_memmapping_folder_{gone}_full"]
    for name in [*names[gone], *kept]:
        (tmp_path / name).mkdir() if name.startswith("joblib") else (tmp_path / name).touch()
    (tmp_path / kept[-1] / "array.pkl").touch()  # not empty, so somebody's
    remove_litter(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(kept)


@pytest.mark.skipif(not os.path.isdir("/dev/shm"), reason="there is no /dev/shm")
def test_a_run_with_processes_clears_shared_memory_and_leaves_no_folder(tmp_path, gone):
    folder = f"/dev/shm/joblib_memmapping_folder_{gone}_0f_1e"
    os.mkdir(folder)
    experiment = make_experiment(tmp_path, machines="ovO", datasets="iris:sample=60", replicates=3)
    assert experiment.run(jobs=2).computed == 3
    assert not os.path.exists(folder)
    assert not [name for name in os.listdir("/dev/shm") if f"joblib_memmapping_folder_{os.getpid()}_" in name]
