"""The runner: cells through joblib, each result written as soon as it arrives.

Only the main process writes: a worker computes a cell and sends its record back, so a cluster needs no shared
disk, and a kill at any moment loses no more than the cells under way.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import threading
import time
import traceback
import warnings
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol

import joblib
from joblib.externals.loky.process_executor import TerminatedWorkerError
from threadpoolctl import threadpool_limits

from mcls.environment import environment, peak_memory_gb
from mcls.errors import McLsError
from mcls.experiments.cells import FORMAT, Cell
from mcls.experiments.store import Record, Store

BACKENDS = ("loky", "dask")
_MOST_WARNINGS = 5


class Progress(Protocol):
    """What the runner tells while it works (see ``mcls.cli.progress``)."""

    def start(self, total: int) -> None:
        """Begin with ``total`` cells to compute."""

    def advance(self, cell: Cell, record: Record) -> None:
        """Take note of one cell that has arrived."""

    def stop(self) -> None:
        """End, also after an interruption."""


@dataclass
class Outcome:
    """What became of the cells of a run."""

    reused: int = 0
    computed: int = 0
    failed: list[Record] = field(default_factory=list)
    not_run: int = 0
    warned: list[Record] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether every cell has its result."""
        return not self.failed and not self.not_run


def run_cells(
    cells: Sequence[Cell],
    store: Store,
    *,
    jobs: int = 1,
    backend: str = "loky",
    scheduler: str | None = None,
    fresh: bool = False,
    keep_going: bool = True,
    progress: Progress | None = None,
) -> Outcome:
    """Compute the cells that the store does not hold, and store each as it arrives.

    Parameters
    ----------
    jobs : int
        Processes on this machine (one: in this very process).
    backend, scheduler : str
        ``loky``, or ``dask`` with the address of a scheduler (without one, a cluster of ``jobs`` local workers).
    fresh : bool
        Compute every cell, whatever the store holds. Otherwise only a cell that is missing or failed.
    keep_going : bool
        Go on after a cell has failed; otherwise stop there.
    """
    store.remove_stale_temporaries()
    todo = [cell for cell in cells if fresh or store.result(cell) is None]
    outcome = Outcome(reused=len(cells) - len(todo), not_run=len(todo))
    by_key = {cell.key: cell for cell in todo}
    if progress:
        progress.start(len(todo))
    try:
        with contextlib.closing(_results(todo, jobs, backend, scheduler)) as results:
            for record in results:
                store.write(record)
                outcome.not_run -= 1
                if record["status"] == "done":
                    outcome.computed += 1
                    if record["warnings"]:
                        outcome.warned.append(record)
                else:
                    outcome.failed.append(record)
                if progress:
                    progress.advance(by_key[record["key"]], record)
                if outcome.failed and not keep_going:
                    break
    finally:
        if progress:
            progress.stop()
    return outcome


def compute(cell: Cell) -> Record:
    """Compute one cell on one BLAS thread; whatever it raises becomes a record of the failure."""
    record = _blank(cell)
    started = time.perf_counter()
    cpu = time.process_time()
    try:
        with threadpool_limits(1), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            for category in (DeprecationWarning, PendingDeprecationWarning, FutureWarning):
                warnings.simplefilter("ignore", category)  # about code, not about this result
            record["parameters"] = cell.parameters()
            cell.dataset.load()  # reading the table is no part of the time measured
            started, cpu = time.perf_counter(), time.process_time()
            result = cell.compute()
        json.dumps(result, allow_nan=False)  # what cannot be stored is a failure of this cell, not of the run
        record["result"] = result
        record["status"] = "done"
        record["warnings"] = sorted({f"{w.category.__name__}: {w.message}" for w in caught})[:_MOST_WARNINGS]
    except Exception as error:
        name = (
            "" if isinstance(error, McLsError) else f"{type(error).__name__}: "
        )  # a McLsError is written for people
        record["error"] = " ".join(f"{name}{error}".split())
        record["traceback"] = traceback.format_exc()
    record["seconds"] = round(time.perf_counter() - started, 6)
    record["cpu_seconds"] = round(time.process_time() - cpu, 6)
    record["peak_memory_gb"] = peak_memory_gb()  # of the process, so of its largest cell so far
    record["finished"] = datetime.now(UTC).isoformat(timespec="seconds")
    record["environment"] = environment()
    return record


def _blank(cell: Cell) -> Record:
    """The record of a cell before anything is known of it."""
    return {
        "format": FORMAT,
        "key": cell.key,
        "status": "failed",
        "dataset": cell.dataset.label,
        "machine": cell.machine,
        "options": dict(cell.options),
        "replicate": cell.replicate,
        "identity": cell.identity(),
        "engine": cell.engine,
    }


def _results(todo: list[Cell], jobs: int, backend: str, scheduler: str | None) -> Generator[Record, None, None]:
    """Yield records in the order they are finished."""
    if not todo:
        return
    if backend == "dask":
        with _dask(scheduler, jobs), joblib.parallel_config(backend="dask"):
            yield from _unordered(todo, -1, 1 if jobs == 1 else "2*n_jobs")
    elif jobs == 1 or len(todo) == 1:
        yield from map(compute, todo)
    else:
        with joblib.parallel_config(backend="loky", inner_max_num_threads=1):
            yield from _surviving(todo, jobs)


def _surviving(todo: list[Cell], jobs: int) -> Generator[Record, None, None]:
    """Go on when the system kills a worker, as for want of memory: every cell that may have been its is run alone,
    and one that is killed again has failed.
    """
    rest = {cell.key: cell for cell in todo}
    while rest:
        workers = min(jobs, len(rest))
        try:
            with contextlib.closing(_unordered(list(rest.values()), workers, 2 * workers, os.getpid())) as records:
                for record in records:
                    del rest[record["key"]]
                    yield record
        except TerminatedWorkerError:
            for key in list(rest)[: 2 * workers]:  # no more were under way
                yield _alone(rest.pop(key))


def _alone(cell: Cell) -> Record:
    """Compute a cell in a process of its own; if that is killed, the cell has failed."""
    try:
        return next(_unordered([cell], 2, 1, os.getpid()))  # with one worker joblib would stay in this process
    except TerminatedWorkerError:
        return {
            **_blank(cell),
            "error": "the process was killed by the system; it may need more memory than there is",
            "traceback": "",
            "seconds": 0.0,
            "cpu_seconds": 0.0,
            "peak_memory_gb": None,
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
            "environment": environment(),
        }


def _unordered(
    todo: list[Cell], jobs: int, ahead: int | str, parent: int | None = None
) -> Generator[Record, None, None]:
    """Records of cells of which never more than ``ahead`` are given out at once."""
    # batch_size=1: a batch would hold finished cells back until its last one is done.
    parallel = joblib.Parallel(n_jobs=jobs, batch_size=1, pre_dispatch=ahead, return_as="generator_unordered")
    with _interrupts_ignored():
        results = parallel(joblib.delayed(_work)(cell, parent) for cell in todo)
    try:
        for record in results:  # noqa: UP028  ("yield from" would close joblib's generator before we do)
            yield record
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # joblib warns that work is abandoned, which is what stopping means
            results.close()


@contextlib.contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Let workers that start here be deaf to Ctrl-C: the main process hears it and ends them without a word."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _work(cell: Cell, parent: int | None) -> Record:
    if parent is not None:
        _end_with(parent)
    return compute(cell)


_watched: set[int] = set()


def _end_with(parent: int) -> None:
    """Make this worker end when the main process is gone: a killed run must not go on computing for nobody."""
    if parent in _watched or os.getpid() == parent:
        return
    _watched.add(parent)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextlib.contextmanager
def _dask(scheduler: str | None, jobs: int) -> Iterator[Any]:
    """Connect to a running Dask cluster, or make one of local processes."""
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise McLsError("the dask backend needs Dask: pip install 'mcls[dask]'") from None
    if scheduler is None:
        with (
            LocalCluster(n_workers=jobs, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
            Client(cluster) as client,
        ):
            yield client
        return
    try:
        client = Client(scheduler, timeout=10)
    except (OSError, TimeoutError, ValueError) as error:
        raise McLsError(f"no Dask scheduler answers at {scheduler}: {' '.join(str(error).split())}") from None
    with client:
        yield client
