"""Two commands at work on one place at the same time."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import mcls
from mcls.resources import datasets_dir

MAIN = "from mcls.cli.app import main; main()"
CONFIG = """\
name: lab
datasets: iris:sample=60
machines: [oneLSM, ovO]
folds: 3
replicates: 8
grid: {gamma: [0.25, 4], sigma: [0.5, 2]}
"""


def at_once(*commands: list[object]) -> list[str]:
    """Run commands at the same time; what each printed."""
    printed = []
    started = [
        subprocess.Popen(
            [sys.executable, "-c", MAIN, *map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for command in commands
    ]
    for process in started:
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err.decode()
        printed.append(out.decode())
    return printed


def test_two_runs_into_one_folder_share_the_work(tmp_path):
    (tmp_path / "lab.yaml").write_text(CONFIG)
    run = ["run", tmp_path / "lab.yaml", "-j", 1, "--out"]
    printed = at_once([*run, tmp_path / "both"], [*run, tmp_path / "both"])
    # Each cell is computed once, by whomever it is.
    assert sum(int(re.search(r"(\d+) cells? computed", text)[1]) for text in printed) == 16
    at_once([*run, tmp_path / "alone"])
    both, alone = (
        {p.name: json.loads(p.read_bytes()) for p in (tmp_path / name / "lab/cells").iterdir()}
        for name in ("both", "alone")
    )
    assert len(alone) == 16
    assert {name: record["result"] for name, record in both.items()} == {n: r["result"] for n, r in alone.items()}


def test_two_fits_into_one_file(tmp_path):
    def fit(name: str) -> list[object]:
        return [
            "fit",
            datasets_dir() / "iris.csv",
            "--folds",
            3,
            "--machine",
            "oneLSM:gamma=1",
            "-o",
            tmp_path / name,
        ]

    at_once(fit("one"), fit("one"))
    at_once(fit("alone"))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["alone", "one"]
    assert (tmp_path / "one").read_bytes() == (tmp_path / "alone").read_bytes()
    assert mcls.load(tmp_path / "one").facts.rows == 150
