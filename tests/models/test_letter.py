"""The promise about large tables, on letter: 16000 rows to learn from, 4000 to judge (minutes; run by make verify)."""

from __future__ import annotations

import gzip

import pytest

from mcls.benchmarks.measure import in_child
from mcls.models.fitting import fit_table
from mcls.models.streaming import judge_table
from mcls.resources import datasets_dir


def error_of(machine, train, test):
    return judge_table(fit_table(train, "class", machine).model, test).error


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
    error, peak = in_child(error_of, machine, train, test)
    assert error <= most
    assert peak < gigabytes
