"""Table models in Python: made from a file, saved, loaded, and asked with a data frame."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import mcls
from mcls.errors import McLsError
from mcls.models.fitting import fit_table
from mcls.models.table import TableModel
from mcls.resources import datasets_dir

IRIS = datasets_dir() / "iris.csv"
SMALL = {"gamma": [0.1, 1.0], "sigma": [1.0]}


def test_saved_loaded_and_asked_with_a_frame(fitted, tmp_path):
    mcls.save(fitted.model, tmp_path / "iris.mcls")
    loaded = mcls.load(tmp_path / "iris.mcls")
    frame = pd.read_csv(IRIS)
    shuffled = frame[["petal_width", "class", "sepal_width", "petal_length", "sepal_length"]]
    assert np.array_equal(loaded.predict(shuffled), fitted.model.predict(frame))
    assert loaded.facts == fitted.model.facts
    assert loaded.encoder == fitted.model.encoder
    mcls.save(loaded, tmp_path / "again.mcls")
    assert (tmp_path / "again.mcls").read_bytes() == (tmp_path / "iris.mcls").read_bytes()


def test_it_is_shown_in_a_line(fitted):
    error, nested = fitted.model.facts.cv_error, fitted.model.facts.nested_error
    assert repr(fitted.model) == (
        "TableModel(oneLSM: 'class' of 3 classes from 4 columns, 150 rows of iris.csv, "
        f"error={error:.4g}, nested_error={nested:.4g})"
    )


def test_what_is_no_table_of_columns_is_refused(fitted):
    frame = pd.read_csv(IRIS)
    columns = frame.drop(columns="class").to_dict("list")
    for wrong, complaint in (
        (frame.iloc[0], "column 'sepal_length' is a single value; one row is a table of one row"),
        ({**columns, "petal_width": "1.5"}, "column 'petal_width' is a single value"),
        (
            {**columns, "petal_width": [1.0]},
            "'petal_length' has 150 values and column 'petal_width' 1: they must be",
        ),
        (pd.concat([frame, frame["petal_width"]], axis=1), "column 'petal_width' is there more than once"),
    ):
        with pytest.raises(McLsError, match=complaint):
            fitted.model.predict(wrong)
    assert fitted.model.predict(frame.iloc[[0]]) == ["setosa"]


def test_asked_with_an_array_or_lists(fitted):
    frame = pd.read_csv(IRIS)
    expected = fitted.model.predict(frame)
    rows = frame.drop(columns="class").to_numpy()
    assert np.array_equal(fitted.model.predict(rows), expected)
    assert np.array_equal(fitted.model.predict(rows[:3].tolist()), expected[:3])
    for wrong, shape in (
        (rows[0], r"\(4,\)"),
        (frame.to_numpy(), r"\(150, 5\)"),
        (rows[:, :2], r"\(150, 2\)"),
        (7, r"\(\)"),
    ):
        with pytest.raises(
            McLsError, match=rf"2-D array with 4 columns \(sepal_length, .*\), got the shape {shape}"
        ):
            fitted.model.predict(wrong)
    with pytest.raises(McLsError, match="2-D array with 4 columns"):
        fitted.model.predict([[1.0, 2.0, 3.0, 4.0], [1.0]])
    rows[2, 1] = np.nan
    with pytest.raises(McLsError, match="row 2, column 'sepal_width': 'nan' is not a finite number"):
        fitted.model.predict(rows)


def test_an_array_may_hold_texts_beside_numbers(tmp_path):
    rows = "".join(f"{i % 9},{'red' if i % 2 else 'blue'},{'xy'[i % 2]}\n" for i in range(20))
    (tmp_path / "t.csv").write_text("size,hue,kind\n" + rows)
    model = fit_table(tmp_path / "t.csv", "kind", grid=SMALL, folds=3).model
    assert model.predict([[3, "red"], [4, "blue"]]).tolist() == ["y", "x"]
    with pytest.warns(UserWarning, match=r"did not have .*: 'hue' in 1 row \(such as 'green'\)"):
        assert len(model.predict([[3, "green"]])) == 1
    with pytest.raises(McLsError, match="row 0, column 'hue': 'green' was not in the training table"):
        model.encode([[3, "green"]], strict=True)


def test_a_frame_with_trouble_is_told_by_row(fitted):
    frame = pd.read_csv(IRIS).head(3)
    with pytest.raises(McLsError, match="column 'petal_width' is missing"):
        fitted.model.predict(frame.drop(columns="petal_width"))
    for cell in (None, "x", np.nan, np.inf):
        bad = frame.astype({"petal_width": object})
        bad.loc[1, "petal_width"] = cell
        with pytest.raises(McLsError, match="row 1, column 'petal_width'"):
            fitted.model.predict(bad)


def test_models_of_before_are_still_read(fitted):
    content = fitted.model.to_json()
    for name in ("cv_interval", "dropped"):
        del content["facts"][name]
    assert TableModel.from_json(content, fitted.model.estimator, {}).facts.cv_interval is None
