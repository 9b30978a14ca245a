"""How a table is written: what may be said, what is found out, and that every way gives the same table."""

from __future__ import annotations

import gzip

import pytest

from mcls.data import load_table
from mcls.data.formats import ColumnRules, TableFormat
from mcls.data.lines import sniff
from mcls.data.tables import read_table
from mcls.errors import McLsError

PLAIN = "weight,hue,kind\n1.5,r\u00fan,x\n-2.25,blue,y\n1e3,blue,x\n"
EUROPEAN = PLAIN.replace(",", ";").replace(".", ",")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "latin-1", "cp1252"])
@pytest.mark.parametrize("text", [PLAIN, EUROPEAN, PLAIN.replace(",", "\t"), EUROPEAN.replace("\n", "\r\n")])
@pytest.mark.parametrize("packed", [False, True])
def test_the_same_table_however_it_is_written(tmp_path, text, encoding, packed):
    path = tmp_path / ("t.csv.gz" if packed else "t.csv")
    path.write_bytes(gzip.compress(text.encode(encoding)) if packed else text.encode(encoding))
    read = read_table(path, "kind")
    (weight, hue), labels = read.columns, read.labels
    assert weight.values.tolist() == [1.5, -2.25, 1000.0]
    assert hue.levels == ("blue", "r\u00fan")
    assert labels.levels == ("x", "y")
    said = " ".join(read.notes)
    assert ("decimal comma" in said) == (";" in text)
    assert ("Windows-1252" in said) == (encoding in ("latin-1", "cp1252"))
    assert ("UTF-16" in said) == (encoding == "utf-16")


def test_what_is_said_is_not_found_out(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a|b;c|kind\n1,5|2|x\n2,5|3|y\n")
    data = load_table(path, sep="|", decimal=",", encoding="ascii")
    assert data.X.tolist() == [[1.5, 2], [2.5, 3]]
    assert not data.notes
    path.write_bytes("a,kind\n1,\u0416\n2,\u0418\n".encode("cp1251"))
    assert load_table(path, encoding="cp1251").classes == ("\u0416", "\u0418")
    path.write_bytes("a,kind\n1,x\n2,y\n".encode("utf-16-be"))
    assert load_table(path, encoding="utf-16-be").n == 2


@pytest.mark.parametrize(
    "text, decimal",
    [
        ("a;b\n1,5;x\n2,5;y\n", ","),
        ("a;b\n1,5;x\n?;y\n", ","),
        ("a;b\n1,5;x\n2.5;y\n", "."),  # one of the two is not a number: the user must say which
        ("a;b\n1,5;1.5\n2,5;2.5\n", "."),
        ("a;b;c\n1;x, y;z\n2;3,4 m;z\n", "."),
        ("a;b\n1;31.12.2024\n2,5;1.1.2024\n", ","),
        ("a,b\n1,5\n2,5\n", "."),
    ],
)
def test_a_decimal_comma_is_found_where_nothing_speaks_against_it(tmp_path, text, decimal):
    (tmp_path / "t.csv").write_text(text)
    assert sniff(tmp_path / "t.csv").form.decimal == decimal


def test_a_point_is_no_decimal_mark_beside_a_decimal_comma(tmp_path):
    """1.234 may be a thousand and more: it is never read as a little more than one."""
    rows = "".join(f"{i},5;{i};{'xy'[i % 2]}\n" for i in range(20))
    (tmp_path / "t.csv").write_text(f"a;b;kind\n{rows}1.234;1;x\n")
    with pytest.raises(McLsError, match=r"the row at line 22 has '1\.234'"):
        load_table(tmp_path / "t.csv", decimal=",")


@pytest.mark.parametrize(
    "options, complaint",
    [
        ({"delimiter": "::"}, "separator must be one character"),
        ({"delimiter": "x"}, "separator must be one character"),
        ({"delimiter": ""}, "separator must be one character"),
        ({"decimal": ";"}, "a point or a comma, not ';'"),
        ({"delimiter": ",", "decimal": "comma"}, "cannot both be ','"),
        ({"encoding": "utf8x"}, "unknown encoding 'utf8x'; did you mean"),
        ({"encoding": "zip"}, "unknown encoding 'zip'"),
        ({"encoding": "../../x"}, "unknown encoding"),
        ({"encoding": "unicode_escape"}, "unknown encoding"),
    ],
)
def test_formats_that_there_are_not(options, complaint):
    with pytest.raises(McLsError, match=complaint):
        TableFormat(**options)


@pytest.mark.parametrize(
    "options, complaint",
    [
        ({"missing": "guess"}, "unknown rule for missing values: 'guess'"),
        ({"ordinal": ["size"]}, "write COLUMN=first<second"),
        ({"ordinal": ["size=S"]}, "write COLUMN=first<second"),
        ({"ordinal": ["size=S<S"]}, "write COLUMN=first<second"),
        ({"ordinal": ["=S<M"]}, "write COLUMN=first<second"),
        ({"ordinal": ["a=S<M", "a=M<S"]}, "given twice"),
    ],
)
def test_rules_that_there_are_not(options, complaint):
    with pytest.raises(McLsError, match=complaint):
        ColumnRules(**options)


def test_text_that_is_not_in_the_encoding_that_was_said(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"a,kind\n1,x\n2,\xe9\n")
    with pytest.raises(McLsError, match="is not ascii text after line"):
        load_table(tmp_path / "t.csv", encoding="ascii")
