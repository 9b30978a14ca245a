"""Cells on a Dask cluster: one that is running, or a private one of local processes."""

from __future__ import annotations

import contextlib
import time
from typing import Any

from mcls.clusters import ANSWER, LOOK_AGAIN, Connection
from mcls.errors import ClusterError
from mcls.experiments.cells import Cell
from mcls.experiments.pools import Arrival, Compute, Futures
from mcls.experiments.records import Record


class Cluster(Futures):
    """The workers of a Dask cluster; see ``mcls.clusters.Connection`` for the parameters."""

    def __init__(self, scheduler: str | None, jobs: int) -> None:
        super().__init__()
        self._cluster = Connection(scheduler, jobs)

    @property
    def ahead(self) -> int:
        """Two cells for each thread, so that none waits for us."""
        return max(2 * self._cluster.threads, 1)

    def _send(self, compute: Compute, cell: Cell) -> Any:
        self._cluster.require_scheduler()
        return self._cluster.client.submit(compute, cell, pure=False)

    def ready(self, timeout: float | None) -> list[Arrival]:
        """Wait for cells that are done, with an eye on the workers."""
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            self._cluster.look_now_and_then()
            left = LOOK_AGAIN if until is None else min(LOOK_AGAIN, max(until - time.monotonic(), 0.0))
            arrived = super().ready(left)
            if arrived or (until is not None and time.monotonic() >= until):
                return arrived

    def _record(self, future: Any) -> Record | None:
        from distributed.scheduler import KilledWorker

        try:
            return future.result(timeout=ANSWER)
        except Exception as error:
            self._cluster.require_scheduler()
            # Too many workers died over it, or the one that had the result did.
            if isinstance(error, KilledWorker | TimeoutError) or future.cancelled():
                return None
            told = " ".join(f"{type(error).__name__}: {error}".split())
            raise ClusterError(f"a Dask worker cannot compute cells: {told}") from None

    def close(self, stop: bool) -> None:
        """Leave the cluster; end it if it is private."""
        if stop:
            with contextlib.suppress(Exception):
                self._cluster.client.cancel(list(self._under_way), force=True)
        self._cluster.close()
