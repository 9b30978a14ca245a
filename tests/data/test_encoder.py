"""Columns to features: the stated rule, and what cannot be a feature."""

from __future__ import annotations

import numpy as np
import pytest

from mcls.data import load_table
from mcls.data.encoder import (
    Encoder,
    OneHotColumn,
    ScaledColumn,
)
from mcls.data.encoding import column_values, counts_rows, learn_encoder, load_encoded
from mcls.data.formats import ColumnRules
from mcls.data.tables import NumberColumn, read_table
from mcls.errors import McLsError
from mcls.evaluation.scaling import to_range
from mcls.resources import datasets_dir


def encoder_of(tmp_path, text, target="kind"):
    path = tmp_path / "t.csv"
    path.write_text(text)
    columns = read_table(path, target).columns
    encoder = learn_encoder(columns, path)
    return encoder, encoder.encode({c.name: column_values(c) for c in columns})


MIXED = "size,hue,const,kind\n0,red,7,a\n5,green,7,b\n10,red,7,a\n2.5,blue,7,b\n"


def test_numbers_are_scaled_and_texts_one_hot(tmp_path):
    encoder, X = encoder_of(tmp_path, MIXED)
    assert encoder.feature_names == ("size", "hue=blue", "hue=green", "hue=red", "const")
    assert X.tolist() == [[-1, 0, 0, 1, 0], [0, 0, 1, 0, 0], [1, 0, 0, 1, 0], [-0.5, 1, 0, 0, 0]]


def test_numbers_are_scaled_as_everywhere_else_in_mcls():
    x = np.random.default_rng(0).normal(size=(50, 1)) * 1e3
    column = ScaledColumn(name="x", low=x.min(), high=x.max())
    assert np.array_equal(column.encode(x[:, 0]), to_range(x))
    assert column.encode([x.max() + (x.max() - x.min())])[0, 0] == pytest.approx(3.0)


def test_a_table_is_loaded_with_its_numbers_as_read_and_its_texts_one_hot(tmp_path):
    (tmp_path / "t.csv").write_text(MIXED)
    data = load_encoded(tmp_path / "t.csv", "kind")
    assert (data.name, data.classes) == ("t", ("a", "b"))
    assert data.feature_names == ("size", "hue=blue", "hue=green", "hue=red", "const")
    assert data.X.tolist() == [[0, 0, 0, 1, 7], [5, 0, 1, 0, 7], [10, 0, 0, 1, 7], [2.5, 1, 0, 0, 7]]


@pytest.mark.parametrize("name", ["iris", "glass", "lenses"])
def test_a_table_of_numbers_is_loaded_as_ever(name):
    path = datasets_dir() / f"{name}.csv"
    ours, plain = load_encoded(path, "class"), load_table(path, "class")
    assert (ours.name, ours.fingerprint) == (plain.name, plain.fingerprint)


def test_it_survives_json(tmp_path):
    encoder, _ = encoder_of(tmp_path, MIXED)
    assert Encoder.model_validate_json(encoder.model_dump_json()) == encoder


@pytest.mark.parametrize(
    "rows, complaint",
    [
        ("1,5,a\n2,6,b\n", None),
        ("".join(f"n{i},{i**2},{'ab'[i % 2]}\n" for i in range(30)), "30 different texts .* --drop x"),
        ("".join(f"{3 - 2 * i},{i**2},{'ab'[i % 2]}\n" for i in range(30)), "'x' counts the rows.* --keep x"),
        ('"1,5",2,a\n"2,5",3,b\n', "write decimals with a point"),
        (
            "".join(f'"${i},001.50",{i**2},{"ab"[i % 2]}\n' for i in range(30)),
            r"written with more .*'\$0,001.50'.*signs",
        ),
        ("".join(f"{i**2} %,{i**2},{'ab'[i % 2]}\n" for i in range(30)), "take out signs of currency and percent"),
        ("-1e308,2,a\n1e308,3,b\n", "too far apart"),
    ],
)
def test_columns_that_are_no_features(tmp_path, rows, complaint):
    text = "x,y,kind\n" + rows
    if complaint is None:
        encoder_of(tmp_path, text)
    else:
        with pytest.raises(McLsError, match=complaint):
            encoder_of(tmp_path, text)


def test_the_widest_range_that_a_float_holds_is_scaled():
    column = ScaledColumn(name="x", low=0.0, high=1e308)
    assert column.encode([0, 1e308])[:, 0].tolist() == [-1.0, 1.0]


def test_a_number_out_of_all_proportion_is_refused():
    with pytest.raises(McLsError, match="column 'x': 1e\\+300 is too far"):
        ScaledColumn(name="x", low=0.0, high=1e-10).encode(["1e300"])


def test_an_encoder_from_a_file_is_checked():
    for columns in ([], [{"kind": "text", "name": "a", "levels": []}], [{"kind": "date", "name": "a"}],
                    [{"kind": "number", "name": "a", "low": 0, "high": float("inf")}],
                    [{"kind": "number", "name": "a", "low": 0, "high": 1}] * 2):  # fmt: skip
        with pytest.raises(ValueError, match="Encoder"):
            Encoder.model_validate({"columns": columns})


def test_one_hot_rows_differ_by_a_squared_distance_of_two():
    X = OneHotColumn(name="hue", levels=("a", "b", "c")).encode(["a", "c"])
    assert np.sum((X[0] - X[1]) ** 2) == 2.0


@pytest.mark.parametrize(
    "values, counts",
    [
        (np.arange(10), True),
        (np.arange(5, 105, 5), True),
        (-np.arange(10), True),
        (np.arange(9), False),  # in so few rows it does not surprise
        (np.arange(10) / 2, False),
        (np.arange(10) + 0.5, False),
        (np.zeros(10), False),
        (np.arange(10)[::-1] ** 2, False),
        (np.random.default_rng(0).permutation(10), False),  # not in the order of the file: it gives nothing away
        (np.repeat(np.arange(5), 2), False),
        (np.array([-1e308, 1e308] * 5), False),
    ],
)
def test_what_counts_rows(values, counts):
    assert counts_rows(NumberColumn("x", values.astype(float))) is counts


def test_a_column_that_counts_rows_is_used_where_it_is_kept_or_the_only_one(tmp_path):
    (tmp_path / "t.csv").write_text("id,x,kind\n" + "".join(f"{i},{i % 3},{'ab'[i % 2]}\n" for i in range(20)))
    with pytest.raises(McLsError, match="--drop id or use it with --keep id"):
        load_encoded(tmp_path / "t.csv")
    assert load_encoded(tmp_path / "t.csv", rules=ColumnRules(keep=["id"])).feature_names == ("id", "x")
    assert load_encoded(tmp_path / "t.csv", rules=ColumnRules(drop=["id"])).feature_names == ("x",)
    assert load_encoded(tmp_path / "t.csv", rules=ColumnRules(drop=["x"])).feature_names == ("id",)
    with pytest.raises(McLsError, match="did you mean 'id'"):
        load_encoded(tmp_path / "t.csv", rules=ColumnRules(keep=["idd"]))
