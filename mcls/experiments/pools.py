"""Where cells are computed on this machine: in this process, or in processes of their own."""

from __future__ import annotations

import contextlib
import os
import re
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Protocol

from joblib.externals.loky import get_reusable_executor

from mcls.clusters import interrupts_ignored
from mcls.experiments.cells import Cell
from mcls.experiments.records import Record

Compute = Callable[[Cell], Record]
#: A cell with its record; None where the process that had it was killed.
Arrival = tuple[Cell, Record | None]

_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
_IDLE = 300  # seconds after which a process without work ends


class Pool(Protocol):
    """What computes cells and says which are done."""

    @property
    def ahead(self) -> int:
        """How many cells to give out at once."""

    def submit(self, compute: Compute, cell: Cell) -> None:
        """Give out a cell."""

    def ready(self, timeout: float | None) -> list[Arrival]:
        """Wait for cells that are done, at most so many seconds."""

    def close(self, stop: bool) -> None:
        """End; ``stop`` when cells are still under way."""


class InProcess:
    """One cell after the other in this very process."""

    ahead = 1

    def __init__(self) -> None:
        self._todo: list[tuple[Compute, Cell]] = []

    def submit(self, compute: Compute, cell: Cell) -> None:
        """Keep the cell for ``ready``."""
        self._todo.append((compute, cell))

    def ready(self, timeout: float | None) -> list[Arrival]:
        """Compute what was given out."""
        todo, self._todo = self._todo, []
        return [(cell, compute(cell)) for compute, cell in todo]

    def close(self, stop: bool) -> None:
        """Nothing is left to end."""


class Futures(ABC):
    """Cells as futures that say themselves when they are done."""

    def __init__(self) -> None:
        self._under_way: dict[Any, Cell] = {}
        self._done: SimpleQueue[Any] = SimpleQueue()

    @abstractmethod
    def _send(self, compute: Compute, cell: Cell) -> Any:
        """The future of a cell."""

    @abstractmethod
    def _record(self, future: Any) -> Record | None:
        """The record of a future that is done; None where the process that had it was killed."""

    def submit(self, compute: Compute, cell: Cell) -> None:
        """Send a cell."""
        future = self._send(compute, cell)
        self._under_way[future] = cell
        future.add_done_callback(self._done.put)

    def ready(self, timeout: float | None) -> list[Arrival]:
        """Wait for a cell, and take the others that are there with it."""
        futures = []
        with contextlib.suppress(Empty):
            futures.append(self._done.get(timeout=timeout))
            while True:
                futures.append(self._done.get_nowait())
        return [(self._under_way.pop(future), self._record(future)) for future in futures]


class Processes(Futures):
    """Processes of this machine. When the system kills one, as for want of memory, all cells under way come back
    without a record: nobody knows whose fault it was.
    """

    def __init__(self, jobs: int) -> None:
        super().__init__()
        self.ahead = 2 * jobs
        self._jobs = jobs
        self._executor: Any = None
        remove_litter()

    def _send(self, compute: Compute, cell: Cell) -> Any:
        if self._executor is not None:
            with contextlib.suppress(BrokenExecutor):
                return self._executor.submit(compute, cell)
        self._executor = get_reusable_executor(
            max_workers=self._jobs,
            timeout=_IDLE,
            initializer=_end_with,
            initargs=(os.getpid(),),
            env=_ONE_THREAD,
        )
        with interrupts_ignored():  # the processes start with the first cell
            return self._executor.submit(compute, cell)

    def _record(self, future: Any) -> Record | None:
        try:
            return future.result()
        except BrokenExecutor:
            return None

    def close(self, stop: bool) -> None:
        """End the processes if they are at work; otherwise the next run finds them warm."""
        if stop and self._executor is not None:
            with _threads_silenced():
                self._executor.shutdown(wait=True, kill_workers=True)


@contextlib.contextmanager
def _threads_silenced() -> Iterator[None]:
    """Print no traceback of other threads: loky's own may trip over a process that is killed under its hands."""
    before, threading.excepthook = threading.excepthook, lambda args: None
    try:
        yield
    finally:
        threading.excepthook = before


def _end_with(parent: int) -> None:
    """Make this process end when the main one is gone: a killed run must not go on computing for nobody."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def remove_litter(folder: Path = Path("/dev/shm")) -> None:
    """Remove what killed runs left in shared memory: semaphores of processes, and empty folders of joblib.

    Their names hold the number of the process that made them; it must be ours to remove, and gone.
    """
    for path in folder.glob("*"):
        owner = re.fullmatch(r"(?:sem\.loky-|joblib_memmapping_folder_)(\d+)[-_]\w+", path.name)
        if owner is None or _is_running(int(owner[1])):
            continue
        with contextlib.suppress(OSError):
            if path.lstat().st_uid == os.getuid():
                path.rmdir() if path.is_dir() else path.unlink()


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True
