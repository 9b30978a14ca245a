"""``mcls evaluate``: its figures, its picture, and the whole tour from a CSV to an error."""

from __future__ import annotations

import csv
import io
import re

import pandas as pd
import pytest
from scipy import stats

import mcls
from mcls.data.formats import ColumnRules
from mcls.models.fitting import fit_table
from mcls.resources import datasets_dir

from ..command import call

GLASS = datasets_dir() / "glass.csv"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "glass.mcls"
    mcls.save(fit_table(GLASS, "class", grid={"gamma": [0.1], "sigma": [0.5]}, folds=3).model, path)
    return path


def test_error_table_and_picture(model, tmp_path):
    code, out, err = call("evaluate", model, GLASS, "--picture", tmp_path / "c.png")
    assert (code, err) == (0, "")
    rows = list(csv.DictReader(io.StringIO(call("predict", model, GLASS)[1])))
    wrong = sum(row["class"] != row["prediction"] for row in rows)
    assert out.splitlines()[0].startswith(
        f"glass.csv: training error {100 * wrong / 214:.2f} % ({wrong} of 214 rows wrong): "
    )
    assert "precision" in out
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")


def test_the_training_table_is_known_however_it_is_written(model, tmp_path):
    facts = mcls.load(model).facts
    for frame in (
        pd.read_csv(GLASS, dtype=str),
        pd.read_csv(GLASS, dtype=str).iloc[:, ::-1],  # columns in another order
        pd.read_csv(GLASS, dtype=str).assign(note=""),  # and one more, which holds nothing
    ):
        frame.to_csv(tmp_path / "t.csv", index=False)
        code, out, _ = call("evaluate", model, tmp_path / "t.csv")
        assert code == 0
        first = out.splitlines()[0]
        assert "the model was fitted to these very rows; for new rows see its CV error" in first
        assert f"CV error {100 * facts.cv_error:.2f} % (95 %: " in first
        assert first.endswith(f"{100 * (1 - 76 / 214):.2f} % for always 2")


def test_a_column_left_out_does_not_hide_the_training_table(tmp_path):
    frame = pd.read_csv(GLASS, dtype=str).assign(note="")
    frame.to_csv(tmp_path / "t.csv", index=False)
    fitted = fit_table(
        tmp_path / "t.csv", "class", grid={"gamma": [0.1], "sigma": [0.5]}, rules=ColumnRules(["note"])
    )
    mcls.save(fitted.model, tmp_path / "m")
    assert "fitted to these very rows" in call("evaluate", tmp_path / "m", tmp_path / "t.csv")[1]
    for header in (True, False):  # without a header the columns are known by place
        frame.to_csv(tmp_path / "t.csv", index=False, header=header)
    mcls.save(
        fit_table(
            tmp_path / "t.csv", "-2", grid={"gamma": [0.1], "sigma": [0.5]}, rules=ColumnRules(["x10"])
        ).model,
        tmp_path / "m",
    )
    assert "fitted to these very rows" in call("evaluate", tmp_path / "m", tmp_path / "t.csv")[1]


def test_other_rows_have_an_interval_and_the_error_of_the_largest_class(model, tmp_path):
    frame = pd.read_csv(GLASS, dtype=str)
    frame.loc[0, "RI"] = str(float(frame.loc[0, "RI"]) + 0.001)  # as many rows, and one of them new
    for rows in (frame, frame[::2]):
        rows.to_csv(tmp_path / "t.csv", index=False)
        first = call("evaluate", model, tmp_path / "t.csv")[1].splitlines()[0]
        wrong, n = map(int, re.search(r"(\d+) of (\d+) rows wrong", first).groups())
        low, high = stats.binomtest(wrong, n).proportion_ci(method="wilson")
        always = (rows["class"] != "2").mean()
        assert first == (
            f"t.csv: error {100 * wrong / n:.2f} % (95 %: {100 * low:.1f}–{100 * high:.1f}; "
            f"{wrong} of {n} rows wrong), {100 * always:.2f} % for always 2"
        )


@pytest.mark.parametrize("name, start", [("c.PNG", b"\x89PNG"), ("c.svg", b"<?xml"), ("c.pdf", b"%PDF")])
def test_the_ending_says_what_is_drawn_the_same_each_time(model, tmp_path, name, start):
    drawn = []
    for _ in range(2):
        assert call("evaluate", model, GLASS, "--picture", tmp_path / name)[0] == 0
        drawn.append((tmp_path / name).read_bytes())
    assert drawn[0].startswith(start)
    assert drawn[0] == drawn[1]


def test_classes_never_seen_are_named(model, tmp_path):
    lines = GLASS.read_text().splitlines()
    lines[1] = lines[1].rsplit(",", 1)[0] + ",99"
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    out = call("evaluate", model, tmp_path / "t.csv")[1]
    said = "the model never saw the class 99: those rows count as wrong"
    assert said in out
    options = ("--machine", "oneLSM:gamma=1,sigma=1", "--folds", 3, "--no-nested", "--test", tmp_path / "t.csv")
    assert said in call("fit", GLASS, "-o", tmp_path / "m.mcls", *options)[1]


@pytest.mark.parametrize(
    "extra, complaint",
    [
        (["--picture", "no/c.png"], "there is no folder no"),
        (["--picture", "."], "is a folder"),
        (["--picture", "c.txt"], "c.txt: a picture is drawn to a file that ends in .png, .svg, .pdf"),
        (["--picture", "c"], "c: a picture is drawn to a file that ends in .png, .svg, .pdf"),
    ],
)
def test_a_place_for_the_picture_is_checked_first(model, extra, complaint, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = call("evaluate", model, GLASS, *extra)
    assert (code, out) == (2, "")
    assert complaint in err
    assert err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_the_tour(tmp_path, monkeypatch):
    """Train on every other row, predict and judge the others, look inside: what a new user does first."""
    monkeypatch.chdir(tmp_path)
    head, *rows = (datasets_dir() / "wine.csv").read_text().splitlines()
    (tmp_path / "train.csv").write_text("\n".join([head, *rows[::2]]) + "\n")
    (tmp_path / "test.csv").write_text("\n".join([head, *rows[1::2]]) + "\n")
    assert call("fit", "train.csv", "--target", "class", "-o", "wine.mcls")[0] == 0
    assert call("predict", "wine.mcls", "test.csv", "-o", "named.csv")[0] == 0
    code, out, _ = call("evaluate", "wine.mcls", "test.csv", "--picture", "confusion.png")
    assert code == 0
    assert float(out.split("error ")[1].split(" %")[0]) < 6.0
    assert "train.csv, 89 rows" in call("inspect", "wine.mcls")[1]
    made = sorted(p.name for p in tmp_path.iterdir())
    assert made == ["confusion.png", "named.csv", "test.csv", "train.csv", "wine.mcls"]
