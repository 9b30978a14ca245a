"""Rows far outside the training range: which they are, however the table is cut, and what is said."""

from __future__ import annotations

import numpy as np
import pytest

from mcls.data.encoder import Encoder, OneHotColumn, ScaledColumn
from mcls.models.ranges import RangeWatch

ENCODER = Encoder(
    columns=(
        ScaledColumn(name="a", low=-1, high=3),
        OneHotColumn(name="hue", levels=("r", "g")),
        ScaledColumn(name="b", low=7, high=7),
    )
)


def watched(rows, piece=100):
    watch = RangeWatch(ENCODER)
    for i in range(0, len(rows), piece):
        a, b = zip(*rows[i : i + piece])
        watch.add({"a": np.array(a, float), "hue": np.zeros(len(a)), "b": np.array(b, float)})
    return watch


@pytest.mark.parametrize("a, far", [(-5, 0), (-5.001, 1), (7, 0), (7.001, 1), (0, 0)])
def test_far_is_beyond_the_range_by_more_than_its_width(a, far):
    assert watched([(a, 7), (1, 7)]).far_rows == far


def test_any_other_number_is_far_from_a_constant_column():
    assert watched([(0, 7), (0, 7.0)]).note() is None
    said = "2 of 3 rows lie far outside the training range (b: 6.5 to 7.1, trained on 7)"
    assert watched([(0, 7), (0, 7.1), (0, 6.5)]).note() == said


def test_a_row_counts_once_and_the_worst_column_is_named():
    rows = [(100, 8), (200, 7), (0, 7)]
    assert watched(rows).note() == (
        "2 of 3 rows lie far outside the training range (a: 0 to 200, trained on -1 to 3; and 1 more column)"
    )


def test_against_counting_row_by_row_in_pieces_of_any_size():
    rng = np.random.default_rng(0)
    rows = [(float(a), float(b)) for a, b in zip(rng.normal(1, 5, 300), rng.choice([7.0, 7.0, 7.0, 8.0], 300))]
    far = sum(a < -5 or a > 7 or b != 7 for a, b in rows)
    assert 50 < far < 250
    notes = set()
    for piece in (1, 7, 300):
        watch = watched(rows, piece)
        assert (watch.rows, watch.far_rows) == (300, far)
        notes.add(watch.note())
    assert len(notes) == 1


def test_a_table_of_text_alone_has_no_range():
    watch = RangeWatch(Encoder(columns=(OneHotColumn(name="hue", levels=("r", "g")),)))
    watch.add({"hue": np.zeros(1)})
    assert watch.note() is None


def test_ranges_at_the_end_of_all_numbers():
    watch = RangeWatch(Encoder(columns=(ScaledColumn(name="a", low=0, high=1.5e308),)))
    watch.add({"a": np.array([1.7e308, np.nan, -1.7e308])})
    assert watch.far_rows == 1
