"""The runner: gives cells out, and writes each result as soon as it arrives.

Only the main process writes: a worker computes a cell and sends its record back, so a cluster needs no shared
disk, and a kill at any moment loses no more than the cells under way. Runs that share a folder share the work: a
cell is claimed before it is given out, and one that another run has claimed is waited for.
"""

from __future__ import annotations

import contextlib
import json
import time
import traceback
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from mcls.environment import environment, peak_memory_gb
from mcls.errors import McLsError
from mcls.experiments.cells import FORMAT, Cell
from mcls.experiments.claims import Claims
from mcls.experiments.pools import InProcess, Pool, Processes
from mcls.experiments.store import Record, Stamp, Store
from mcls.files import clear_stale
from mcls.plugins import load_sources
from mcls.threads import blas_threads

_MOST_WARNINGS = 5
_LOOK_AGAIN = 0.2  # seconds between two looks at the cells of another run


class Progress(Protocol):
    """What the runner tells while it works (see ``mcls.cli.progress``)."""

    def start(self, total: int) -> None:
        """Begin with ``total`` cells to compute."""

    def advance(self, cell: Cell, record: Record) -> None:
        """Take note of one cell that has arrived."""

    def wait(self, count: int) -> None:
        """Only cells that other runs have claimed are left, so many of them; 0 when one has become ours to compute."""

    def stop(self) -> None:
        """End, also after an interruption."""


@dataclass
class RunOutcome:
    """What became of the cells of a run; ``elsewhere`` counts those that another run computed meanwhile."""

    reused: int = 0
    computed: int = 0
    elsewhere: int = 0
    failed: list[Record] = field(default_factory=list)
    not_run: int = 0
    warned: list[Record] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether every cell has its result."""
        return not self.failed and not self.not_run


@dataclass
class Batch:
    """Cells of one store; ``finish`` is called when all have their records, or when the run ends before."""

    cells: Sequence[Cell]
    store: Store
    finish: Callable[[], None] = lambda: None


@dataclass(eq=False)
class _Work:
    """A cell to compute, whose place is a store, and what that held of it when the run began."""

    cell: Cell
    store: Store
    before: Stamp | None
    outcome: RunOutcome
    finish: Callable[[], None]

    @property
    def claim(self) -> str:
        """What a run claims before it computes the cell: itself, or the clock, which has room for one at a time."""
        return "0" * len(self.cell.key) if self.cell.timing else self.cell.key


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
) -> RunOutcome:
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
    how: dict[str, Any] = {"jobs": jobs, "backend": backend, "scheduler": scheduler, "fresh": fresh}
    return run_batches([Batch(cells, store)], keep_going=keep_going, progress=progress, **how)[0]


def run_batches(
    batches: Sequence[Batch],
    *,
    jobs: int = 1,
    backend: str = "loky",
    scheduler: str | None = None,
    fresh: bool = False,
    keep_going: bool = True,
    progress: Progress | None = None,
) -> list[RunOutcome]:
    """The same for cells of several stores: no process waits for the last cell of a store before it begins the next.

    Cells whose time is measured are given out one at a time, so they are not to be mixed with others.
    """
    todo: list[_Work] = []
    outcomes = []
    for batch in batches:
        clear_stale(batch.store.folder)
        mine, outcome = dict[str, _Work](), RunOutcome()
        for cell in batch.cells:
            stamp, known = batch.store.look(cell)
            if fresh or known is None or known.status != "done":
                mine[cell.key] = _Work(cell, batch.store, stamp, outcome, batch.finish)
        outcome.reused, outcome.not_run = len(batch.cells) - len(mine), len(mine)
        outcomes.append(outcome)
        todo += mine.values()
    if progress:
        progress.start(len(todo))
    pool: Pool | None = None
    try:
        if todo:
            pool = _pool(len(todo), jobs, backend, scheduler)
            with contextlib.ExitStack() as stack:
                folders = {work.store.folder for work in todo}
                claims = {folder: stack.enter_context(Claims(folder)) for folder in sorted(folders)}
                for work, record, is_ours in _shared(todo, pool, claims, progress):
                    _note(work.outcome, record, is_ours)
                    if progress:
                        progress.advance(work.cell, record)
                    if work.outcome.not_run == 0:
                        work.finish()
                    if work.outcome.failed and not keep_going:
                        break
    finally:
        if pool is not None:
            pool.close(stop=any(outcome.not_run for outcome in outcomes))
        if progress:
            progress.stop()
    for batch, outcome in zip(batches, outcomes):
        if outcome.not_run or outcome.reused == len(batch.cells):
            batch.finish()
    return outcomes


def _note(outcome: RunOutcome, record: Record, is_ours: bool) -> None:
    outcome.not_run -= 1
    if record["status"] == "failed":
        outcome.failed.append(record)
        return
    outcome.computed += is_ours
    outcome.elsewhere += not is_ours
    if record.get("warnings"):
        outcome.warned.append(record)


def _pool(n_cells: int, jobs: int, backend: str, scheduler: str | None) -> Pool:
    if backend == "dask":
        from mcls.experiments.cluster import Cluster

        return Cluster(scheduler, jobs)
    return InProcess() if jobs == 1 or n_cells == 1 else Processes(min(jobs, n_cells))


def _shared(
    todo: list[_Work], pool: Pool, claims: Mapping[Path, Claims], progress: Progress | None
) -> Iterator[tuple[_Work, Record, bool]]:
    """Every cell with its record, and whether it was computed here; records of ours are stored by then.

    What a store has got of a cell since the run began is the work of another run.
    """
    waiting = deque(todo)
    elsewhere: deque[_Work] = deque()  # claimed by another run when we last looked
    killed: deque[_Work] = deque()  # to be computed again, alone
    alone: _Work | None = None
    under_way: dict[int, _Work] = {}  # by the identity of the cell that was given out
    waited = False  # for other runs, the last time there was nothing else to do

    def give_out(work: _Work) -> None:
        under_way[id(work.cell)] = work
        pool.submit(compute, work.cell)

    while waiting or elsewhere or killed or under_way:
        ahead = 1 if todo[0].cell.timing else pool.ahead  # a time beside other work is not a measurement
        while waiting and len(under_way) < ahead and alone is None:
            work = waiting.popleft()
            cell, store, held = work.cell, work.store, claims[work.store.folder]
            if not held.take(work.claim):
                elsewhere.append(work)
                continue
            if store.stamp(cell) != work.before and (record := store.read(cell)) is not None:
                held.release(work.claim)
                yield work, record, False
                continue
            give_out(work)
            if waited and progress:
                progress.wait(0)
            waited = False
        if not under_way and killed:
            alone = killed.popleft()
            give_out(alone)
        if under_way:
            for cell, record in pool.ready(_LOOK_AGAIN if elsewhere and not waiting else None):
                work = under_way.pop(id(cell))
                if record is None and work is not alone:
                    killed.append(work)
                    continue
                alone = None
                record = record or _killed(cell)
                work.store.write(record)
                claims[work.store.folder].release(work.claim)
                yield work, record, True
        elif elsewhere and not waiting:
            waited = True
            if progress:
                progress.wait(len(elsewhere))
            time.sleep(_LOOK_AGAIN)
        if not waiting:
            waiting, elsewhere = elsewhere, deque()


def compute(cell: Cell) -> Record:
    """Compute one cell on one BLAS thread; whatever it raises becomes a record of the failure."""
    record = _blank(cell)
    started = time.perf_counter()
    cpu = time.process_time()
    try:
        with blas_threads(1), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            for category in (DeprecationWarning, PendingDeprecationWarning, FutureWarning):
                warnings.simplefilter("ignore", category)  # about code, not about this result
            load_sources(cell.plugin_files)
            record["parameters"] = cell.parameters()
            cell.dataset.load()  # reading the table is not part of the time measured
            started, cpu = time.perf_counter(), time.process_time()
            result = cell.compute()
        json.dumps(result, allow_nan=False)  # what cannot be stored is a failure of this cell, not of the run
        record["result"] = result
        record["status"] = "done"
        record["warnings"] = sorted({f"{w.category.__name__}: {w.message}" for w in caught})[:_MOST_WARNINGS]
    except Exception as error:
        # A McLsError is written for people.
        name = "" if isinstance(error, McLsError) else f"{type(error).__name__}: "
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


def _killed(cell: Cell) -> Record:
    """The record of a cell whose process was killed, and once more when it was computed alone."""
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
