"""The short form of the stress suite: a few tries of every attack, in a process of their own, seconds in all."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]


@pytest.mark.long
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the suite looks at processes the way of Linux")
def test_a_few_tries_of_every_attack_hold(tmp_path):
    command = [sys.executable, "-m", "tests.stress", "--short", "-j", "1", "--write", str(tmp_path)]
    done = subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    with (tmp_path / "stress.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    tried = {row["attack"]: int(row["tried"]) for row in rows}
    assert {"run-steps", "tables", "configs", "models", "cells", "mirrors", "arguments", "flips"} <= tried.keys()
    assert sum(tried.values()) > 150
    assert all(row["failed"] == "0" for row in rows if row["tried"] != "0")


def test_an_injected_failure_is_seen_where_it_is_made(tmp_path):
    (tmp_path / "lab.yaml").write_text(
        "datasets: lenses\nmachines: oneLSM\nreplicates: 1\nfolds: 2\ngrid: {gamma: 1}\n"
    )
    run = ["run", "lab.yaml", "--out", "out", "-j", "1"]
    command = [sys.executable, "-m", "tests.stress.inject", "3", "kill", "--", *run]
    done = subprocess.run(
        command, cwd=tmp_path, env={"PYTHONPATH": str(TOP)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == -9
    assert len(done.stderr.splitlines()) == 3  # the calls up to the one that was not made
    assert not list(tmp_path.rglob("config.yaml"))
