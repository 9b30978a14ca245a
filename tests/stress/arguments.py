"""Mutated command lines: odd values, paths of odd kinds, options that are missing, doubled or exchanged."""

from __future__ import annotations

import os
import random
import socket
from collections.abc import Sequence

from . import forks, lab
from .attack import Tally
from .inputs import Mutated, judged
from .mutate import text
from .places import Place
from .tables import ONE_POINT, TABLE

_COMMANDS: Sequence[Sequence[object]] = (
    ("run", "lab.yaml", "--out", "out", "--engine", "refit"),
    ("run", "lab.yaml", "--out", "out", "--dry-run"),
    ("run", "lab.yaml", "--out", "out", "--fresh", "--fail-fast"),
    ("validate", "lab.yaml"),
    ("fit", "t.csv", "--target", "kind", *ONE_POINT, "-o", "m.mcls"),
    (
        "fit",
        "t.csv",
        "--target",
        "kind",
        "--grid",
        "gamma=1,sigma=0.5+1",
        "--folds",
        "2",
        "--seed",
        "3",
        "-o",
        "m.mcls",
    ),
    ("predict", "good.mcls", "t.csv", "-o", "o.csv", "--scores"),
    ("evaluate", "good.mcls", "t.csv"),
    ("inspect", "good.mcls"),
    ("init", "t.csv", "--target", "kind", "-o", "i.yaml"),
    ("compare", "oneLSM:gamma=1,sigma=1", "ovO:gamma=1,sigma=1", "--dataset", "t.csv:target=kind", "--out", "out"),
    ("machines", "oneLSM"),
    ("labelbooks",),
    ("data", "list"),
    ("data", "show", "iris"),
    ("data", "fetch", "iris", "--remote", "--mirror", "file:///nowhere"),
    ("data", "import", "iris", "t.csv"),
    ("store", "verify", "out"),
    ("plot", "labelbooks", "--out", "out"),
    ("--version",),
    ("--help",),
)
#: Of odd kinds; made in the work folder. Devices are nodes of its own: what a fault does to them harms nobody.
_PATHS = (
    "folder", "nothing", "fifo", "socket", "null", "zero", "full", "loop", "dangling", "out/../t.csv", "./t.csv",
    "nix/t.csv", "t.csv/", "\x1b[2J.csv", "\udcff.csv", "a\nb.csv", "~nouser/x", "x" * 300, "-", "--", "=x.csv",
    "link", "lab.yaml", "t.csv",
)  # fmt: skip
_MADE = ("work/out", "work/m.mcls", "work/o.csv", "work/i.yaml", "cache")


class Arguments(Mutated):
    """Every command, with one to three changes to its line."""

    name = "arguments"
    what = "mutated command lines of every command, with FIFOs, devices, links and folders as files"
    full = 1500

    def prepare(self, place: Place) -> None:
        """A model."""
        (place.work / "t.csv").write_bytes(TABLE)
        forks.run(place, "fit", "t.csv", "--target", "kind", *ONE_POINT, "-o", "good.mcls")
        self._model = (place.work / "good.mcls").read_bytes()

    def attempt(self, trial: int, place: Place, r: random.Random) -> Tally:
        """One command line. What it may write depends on where its options were turned; nothing else may change."""
        (place.work / "t.csv").write_bytes(TABLE)
        (place.work / "good.mcls").write_bytes(self._model)
        lab.Lab(replicates=1).write_config(place)
        odd = odd_files(place)
        args = _changed(r, [str(a) for a in r.choice(_COMMANDS)])
        outputs = {name.split("/")[0] for a in args for name in (a, a.partition("=")[2])} - {"", *odd}
        ended, faults = judged(
            place, *args, codes=(0, 1, 2), makes=(*_MADE, *(f"work/{name}" for name in outputs)), whole=False
        )
        if ended.code == 1 and args[0] not in ("run", "compare", "store"):
            faults.append(f"mcls {args}: exit code 1: {ended.err!r}")
        return Tally(1, faults + [f"mcls {args}: {name} was replaced" for name in odd_files_lost(place, odd)])


def odd_files(place: Place) -> dict[str, int]:
    """Make a file of each odd kind; their names and kinds."""
    work = place.work
    (work / "folder").mkdir()
    os.mkfifo(work / "fifo")
    os.symlink("loop", work / "loop")
    os.symlink("not-there", work / "dangling")
    os.symlink("t.csv", work / "link")
    with socket.socket(socket.AF_UNIX) as made:
        here = os.open(".", os.O_RDONLY)
        try:
            os.chdir(work)  # the path of a socket is short
            made.bind("socket")
        finally:
            os.fchdir(here)
            os.close(here)
    if os.geteuid() == 0:
        for name, minor in (("null", 3), ("zero", 5), ("full", 7)):
            os.mknod(work / name, 0o666 | 0o020000, os.makedev(1, minor))
    names = ("folder", "fifo", "loop", "dangling", "link", "socket", "null", "zero", "full")
    return {name: _kind(place, name) for name in names if os.path.lexists(work / name)}


def odd_files_lost(place: Place, odd: dict[str, int]) -> list[str]:
    """Those that are of another kind now, or gone."""
    return [name for name, kind in odd.items() if _kind(place, name) != kind]


def _kind(place: Place, name: str) -> int:
    path = place.work / name
    return os.lstat(path).st_mode & 0o170000 if os.path.lexists(path) else -1


def _changed(r: random.Random, args: list[str]) -> list[str]:
    for _ in range(r.randint(1, 3)):
        i = r.randrange(len(args))
        how = r.choice(("value", "path", "path", "drop", "double", "swap", "add", "letter"))
        if how in ("value", "path"):
            args[i] = (text(r) if how == "value" else r.choice(_PATHS)).replace("\x00", "0")
        elif how == "drop" and len(args) > 1:
            del args[i]
        elif how == "double":
            args.insert(i, args[i])
        elif how == "swap":
            j = r.randrange(len(args))
            args[i], args[j] = args[j], args[i]
        elif how == "add":
            args.insert(
                i,
                r.choice(
                    (
                        "--help",
                        "--seed",
                        "99999999999",
                        "--out",
                        "--nested",
                        "-o",
                        "--target",
                        "--folds",
                        "loo",
                        "-x",
                    )
                ),
            )
        elif args[i]:
            at = r.randrange(len(args[i]))
            args[i] = args[i][:at] + r.choice("aZ9-=:, é\x1b\udc80\u202e") + args[i][at + r.randint(0, 1) :]
    if "run" in args or "compare" in args:  # last, where nothing can change it to thousands of workers
        args += ["-j", r.choice(("1", "1", "1", "1", "-1", "x", "", "1.5", "0x1"))]
    return args
