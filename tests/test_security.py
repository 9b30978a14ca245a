"""Every test that SECURITY.md names exists."""

from __future__ import annotations

import re
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]


def test_the_tests_named_in_security_md_exist():
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", (TOP / "SECURITY.md").read_text(encoding="utf-8"))
    assert len(named) > 25
    missing = [
        f"{file}::{test}"
        for file, test in named
        if f"\ndef {test}(" not in (TOP / file).read_text(encoding="utf-8")
    ]
    assert not missing
