"""The table model."""

from __future__ import annotations

import pytest

from mcls.reporting.table import NOTHING, QUICK_NOTE, Entry, Lacking, make, number, seconds, words


def test_numbers_keep_their_value_and_their_sign():
    assert number(1.005, 1, sign=True) == Entry("+1.0", 1.005)
    assert number(None).text == NOTHING
    assert number(None).value is None


def test_seconds_have_three_digits_whatever_their_size():
    assert [seconds(s).text for s in (0.00012345, 1.2345, 99.94, 135384.0)] == [
        "0.000123",
        "1.23",
        "99.9",
        "135384",
    ]


def test_a_column_is_numeric_when_every_entry_is_a_number_or_says_faintly_why_not():
    table = make(
        "t", "t", ["a", "b", "c"], [[number(1), words("x"), number(None)], [number(None), number(2), words("")]]
    )
    assert [table.is_numeric(j) for j in range(3)] == [True, False, False]


def test_a_quick_table_says_so_in_its_heading_and_its_first_note():
    table = make("t", "Table", ["a"], [[words("x")]], ["a note"], quick=True)
    assert "QUICK" in table.heading
    assert table.remarks == (QUICK_NOTE, "a note")
    assert "QUICK" not in make("t", "Table", ["a"], [], ["a note"]).heading


def test_what_is_lacking_is_the_state_of_a_table_and_its_last_note():
    table = make("t", "t", ["a"], [], ["a note"], lacking=Lacking("incomplete", ("1 cell is missing",)))
    assert (table.state, table.notes) == ("incomplete", ("a note", "1 cell is missing"))
    assert make("t", "t", ["a"], []).state == "complete"


def test_rows_of_the_wrong_length_are_refused():
    with pytest.raises(ValueError, match="2 entries for 1 columns"):
        make("t", "t", ["a"], [[words("x"), words("y")]])
