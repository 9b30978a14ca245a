"""Measuring: wall time, peak memory of a child process, and one row of a benchmark table."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mcls.environment import peak_memory_gb


@dataclass(frozen=True)
class Row:
    """One measured line: what, on what, our figure, the peer's, their ratio, and what was checked."""

    benchmark: str
    data: str
    ours: str
    seconds: float
    peer: str
    peer_seconds: float | None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """How many times faster than the peer."""
        return None if self.peer_seconds is None else self.peer_seconds / self.seconds


def timed(function: Callable[[], Any], repeats: int = 1) -> tuple[float, Any]:
    """Shortest wall time of some repeats, and the last result."""
    best, result = float("inf"), None
    for _ in range(repeats):
        start = time.perf_counter()
        result = function()
        best = min(best, time.perf_counter() - start)
    return best, result


def in_child(function: Callable[..., Any], *args: Any) -> tuple[Any, float]:
    """Run a module-level function in a fresh process; its result and the peak memory in GB."""
    context = multiprocessing.get_context("spawn")
    receive, send = context.Pipe(duplex=False)
    process = context.Process(target=_report, args=(send, function, args))
    process.start()
    send.close()
    try:
        result = receive.recv()
    except EOFError:
        result = RuntimeError("the process ended without a result")
    process.join()
    if isinstance(result, BaseException):
        raise result
    return result


def _report(send: Any, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    try:
        value = function(*args)
        send.send((value, peak_memory_gb()))
    except BaseException as error:  # carried to the parent, which raises it
        send.send(error)
