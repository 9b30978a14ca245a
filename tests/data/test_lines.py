"""Files that are not text tables: what they are, and what to do with them."""

from __future__ import annotations

import gzip
import io
import zipfile

import numpy as np
import pytest

import mcls
from mcls.data import load_table
from mcls.data.lines import sniff, table_rows
from mcls.errors import McLsError

TABLE = b"a,b,kind\n1,2,x\n3,4,y\n"


def zipped(*names):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            archive.writestr(name, "content")
    return buffer.getvalue()


def arrays():
    buffer = io.BytesIO()
    np.savez(buffer, X=np.zeros((2, 2)))
    return buffer.getvalue()


@pytest.mark.parametrize(
    "name, content, kind, what_to_do",
    [
        ("t.xlsx", zipped("[Content_Types].xml", "xl/workbook.xml"), "a workbook", "save its sheet as CSV"),
        ("t.ods", zipped("mimetype", "content.xml"), "a workbook", "save its sheet as CSV"),
        ("t.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500), "a workbook", "save its sheet as CSV"),
        ("t.zip", zipped("t.csv"), "a zip archive", "unpack it"),
        ("t.npz", arrays(), "a zip archive", "unpack it"),
        ("t.csv", gzip.compress(TABLE), "compressed", "rename it to t.csv.gz"),
        (
            "t.arff",
            b"% of 1988\n% by hand\n\n@RELATION t\n@data\n1,x\n",
            "an ARFF file",
            "names of its @attribute lines",
        ),
        ("t.dat", b"@relation t\n@inputs a\n@data\n1,x\n", "an ARFF file", "names of its @attribute lines"),
        ("t.csv", b"<!DOCTYPE html>\n<p>404, not found</p>\n", "a web page", "a table is a CSV"),
        ("t.csv", b'[{"a": 1, "kind": "x"}]\n', "JSON", "to_csv"),
        ("t.csv", b"\xef\xbb\xbfsep=;\r\na;kind\r\n1;x\r\n", "a table below a line", "take out that first line"),
        ("t.npy", b"\x93NUMPY\x01\0" + bytes(200), "not text", "CSV or TSV file in UTF-8"),
    ],
    ids=lambda value: value if isinstance(value, str) else "content",
)
def test_a_file_of_another_kind_is_named_with_what_to_do(tmp_path, name, content, kind, what_to_do):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(McLsError) as caught:
        load_table(tmp_path / name)
    assert str(caught.value).startswith(f"{tmp_path / name} is {kind}")
    assert what_to_do in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_model_is_no_table(tmp_path):
    path = tmp_path / "m.mcls"
    mcls.save(mcls.OneLSM().fit([[0.0], [1.0]], ["a", "b"]), path)
    with pytest.raises(McLsError, match=r"is a model, not a table; mcls inspect .*m.mcls shows it"):
        load_table(path)


def test_a_column_may_have_the_name_of_a_format(tmp_path):
    (tmp_path / "t.csv").write_bytes(TABLE.replace(b"a,", b"PAR1,"))
    assert load_table(tmp_path / "t.csv").feature_names == ("PAR1", "b")


def test_a_first_line_of_percent_signs_is_looked_at_once(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"%" * 5000 + b",b,kind\n1,2,x\n3,4,y\n")  # not 2^5000 ways to part it
    assert load_table(tmp_path / "t.csv").feature_names == ("%" * 5000, "b")


def test_a_path_may_be_text(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b\n1;2\n")
    assert sniff(str(path)).form.delimiter == ";"
    assert [cells for _, cells in table_rows(str(path))] == [["a", "b"], ["1", "2"]]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_nul_character_is_refused_by_its_line(tmp_path, encoding):
    rows = "".join(f"{i},red,a\n" for i in range(100))  # the first bytes, which are looked at before, have none
    (tmp_path / "t.csv").write_bytes(f"x,hue,kind\n{rows}1,\0,b\n".encode(encoding))
    with pytest.raises(McLsError, match="line 102 has a NUL character, which no text has; take it out"):
        load_table(tmp_path / "t.csv", "kind")
