"""The runner: the same results for any number of workers, after any kill, and around any failure."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
import warnings
from dataclasses import fields

import pytest

from mcls.experiments.cells import Cell
from mcls.experiments.claims import Claims
from mcls.experiments.experiment import run_together
from mcls.experiments.records import decode
from mcls.experiments.runner import RunOutcome, _Work, compute, run_cells
from mcls.machines.registry import Machine

from .small import SMALL, make_experiment, without_times

MAIN = "from mcls.cli.app import main; main()"


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The summary of a run of one process that nothing happened to."""
    experiment = make_experiment(tmp_path_factory.mktemp("undisturbed"))
    assert experiment.run().computed == 18
    return (experiment.folder / "summary.csv").read_text()


def summary(experiment) -> list[list[str]]:
    return without_times((experiment.folder / "summary.csv").read_text())


def test_two_processes_give_the_same_bytes(tmp_path, undisturbed):
    experiment = make_experiment(tmp_path)
    assert experiment.run(jobs=2).ok
    assert summary(experiment) == without_times(undisturbed)


def test_what_is_done_is_not_done_again(tmp_path, undisturbed):
    experiment = make_experiment(tmp_path)
    experiment.run()
    before = {p.name: p.read_bytes() for p in experiment.store.folder.iterdir()}
    outcome = experiment.run()
    assert (outcome.computed, outcome.reused) == (0, 18)
    assert {p.name: p.read_bytes() for p in experiment.store.folder.iterdir()} == before
    assert experiment.run(fresh=True).computed == 18
    # A larger experiment of the same name finds the cells it shares.
    assert make_experiment(tmp_path, replicates=4).run().reused == 18


def test_damaged_cells_are_computed_again(tmp_path, undisturbed):
    experiment = make_experiment(tmp_path)
    experiment.run()
    for path in sorted(experiment.store.folder.iterdir())[:3]:
        path.write_bytes(path.read_bytes()[:100])
    assert experiment.run().computed == 3
    assert summary(experiment) == without_times(undisturbed)


def run_in_process(out) -> None:
    make_experiment(out).run()


def resume_and_check(experiment, undisturbed) -> int:
    """Finish a killed run; return how many cells it had kept."""
    kept = {p.name: p.read_bytes() for p in experiment.store.folder.glob("*.json")}
    for content in kept.values():
        assert json.loads(content)["status"] == "done"  # never half a file
    outcome = experiment.run()
    assert (outcome.reused, outcome.computed) == (len(kept), 18 - len(kept))
    for name, content in kept.items():  # a finished cell is never computed again
        assert (experiment.store.folder / name).read_bytes() == content
    assert summary(experiment) == without_times(undisturbed)
    return len(kept)


def test_killed_at_random_moments_a_run_goes_on_where_it_was(tmp_path, undisturbed):
    # Forked processes: they need no imports, so that a kill hits the run and not the start of Python.
    context = multiprocessing.get_context("fork")
    started = time.monotonic()
    whole = context.Process(target=run_in_process, args=(tmp_path / "whole",))
    whole.start()
    whole.join()
    duration = time.monotonic() - started
    draw = random.Random(20)
    kept = []
    for i in range(10):  # make stress has a thousand
        process = context.Process(target=run_in_process, args=(tmp_path / str(i),))
        process.start()
        time.sleep(draw.uniform(0.0, 1.1) * duration)
        process.kill()
        process.join()
        kept.append(resume_and_check(make_experiment(tmp_path / str(i)), undisturbed))
    assert any(0 < k < 18 for k in kept)


@pytest.mark.skipif(not os.path.isdir("/proc"), reason="looks for processes in /proc")
def test_killed_with_two_workers_nothing_goes_on_computing(tmp_path, undisturbed):
    config = tmp_path / "small.yaml"
    config.write_text(json.dumps({**SMALL, "replicates": 300}))  # JSON is YAML; more than it can do by then
    command = [sys.executable, "-c", MAIN, "run", str(config), "--out", str(tmp_path / "out"), "-j", "2"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    experiment = make_experiment(tmp_path / "out")
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        if len(list(experiment.store.folder.glob("*.json"))) >= 3:
            break
        time.sleep(0.002)
    workers = children_of(process.pid)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    outcome = experiment.run()  # the first three replicates of it
    assert outcome.ok
    assert outcome.reused >= 3
    assert summary(experiment) == without_times(undisturbed)
    while any(is_running(pid) for pid in workers) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(is_running(pid) for pid in workers)


def children_of(parent: int) -> list[int]:
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat") as stat:
                    fields = stat.read().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == parent:
                found.append(int(entry))
    return found


def is_running(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_failing_cell_is_recorded_does_not_stop_the_others_and_is_tried_again(tmp_path, flaky):
    experiment = make_experiment(tmp_path, machines=["flaky", "ovO"], datasets="iris:sample=60")
    flaky.broken = True
    outcome = experiment.run()
    assert (outcome.computed, len(outcome.failed), outcome.not_run) == (3, 3, 0)
    record = outcome.failed[0]
    assert record["error"] == "RuntimeError: the machine broke"
    assert "Traceback" in record["traceback"]
    line = experiment.summary()[0]
    assert (line.failed, line.mean, line.state) == (3, None, "3 failed of 3")
    flaky.broken = False
    again = experiment.run()
    assert (again.computed, again.reused, again.failed) == (3, 3, [])
    assert experiment.summary()[0].mean is not None


def test_a_worker_killed_by_the_system_costs_one_cell(tmp_path):
    class Lethal(Cell):  # a class of a function travels to the workers as it is
        def compute(self):
            os.kill(os.getpid(), signal.SIGKILL)  # what the system does when there is no memory left

    experiment = make_experiment(tmp_path, machines=["ovO"], datasets="iris:sample=60", replicates=6)
    cells = list(experiment.plan.cells)
    cells[1] = Lethal(**{f.name: getattr(cells[1], f.name) for f in fields(Cell) if f.init})
    outcome = run_cells(cells, experiment.store, jobs=2)
    assert (outcome.computed, outcome.not_run) == (5, 0)
    (record,) = outcome.failed
    assert record["replicate"] == 1
    assert "killed by the system" in record["error"]
    again = experiment.run()
    assert (again.computed, again.reused) == (1, 5)


class Noted:
    """A pool that computes in this process and notes how many cells it was given at once."""

    def __init__(self, ahead: int = 4):
        self.ahead, self.most, self._todo = ahead, 0, []

    def submit(self, compute, cell):
        self._todo.append((compute, cell))
        self.most = max(self.most, len(self._todo))

    def ready(self, timeout):
        compute, cell = self._todo.pop(0)
        return [(cell, compute(cell))]

    def close(self, stop):
        pass


@pytest.mark.parametrize("timing", [True, False])
def test_on_a_cluster_too_times_are_measured_one_cell_at_a_time(tmp_path, monkeypatch, timing):
    pool = Noted()
    monkeypatch.setattr("mcls.experiments.runner._pool", lambda *a: pool)
    assert make_experiment(tmp_path, timing=timing, machines="ovO").run(jobs=1, backend="dask").ok
    assert pool.most == (1 if timing else 4)


# Several runs at once ----------------------------------------------------------------------------------------


def hold_cells(out, pipe, count: int, finish: str) -> None:
    """Another run, which claims some cells and then ends by a kill, or with their records stored."""
    experiment = make_experiment(out)
    cells = experiment.plan.cells[:count]
    with Claims(experiment.store.folder) as claims:
        pipe.send([claims.take(cell.key) for cell in cells])
        pipe.recv()
        if finish == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        for cell in cells:
            record = compute(cell)
            if finish == "fail":
                record = {**record, "status": "failed", "error": "RuntimeError: there"}
            experiment.store.write(record)
            claims.release(cell.key)


class Waits:
    """Progress that tells the other run to go on once this one waits for it."""

    def __init__(self, pipe):
        self._pipe, self.waited = pipe, []

    def start(self, total):
        pass

    def advance(self, cell, record):
        pass

    def wait(self, count):
        if not self.waited:
            self._pipe.send("go on")
        self.waited.append(count)

    def stop(self):
        pass


@pytest.mark.parametrize("finish, counts", [("done", (14, 4, 0)), ("kill", (18, 0, 0)), ("fail", (14, 0, 4))])
def test_cells_of_another_run_are_waited_for_and_taken_over_when_it_dies(tmp_path, undisturbed, finish, counts):
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    other = context.Process(target=hold_cells, args=(tmp_path, there, 4, finish))
    other.start()
    assert here.recv() == [True] * 4
    experiment, progress = make_experiment(tmp_path), Waits(here)
    outcome = experiment.run(progress=progress)
    other.join()
    assert (outcome.computed, outcome.elsewhere, len(outcome.failed)) == counts
    assert progress.waited[0] == 4
    assert (progress.waited[-1] == 0) == (finish == "kill")  # there was work again
    assert outcome.ok == (finish != "fail")
    if finish != "fail":
        assert summary(experiment) == without_times(undisturbed)
    assert not (experiment.store.folder / ".claims").exists()


def test_a_fresh_run_too_takes_what_another_one_has_made_meanwhile(tmp_path):
    experiment = make_experiment(tmp_path, machines="ovO", datasets="iris:sample=60")
    experiment.run()
    cells = experiment.plan.cells
    made = compute(cells[2])

    class Meanwhile(Waits):
        def advance(self, cell, record):
            if cell == cells[0]:
                experiment.store.write(made)

    outcome = run_cells(cells, experiment.store, fresh=True, progress=Meanwhile(None))
    assert (outcome.computed, outcome.elsewhere, outcome.reused) == (2, 1, 0)


def test_times_are_measured_by_one_run_at_a_time(tmp_path):
    experiment = make_experiment(tmp_path, timing=True, machines="ovO")
    assert len({claim_of(cell) for cell in experiment.plan.cells}) == 1
    assert len({claim_of(cell) for cell in make_experiment(tmp_path, machines="ovO").plan.cells}) == 6


def claim_of(cell):
    return _Work(cell, None, None, RunOutcome(), print).claim


# Several experiments as one -----------------------------------------------------------------------------------


def two_experiments(out):
    return [
        make_experiment(out, name="first", machines="ovO", datasets="iris:sample=60", replicates=3),
        make_experiment(out, name="second", machines="oneLSM", datasets="iris:sample=60", replicates=2),
    ]


@pytest.mark.parametrize("jobs", [1, 2])
def test_experiments_that_run_together_end_as_if_each_ran_alone(tmp_path, jobs):
    for experiment in (alone := two_experiments(tmp_path / "alone")):
        experiment.run()
    together = two_experiments(tmp_path / "together")
    outcomes = run_together(together, jobs)
    assert [(outcome.computed, outcome.ok) for outcome in outcomes] == [(3, True), (2, True)]
    assert [summary(each) for each in together] == [summary(each) for each in alone]
    assert [outcome.reused for outcome in run_together(two_experiments(tmp_path / "together"), jobs)] == [3, 2]


def test_no_process_waits_for_the_last_cell_of_an_experiment(tmp_path, monkeypatch):
    pool, experiments = Noted(), two_experiments(tmp_path)
    monkeypatch.setattr("mcls.experiments.runner._pool", lambda *a: pool)
    begun = []

    class Looks(Waits):
        def advance(self, cell, record):
            begun.append((len(pool._todo), experiments[0].folder.joinpath("summary.csv").exists()))

    run_together(experiments, 2, Looks(None))
    # Of five cells, four are under way until there are no more; the summary of the first three is there with the third.
    assert begun == [(3, False), (3, False), (2, False), (1, True), (0, True)]


def test_what_is_killed_among_several_experiments_leaves_their_finished_cells(tmp_path):
    experiments = two_experiments(tmp_path)

    class Ends(Waits):
        def advance(self, cell, record):
            if cell in experiments[1].plan.cells:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_together(experiments, 1, Ends(None))
    again = run_together(two_experiments(tmp_path), 1)
    assert [(outcome.reused, outcome.computed) for outcome in again] == [(3, 0), (1, 1)]


# How much work nothing to do is ------------------------------------------------------------------------------


def test_an_empty_resume_reads_each_cell_once_and_makes_no_machine_for_it(tmp_path, monkeypatch):
    make_experiment(tmp_path, machines="ovO", datasets="iris:sample=60", replicates=12).run()
    made, read = [], []
    create = Machine.create

    def counts(self, **params):
        made.append(params)
        return create(self, **params)

    def reads(raw, key):
        read.append(key)
        return decode(raw, key)

    experiment = make_experiment(tmp_path, machines="ovO", datasets="iris:sample=60", replicates=12)
    monkeypatch.setattr(Machine, "create", counts)
    monkeypatch.setattr("mcls.experiments.store.decode", reads)
    outcome = experiment.run()
    experiment.summary()
    assert (outcome.reused, outcome.computed) == (12, 0)
    assert made == []
    assert sorted(read) == sorted(cell.key for cell in experiment.plan.cells)


def test_fail_fast_stops_at_the_first_failure(tmp_path, flaky):
    flaky.broken = True
    experiment = make_experiment(tmp_path, machines=["flaky"], datasets="iris:sample=60")
    outcome = experiment.run(keep_going=False)
    assert (len(outcome.failed), outcome.not_run) == (1, 2)
    assert not outcome.ok
    assert experiment.summary()[0].state == "1 failed, 2 missing of 3"


def test_a_result_that_json_cannot_hold_is_a_failure_of_its_cell(tmp_path, monkeypatch):
    monkeypatch.setattr("mcls.experiments.cells.Cell.compute", lambda self: {"error": float("nan")})
    experiment = make_experiment(tmp_path, machines=["ovO"], datasets="iris:sample=60", replicates=1)
    assert "ValueError" in experiment.run().failed[0]["error"]


def test_times_are_measured_one_cell_at_a_time(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr("mcls.experiments.experiment.run_cells", lambda *a, **k: asked.append(k["jobs"]))
    make_experiment(tmp_path, timing=True).run(jobs=2)
    make_experiment(tmp_path).run(jobs=2)
    assert asked == [1, 2]


def test_progress_hears_of_every_cell(tmp_path):
    class Heard:
        def __init__(self):
            self.calls = []

        def start(self, total):
            self.calls.append(total)

        def advance(self, cell, record):
            self.calls.append((cell.key, record["status"]))

        def wait(self, count):
            raise AssertionError("there is no other run")

        def stop(self):
            self.calls.append("stop")

    experiment = make_experiment(tmp_path, machines=["ovO"], replicates=2)
    heard = Heard()
    run_cells(experiment.plan.cells, experiment.store, progress=heard)
    assert heard.calls == [4, *((cell.key, "done") for cell in experiment.plan.cells), "stop"]


def test_workers_use_one_blas_thread(tmp_path, monkeypatch):
    from threadpoolctl import threadpool_info

    seen = []
    monkeypatch.setattr(
        "mcls.experiments.cells.Cell.compute",
        lambda self: seen.append({i["num_threads"] for i in threadpool_info()}) or {"error": 0.0, "chosen": [{}]},
    )
    make_experiment(tmp_path, machines=["ovO"], datasets="iris:sample=60", replicates=1).run()
    assert seen == [{1}]


def test_warnings_are_recorded_and_told(tmp_path, monkeypatch):
    def warns(self):
        warnings.warn("not quite converged", RuntimeWarning, stacklevel=1)
        warnings.warn("an old call", DeprecationWarning, stacklevel=1)
        return {"error": 0.0, "chosen": [{}]}

    monkeypatch.setattr("mcls.experiments.cells.Cell.compute", warns)
    experiment = make_experiment(tmp_path, machines=["ovO"], datasets="iris:sample=60", replicates=2)
    outcome = experiment.run()
    assert [r["warnings"] for r in outcome.warned] == [["RuntimeWarning: not quite converged"]] * 2


def test_stopping_two_workers_is_quiet(tmp_path):
    # Features scaled to [-1, 1] are not counts: the machine refuses them, in every process.
    experiment = make_experiment(tmp_path, machines=["sk:MultinomialNB", "ovO"], replicates=20)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        outcome = experiment.run(jobs=2, keep_going=False)
    assert len(outcome.failed) == 1
    assert "Negative values" in outcome.failed[0]["error"]
    assert outcome.not_run > 0
