"""``mcls predict``: the column it adds, where it writes, and what stops it."""

from __future__ import annotations

import csv
import io

import pytest

import mcls
from mcls.data import scanning
from mcls.models.fitting import fit_table
from mcls.resources import datasets_dir

from ..command import call

IRIS = datasets_dir() / "iris.csv"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "iris.mcls"
    mcls.save(fit_table(IRIS, "class", grid={"gamma": [0.1], "sigma": [1.0]}, folds=3).model, path)
    return path


def test_to_a_file_and_to_the_terminal_alike(model, tmp_path):
    code, out, err = call("predict", model, IRIS, "-o", tmp_path / "named.csv")
    assert (code, out, err) == (0, f"150 rows written to {tmp_path / 'named.csv'}\n", "")
    code, out, err = call("predict", model, IRIS)
    assert (code, err) == (0, "")
    assert out == (tmp_path / "named.csv").read_text()
    rows = list(csv.DictReader(io.StringIO(out)))
    assert sum(row["prediction"] != row["class"] for row in rows) <= 8
    assert [p.name for p in tmp_path.iterdir()] == ["named.csv"]


def test_scores(model):
    out = call("predict", model, IRIS, "--scores")[1]
    assert out.splitlines()[0].endswith(",prediction,score setosa,score versicolor,score virginica")


def test_another_unit_is_told_and_nothing_else_changes(model, tmp_path):
    head, *rows = IRIS.read_text().splitlines()
    tenfold = [[*(f"{10 * float(x):g}" for x in row.split(",")[:4]), row.split(",")[4]] for row in rows]
    path = tmp_path / "mm.csv"
    path.write_text("\n".join([head, *map(",".join, tenfold)]) + "\n")
    note = (
        "note: 150 of 150 rows lie far outside the training range "
        "(sepal_length: 43 to 79, trained on 4.3 to 7.9; and 3 more columns)\n"
    )
    code, out, err = call("predict", model, path)
    assert (code, err) == (0, note)
    assert out.count("\n") == 151
    code, out, err = call("evaluate", model, path)
    assert (code, err) == (0, note)
    assert call("predict", model, path, "-o", tmp_path / "out.csv")[2] == note


def test_a_bad_row_leaves_the_old_output(model, tmp_path, monkeypatch):
    monkeypatch.setattr(scanning, "CHUNK_ROWS", 10)
    (tmp_path / "named.csv").write_text("an,old,table\n")
    (tmp_path / "new.csv").write_text(IRIS.read_text() + "1,2,3,x,setosa\n")
    code, out, err = call("predict", model, tmp_path / "new.csv", "-o", tmp_path / "named.csv")
    assert (code, out) == (2, "")
    assert "line 152, column 'petal_width': 'x' is not a finite number" in err
    assert err.count("\n") == 1
    assert {p.name for p in tmp_path.iterdir()} == {"named.csv", "new.csv"}
    assert (tmp_path / "named.csv").read_text() == "an,old,table\n"


def test_a_full_disk_is_one_line(model, tmp_path, monkeypatch):
    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("mcls.files.os.fsync", full)
    code, _, err = call("predict", model, IRIS, "-o", tmp_path / "named.csv")
    assert code == 2
    assert "No space left on device; nothing was left half-written" in err
    assert not list(tmp_path.iterdir())


def test_ctrl_c_leaves_no_output(model, tmp_path, monkeypatch):
    def stopped(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("mcls.models.streaming.raw_chunks", stopped)
    code, _, err = call("predict", model, IRIS, "-o", tmp_path / "named.csv")
    assert code == 130
    assert err == f"mcls: interrupted; {tmp_path / 'named.csv'} was not written; the same command starts again\n"
    assert not list(tmp_path.iterdir())


def test_a_bare_machine_knows_no_columns(tmp_path):
    mcls.save(mcls.OneLSM().fit([[0.0], [1.0]], ["a", "b"]), tmp_path / "bare.mcls")
    code, _, err = call("predict", tmp_path / "bare.mcls", IRIS)
    assert code == 2
    assert "holds a bare OneLSM that knows no columns; use it from Python" in err


def test_no_model_no_table(model, tmp_path):
    assert call("predict", IRIS, IRIS)[0] == 2
    assert "is not an mcls model" in call("predict", IRIS, IRIS)[2]
    assert "cannot read" in call("predict", model, tmp_path / "no.csv")[2]
