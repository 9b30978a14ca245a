"""Predicting and judging tables in pieces: any order of columns, any size of piece, every complaint with its line."""

from __future__ import annotations

import csv
import io
import tracemalloc

import numpy as np
import pandas as pd
import pytest

from mcls.data import scanning
from mcls.data.formats import ColumnRules, TableFormat
from mcls.errors import McLsError
from mcls.models import chunks, streaming
from mcls.models.fitting import fit_table
from mcls.resources import datasets_dir
from tests.models.mixed import MIXED

SMALL = {"gamma": [0.1], "sigma": [1.0]}


@pytest.fixture
def table(tmp_path):
    def write(text, name="new.csv"):
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return write


def predicted(model, path, **options):
    out = io.StringIO(newline="")
    count = streaming.predict_table(model, path, out, **options)
    rows = list(csv.DictReader(io.StringIO(out.getvalue())))
    assert len(rows) == count
    return rows


def test_columns_in_any_order_and_others_kept(model, table):
    plain = predicted(model, table("size,hue\n1,green\n8,red\n"))
    assert [r["prediction"] for r in plain] == ["a", "b"]
    mixed = predicted(model, table('note,hue,id,size\n"a ""b"", c",green,7,1\nx,red,8,8\n'))
    assert [r["prediction"] for r in mixed] == ["a", "b"]
    assert list(mixed[0]) == ["note", "hue", "id", "size", "prediction"]
    assert mixed[0]["note"] == 'a "b", c'


def test_the_separator_and_the_class_column_are_kept(model, table):
    out = io.StringIO()
    streaming.predict_table(model, table("size;kind;hue\n1;b;green\n"), out)
    assert out.getvalue() == "size;kind;hue;prediction\n1;b;green;a\n"


def test_scores_add_a_column_a_class_and_the_largest_wins(table, tmp_path):
    model = fit_table(datasets_dir() / "iris.csv", "class", grid=SMALL, folds=3).model
    rows = predicted(model, datasets_dir() / "iris.csv", extra=streaming.Extra(scores=True))
    names = ["setosa", "versicolor", "virginica"]
    scores = np.array([[float(row[f"score {name}"]) for name in names] for row in rows])
    assert [names[j] for j in scores.argmax(axis=1)] == [row["prediction"] for row in rows]
    frame = pd.read_csv(datasets_dir() / "iris.csv")
    assert np.array_equal(scores, model.class_scores(model.encode(frame)))  # written with all their digits


def test_with_two_classes_the_scores_are_a_margin(model, table):
    row = predicted(model, table("size,hue\n1,green\n"), extra=streaming.Extra(scores=True))[0]
    assert float(row["score a"]) == -float(row["score b"]) > 0


@pytest.mark.parametrize("rows", [1, 7, 1000])
def test_the_size_of_a_piece_changes_nothing(model, table, monkeypatch, rows):
    path = table(MIXED)
    whole = predicted(model, path)
    monkeypatch.setattr(scanning, "CHUNK_ROWS", rows)
    monkeypatch.setattr(scanning, "CHUNK_CHARACTERS", 50)
    assert predicted(model, path) == whole


def test_memory_does_not_grow_with_the_table(model, table, monkeypatch):
    monkeypatch.setattr(chunks, "_SPAN", 3000)
    monkeypatch.setattr(scanning, "CHUNK_ROWS", 100)

    def peak(n):
        path = table("size,hue\n" + "1,green\n8,red\n" * (n // 2))

        class Nowhere(io.StringIO):
            def write(self, text):
                return len(text)

        tracemalloc.start()
        streaming.predict_table(model, path, Nowhere())
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(200)
    assert peak(20_000) < 2 * peak(1000)


@pytest.mark.parametrize(
    "text, complaint",
    [
        ("size,colour\n1,red\n", "column 'hue' is missing"),
        ("siez,hue\n1,red\n", "column 'size' is missing; is it 'siez'?"),
        ("a,b\n1,red\n", r"column 'size' is missing \(and 1 more"),
        ("size,hue\n1,\n", "line 2, column 'hue': '' is a missing value, and the model was not told to impute"),
        ("size,hue\n1,red\nx,red\n", "line 3, column 'size': 'x' is not a finite number"),
        ("size,hue\n1,red\n,red\n", "line 3, column 'size': '' is not a finite number"),
        ("size,hue\nnan,red\n", "'nan' is not a finite number"),
        ("size,hue\ninf,red\n", "'inf' is not a finite number"),
        ("size,hue\n1e999,red\n", "'1e999' is not a finite number"),
        ("size,hue\n1_0,red\n", "'1_0' is not a finite number"),
        ("size,hue\n1,red,3\n", "line 2 has 3 cells, expected 2"),
        ("size,hue,hue\n1,red,red\n", "names 'hue' twice"),
        ("size,hue,prediction\n1,red,a\n", "has a column 'prediction' already"),
        ("", "is empty"),
        (b"size,hue\n1,\xff\x81\n", "not UTF-8"),
        ("size,hue\n1,red\n".encode("utf-16-be"), "not text"),
    ],
)
def test_every_complaint_says_where(model, table, text, complaint):
    with pytest.raises(McLsError, match=complaint):
        predicted(model, table(text))


def test_a_table_without_a_header_is_read_by_place(table):
    train = table("1,x,2,a\n2,y,3,b\n" * 10)
    model = fit_table(train, "3", grid=SMALL, folds=3, groups=None).model
    for text in ("1,x,2,b\n2,y,3,b\n", "1,x,2\n2,y,3\n"):
        out = io.StringIO()
        streaming.predict_table(model, table(text), out)
        lines = out.getvalue().splitlines()
        assert [line.rsplit(",", 1)[1] for line in lines] == ["a", "b"]
    with pytest.raises(McLsError, match="line 1 has 2 cells; the model expects 3, or 4"):
        streaming.predict_table(model, table("1,2\n"), io.StringIO())
    assert streaming.judge_table(model, table("1,x,2,b\n2,y,3,b\n")).error == 0.5
    first = table("a,1\nb,3\n" * 10)  # the class may stand first
    first = fit_table(first, "0", grid=SMALL, folds=3, groups=None).model
    out = io.StringIO()
    streaming.predict_table(first, table("1\n3\n"), out)
    assert out.getvalue().splitlines() == ["1\ta", "3\tb"]


def test_a_column_left_out_keeps_its_place_where_there_is_no_header(table):
    rows = "".join(f"{i},{i % 2},{i % 7},{'ab'[i % 2]}\n" for i in range(30))
    model = fit_table(
        table(rows), "3", grid=SMALL, folds=3, form=TableFormat(header=False), rules=ColumnRules(["x0"])
    ).model
    assert model.facts.dropped == ["x0"]
    for text in ("99,0,3,b\n98,1,3,b\n", "99,0,3\n98,1,3\n"):  # with and without the class
        out = io.StringIO()
        streaming.predict_table(model, table(text), out)
        assert [line.rsplit(",", 1)[1] for line in out.getvalue().splitlines()] == ["a", "b"]
    with pytest.raises(McLsError, match="line 1 has 2 cells; the model expects 3, or 4"):
        streaming.predict_table(model, table("0,3\n"), io.StringIO())
    named = "x2,x1\n3,0\n3,1\n"
    assert [r["prediction"] for r in predicted(model, table(named))] == ["a", "b"]


def test_a_model_of_a_table_without_a_header_meets_one(table):
    model = fit_table(table("1,x,2,a\n2,y,3,b\n" * 10), "3", grid=SMALL, folds=3, groups=None).model
    assert [r["prediction"] for r in predicted(model, table("x2,x0,x1\n2,1,x\n3,2,y\n"))] == ["a", "b"]
    with pytest.raises(McLsError, match=r"line 1 looks like a header, .* or call the columns x0, x1"):
        predicted(model, table("size,hue,age\n1,x,2\n"))
    with pytest.raises(McLsError, match="line 1, column 'x0': 'one' is not a finite number"):
        predicted(model, table("one,x,2\n1,x,2\n"))  # one slip makes no header


def test_a_row_that_may_be_a_header_is_said_to_be_data(table):
    train = table("0,1,2\n1,0,1\n5,6,1\n" * 6)
    model = fit_table(train, form=TableFormat(header=False), grid=SMALL, folds=3).model
    said = []
    assert streaming.judge_table(model, train, said.append).n == 18
    assert said == [f"line 1 of {train} (0, 1, 2, …) was read as data: the training table had no header"]


def test_a_table_without_the_header_that_the_model_needs(model, table):
    with pytest.raises(
        McLsError, match=r"line 1 has '1', so it is not a header; .* the model's columns: size, hue"
    ):
        predicted(model, table("red,1\ngreen,2\n"))
    path = table("0,1,2\n" + "1,0.5,0\n5,6.5,1\n" * 6, "t.csv")
    counted = fit_table(path, grid=SMALL, folds=3, groups=None).model
    with pytest.raises(McLsError, match=r"line 1 has '7', so it is not a header; .* the model's columns: 0, 1"):
        predicted(counted, table("7,0.5,0\n5,6.5,1\n"))  # cells may be called like columns
    assert len(predicted(counted, table("1,0,7\n0.5,1,9\n"))) == 1
    with pytest.raises(McLsError, match="column 'size' is missing"):
        predicted(model, table("2024,hue\n1,red\n"))


def test_rows_far_outside_the_training_range_are_told_once_at_the_end(model, table, monkeypatch):
    monkeypatch.setattr(scanning, "CHUNK_ROWS", 2)
    path = table("size,hue,kind\n" + "1,green,a\n80,red,b\n" * 5)  # trained on 0 to 9
    said = []
    assert len(predicted(model, path, say=said.append)) == 10
    assert said == ["5 of 10 rows lie far outside the training range (size: 1 to 80, trained on 0 to 9)"]
    streaming.judge_table(model, path, said.append)
    assert said == said[:1] * 2
    assert not predicted(model, table("size,hue\n"), say=said.append)
    assert said.pop().endswith("new.csv has a header but no rows")
    predicted(model, table(MIXED), say=said.append)
    assert len(said) == 2  # nothing to say of the training table


def test_judging_counts_each_class(model, table):
    found = streaming.judge_table(model, table("kind,size,hue\na,1,green\nb,1,green\nb,8,red\nc,8,red\n"))
    assert found.true == ("a", "b", "c")
    assert found.counts.tolist() == [[1, 0], [1, 1], [0, 1]]
    assert found.error == 0.5


def test_judging_equals_the_share_of_wrong_predictions(table):
    path = datasets_dir() / "glass.csv"
    model = fit_table(path, "class", grid=SMALL, folds=3).model
    rows = predicted(model, path)
    wrong = np.mean([row["class"] != row["prediction"] for row in rows])
    assert streaming.judge_table(model, path).error == pytest.approx(wrong)
    as_floats = path.read_text().replace(",1\n", ",1.0\n")
    assert streaming.judge_table(model, table(as_floats)).error == pytest.approx(wrong)


@pytest.mark.parametrize(
    "text, complaint",
    [
        ("size,hue\n1,red\n", "no class column 'kind'"),
        ("size,hue,kind\n", "a header but no rows"),
        ("size,hue,kind\n" + "".join(f"1,red,{i}\n" for i in range(200)), "more than 100 classes that the model"),
    ],
)
def test_what_cannot_be_judged(model, table, text, complaint):
    with pytest.raises(McLsError, match=complaint):
        streaming.judge_table(model, table(text))
