"""Cells on a Dask cluster: one that is running, or a private one of local processes.

Nothing is waited for without end. Every worker must have the versions that this process has; a cluster without
workers is given up after ``PATIENCE`` seconds, and one that has lost its scheduler at once.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable
from typing import Any

from mcls.clusters import ANSWER, PATIENCE, ClusterError, check_workers, connect, quiet, require_dask
from mcls.experiments.cells import Cell
from mcls.experiments.pools import Arrival, Compute, Futures
from mcls.experiments.records import Record

_LOOK_AGAIN = 1.0  # seconds between two looks at the workers


class Cluster(Futures):
    """The workers of a Dask cluster.

    Parameters
    ----------
    scheduler : str or None
        The address of a running scheduler; None for a private cluster.
    jobs : int
        The number of processes of a private cluster.
    """

    def __init__(self, scheduler: str | None, jobs: int) -> None:
        super().__init__()
        require_dask()
        self._resources = contextlib.ExitStack()
        self._checked: set[str] = set()
        self._seen = self._looked = time.monotonic()  # when there was a worker, and when we looked
        self.ahead = 1
        try:
            self._resources.enter_context(quiet())
            self._client = self._resources.enter_context(connect(scheduler, jobs, self._resources))
            self._address = self._client.scheduler.address
            self._look()
            while not self._checked:
                time.sleep(0.1)
                self._look()
        except BaseException:
            self._resources.close()
            raise

    def _send(self, compute: Compute, cell: Cell) -> Any:
        if self._client.status != "running":
            raise self._gone()
        return self._client.submit(compute, cell, pure=False)

    def ready(self, timeout: float | None) -> list[Arrival]:
        """Wait for cells that are done, with an eye on the workers."""
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            if time.monotonic() - self._looked > _LOOK_AGAIN:
                self._look()
            left = _LOOK_AGAIN if until is None else min(_LOOK_AGAIN, max(until - time.monotonic(), 0.0))
            arrived = super().ready(left)
            if arrived or (until is not None and time.monotonic() >= until):
                return arrived

    def _record(self, future: Any) -> Record | None:
        from distributed.scheduler import KilledWorker

        try:
            return future.result(timeout=ANSWER)
        except Exception as error:
            if self._client.status != "running":
                raise self._gone() from None
            # Too many workers died over it, or the one that had the result did.
            if isinstance(error, KilledWorker | TimeoutError) or future.cancelled():
                return None
            told = " ".join(f"{type(error).__name__}: {error}".split())
            raise ClusterError(f"a Dask worker cannot compute cells: {told}") from None

    def _gone(self) -> ClusterError:
        return ClusterError(f"the Dask scheduler at {self._address} is gone")

    def _look(self) -> None:
        """See which workers there are."""
        try:
            if self._client.status != "running":
                raise self._gone()
            threads = self._client.nthreads(callback_timeout=ANSWER)
            self._check(threads.keys() - self._checked)
        except (OSError, TimeoutError):
            raise self._gone() from None
        self.ahead = max(2 * sum(threads.values()), 1)
        self._looked = time.monotonic()
        if threads:
            self._seen = self._looked
        elif self._looked - self._seen > PATIENCE:
            raise ClusterError(f"no Dask worker has been there for {PATIENCE:.0f} seconds")

    def _check(self, workers: Iterable[str]) -> None:
        """Refuse workers on which a cell would fail, or come out different."""
        self._checked |= check_workers(self._client, list(workers))

    def close(self, stop: bool) -> None:
        """Leave the cluster; end it if it is private."""
        if stop:
            with contextlib.suppress(Exception):
                self._client.cancel(list(self._under_way), force=True)
        self._resources.close()
