"""Dask: a worker, all workers or the scheduler killed, workers that lack the package; then the run goes on locally."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from . import forks, lab
from .attack import Attack, Tally
from .places import Place
from .processes import members

_START = "import sys; from distributed.cli.dask_{0} import main; sys.argv[0] = 'dask-{0}'; main()"
_WITHOUT = "import sys; sys.modules['mcls'] = None; " + _START.removeprefix("import sys; ")
#: What is killed → the exit codes that are right; a run that still has a worker goes on.
_KILLED = {
    "one worker": (0,),
    "all workers": (1,),
    "the scheduler": (1,),
    "nothing, but the workers lack mcls": (1,),
    "a worker of a private cluster": (0, 1),
}


class Cluster(Attack):
    """``mcls run --scheduler``, and its cluster falls apart."""

    name = "cluster"
    what = "Dask: a worker, all workers or the scheduler killed, or workers without mcls; then resumed"
    full = 10
    short = 0  # every try starts three interpreters
    lanes = 1

    def absent(self) -> str | None:
        """Dask is an extra."""
        return None if importlib.util.find_spec("distributed") else "Dask is not installed"

    def prepare(self, place: Place) -> None:
        """What a run leaves undisturbed."""
        self._lab = lab.Lab(replicates=250)
        self._lab.prepare(place)

    def tries(self) -> Sequence[str]:
        """Each twice."""
        return [*_KILLED, *_KILLED]

    def attempt(self, trial: str, place: Place, r: random.Random) -> Tally:
        """Start the cluster and the run, kill, and see what the run says."""
        self._lab.write_config(place)
        private = "private" in trial
        with contextlib.ExitStack() as stack:
            how: tuple[str, ...] = ("--backend", "dask")
            scheduler, workers = None, []
            if not private:
                scheduler, address = stack.enter_context(_scheduler(place))
                script = _WITHOUT if "lack" in trial else _START
                workers = [stack.enter_context(_worker(place, address, script)) for _ in range(2)]
                _until(lambda: (place.logs / "worker").read_bytes().count(b"Registered to") == 2, "the workers")
                how = ("--scheduler", address)
            jobs = ("-j", "2") if private else ()
            child = forks.start(place, (*lab.RUN[:-2], *how, *jobs), fresh=("-m", "mcls"), env=_environment(place))
            enough = r.randint(1, 40)
            ended = child.wait(until=lambda: "lack" in trial or len(lab.done(place)) >= enough)
            if ended is not None:
                return Tally(1, [f"{trial}: over before anything was killed", *ended.faults(0)])
            if private:
                found = [pid for pid in members(child.pid) if b"spawn_main" in _line(pid)]
                for pid in r.sample(found, min(1, len(found))):
                    os.kill(pid, signal.SIGKILL)
            elif "lack" not in trial:
                victims = {"one worker": workers[:1], "all workers": workers, "the scheduler": [scheduler]}[trial]
                for victim in victims:
                    assert victim is not None
                    os.killpg(victim.pid, signal.SIGKILL)
            ended = child.end()
        faults = ended.faults(*_KILLED[trial])
        if ended.code == 1 and not ended.err.strip().splitlines()[-1:][0].startswith("mcls: "):
            faults.append(f"it does not say in one line what happened: {ended.err[-300:]!r}")
        faults += self._lab.whole(place)
        faults += self._lab.resumed(place)
        return Tally(1, [f"{trial}: {fault}" for fault in faults])


def _environment(place: Place) -> dict[str, str]:
    """What Dask itself leaves among the temporary files is not looked at."""
    return place.environment() | {"TMPDIR": str(place.logs)}


@contextlib.contextmanager
def _process(place: Place, name: str, code: str, *args: str) -> Iterator[subprocess.Popen[bytes]]:
    with (place.logs / name).open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-c", code, *args],
            stdout=log,
            stderr=log,
            env=_environment(place),
            cwd=place.logs,
            start_new_session=True,
        )
        try:
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@contextlib.contextmanager
def _scheduler(place: Place) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    args = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show")
    with _process(place, "scheduler", _START.format("scheduler"), *args) as process:
        told = re.compile(rb"tcp://127\.0\.0\.1:\d+")
        found = _until(lambda: told.search((place.logs / "scheduler").read_bytes()), "the scheduler")
        yield process, found[0].decode()


def _until(condition: Callable[[], Any], what: str) -> Any:
    """Wait until something is there; it may take its time on a machine with other work to do."""
    deadline = time.monotonic() + forks.HUNG
    while not (found := condition()):
        if time.monotonic() > deadline:
            raise RuntimeError(f"{what} did not start")
        time.sleep(0.05)
    return found


@contextlib.contextmanager
def _worker(place: Place, address: str, script: str) -> Iterator[subprocess.Popen[bytes]]:
    args = (address, "--no-nanny", "--no-dashboard", "--nthreads", "1", "--local-directory", str(place.logs))
    with _process(place, "worker", script.format("worker"), *args) as process:
        yield process


def _line(pid: int) -> bytes:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""
