"""SECURITY.md: every test that it names exists, and the table of the stress suite is the one that was written last."""

from __future__ import annotations

import re
from pathlib import Path

from .stress.table import MARKS, show, shown

TOP = Path(__file__).resolve().parents[1]
PAGE = TOP / "SECURITY.md"


def test_the_tests_named_in_security_md_exist():
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE.read_text(encoding="utf-8"))
    assert len(named) > 25
    missing = [
        f"{file}::{test}"
        for file, test in named
        if f"\ndef {test}(" not in (TOP / file).read_text(encoding="utf-8")
    ]
    assert not missing


def test_the_table_of_the_stress_suite_is_the_one_that_was_written_last():
    between = PAGE.read_text(encoding="utf-8").split(MARKS[0])[1].split(MARKS[1])[0]
    written = TOP / "results" / "stress"
    assert between == (shown(written) if written.is_dir() else "No run is recorded yet.\n")


def test_a_table_is_put_between_the_marks(tmp_path):
    (tmp_path / "stress.md").write_text("# What was tried against mcls, and what failed\n\ntoday\n\n| attack |\n")
    page = tmp_path / "page.md"
    page.write_text(f"above\n{MARKS[0]}old\n{MARKS[1]}below\n")
    for _ in range(2):
        show(tmp_path, page)
        assert page.read_text() == f"above\n{MARKS[0]}today\n\n| attack |\n{MARKS[1]}below\n"
