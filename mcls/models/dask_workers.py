"""A large table read by the workers of a Dask cluster, each its own pieces; see ``mcls.models.spreading``.

Everything that workers are given is a task of Dask's, also the sums of sums: what a lost worker had is computed again
by others. Pieces are handed out group by group, the sum of a group before the next group: a worker adds up what it has
before it reads on.
"""

from __future__ import annotations

import contextlib
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self

from mcls.clusters import ANSWER, PATIENCE, ClusterError, check_workers, connect, quiet, require_dask
from mcls.data.parts import Piece
from mcls.errors import McLsError
from mcls.models.spreading import OnPiece
from mcls.solvers.gram_sums import FAN, Sums, add_up

_LOOK_AGAIN = 1.0  # seconds between two looks at the workers
_AHEAD = 4  # pieces of small results that are handed out for each worker


class DaskWorkers:
    """The workers of a cluster, as ``Workers``.

    Parameters
    ----------
    scheduler : str or None
        The address of a running scheduler; None for a private cluster.
    jobs : int
        The number of processes of a private cluster.
    """

    threads = 1

    def __init__(self, scheduler: str | None, jobs: int) -> None:
        require_dask()
        self.jobs = jobs
        self._scheduler, self._resources = scheduler, contextlib.ExitStack()
        self._checked: set[str] = set()

    def __enter__(self) -> Self:
        try:
            self._resources.enter_context(quiet())
            told = warnings.catch_warnings()
            self._resources.enter_context(told)
            warnings.filterwarnings("ignore", message="Sending large graph")
            self._client = self._resources.enter_context(connect(self._scheduler, self.jobs, self._resources))
            self._seen = time.monotonic()
            self._look()
            while not self._checked:
                time.sleep(0.1)
                self._look()
        except BaseException:
            self._resources.close()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self._resources.close()

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
                return future.result(timeout=_LOOK_AGAIN)
            except TimeoutError:
                self._look()
                meanwhile()
            except KilledWorker:
                raise McLsError(
                    "several Dask workers ended over one piece of the table: give them more memory, or use fewer "
                    "landmarks (--machine oneLSM:n_landmarks=1000)"
                ) from None
            except McLsError:
                raise
            except (OSError, RuntimeError) as error:
                if self._client.status != "running":
                    raise self._gone() from None
                if isinstance(error, ClusterError):
                    raise
                told = " ".join(f"{type(error).__name__}: {error}".split())
                raise McLsError(f"a Dask worker cannot read its piece of the table: {told}") from None

    def _gone(self) -> McLsError:
        return McLsError("the Dask scheduler is gone; the same command goes on after the last whole pass")

    def _look(self) -> None:
        """See which workers there are, and refuse those of other versions."""
        try:
            if self._client.status != "running":
                raise self._gone()
            threads = self._client.nthreads(callback_timeout=ANSWER)
            new = sorted(threads.keys() - self._checked)
            self._checked |= check_workers(self._client, new)
        except (OSError, TimeoutError):
            raise self._gone() from None
        except ClusterError as error:
            raise McLsError(str(error)) from None
        if threads:
            self._seen = time.monotonic()
            self.jobs = max(1, sum(threads.values()))
        elif time.monotonic() - self._seen > PATIENCE:
            raise McLsError(f"no Dask worker has been there for {PATIENCE:.0f} seconds")
