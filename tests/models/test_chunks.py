"""Rows of a new table: whole columns against cell by cell."""

from __future__ import annotations

import io
import re

import numpy as np
import pandas as pd
import pytest

from mcls.data import scanning
from mcls.models import chunks, streaming

SMALL = {"gamma": [0.1], "sigma": [1.0]}


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("extra", [streaming.NOTHING, streaming.Extra(True, True, 0.9)], ids=["classes", "all"])
def test_whole_columns_give_what_reading_cell_by_cell_gives(model, tmp_path, monkeypatch, ending, extra):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"id": rng.integers(0, 9, 500), "hue": rng.choice(["red", "green", "pink"], 500)})
    frame["size"] = rng.uniform(0, 9, 500)
    frame["kind"] = rng.choice(["a", "b", "c"], 500)
    path = tmp_path / f"new.{ending}"
    frame.to_csv(path, index=False) if ending == "csv" else frame.to_parquet(path, row_group_size=170)
    monkeypatch.setattr(chunks, "_SPAN", 3000)
    found = []
    for plain in (True, False):
        with monkeypatch.context() as patch:
            if not plain:
                patch.setattr(chunks, "is_plain", lambda *a: False)
                patch.setattr(chunks, "_arrow", lambda path, *a: slow(path))
            out, notes = io.StringIO(newline=""), []
            assert streaming.predict_table(model, path, out, extra=extra, say=notes.append) == 500
            judged = streaming.judge_table(model, path)
            text = re.sub(r"\.(\d{12})\d+", r".\1", out.getvalue()) if extra.scores else out.getvalue()
            found.append((text, notes, judged.counts.tolist(), judged.true))
            assert streaming.is_training_table(model, path) is False
    assert found[0] == found[1]


def slow(path):
    form = streaming.sniff(path).form
    for lines, rows in scanning.pieces(path, form, skip=1):
        yield chunks.Raw(lines, None, lambda rows=rows: rows, None)


@pytest.mark.parametrize(
    "text",
    ['a,"b"\n', "a, b\n", "a ,b\n", "a,b \n", " a,b\n", "é,b\n", "a\x0c,b\n", "a\rb,c\n", "a,b\t\n", "a,b\r\r\n"],
)
def test_what_is_not_plain_is_seen_also_across_two_reads(tmp_path, monkeypatch, text):
    path = tmp_path / "t.csv"
    for before in range(6):
        monkeypatch.setattr(chunks, "_SPAN", 7)
        path.write_bytes(("x" * before + ",y\n" + text + "z,1\n").encode())
        assert not chunks.is_plain(path, ",")
    path.write_bytes(b"a b,c d\r\n1,2\r\n")
    assert chunks.is_plain(path, ",")
