"""The promise about large tables, on letter: 16000 rows to learn from, 4000 to judge (minutes; run by make verify)."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys

import pytest

from mcls.resources import datasets_dir

#: Fits and judges in a process of its own, so that the peak of its memory is its own.
SCRIPT = """
import json, sys
from mcls.environment import peak_memory_gb
from mcls.models.fitting import fit_table
from mcls.models.streaming import judge_table
machine, train, test = sys.argv[1:]
print(json.dumps([judge_table(fit_table(train, "class", machine).model, test).error, peak_memory_gb()]))
"""


@pytest.mark.full
@pytest.mark.parametrize(
    "machine, most, gigabytes",
    [("oneLSM:solver=exact", 0.030, 16.0), ("oneLSM:solver=nystrom,n_landmarks=4000", 0.045, 3.0)],
)
def test_letter(tmp_path, machine, most, gigabytes):
    head, *rows = gzip.decompress((datasets_dir() / "letter.csv.gz").read_bytes()).decode().splitlines()
    train, test = tmp_path / "train.csv", tmp_path / "test.csv"
    train.write_text("\n".join([head, *rows[:16000]]) + "\n")
    test.write_text("\n".join([head, *rows[16000:]]) + "\n")
    command = [sys.executable, "-c", SCRIPT, machine, str(train), str(test)]
    error, peak = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert error <= most
    assert peak < gigabytes
