"""Who reads the pieces of a large table: the threads of this process, or the workers of a Dask cluster.

Both give the same results to the last bit: see ``mcls.solvers.gram_sums``.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol

from mcls.data.parts import Piece
from mcls.solvers.gram_sums import Sums, TreeSum

#: Told how many pieces are done.
OnPiece = Callable[[int], None]


class Workers(Protocol):
    """What computes a function of every piece. Its last argument is a number of threads."""

    @property
    def jobs(self) -> int:
        """Threads, or processes, that work at once."""

    #: Threads that share one piece, and so the memory for its sums.
    threads: int

    def share(self, make: Callable[..., Any], *args: Any) -> Any:
        """What ``make`` gives, made once for all pieces: one of the ``shared`` arguments below."""

    def each(
        self, function: Callable[..., Any], pieces: Sequence[Piece], shared: Sequence[Any], done: OnPiece
    ) -> Iterator[Any]:
        """The results in the order of the pieces; they are small."""

    def total(
        self, function: Callable[..., Sums], pieces: Sequence[Piece], shared: Sequence[Any], done: OnPiece
    ) -> Sums:
        """The sum of the results, added up in the order of ``TreeSum``."""


class Here:
    """This process: small results by one thread per piece, sums by all threads on one piece after the other."""

    def __init__(self, threads: int | None = None) -> None:
        self.threads = threads or os.cpu_count() or 1
        self.jobs = self.threads

    def share(self, make: Callable[..., Any], *args: Any) -> Any:
        """The thing itself."""
        return make(*args)

    def each(
        self, function: Callable[..., Any], pieces: Sequence[Piece], shared: Sequence[Any], done: OnPiece
    ) -> Iterator[Any]:
        """Some pieces ahead of what is asked for."""
        waiting: deque[Future[Any]] = deque()
        with ThreadPoolExecutor(self.threads) as pool:
            try:
                for i, piece in enumerate(pieces):
                    waiting.append(pool.submit(function, piece, *shared))
                    if len(waiting) > self.threads:
                        yield waiting.popleft().result()
                        done(i + 1 - len(waiting))
                while waiting:
                    yield waiting.popleft().result()
                    done(len(pieces) - len(waiting))
            finally:
                pool.shutdown(wait=True, cancel_futures=True)

    def total(
        self, function: Callable[..., Sums], pieces: Sequence[Piece], shared: Sequence[Any], done: OnPiece
    ) -> Sums:
        """One piece after the other."""
        tree = TreeSum()
        for i, piece in enumerate(pieces):
            tree.add(function(piece, *shared, self.threads))
            done(i + 1)
        return tree.total()
