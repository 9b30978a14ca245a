"""Cells on a Dask cluster: one that is running, or a private one of local processes.

Nothing is waited for without end. Every worker must have the versions that this process has; a cluster without
workers is given up after ``PATIENCE`` seconds, and one that has lost its scheduler at once.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Iterable, Iterator
from typing import Any

from mcls.errors import McLsError
from mcls.experiments.cells import Cell
from mcls.experiments.environment import environment
from mcls.experiments.pools import Arrival, Compute, Futures, interrupts_ignored
from mcls.experiments.records import Record

PATIENCE = 30.0  # seconds that a cluster may be without workers
_ANSWER = 30.0  # seconds that a scheduler or worker may take to answer
_LOOK_AGAIN = 1.0  # seconds between two looks at the workers
_LOGGERS = ("distributed", "tornado", "asyncio")


class ClusterError(RuntimeError):
    """The cluster cannot compute the cells, or no longer; what is finished is stored."""


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
        try:
            import distributed  # noqa: F401  (sets up its logs, which are to be quiet from here on)
        except ImportError:
            raise McLsError("the dask backend needs Dask: pip install 'mcls[dask]'") from None
        self._resources = contextlib.ExitStack()
        self._checked: set[str] = set()
        self._seen = self._looked = time.monotonic()  # when there was a worker, and when we looked
        self.ahead = 1
        try:
            self._resources.enter_context(_quiet())
            self._client = self._resources.enter_context(_connect(scheduler, jobs, self._resources))
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
            return future.result(timeout=_ANSWER)
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
            threads = self._client.nthreads(callback_timeout=_ANSWER)
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
        if not (new := list(workers)):
            return
        ours = _versions(environment())
        for address, answer in self._client.run(environment, workers=new, on_error="return").items():
            if isinstance(answer, OSError):
                continue  # it has left
            if isinstance(answer, Exception):
                told = " ".join(str(answer).split())
                raise ClusterError(f"the Dask worker at {address} cannot import mcls ({told}): install it there")
            theirs = _versions(answer)
            for name in ours:
                if theirs[name] != ours[name]:
                    raise ClusterError(
                        f"the Dask worker at {address} has {name} {theirs[name]} and this process {ours[name]}: "
                        "install the same versions"
                    )
            self._checked.add(address)

    def close(self, stop: bool) -> None:
        """Leave the cluster; end it if it is private."""
        if stop:
            with contextlib.suppress(Exception):
                self._client.cancel(list(self._under_way), force=True)
        self._resources.close()


def _connect(scheduler: str | None, jobs: int, resources: contextlib.ExitStack) -> Any:
    """The client of a running cluster, or of one made of local processes that nobody else can talk to."""
    import dask
    from distributed import Client, LocalCluster, Security

    if scheduler is not None:
        try:
            return Client(scheduler, timeout=10, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise McLsError(f"no Dask scheduler answers at {scheduler}: {' '.join(str(error).split())}") from None
    try:
        security = Security.temporary()
    except ImportError:
        raise McLsError(
            "a private Dask cluster needs the package cryptography: pip install 'mcls[dask]'"
        ) from None
    no_pages: dict[str, list[str]] = {
        f"distributed.{part}.http.routes": [] for part in ("scheduler", "worker", "nanny")
    }
    with interrupts_ignored(), dask.config.set(no_pages):
        cluster = LocalCluster(
            n_workers=jobs,
            threads_per_worker=1,
            processes=True,
            dashboard_address="127.0.0.1:0",
            security=security,
            silence_logs=logging.CRITICAL,
        )
    resources.enter_context(cluster)
    return Client(cluster, set_as_default=False)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep the words of Dask's own logs from the terminal: what matters is told in one line."""
    known = [name for name in logging.root.manager.loggerDict if name.split(".")[0] in _LOGGERS]
    before = {name: logging.getLogger(name).level for name in (*_LOGGERS, *known)}
    for name in before:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)


def _versions(found: dict[str, Any]) -> dict[str, str | None]:
    """What must be the same everywhere for the same results."""
    return {"Python": found["python"].rpartition(".")[0], **found["packages"]}
