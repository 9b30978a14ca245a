"""Hard places: a full disk, no permission, a closed pipe, little memory, odd variables and locales.

A command may fail there, with one line and a documented exit code; what was there before stays. The same command in a
good place then ends as if nothing had been.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import random
import resource
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from . import forks, lab
from .attack import Attack, Tally
from .places import UNFORESEEN, Ended, Place
from .steps import iris_raw
from .tables import ONE_POINT, TABLE

_NOBODY = 65534
_CLONE_NEWNS = 0x00020000
_MS_PRIVATE_ALL = (1 << 18) | (1 << 14)

#: Name → command line. The last ones say much and do little.
COMMANDS: dict[str, Sequence[object]] = {
    "run": lab.RUN,
    "fit": ("fit", "t.csv", "--target", "kind", *ONE_POINT, "-o", "m.mcls"),
    "predict": ("predict", "good.mcls", "t.csv", "-o", "o.csv"),
    "init": ("init", "t.csv", "--target", "kind", "-o", "i.yaml"),
    "fetch": ("data", "fetch", "iris", "--remote", "--mirror", "MIRROR"),
    "evaluate": ("evaluate", "good.mcls", "t.csv"),
    "inspect": ("inspect", "good.mcls"),
    "validate": ("validate", "lab.yaml"),
    "dry-run": (*lab.RUN, "--dry-run"),
    "list": ("data", "list"),
    "machines": ("machines",),
    "help": ("run", "--help"),
}
_WRITING = ("run", "fit", "predict", "init", "fetch")
_ALL = tuple(COMMANDS)
_FEW = ("run", "fit", "evaluate", "list")


@dataclass(frozen=True)
class Hardship:
    """A hard place.

    Parameters
    ----------
    codes : tuple of int
        Exit codes that are right there.
    commands : tuple of str
        What is tried.
    env : dict
        Variables; None unsets one.
    make : callable, optional
        Makes the place hard, in the child, before the command.
    fresh : bool
        Whether the command needs an interpreter of its own: what one does at its start and its end counts.
    allowed : str
        What may stand in an error that nobody foresaw.
    done : bool
        Whether the work must be done all the same.
    """

    name: str
    codes: tuple[int, ...] = (0,)
    commands: tuple[str, ...] = _ALL
    env: dict[str, str | None] = field(default_factory=dict)
    make: Callable[[], None] | None = None
    fresh: bool = False
    allowed: str = "\n"
    done: bool = False


def _to(path: str, *numbers: int) -> Callable[[], None]:
    def make() -> None:
        handle = os.open(path, os.O_WRONLY)
        for number in numbers:
            os.dup2(handle, number)

    return make


def _to_a_closed_pipe(*numbers: int) -> Callable[[], None]:
    def make() -> None:
        reading, writing = os.pipe()
        os.close(reading)
        for number in numbers:
            os.dup2(writing, number)

    return make


def _closed(*numbers: int) -> Callable[[], None]:
    return lambda: [os.close(number) for number in numbers] and None


def _file_size(limit: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))


def _small_disk(folder: str, blocks: int) -> Callable[[], None]:
    """A disk of so many blocks of 4 kB over a folder, for the child alone."""

    def make() -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        place = Path.cwd().parent / folder
        place.mkdir(exist_ok=True)
        size = f"nr_blocks={blocks},nr_inodes=40".encode()
        if (
            libc.unshare(_CLONE_NEWNS)
            or libc.mount(b"none", b"/", None, _MS_PRIVATE_ALL, None)
            or libc.mount(b"none", os.fsencode(place), b"tmpfs", 0, size)
        ):
            raise OSError(ctypes.get_errno(), "no disk of its own")

    return make


def _nobody(*closed: str, mode: int = 0o555) -> Callable[[], None]:
    """An unprivileged user, to whom some folders are closed."""

    def make() -> None:
        home = Path.cwd().parent
        for name in ("work", "home", "cache", "tmp"):
            for folder, names, files in os.walk(home / name):
                for each in (folder, *(os.path.join(folder, entry) for entry in (*names, *files))):
                    os.chown(each, _NOBODY, _NOBODY, follow_symlinks=False)
        for name in closed:
            (home / name).mkdir(exist_ok=True)
            os.chmod(home / name, mode)
            os.chown(home / name, 0, 0)
        os.setgroups([])
        os.setgid(_NOBODY)
        os.setuid(_NOBODY)

    return make


HARDSHIPS = (
    # Standard output and error. A reader that leaves costs no finished work.
    Hardship("output to a full device", (1,), make=_to("/dev/full", 1), fresh=True, done=True),
    Hardship("output to a closed pipe", (141,), make=_to_a_closed_pipe(1), fresh=True, done=True),
    Hardship("errors to a closed pipe", (0,), make=_to_a_closed_pipe(2), fresh=True, done=True),
    Hardship("errors to a full device", (0,), make=_to("/dev/full", 2), fresh=True, done=True),
    Hardship("no output at all", (0,), make=_closed(1), fresh=True, done=True),
    Hardship("no output, no errors, no input", (0,), make=_closed(0, 1, 2), fresh=True, done=True),
    # The disk.
    *(Hardship(f"files of at most {n} bytes", (0, 2), _WRITING, make=_file_size(n)) for n in (60, 400, 2000)),
    *(
        Hardship(f"a disk of {n} kB", (0, 2), (command,), make=_small_disk(folder, n // 4))
        for n in (4, 8, 24, 48)
        for command, folder in (("run", "work/out"), ("fetch", "cache"))
    ),
    Hardship("a folder of results that cannot be written", (2,), ("run",), make=_nobody("work/out")),
    Hardship("a folder of results that cannot be read", (2,), ("run",), make=_nobody("work/out", mode=0)),
    Hardship("a work folder that cannot be written", (2,), ("run", "fit", "predict", "init"), make=_nobody("work")),
    Hardship("a cache that cannot be written", (2,), ("fetch",), make=_nobody("cache")),
    Hardship("a cache that cannot be entered", (0,), ("list", "dry-run", "validate"), make=_nobody("cache", mode=0)),
    Hardship("a home that cannot be entered", (0,), make=_nobody("home", mode=0)),
    Hardship("no cache", (0, 2), env={"MCLS_CACHE": "~nouser/x"}),
    Hardship("a file as the cache", (0, 2), env={"MCLS_CACHE": "lab.yaml"}),
    Hardship("no folder for temporary files", (0, 2), env={"TMPDIR": "/nonexistent"}),
    # Memory. Where there is none, one line is all that can be asked for. Between these sizes lies one in which OpenBLAS
    # has room for some of its threads' buffers and tries for ever to get the others, which no caller can prevent.
    *(
        Hardship(f"{n} MB of memory", (0, 1, 2), make=forks.limited(n), allowed="mcls: ")
        for n in (1, 4, 192, 256)
    ),
    # Variables and locales; PYTHON… are read when an interpreter starts.
    *(
        Hardship(f"{name}={value}", env={name: value})
        for name, value in (
            ("HOME", None), ("HOME", "/nonexistent"), ("HOME", ""), ("TERM", "dumb"), ("TERM", None),
            ("TERM", "\x1b[2J"), ("COLUMNS", "1"), ("COLUMNS", "0"), ("COLUMNS", "-5"), ("COLUMNS", "x"),
            ("COLUMNS", "99999"), ("LINES", "0"), ("NO_COLOR", "1"), ("TZ", "nowhere/at all"),
            ("PAGER", "false"), ("MCLS_MIRROR", "gopher://x"), ("USER", None), ("QUICK", ""),
        )
    ),
    *(
        Hardship(", ".join(f"{k}={v}" for k, v in env.items()), commands=_FEW, env=env, fresh=True)
        for env in (
            {"LC_ALL": "C"},
            {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
            {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
            {"LC_ALL": "tr_TR.UTF-8"},
            {"LC_ALL": "xx_XX.nonsense"},
            {"PYTHONIOENCODING": "latin-1"},
            {"PYTHONWARNINGS": "error"},
            {"PYTHONOPTIMIZE": "2"},
            {"PYTHONHASHSEED": "1", "PYTHONUNBUFFERED": "1", "PYTHONNOUSERSITE": "1"},
            {"PYTHONDEVMODE": "1"},
            {"OMP_NUM_THREADS": "x", "OPENBLAS_NUM_THREADS": "-1"},
            {"MPLBACKEND": "nonsense", "MPLCONFIGDIR": "/nonexistent"},
            {"PATH": "", "HOME": None, "LANG": None, "USER": None, "TMPDIR": None, "TERM": None},
        )
    ),
)  # fmt: skip


class HardPlaces(Attack):
    """Each hard place with each command that it is hard for."""

    name = "hardship"
    what = "full disks, no permission, closed pipes, little memory, odd variables and locales"
    short = 5

    def prepare(self, place: Place) -> None:
        """The files that each command leaves in a good place."""
        self._lab = lab.Lab(replicates=2)
        _lay_out(place, self._lab, None)
        forks.run(place, "fit", "t.csv", "--target", "kind", *ONE_POINT, "-o", "good.mcls")
        self._model = (place.work / "good.mcls").read_bytes()
        self._good = {}
        for name in COMMANDS:
            _lay_out(Place.make(place.root), self._lab, self._model)
            ended = forks.run(place, *_line(name, place))
            if ended.code:
                raise RuntimeError(f"{name} failed in a good place: {ended.err}")
            self._good[name] = place.content()
        self._lab.prepare(Place.make(place.root))

    def tries(self) -> Sequence[tuple[Hardship, str]]:
        """Only root can be someone else, and mount a small disk."""
        return [
            (hardship, command)
            for hardship in HARDSHIPS
            for command in hardship.commands
            if os.geteuid() == 0 or ("cannot be" not in hardship.name and "a disk of" not in hardship.name)
        ]

    def attempt(self, trial: tuple[Hardship, str], place: Place, r: random.Random) -> Tally:
        """In the hard place, then in a good one."""
        hard, command = trial
        os.chmod(place.root.parent, 0o755)
        _lay_out(place, self._lab, self._model)
        env = {k: v for k, v in (place.environment() | hard.env).items() if v is not None}
        fresh = ("-m", "mcls") if hard.fresh else None
        ended = forks.run(place, *_line(command, place), env=env, before=hard.make, fresh=fresh)
        faults = _faults(ended, hard)
        if hard.done:
            faults += self._differs(command, place)
        faults += self._lab.whole(place) + [f"half an output: {name}" for name in self._halves(command, place)]
        with contextlib.suppress(OSError):
            for folder, _, _ in os.walk(place.root):
                os.chmod(folder, 0o755)
        if command == "init":
            (place.work / "i.yaml").unlink(missing_ok=True)  # it would refuse to replace it
        again = forks.run(place, *_line(command, place))
        faults += [f"afterwards, in a good place: {fault}" for fault in again.faults(0)]
        faults += [f"afterwards, in a good place: {fault}" for fault in self._differs(command, place)]
        return Tally(1, [f"{hard.name}, {command}: {fault}" for fault in faults])

    def _halves(self, command: str, place: Place) -> list[str]:
        now, good = place.content(), self._good[command]
        names = ("work/m.mcls", "work/o.csv", "work/i.yaml", "cache/iris/iris.data")
        return [name for name in names if name in now and now[name] != good.get(name)]

    def _differs(self, command: str, place: Place) -> list[str]:
        if command == "run":
            return self._lab.finished(place)
        now, good = place.content(), self._good[command]
        odd = sorted(name for name in now.keys() | good.keys() if now.get(name) != good.get(name))
        return [f"other files than in a good place: {odd}"] if odd else []


def _lay_out(place: Place, experiment: lab.Lab, model: bytes | None) -> None:
    experiment.write_config(place)
    (place.work / "t.csv").write_bytes(TABLE)
    (place.work / "mirror").mkdir(exist_ok=True)
    (place.work / "mirror" / "iris.data").write_bytes(iris_raw())
    if model is not None:
        (place.work / "good.mcls").write_bytes(model)


def _line(command: str, place: Place) -> list[object]:
    return [(place.work / "mirror").as_uri() if a == "MIRROR" else a for a in COMMANDS[command]]


def _faults(ended: Ended, hard: Hardship) -> list[str]:
    if UNFORESEEN in ended.err and hard.allowed in ended.err and "Traceback" not in ended.err:
        return [] if ended.code in hard.codes else [f"exit code {ended.code}: {ended.err[-300:]!r}"]
    return ended.faults(*hard.codes)
