from __future__ import annotations

import csv
import gzip
import os
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcls.data import load_dataset, load_table
from mcls.data.formats import ColumnRules, TableFormat
from mcls.data.lines import MAX_LINE
from mcls.data.tables import NumberColumn, TextColumn, numbers, read_table
from mcls.errors import McLsError
from mcls.resources import datasets_dir


@pytest.fixture
def write(tmp_path: Path):
    def to_file(content: str | bytes, name: str = "mine.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return to_file


PLAIN = "a,b,kind\n1,2.5,x\n-3e2,.5,y\n"


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (PLAIN, "mine.csv"),
        ("\ufeff" + PLAIN, "bom.csv"),
        (PLAIN.replace("\n", "\r\n"), "windows.csv"),
        (PLAIN.replace(",", ";"), "semicolon.csv"),
        (PLAIN.replace(",", "\t"), "tabs.tsv"),
        (PLAIN.replace(",", " , "), "spaces.csv"),
        (PLAIN.rstrip("\n"), "noend.csv"),
        (PLAIN.replace("\n", "\n\n"), "blank.csv"),
        ('"a","b","kind"\n"1","2.5","x"\n"-3e2",".5","y"\n', "quoted.csv"),
        (gzip.compress(PLAIN.encode(), mtime=0), "packed.csv.gz"),
    ],
)
def test_ways_to_write_the_same_table(write, content: str | bytes, name: str) -> None:
    data = load_table(write(content, name))
    assert data.X.tolist() == [[1, 2.5], [-300, 0.5]]
    assert (data.classes, data.y.tolist()) == (("x", "y"), [0, 1])
    assert data.feature_names == ("a", "b")
    assert data.name == name.split(".")[0]


def test_without_a_header(write) -> None:
    data = load_table(write("1,2,x\n3,4,y\n"))
    assert data.feature_names == ("x0", "x1")
    assert data.n == 2
    assert load_table(write("1,2,1\n3,4,2\n")).n == 2  # classes that are numbers


@pytest.mark.parametrize("target", ["kind", 0, -3, "0"])
def test_the_class_column_by_name_or_index(write, target: str | int) -> None:
    data = load_table(write("kind,a,b\nx,1,2\ny,3,4\n"), target=target)
    assert data.classes == ("x", "y")
    assert data.feature_names == ("a", "b")


def test_a_header_of_numbers_is_told_by_the_targets_name(write) -> None:
    path = write("0,1,kind\n5,6,x\n7,8,y\n")
    assert load_table(path, target="kind").n == 2
    assert load_table(path, header=True).feature_names == ("0", "1")
    assert load_table(path, header=False).n == 3


@pytest.mark.parametrize("head", ["0,1,2", "1,2,3"])
def test_a_row_that_counts_the_columns_is_a_header(write, head: str) -> None:
    data = load_table(write(f"{head}\n5,6,0\n7,8,1\n5,7,0\n"))
    assert (data.n, data.classes) == (3, ("0", "1"))
    assert data.feature_names == tuple(head.split(",")[:2])
    assert load_table(write(f"{head}\n5,6,0\n7,8,1\n"), header=False).n == 3


@pytest.mark.parametrize("head", ["0,1,3", "1,0,2", "2,3,4", "0.0,1.0,2.0", "-1,0,1"])
def test_other_numbers_are_data(write, head: str) -> None:
    data = load_table(write(f"{head}\n5,6,0\n7,8,1\n"))
    assert (data.n, data.feature_names) == (3, ("x0", "x1"))


def test_what_pandas_writes_of_an_array(tmp_path: Path) -> None:
    frame = pd.DataFrame(np.array([[5.1, 3.5, 0], [6.2, 2.9, 1], [5.0, 3.4, 0]]))
    frame.to_csv(tmp_path / "array.csv", index=False)
    data = load_table(tmp_path / "array.csv")
    np.testing.assert_array_equal(data.X, frame.to_numpy()[:, :2])
    frame.to_csv(tmp_path / "numbered.csv")
    numbered = load_table(tmp_path / "numbered.csv")
    np.testing.assert_array_equal(numbered.X, data.X)
    assert numbered.notes == ("column 0 has no name and names the rows, as R and pandas write it: it is left out",)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (",a,kind\n9,2,x\n4,3,y\n", "column 0 has no name and names the rows"),
        ("a,kind,\n2,x,\n3,y,\n", "column 2 has no name and is empty"),
        ("a,kind,,\n2,x,,\n3,y,,\n", "column 3 has no name and is empty"),
        (",a,kind\nMazda,2,x\nFiat,3,y\n", "column 0 has no name and names the rows"),
    ],
)
def test_a_column_without_a_name_that_tells_nothing_is_left_out(write, content: str, said: str) -> None:
    data = load_table(write(content), target="kind")
    assert (data.feature_names, data.X.tolist(), data.classes) == (("a",), [[2.0], [3.0]], ("x", "y"))
    assert said in data.notes[-1]


def test_names_over_texts_beside_row_numbers_are_a_header(write) -> None:
    read = read_table(write(",treatment,sex,kind\n1,p,f,x\n2,q,m,y\n3,p,m,x\n"))
    assert [column.name for column in read.columns] == ["treatment", "sex"]
    assert read.labels.levels == ("x", "y")


def test_digits_are_an_index_unless_a_header_has_that_name(write) -> None:
    path = write("2,0,1\n5,6,4\n7,6,8\n")
    assert load_table(path, target="2").classes == ("1", "4", "8")
    assert load_table(path, target="2", header=True).classes == ("5", "7")


def test_number_classes_are_ordered_by_number_and_merged(write) -> None:
    data = load_table(write("a,c\n1,10\n2,9\n3,9.0\n4,1e1\n5,-0.5\n"))
    assert data.classes == ("-0.5", "9", "10")
    assert data.y.tolist() == [2, 1, 1, 2, 0]


def test_a_class_may_be_called_none(write) -> None:
    assert load_table(write("a,c\n1,none\n2,some\n")).classes == ("none", "some")


@pytest.mark.parametrize("name", ["iris", "wine", "yeast"])
def test_a_shipped_table_read_as_ones_own(name: str) -> None:
    mine, known = load_table(datasets_dir() / f"{name}.csv", target="class"), load_dataset(name)
    np.testing.assert_array_equal(mine.X, known.X)
    assert [mine.classes[c] for c in mine.y] == [known.classes[c] for c in known.y]


def test_the_separator_may_be_said(write) -> None:
    assert load_table(write("1|2|x\n3|4|y\n"), sep="|").X.shape == (2, 2)
    with pytest.raises(McLsError, match="must be one character"):
        load_table(write(PLAIN), sep="::")
    with pytest.raises(McLsError, match=r"one column only; .*read with ';'"):
        load_table(write(PLAIN), sep=";")


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("a,b,kind\n", "has a header but no rows"),
        ("1,2,x\n", "column 'x2' holds one class only: 'x'"),
        ("a,kind\n1,x\n2,x\n", "column 'kind' holds one class only: 'x'"),
        ("1 2 x\n3 4 y\n", "one column only; expected features and a class, separated by commas"),
        ("1 2 x\n3 4 y\n", "; these lines look like --delimiter space"),
        ("a|b|kind\n3|4|y\n", "; these lines look like --delimiter pipe"),
        ("# by hand\na,kind\n1,x\n", "; the first line, '# by hand', is none of the table's: take it out"),
        ('"a" "b"\n"1" 2\n', "(read with '\\t' between cells; --delimiter names another)"),
        ("a,kind\n1,2,x\n2,3,y\n", "line 1 has 2; if the first one names the row, as R writes it, name it in"),
        ('a,b,kind\n"1,007",2,x\n"2,005",3,y\n', "'1,007'; if its commas mark thousands, take them out; if dec"),
        ("a,kind\n1,x\n2,y,z\n", "line 3 has 3 cells, line 1 has 2"),
        ("a,kind\n1,x\n\n2\n", "line 4 has 1 cells, line 1 has 2"),
        ("a,b,kind\n1,2,x\n3,,y\n", "missing in column 'b': the row at line 3 has ''"),
        ("a,b,kind\n1,2,x\n3,?,y\n", "missing in column 'b': the row at line 3 has '?'"),
        ("a,b,kind\n1,2,x\n3,NaN,y\n", "missing in column 'b': the row at line 3 has 'NaN'"),
        ("a,b,kind\n1,2,x\n3,4,NA\n", "missing in column 'kind': the row at line 3 has 'NA'"),
        ("1,,x\n3,4,y\n", "missing in column 'x1': the row at line 1"),
        ("a,b,kind\n1,?,x\nNA,4,y\n", "column 'b': the row at line 2"),
        ("a,b,kind\n1,red,x\n2,blue,y\n", "line 2 has 'red'; turn it to numbers or remove the column"),
        ("a,b,kind\n1,2,x\n2,1_000,y\n", "column 'b' is not numeric: the row at line 3 has '1_000'"),
        ("a;b;kind\n1.5;2,5;x\n2.5;3,5;y\n", "line 2 has '2,5'; write decimals with a point, or say --decimal ,"),
        ('a,b,kind\n"1,5","2,5",x\n"2,5","3,5",y\n', "no column is numeric: the row at line 2 has '1,5'; write"),
        ('a,kind\n"1,007",x\n"2,005",y\n', "the row at line 2 has '1,007'; if its commas mark thousands, take"),
        ("a,b,kind\n1,2,x\n2,inf,y\n", "column 'b' is not finite: the row at line 3 has 'inf'"),
        ("a,b,kind\n1,2,x\n2,1e999,y\n", "column 'b' is not finite"),
        ("a,a,kind\n1,2,x\n", "names 'a' twice"),
        ("a,,kind\n0,2,x\n1,3,y\n", "column 1 has no name in the header; name it, or leave it out with --drop ''"),
        ("a,kind,\n2,x,\n3,y,\n", "and say with --target which column is the class"),
        ("p,q,kind\nr,s,x\nt,u,y\n", "whether that row is a header: --header or --no-header"),
        ('a,kind\n1,"x\n2,y\n', "line 3: unexpected end of data"),
        ("a,kind\n1," + "x" * 200_000 + "\n", "line 2: field larger than field limit"),
        (b"a,kind\n1,caf\xe9\x81\n", "not UTF-8 text (byte 0xe9 in line 2)"),
        (b"a,kind\n" + "1,café\n".encode() * 60 + b"2,caf\xe9\n" * 9, "(byte 0xe9 in line 62)"),
        (b"a,kind\r\n1,x\r\n" + b"2,y\r\n" * 19000 + b"3,\xc3", "(byte 0xc3 in line 19003)"),
        ("a,kind\n1,x\n".encode("utf-16-le"), "not text; a table is a CSV or TSV file in UTF-8 (--encoding"),
        ("\n".join(f"{i},{i / 7}" for i in range(40)), "looks like a measurement, not a class"),
    ],
)
def test_what_cannot_be_read_is_said(write, content: str | bytes, complaint: str) -> None:
    path = write(content)
    with pytest.raises(McLsError) as caught:
        load_table(path)
    assert complaint in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"target": "knd"}, "did you mean 'kind'"),
        ({"target": 3}, "has 3 columns; the class column's index must be from -3 to 2"),
        ({"target": -4}, "from -3 to 2"),
        ({"target": "kind", "header": False}, "no header, so no column named 'kind'"),
    ],
)
def test_a_class_column_that_is_not_there(write, options: dict, complaint: str) -> None:
    with pytest.raises(McLsError, match=complaint):
        load_table(write(PLAIN), **options)


def test_files_that_are_not_there_or_no_files(tmp_path: Path, write) -> None:
    for path in (tmp_path / "absent.csv", tmp_path):
        with pytest.raises(McLsError, match="cannot read"):
            load_table(path)
    with pytest.raises(McLsError, match="cannot read"):
        load_table(write(b"no gzip", "broken.csv.gz"))
    with pytest.raises(McLsError, match="cannot read"):
        load_table(write(gzip.compress(PLAIN.encode() * 1000)[:-20], "cut.csv.gz"))


def test_a_file_without_line_ends_is_not_read_into_memory(write) -> None:
    packed = gzip.compress(b"1," * (MAX_LINE // 2 + 10))
    with pytest.raises(McLsError, match="is longer than"):
        load_table(write(packed, "endless.csv.gz"))


def test_reading_and_turning_to_numbers_are_apart(write) -> None:
    features, labels, *_ = read_table(write("n,colour,kind\n1,red,x\n2,blue,y\n3,red,x\n"))
    number, colour = features
    assert isinstance(number, NumberColumn)
    assert isinstance(colour, TextColumn)
    assert colour.levels == ("blue", "red")
    assert colour.codes.tolist() == [1, 0, 1]
    assert labels.levels == ("x", "y")
    with pytest.raises(McLsError, match="'colour' is not numeric"):
        numbers(features, "mine.csv")
    assert numbers([number], "mine.csv").tolist() == [[1], [2], [3]]


def test_columns_are_left_out_whatever_they_hold(write) -> None:
    path = write("id,note,size,kind\n1,?,3,x\n2,inf,4,y\n3,text,4,x\n")
    features = read_table(path, rules=ColumnRules(drop=["note", "id"])).columns
    assert [column.name for column in features] == ["size"]
    for drop, complaint in (
        (["nte"], "did you mean 'note'"),
        (["note", "kind"], "'kind' is the class column"),
        (["id", "note", "size"], "no column is left to learn from"),
    ):
        with pytest.raises(McLsError, match=complaint):
            read_table(path, "kind", rules=ColumnRules(drop=drop))


value = st.floats(allow_nan=False, allow_infinity=False)
label = st.text(st.characters(categories=["L", "N", "P", "Zs"]), min_size=1, max_size=8).filter(
    lambda text: text.strip() == text and text.lower() not in {"", "?", "na", "n/a", "#n/a", "nan", "null"}
)


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(
        st.tuples(value, value, st.sampled_from(["red", "g,r\"e;e'n", "ü ü"]) | label), min_size=1, max_size=9
    ),
    sep=st.sampled_from([",", ";", "\t"]),
)
def test_what_csv_writes_is_read_back(tmp_path_factory, rows: list, sep: str) -> None:
    path = tmp_path_factory.mktemp("round") / "trip.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream, delimiter=sep).writerows([("a", "b", "kind: text"), *rows])
    features, labels, *_ = read_table(path, target="kind: text", form=TableFormat(sep, "."))
    X = numbers(features, path)
    assert X.tolist() == [[a, b] for a, b, _ in rows]  # every double survives
    if labels.first is not None:
        assert [labels.levels[code] for code in labels.codes] == [text for *_, text in rows]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with a name")
def test_pipes_and_devices_are_refused_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "t.csv")
    with pytest.raises(McLsError, match=r"t\.csv is a pipe, .*: save it to a file first"):
        load_table(tmp_path / "t.csv")
    with pytest.raises(McLsError, match="/dev/zero is a device"):
        load_table("/dev/zero")


@pytest.mark.parametrize("at, value", [(6, 99), (9, 8), (20, 255), (42, 255)])
def test_a_zip_whose_directory_is_damaged_is_one_all_the_same(tmp_path: Path, at: int, value: int) -> None:
    """A version that there is not, a name that is not UTF-8, a size and a place beyond the file."""
    with zipfile.ZipFile(tmp_path / "t.csv", "w") as archive:
        archive.writestr("\u00e9.csv", "1,2\n")
    data = bytearray((tmp_path / "t.csv").read_bytes())
    entry = data.index(b"PK\x01\x02")
    data[entry + at] = value
    data[entry + 46] = 0xFF
    (tmp_path / "t.csv").write_bytes(data)
    with pytest.raises(McLsError, match="is a zip archive"):
        read_table(tmp_path / "t.csv")
