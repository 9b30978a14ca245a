"""What the text of a cell means."""

from __future__ import annotations

import numpy as np
import pytest

from mcls.data.cells import parse_number, parse_numbers

CELLS = [
    "1",
    " ",
    "",
    "?",
    "NaN",
    "-nan",
    "inf",
    "-1e999",
    "1_0",
    "x",
    "1,5",
    "1.5",
    "\u0663",
    "0x1",
    "1e5",
    "+.5",
    "N/A",
]


@pytest.mark.parametrize("decimal", [".", ","])
def test_many_cells_are_read_as_one(decimal):
    """Against the rule for one cell, in every pair of cells."""
    for a in CELLS:
        for b in CELLS:
            alone = [parse_number(cell, decimal) for cell in (a, b)]
            gaps = [cell.lower() in {"", "?", "nan", "n/a"} for cell in (a, b)]
            expected = [np.nan if gap else value for gap, value in zip(gaps, alone)]
            found = parse_numbers([a, b], decimal)
            if None in expected:
                assert found is None
            else:
                assert found is not None
                assert np.array_equal(found, np.array(expected, float), equal_nan=True)
