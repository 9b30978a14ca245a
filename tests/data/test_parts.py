"""Tables that are read piece by piece: the same columns, encoder and classes as those of a table in memory."""

import csv
import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcls.data import parts
from mcls.data.blocks import read_blocks
from mcls.data.encoder import Reading
from mcls.data.encoding import learn_encoder, learn_from_facts, read_values
from mcls.data.formats import ColumnRules, TableFormat
from mcls.data.parts import byte_spans, find_files, is_large, open_parts
from mcls.data.statistics import column_facts, count_piece, find_classes, merge_pieces
from mcls.data.tables import read_table
from mcls.errors import McLsError
from tests.data.kinds import RULES, counted, frame, write


@pytest.mark.parametrize("kind", ["parquet", "csv", "quoted"])
def test_pieces_have_the_encoder_the_classes_and_the_features_of_the_whole(tmp_path, small_pieces, kind):
    made = frame()
    if kind == "quoted":
        made["hue"] = made["hue"].replace("red", 'dark, "r"\nred')
    path = write(tmp_path, made, kind.replace("quoted", "csv"), kind == "quoted")
    read = read_table(path, "kind", rules=RULES)
    table = open_parts([path], "kind", rules=RULES)
    pieces = table.pieces()
    assert len(pieces) > 3
    counts = merge_pieces([count_piece(p, table, 0) for p in pieces], pieces, table)
    assert counts.rows == len(made)
    whole = learn_encoder(read.columns, path, RULES)
    encoder = learn_from_facts(column_facts(counts, table.features), path, RULES)
    assert encoder == whole  # also the medians: the sample has all rows
    classes = find_classes(counts, table)
    assert classes.names == read.labels.levels
    X, y = [], []
    for piece in pieces:
        for block in read_blocks(table, piece):
            columns = [block.columns[name] for name in table.features]
            X.append(encoder.features(read_values(columns, encoder), Reading()))
            y.append(classes.code(block.columns["kind"]))
    assert np.array_equal(np.concatenate(X), whole.features(read_values(read.columns, whole), Reading()))
    assert np.array_equal(np.concatenate(y), read.labels.codes)
    assert classes.rows.tolist() == np.bincount(read.labels.codes).tolist()


@pytest.mark.parametrize("shuffled", [False, True])
def test_a_column_that_counts_is_found_across_pieces(tmp_path, small_pieces, shuffled):
    numbers = np.arange(3000) * 2 + 5
    made = frame().assign(id=np.random.default_rng(0).permutation(numbers) if shuffled else numbers)
    path = write(tmp_path, made, "parquet")
    table = open_parts([path], "kind", rules=RULES)
    counts = merge_pieces([count_piece(p, table, 0) for p in table.pieces()], table.pieces(), table)
    assert [f.name for f in column_facts(counts, table.features) if getattr(f, "counts_rows", False)] == ["id"]
    with pytest.raises(McLsError, match="counts the rows"):
        learn_from_facts(column_facts(counts, table.features), path, RULES)


def bad_inputs():
    good = frame(50)
    return {
        "'k' is missing": [good, good.drop(columns="k")],
        "'new' is new": [good, good.assign(new=1)],
        "holds texts, in a.parquet it holds numbers": [good, good.assign(x=good["hue"])],
        "'list' \\(list": [good, good.assign(list=[[1, 2]] * 50)],
        "holds one class": [good.assign(kind=1)],
        "no column is left": [good[["kind", "note"]]],
    }


@pytest.mark.parametrize("told", bad_inputs())
def test_parts_that_do_not_fit_are_refused(tmp_path, told):
    for name, made in zip("ab", bad_inputs()[told]):
        made.to_parquet(tmp_path / f"{name}.parquet")
    rules = ColumnRules(drop=["note"], missing="impute")
    with pytest.raises(McLsError, match=told):
        counted(tmp_path, rules)


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_large_file_is_told_by_its_rows(tmp_path, monkeypatch, kind):
    path = write(tmp_path, frame(), kind)
    monkeypatch.setattr(parts, "MANY_ROWS", 3200)
    assert not is_large(path)
    monkeypatch.setattr(parts, "MANY_ROWS", 2800)
    monkeypatch.setattr(parts, "_FIRST_BYTES", 3000)
    assert is_large(path)


def test_a_name_that_cannot_be_is_left_to_whoever_opens_it_and_a_closed_folder_is_told(tmp_path, monkeypatch):
    for name in ("x" * 5000, "a\0b.csv"):
        assert find_files([name]) == [Path(name)]

    def refuse(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("mcls.data.parts.os.listdir", refuse)
    with pytest.raises(McLsError, match=r"cannot look into the folder .*: Permission denied"):
        find_files([tmp_path])


@pytest.mark.parametrize("delimiter", [",", ";", "|", " "])
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_spans_end_where_a_reader_of_csv_ends_a_row(tmp_path_factory, delimiter, data):
    """Quotes that begin a cell hold line ends; a quote within a cell is a letter of it."""
    piece = st.sampled_from(['"', '""', "\n", "\r\n", "x", delimiter, " ", "5"])
    text = "a\n" + "".join(data.draw(st.lists(piece, max_size=60)))
    lines, ends = io.StringIO(text, newline=""), {0, 2}
    read = csv.reader(iter(lines.readline, ""), delimiter=delimiter, strict=True, skipinitialspace=True)
    try:
        for _ in read:
            ends.add(lines.tell())
    except csv.Error:
        return
    path = tmp_path_factory.mktemp("spans") / "t.csv"
    path.write_bytes(text.encode())
    spans = list(byte_spans(path, TableFormat(delimiter), skip_head=True, size=data.draw(st.integers(8, 40))))
    assert [start for start, _ in spans] == [2, *(stop for _, stop in spans)][: len(spans)]
    assert (spans[-1][1] if spans else 2) == len(text)
    assert {stop for _, stop in spans} <= ends


def test_a_quote_within_a_cell_is_a_letter_however_many_rows_follow(tmp_path):
    rows = ["1,2,x" for _ in range(300_000)]
    rows[1000] = '1,2,5" pipe'
    (tmp_path / "t.csv").write_text('a,"b ""c""\nd",5" e\n' + "\n".join(rows) + "\n")
    # Were every line end looked at anew, this would take hours.
    spans = list(byte_spans(tmp_path / "t.csv", TableFormat(","), skip_head=True, size=2**19))
    assert len(spans) > 3
    assert spans[0][0] == len('a,"b ""c""\nd",5" e\n')
