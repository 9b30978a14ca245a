"""Names with options: parsing, writing back, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcls.errors import McLsError
from mcls.specs import format_spec, parse_scalar, parse_spec, split_grid


@pytest.mark.parametrize(
    "text, expected",
    [
        ("oneLSM", ("oneLSM", {})),
        (
            "voSVM:labelbook=alignment,solver=active-set",
            ("voSVM", {"labelbook": "alignment", "solver": "active-set"}),
        ),
        (" vowel : rows = all ", ("vowel", {"rows": "all"})),
        ("sk:RidgeClassifier", ("sk:RidgeClassifier", {})),
        ("sk:SVC:C=10,gamma=2e-3", ("sk:SVC", {"C": 10, "gamma": 0.002})),
        ("m:a=none,b=False,c=-3", ("m", {"a": None, "b": False, "c": -3})),
        ("dir/my.csv:target=kind", ("dir/my.csv", {"target": "kind"})),
    ],
)
def test_parse(text, expected):
    assert parse_spec(text) == expected


@pytest.mark.parametrize("text", ["", ":a=1", "m:a=", "m:=1", "m:a=1,b", "m:a=1,a=2"])
def test_refused(text):
    with pytest.raises(McLsError):
        parse_spec(text)


words = st.from_regex(r"[A-Za-z][A-Za-z-]{0,8}", fullmatch=True)
values = st.one_of(words, st.integers(-999, 999), st.booleans(), st.none(), st.floats(-5, 5))


@given(name=words, options=st.dictionaries(words, values, max_size=4))
def test_writing_back_is_the_inverse(name, options):
    options = {k: parse_scalar(v) if isinstance(v, str) else v for k, v in options.items()}
    assert parse_spec(format_spec(name, options)) == (name, options)


@pytest.mark.parametrize(
    "text, options, grid",
    [
        ("C=2^-2..2^6,kernel=rbf", {"kernel": "rbf"}, {"C": "2^-2..2^6"}),
        ("C=1+1e+2+2^3", {}, {"C": [1, 100.0, "2^3"]}),
        ("C=1e+3,solver=active-set", {"C": 1000.0, "solver": "active-set"}, {}),
        ("weights=uniform+distance", {}, {"weights": ["uniform", "distance"]}),
        ("gamma=2^-3", {}, {"gamma": "2^-3"}),
    ],
)
def test_ranges_and_lists_are_a_grid(text, options, grid):
    assert split_grid(parse_spec(f"m:{text}")[1]) == (options, grid)
    assert split_grid(parse_spec(format_spec("m", {**options, **grid}))[1]) == (options, grid)
