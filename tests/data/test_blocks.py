"""The rows of a piece as columns: what cannot be read is told."""

import pytest

from mcls.data import parts, scanning
from mcls.data.blocks import NotNumbers
from mcls.data.parts import find_files, open_parts
from mcls.data.statistics import count_piece, merge_pieces
from mcls.errors import McLsError
from tests.data.kinds import RULES, counted, frame, write


def test_a_text_among_numbers_is_told_with_its_row(tmp_path, small_pieces):
    made = frame().astype({"x": str})
    made.loc[2900, "x"] = "oops"
    path = write(tmp_path, made, "csv")
    table = open_parts([path], "kind", rules=RULES)
    table = table.__class__(**{**vars(table), "kinds": {**table.kinds, "x": "number"}})
    with pytest.raises(NotNumbers) as told:
        [count_piece(p, table, 0) for p in table.pieces()]
    assert told.value.column == "x"
    assert told.value.cell.text == "oops"
    counts = [count_piece(p, table.with_text("x"), 0) for p in table.pieces()]
    merged = merge_pieces(counts, table.pieces(), table)
    assert merged.columns["x"].first.line == 2902  # header and first row


def test_short_rows_and_other_files_are_refused(tmp_path, monkeypatch):
    made = frame(100).to_csv(index=False).splitlines()
    (tmp_path / "t.csv").write_text("\n".join([*made[:60], made[60].rsplit(",", 2)[0], *made[61:]]) + "\n")
    monkeypatch.setattr(parts, "_SCANNED", 1)
    monkeypatch.setattr(scanning, "CHUNK_ROWS", 20)
    with pytest.raises(McLsError, match=r"a row has 7 cells, expected 9"):
        counted(tmp_path / "t.csv", RULES)
    with pytest.raises(McLsError, match="no file matches"):
        find_files([tmp_path / "*.nothing"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(McLsError, match="holds no table"):
        find_files([tmp_path / "empty"])
    with pytest.raises(McLsError, match="twice"):
        find_files([tmp_path / "t.csv", tmp_path])
