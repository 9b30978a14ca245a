"""The table model."""

from __future__ import annotations

import pytest

from mcls.reporting.table import NOTHING, QUICK_NOTE, Entry, make, number, seconds, words


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


@pytest.mark.parametrize(
    "entries, notes, state",
    [
        ([number(1.0, source="#cells")], [], "complete"),
        ([number(1.0, source="#cells")], ["INCOMPLETE: 1 of 2 cells are missing"], "incomplete"),
        ([words("1 missing of 1", "weak")], ["INCOMPLETE: 1 of 1 cells are missing"], "not run"),
        ([words("not run: mcls data fetch x", "weak")], [], "not run"),
        ([words("not run", "weak"), words("confirmed", "good")], [], "incomplete"),
        ([words("not complete", "weak")], [], "not run"),
        ([number(None)], [], "complete"),  # a dash where the paper has no figure
    ],
)
def test_a_table_knows_whether_all_of_it_was_run(entries, notes, state):
    assert make("t", "t", ["a"], [[entry] for entry in entries], notes).state == state


def test_rows_of_the_wrong_length_are_refused():
    with pytest.raises(ValueError, match="2 entries for 1 columns"):
        make("t", "t", ["a"], [[words("x"), words("y")]])
