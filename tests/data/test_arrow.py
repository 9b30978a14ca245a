"""Parquet and Feather: the same table as the CSV, and every odd file refused in one line."""

from __future__ import annotations

import sys
from datetime import date, datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from mcls.data import arrow, load_table
from mcls.data.encoding import load_encoded
from mcls.data.formats import TableFormat
from mcls.data.lines import table_rows
from mcls.errors import McLsError
from mcls.resources import datasets_dir

pa = pytest.importorskip("pyarrow")
from pyarrow import feather, parquet  # noqa: E402

WRITERS = {"t.parquet": parquet.write_table, "t.feather": feather.write_feather}


@pytest.mark.parametrize("name", WRITERS)
def test_the_same_table_as_the_csv(tmp_path, name):
    frame = pd.read_csv(datasets_dir() / "glass.csv")
    WRITERS[name](pa.Table.from_pandas(frame), tmp_path / name)
    assert (
        load_table(tmp_path / name, "class").fingerprint
        == load_table(datasets_dir() / "glass.csv", "class").fingerprint
    )


@pytest.mark.parametrize("name", WRITERS)
def test_every_kind_of_cell(tmp_path, name):
    table = pa.table(
        {
            "int": pa.array([1, None, 3]),
            "float": pa.array([0.1, float("nan"), 1e300]),
            "single": pa.array([0.5, 1.5, 2.5], pa.float32()),
            "bool": [True, None, False],
            "text": [" a", "", None],
            "code": pa.array(["x", "y", None]).dictionary_encode(),
            "day": [date(2024, 1, 31), None, date(2024, 2, 1)],
            "moment": [datetime(2024, 1, 31, 12, 30), None, None],
            "exact": [Decimal("1.50"), None, Decimal("2.25")],
            "nothing": pa.nulls(3),
            "__index_level_0__": [7, 8, 9],
        }
    )
    WRITERS[name](table, tmp_path / name)
    (_, head), *rows = table_rows(tmp_path / name)
    assert head == table.column_names[:-1]
    assert rows[0] == (1, ["1", "0.1", "0.5", "True", "a", "x", "2024-01-31", "2024-01-31 12:30:00", "1.50", ""])
    assert rows[1] == (2, ["", "nan", "1.5", "", "", "y", "", "", "", ""])


def test_a_float_keeps_all_its_digits(tmp_path):
    values = np.random.default_rng(0).normal(size=500) * 10.0 ** np.arange(-250, 250)
    parquet.write_table(pa.table({"x": values, "kind": ["a", "b"] * 250}), tmp_path / "t.parquet")
    assert np.array_equal(load_table(tmp_path / "t.parquet").X[:, 0], values)


@pytest.mark.parametrize("name", WRITERS)
def test_nested_columns_are_refused_all_at_once(tmp_path, name):
    WRITERS[name](
        pa.table({"a": [[1], [2]], "b": [1, 2], "c": [{"d": 1}, {"d": 2}], "e": [b"x", b"y"]}), tmp_path / name
    )
    with pytest.raises(McLsError, match=r"columns 'a' \(list<.*'c' \(struct<.*'e' \(binary\)") as caught:
        load_table(tmp_path / name)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", WRITERS)
def test_damaged_files_are_one_line(tmp_path, name):
    WRITERS[name](pa.Table.from_pandas(pd.read_csv(datasets_dir() / "iris.csv")), tmp_path / name)
    whole = (tmp_path / name).read_bytes()
    rng = np.random.default_rng(1)
    refused = []
    for _ in range(60):
        data = bytearray(whole)
        if rng.random() < 0.3:
            data = data[: rng.integers(20, len(data))]
        for at in rng.integers(8, len(data), 3):
            data[at] ^= 1 << rng.integers(8)
        (tmp_path / name).write_bytes(data)
        try:
            load_table(tmp_path / name)
        except McLsError as error:
            refused.append(str(error))
    assert len(refused) > 20
    assert not any("\n" in told or len(told) > 600 for told in refused)


def test_limits(tmp_path, monkeypatch):
    parquet.write_table(pa.table({"x": [1.0, 2.0], "kind": ["a" * 10, "b"]}), tmp_path / "t.parquet")
    monkeypatch.setattr(arrow, "MOST_CELLS", 3)
    with pytest.raises(McLsError, match="claims 2 rows; a table has at most 3 cells"):
        load_table(tmp_path / "t.parquet")
    monkeypatch.undo()
    monkeypatch.setattr(arrow, "MOST_GROUP_BYTES", 3)
    with pytest.raises(McLsError, match="a row group has more than"):
        load_table(tmp_path / "t.parquet")
    monkeypatch.undo()
    parquet.write_table(pa.table({"x": [1.0, 2.0], "kind": ["a" * 200_000, "b"]}), tmp_path / "t.parquet")
    with pytest.raises(McLsError, match="row 1: field larger than field limit"):
        load_table(tmp_path / "t.parquet")


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_a_long_text_that_stands_in_many_rows_takes_its_own_memory_once(tmp_path, monkeypatch, kind):
    """A few kilobytes of a file can claim hundreds of gigabytes of text."""
    long = pa.DictionaryArray.from_arrays(pa.array(np.r_[1, np.zeros(3999, "i4")]), pa.array(["x" * 2**24, ""]))
    table = pa.table({"x": np.arange(4000.0), "note": long.cast(pa.dictionary(pa.int32(), kind))})
    parquet.write_table(table, tmp_path / "t.parquet", compression="zstd", store_schema=kind == pa.large_string())
    assert (tmp_path / "t.parquet").stat().st_size < 2**17
    before = pa.total_allocated_bytes()
    used = []
    checked = arrow._check_texts
    monkeypatch.setattr(arrow, "_check_texts", lambda *a: used.append(pa.total_allocated_bytes()) or checked(*a))
    with pytest.raises(McLsError, match=r"row 2: field larger than field limit"):
        list(table_rows(tmp_path / "t.parquet"))
    with pytest.raises(McLsError, match=r"row 2: field larger than field limit"):
        list(arrow.read_batches(tmp_path / "t.parquet", range(1), ["note"], 2**14))
    assert max(used) - before < 2**28


@pytest.mark.skipif(not hasattr(pa, "string_view"), reason="pyarrow 16 or newer")
@pytest.mark.parametrize("name", WRITERS)
def test_views_of_a_long_text_are_refused_before_they_are_read(tmp_path, monkeypatch, name):
    short = pa.array(["a", None, "ü" * 20] * 3).cast(pa.string_view())
    WRITERS[name](pa.table({"note": short, "x": range(9)}), tmp_path / name)
    assert [cells[0] for _, cells in table_rows(tmp_path / name)] == ["note", *["a", "", "ü" * 20] * 3]
    long = pa.array([None, "b", "x" * 2**18, "c"]).cast(pa.string_view())
    WRITERS[name](pa.table({"note": long, "x": range(4)}), tmp_path / name)
    monkeypatch.setattr(arrow, "_shared_texts", None)
    with pytest.raises(McLsError, match=r"row 3: field larger than field limit"):
        list(table_rows(tmp_path / name))
    for views, sizes in ((long.slice(1, 2), [1, 2**18]), (long.slice(4), [])):
        assert arrow._sizes(views).tolist() == sizes


@pytest.mark.parametrize("kind", ["string", "string_view"])
def test_texts_of_a_whole_row_group_are_not_made_for_each_few_rows(kind):
    if not hasattr(pa, kind):
        pytest.skip("pyarrow 16 or newer")
    texts = pa.array([str(i) for i in range(10)]).cast(getattr(pa, kind)())
    array = pa.DictionaryArray.from_arrays(pa.array([7, None, 2, 7]), texts)
    codes, texts = arrow.as_texts(array)
    assert (codes.tolist(), texts) == ([1, -1, 0, 1], ["2", "7"])
    assert arrow.cell_texts(array) == ["7", "", "2", "7"]
    assert arrow.as_texts(array.slice(0, 1))[1] == ["7"]


def test_what_has_no_meaning_is_said(tmp_path):
    parquet.write_table(pa.table({"x": [1.0, 2.0], "kind": ["a", "b"]}), tmp_path / "t.parquet")
    with pytest.raises(McLsError, match="is a Parquet file, which has no decimal to be told"):
        load_encoded(tmp_path / "t.parquet", form=TableFormat(decimal=","))
    with pytest.raises(McLsError, match="whose columns have names"):
        load_encoded(tmp_path / "t.parquet", form=TableFormat(header=False))


def test_without_pyarrow_the_extra_is_named(tmp_path, monkeypatch):
    parquet.write_table(pa.table({"x": [1.0, 2.0], "kind": ["a", "b"]}), tmp_path / "t.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(McLsError, match=r"pip install 'mcls\[parquet\]'"):
        load_table(tmp_path / "t.parquet")


@pytest.mark.parametrize("name", WRITERS)
def test_a_nul_character_is_refused_by_its_row(tmp_path, name):
    WRITERS[name](pa.table({"x": [1, 2], "kind": ["a", "\0"]}), tmp_path / name)
    with pytest.raises(McLsError, match="row 2 has a NUL character"):
        list(table_rows(tmp_path / name))
