"""Mutated tables: as another program, country or person might have written them, damaged, or not tables at all."""

from __future__ import annotations

import gzip
import random

from . import forks
from .attack import Tally
from .inputs import Mutated, judged
from .mutate import damaged, text
from .places import Place

ROWS = [f"{i % 7 + 3.5 * (i % 2)},{i * 0.25},{'red' if i % 2 else 'blue'},{'ab'[i % 2]}" for i in range(16)]
TABLE = ("size,age,hue,kind\n" + "\n".join(ROWS) + "\n").encode()
ONE_POINT = ("--machine", "oneLSM:gamma=0.5,sigma=1", "--folds", 2)
CONFIG = """\
name: lab
datasets: {path: t.csv, target: "%s"}
machines: oneLSM
folds: 2
replicates: 1
grid: {gamma: 1, sigma: 1}
"""


class Tables(Mutated):
    """Every command that reads a table."""

    name = "tables"
    what = "mutated tables through fit, predict, evaluate, init and run"
    full = 3500

    def prepare(self, place: Place) -> None:
        """A model to predict with."""
        (place.work / "good.csv").write_bytes(TABLE)
        forks.run(place, "fit", "good.csv", "--target", "kind", *ONE_POINT, "-o", "good.mcls")
        self._model = (place.work / "good.mcls").read_bytes()

    def attempt(self, trial: int, place: Place, r: random.Random) -> Tally:
        """One table, one command."""
        (place.work / "good.mcls").write_bytes(self._model)
        name = _written(place, r)
        target = r.choice(("kind", "kind", "kind", "-1", "0", "hue", "9"))
        header = r.choice(((), (), (), ("--header",), ("--no-header",)))
        command = r.choice(("fit", "fit", "predict", "predict", "evaluate", "init", "run", "dry-run"))
        if command == "fit":
            args = ("fit", name, "--target", target, *header, *ONE_POINT, "-o", "m.mcls")
            return Tally(1, judged(place, *args, makes=("work/m.mcls",))[1])
        if command == "predict":
            scores = r.choice(((), ("--scores",)))
            return Tally(
                1, judged(place, "predict", "good.mcls", name, "-o", "o.csv", *scores, makes=("work/o.csv",))[1]
            )
        if command == "evaluate":
            return Tally(1, judged(place, "evaluate", "good.mcls", name)[1])
        if command == "init":
            args = ("init", name, "--target", target, *header, "-o", "i.yaml")
            return Tally(1, judged(place, *args, makes=("work/i.yaml",))[1])
        (place.work / "lab.yaml").write_text((CONFIG % target).replace("t.csv", name))
        if command == "dry-run":
            return Tally(1, judged(place, "run", "lab.yaml", "--out", "out", "--dry-run")[1])
        args = ("run", "lab.yaml", "--out", "out", "-j", "1")
        return Tally(1, judged(place, *args, codes=(0, 1, 2), makes=("work/out",), whole=False)[1])


def _written(place: Place, r: random.Random) -> str:
    """A mutated table in the work folder; its name."""
    kind = r.random()
    data = damaged(r, TABLE) if kind < 0.35 else r.randbytes(r.randint(0, 300)) if kind < 0.4 else _retyped(r)
    name = r.choice(("t.csv",) * 8 + ("t.tsv", "t.csv.gz"))
    if name.endswith("gz"):
        data = r.choice((data, gzip.compress(data), gzip.compress(data)[:-5], damaged(r, gzip.compress(data))))
    (place.work / name).write_bytes(data)
    return name


def _retyped(r: random.Random) -> bytes:
    lines = [line.split(",") for line in TABLE.decode().splitlines()]
    for _ in range(r.randint(0, 4)):
        row = r.randrange(len(lines))
        how = r.choice(("cell", "cell", "cell", "column", "ragged", "drop", "again", "constant", "unique"))
        if how == "cell":
            lines[row] = lines[row].copy()
            lines[row][r.randrange(len(lines[row]))] = text(r)
        elif how == "column":
            at, name, cells = r.randint(0, 3), text(r), [text(r) for _ in range(r.randint(1, 3))]
            lines = [
                [*line[:at], cells[i % len(cells)] if i else name, *line[at:]] for i, line in enumerate(lines)
            ]
        elif how == "ragged":
            lines[row] = r.choice((lines[row][:-1] or ["1"], [*lines[row], "1"]))
        elif how == "drop" and len(lines) > 1:
            del lines[row : row + r.choice((1, 1, 14))]
            lines = lines or [["1"]]
        elif how == "constant":
            lines = [[*line[:-1], text(r)[:20] if i == 0 else line[-1]] for i, line in enumerate(lines)]
        elif how == "unique":
            lines = [[f"{cell}{i}" for cell in line] if r.random() < 0.5 else line for i, line in enumerate(lines)]
        else:
            lines += [lines[row % len(lines)]] * r.choice((1, 3, 300))
    sep = r.choice((",",) * 6 + (";", "\t", "|", ", "))
    quote = r.choice(("",) * 6 + ('"', "'"))
    ending = r.choice(("\n", "\n", "\n", "\r\n", "\r"))
    whole = ending.join(sep.join(f"{quote}{cell}{quote}" for cell in line) for line in lines)
    if r.random() < 0.1:
        whole = whole.replace(".", ",")
    codes = ("utf-8",) * 8 + ("utf-8-sig", "utf-16", "utf-16-be", "utf-32", "latin-1", "cp1252", "utf-7", "cp037")
    return whole.encode(r.choice(codes), "replace")
