"""Columns of a data frame."""

from __future__ import annotations

import numpy as np
import pandas as pd

from mcls.data.encoder import Reading
from mcls.data.encoding import learn_encoder, read_values
from mcls.data.formats import ColumnRules
from mcls.data.frames import frame_column
from mcls.data.tables import read_table


def learnt(path, rules, target="kind"):
    read = read_table(path, target, rules=rules)
    encoder = learn_encoder(read.columns, path, rules)
    return encoder, encoder.features(read_values(read.columns, encoder), Reading())


def test_a_frame_is_read_as_its_csv(tmp_path):
    frame = pd.DataFrame(
        {
            "x": [1.5, None, 3.0, 4.0],
            "n": pd.array([1, None, 3, 3], dtype="Int64"),
            "hue": pd.Categorical(["r", "g", None, "r"]),
            "flag": [True, False, True, True],
            "when": pd.to_datetime(["2024-01-01", "2024-02-01", None, "2024-03-05"]),
            "kind": ["a", "b", "a", "b"],
        }
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    rules = ColumnRules(missing="impute")
    encoder, X = learnt(tmp_path / "t.csv", rules)
    columns = [frame_column(name, frame[name]) for name in frame if name != "kind"]
    other = learn_encoder(columns, "the frame", rules)
    assert other == encoder
    assert np.array_equal(other.features(read_values(columns, other), Reading()), X)


def test_a_whole_number_beyond_the_range_of_floats_is_not_finite():
    column = frame_column("x", [1, -(10**400), None])
    assert column.values[1] == -np.inf
    assert "row 1 (the first is 0)" in str(column.infinite)
