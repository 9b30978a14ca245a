"""Tables in a terminal and in a pipe."""

from __future__ import annotations

import pytest

from mcls.cli import printing


@pytest.mark.parametrize("title", [None, "A title"])
def test_a_long_table_is_printed_as_a_short_one_is(capsys, monkeypatch, title):
    columns = ["name", "errors in percent", "広い"]
    rows = [["a日本", "1.5", "xx"], ["b", "20", ""], ["c" * 30 + "\x1b[2J", "-3e-7", "y z"], ["", "", "w"]]
    printing.print_table(title, columns, rows)
    short = capsys.readouterr().out
    monkeypatch.setattr(printing, "_MOST_LAID_OUT", 3)
    printing.print_table(title, columns, rows)
    assert capsys.readouterr().out == short
    assert "\x1b" not in short
