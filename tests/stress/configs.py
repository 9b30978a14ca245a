"""Mutated configs: every field replaced, removed, renamed or doubled; bytes damaged; YAML's darker corners."""

from __future__ import annotations

import json
import random
from copy import deepcopy

import yaml

from mcls.resources import configs_dir

from .. import rich_config
from .attack import Tally
from .inputs import Mutated, judged
from .mutate import changed, damaged, text
from .places import Place

RICH = {**rich_config.RICH, "datasets": [*rich_config.RICH["datasets"], {"path": "t.csv", "target": "kind"}]}
_DARK = (
    b"&a [*a]\n",
    b"a: &a [x]\nb: *a\n",
    b"!!python/object/apply:os.system [touch gone]\n",
    b"!!python/name:os.system\n",
    b"datasets: !!binary aXJpcw==\n",
    b"? [a, b]\n: c\n",
    b"<<: {datasets: iris}\n",
    b"--- \ndatasets: iris\n---\ndatasets: wine\n",
    b"%YAML 9.9\n---\ndatasets: iris\n",
    b"datasets: " + b"[" * 5000 + b"]" * 5000,
    b"datasets: " + b"{a: " * 5000,
    b"datasets: iris\n" * 60_000,
    b"a: b\n" + b"- " * 400_000,
    b"datasets: " + b"a" * 999_000,
    b"datasets: [" + b"iris, " * 160_000 + b"]",
    b"machines: {" + b"".join(b"a%d: 1, " % i for i in range(90_000)) + b"}",
    b"grid: {gamma: [" + b"1, " * 300_000 + b"1]}\ndatasets: iris\nmachines: oneLSM\n",
    b"replicates: 1000000000\ndatasets: iris\nmachines: oneLSM\n",
    b"grid: {gamma: 2^-400..2^400, sigma: 2^-400..2^400}\ndatasets: iris\nmachines: oneLSM\n",
    b"datasets: iris\nmachines: oneLSM\nreplicates: 0b111_1\n",
    b"datasets: iris\nmachines: oneLSM\nreplicates: 190:20:30\n",
    b"datasets: iris\nmachines: oneLSM\nreplicates: 2001-01-01\n",
)


class Configs(Mutated):
    """``validate`` and ``run --dry-run``, which compute nothing."""

    name = "configs"
    what = "mutated configs through validate and run --dry-run"
    full = 2500

    def attempt(self, trial: int, place: Place, r: random.Random) -> Tally:
        """One config."""
        (place.work / "c.yaml").write_bytes(_text(r) if trial >= len(_DARK) else _DARK[trial])
        (place.work / "t.csv").write_text("a,b,kind\n" + "1,2,x\n3,1,y\n" * 8)
        command = r.choice((("validate", "c.yaml"), ("run", "c.yaml", "--out", "out", "--dry-run")))
        return Tally(1, judged(place, *command)[1])


def _text(r: random.Random) -> bytes:
    how = r.random()
    if how < 0.3:
        shipped = sorted(configs_dir().glob("*.yaml"))
        return damaged(r, r.choice((yaml.safe_dump(RICH).encode(), r.choice(shipped).read_bytes())))
    if how < 0.35:
        return r.randbytes(r.randint(0, 300))
    values = deepcopy(RICH)
    changed(r, values)
    if r.random() < 0.2:
        values[r.choice(sorted(values, key=str))] = text(r)
    try:
        written = yaml.safe_dump(values, allow_unicode=True) if r.random() < 0.7 else json.dumps(values)
    except (RecursionError, ValueError, TypeError):  # deeper or longer than the writers go
        written = "[" * 900
    return written.encode("utf-8", "surrogatepass")
