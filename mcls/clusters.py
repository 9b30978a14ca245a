"""Dask clusters: one that is running, or a private one of local processes that nobody else can talk to.

Nothing is waited for without end. Every worker must have the versions that this process has, or its results might be
others; a cluster without workers is given up after ``PATIENCE`` seconds, and one that has lost its scheduler at once.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import signal
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from mcls.environment import environment
from mcls.errors import ClusterError, McLsError

#: Seconds that a cluster may be without workers.
PATIENCE = 30.0
#: Seconds that a scheduler or worker may take to answer.
ANSWER = 30.0
#: Seconds between two looks at the workers.
LOOK_AGAIN = 1.0
_LOGGERS = ("distributed", "tornado", "asyncio")


class Connection:
    """A cluster with at least one worker, watched by whoever waits for its work.

    Parameters
    ----------
    scheduler : str or None
        The address of a running scheduler; None for a private cluster.
    jobs : int
        The number of processes of a private cluster.

    Attributes
    ----------
    client : distributed.Client
    threads : int
        How many tasks the workers can do at once, as of the last look.
    """

    def __init__(self, scheduler: str | None, jobs: int) -> None:
        _require_dask()
        self._resources = contextlib.ExitStack()
        self._checked: set[str] = set()
        self._seen = time.monotonic()  # when there was a worker
        try:
            self._resources.enter_context(quiet())
            self.client = self._resources.enter_context(_connect(scheduler, jobs, self._resources))
            self._address = self.client.scheduler.address
            self.look()
            while not self._checked:
                time.sleep(0.1)
                self.look()
        except BaseException:
            self.close()
            raise

    def look(self) -> None:
        """See which workers there are, and refuse those of other versions."""
        self.require_scheduler()
        try:
            threads = self.client.nthreads(callback_timeout=ANSWER)
            self._checked |= _check_workers(self.client, sorted(threads.keys() - self._checked))
        except (OSError, TimeoutError):
            raise self._gone() from None
        self.threads, self._looked = sum(threads.values()), time.monotonic()
        if threads:
            self._seen = self._looked
        elif self._looked - self._seen > PATIENCE:
            raise ClusterError(f"no Dask worker has been there for {PATIENCE:.0f} seconds")

    def look_now_and_then(self) -> None:
        """Look again if the last look was ``LOOK_AGAIN`` seconds ago."""
        if time.monotonic() - self._looked > LOOK_AGAIN:
            self.look()

    def require_scheduler(self) -> None:
        """Give up where the scheduler is gone."""
        if self.client.status != "running":
            raise self._gone()

    def _gone(self) -> ClusterError:
        return ClusterError(f"the Dask scheduler at {self._address} is gone")

    def close(self) -> None:
        """Leave the cluster; end it if it is private."""
        self._resources.close()


def _require_dask() -> None:
    """Refuse where Dask is not installed."""
    try:
        import distributed  # noqa: F401  (sets up its logs, which are to be quiet from here on)
    except ImportError:
        raise McLsError("the dask backend needs Dask: pip install 'mcls[dask]'") from None


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


def _check_workers(client: Any, workers: Sequence[str]) -> set[str]:
    """Refuse workers on which a computation would fail, or come out different; those that answered are returned."""
    checked: set[str] = set()
    if not workers:
        return checked
    ours = _versions(environment())
    for address, answer in client.run(environment, workers=list(workers), on_error="return").items():
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
        checked.add(address)
    return checked


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep the words of Dask's own logs from the terminal: what matters is told in one line."""
    known = [name for name in logging.root.manager.loggerDict if name.split(".")[0] in _LOGGERS]
    before = {name: logging.getLogger(name).level for name in (*_LOGGERS, *known)}
    for name in before:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Sending large graph")
            yield
    finally:
        gc.collect()  # asyncio speaks of a task that nobody waited for when it is collected: now, not later
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)


@contextlib.contextmanager
def interrupts_ignored() -> Iterator[None]:
    """Let processes that start here be deaf to Ctrl-C: the main process hears it and ends them without a word."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _versions(found: dict[str, Any]) -> dict[str, str | None]:
    """What must be the same everywhere for the same results."""
    return {"Python": found["python"].rpartition(".")[0], **found["packages"]}
