"""A large table read by the workers of a Dask cluster, each its own pieces; see ``mcls.models.spreading``.

Everything that workers are given is a task of Dask's, also the sums of sums: what a lost worker had is computed again
by others. Pieces are handed out group by group, the sum of a group before the next group: a worker adds up what it has
before it reads on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self

from mcls.clusters import LOOK_AGAIN, Connection
from mcls.data.parts import Piece
from mcls.errors import ClusterError, McLsError
from mcls.models.spreading import OnPiece
from mcls.solvers.gram_sums import FAN, Sums, add_up

_AHEAD = 4  # pieces of small results that are handed out for each worker


class DaskWorkers:
    """The workers of a cluster, as ``Workers``; see ``mcls.clusters.Connection`` for the parameters."""

    threads = 1

    def __init__(self, scheduler: str | None, jobs: int) -> None:
        self._scheduler, self._jobs = scheduler, jobs

    def __enter__(self) -> Self:
        self._cluster = Connection(self._scheduler, self._jobs)
        self._client = self._cluster.client
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._cluster.close()
        if isinstance(error, ClusterError):
            raise ClusterError(f"{error}; the same command goes on after the last whole pass") from None

    @property
    def jobs(self) -> int:
        """How many pieces are read at once."""
        return max(1, self._cluster.threads)

    def share(self, make: Callable[..., Any], *args: Any) -> Any:
        """A task, so that it is made again where the worker that had it is lost."""
        return self._client.submit(make, *args, pure=False)

    def each(
        self, function: Callable[..., Any], pieces: Sequence[Piece], shared: Sequence[Any], done: OnPiece
    ) -> Iterator[Any]:
        """Some pieces ahead of what is asked for."""
        waiting: deque[Any] = deque()
        for i, piece in enumerate(pieces):
            waiting.append(self._client.submit(function, piece, *shared, pure=False))
            if len(waiting) > _AHEAD * self.jobs:
                yield self._result(waiting.popleft())
                done(i + 1 - len(waiting))
        while waiting:
            yield self._result(waiting.popleft())
            done(len(pieces) - len(waiting))

    def total(
        self, function: Callable[..., Sums], pieces: Sequence[Piece], shared: Sequence[Any], done: OnPiece
    ) -> Sums:
        """The tree of sums as tasks."""
        finished: list[Any] = []
        level = []
        for start in range(0, len(pieces), FAN):
            group = [
                self._client.submit(function, piece, *shared, pure=False) for piece in pieces[start : start + FAN]
            ]
            for future in group:
                future.add_done_callback(lambda future: finished.append(future.key))
            level.append(self._client.submit(add_up, group, pure=False))
        while len(level) > 1:
            level = [
                self._client.submit(add_up, level[start : start + FAN], pure=False)
                for start in range(0, len(level), FAN)
            ]
        return self._result(level[0], lambda: done(min(len(set(finished)), len(pieces))))

    def _result(self, future: Any, meanwhile: Callable[[], None] = lambda: None) -> Any:
        """The result of a task; the workers are looked at while it is waited for."""
        from distributed.scheduler import KilledWorker

        while True:
            try:
                return future.result(timeout=LOOK_AGAIN)
            except TimeoutError:
                self._cluster.look()
                meanwhile()
            except KilledWorker:
                raise McLsError(
                    "several Dask workers ended over one piece of the table: give them more memory, or use fewer "
                    "landmarks (--machine oneLSM:n_landmarks=1000)"
                ) from None
            except McLsError:
                raise
            except (OSError, RuntimeError) as error:
                self._cluster.require_scheduler()
                if isinstance(error, ClusterError):
                    raise
                told = " ".join(f"{type(error).__name__}: {error}".split())
                raise McLsError(f"a Dask worker cannot read its piece of the table: {told}") from None
