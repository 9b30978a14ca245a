"""Work that threads of this process share, each with one thread of BLAS.

Threads of BLAS wait for each other at every step of a factorisation, and where other programs want the processor too
they wait long: 4000 rows then took ten times as long with two threads as with one. Pieces of work that a thread takes
when it is ready do not wait. The arrays are shared, and the products of NumPy let other threads run.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from threadpoolctl import threadpool_limits

Item = TypeVar("Item")
Result = TypeVar("Result")

# A thread that works on a piece of something sees one thread here, and so does not divide it further.
_threads: ContextVar[int] = ContextVar("threads", default=1)


def blas_threads(n: int) -> threadpool_limits:
    """Give BLAS so many threads, as a context or for good, and lose no interrupt on the way.

    ``threadpoolctl`` asks the system for its libraries, which calls back; what a signal raises in there is printed
    and forgotten. So signals of the user wait until the libraries are known.
    """
    with _interrupts_wait():
        return threadpool_limits(n)


@contextmanager
def _interrupts_wait() -> Iterator[None]:
    """Keep Ctrl-C and SIGTERM for the end of the context; their handlers are called by the main thread alone."""
    came: list[tuple[int, Any]] = []
    handlers: dict[signal.Signals, Any] = {}
    if threading.current_thread() is threading.main_thread():
        ours = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
        handlers = {each: handler for each, handler in ours.items() if callable(handler)}
    try:
        for each in handlers:
            signal.signal(each, lambda *what: came.append(what))
        yield
    finally:
        for each, handler in handlers.items():
            signal.signal(each, handler)
        for number, frame in came:
            handlers[signal.Signals(number)](number, frame)


@contextmanager
def shared_by(n_threads: int) -> Iterator[None]:
    """Let ``spread`` use so many threads, and BLAS one."""
    token = _threads.set(n_threads)
    try:
        with blas_threads(1):
            yield
    finally:
        _threads.reset(token)


def spread(function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """What a function gives for every item, by the threads of ``shared_by``; without it, one by one.

    >>> with shared_by(2):
    ...     spread(abs, [-1, 2, -3])
    [1, 2, 3]
    """
    items = list(items)
    threads = min(_threads.get(), len(items))
    if threads <= 1:
        return [function(item) for item in items]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(function, items))


def n_threads() -> int:
    """How many threads ``spread`` uses here."""
    return _threads.get()
