"""Dask clusters: one that is running, or a private one of local processes that nobody else can talk to.

Every worker must have the versions that this process has, or its results might be others.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import signal
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from mcls.environment import environment
from mcls.errors import McLsError

#: Seconds that a cluster may be without workers.
PATIENCE = 30.0
#: Seconds that a scheduler or worker may take to answer.
ANSWER = 30.0
_LOGGERS = ("distributed", "tornado", "asyncio")


class ClusterError(RuntimeError):
    """The cluster cannot compute, or no longer; what is finished is kept."""


def require_dask() -> None:
    """Refuse where Dask is not installed."""
    try:
        import distributed  # noqa: F401  (sets up its logs, which are to be quiet from here on)
    except ImportError:
        raise McLsError("the dask backend needs Dask: pip install 'mcls[dask]'") from None


def connect(scheduler: str | None, jobs: int, resources: contextlib.ExitStack) -> Any:
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


def check_workers(client: Any, workers: Sequence[str]) -> set[str]:
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
