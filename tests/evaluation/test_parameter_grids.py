"""Values of parameters as people write them."""

import pytest

from mcls.errors import McLsError
from mcls.evaluation.parameter_grids import expand_grid, parse_values


@pytest.mark.parametrize(
    "text, values",
    [
        ("2^-2..2^1", [0.25, 0.5, 1, 2]),
        ("10^-1..10^1 step 0.5", [0.1, 10**-0.5, 1, 10**0.5, 10]),
        ("2^-10..2^10 step 10", [2.0**-10, 1, 2.0**10]),
        ("2^3", [8]),
        (0.5, [0.5]),
        ([1, "2^-1..2^0", "name"], [1, 0.5, 1, "name"]),
        ("linear", ["linear"]),
    ],
)
def test_values_of_a_parameter(text, values):
    assert parse_values(text) == pytest.approx(values)


@pytest.mark.parametrize(
    "text", ["2^4..2^-4", "2^1..3^2", "2^0..2^1 step 0", "1..3", "2^0..2^99999 step 0.001", []]
)
def test_what_is_no_range_is_refused(text):
    with pytest.raises(McLsError):
        parse_values(text)


def test_expand_grid_parses_each_parameter():
    assert expand_grid({"gamma": "2^0..2^1", "sigma": 3}) == {"gamma": [1.0, 2.0], "sigma": [3]}
