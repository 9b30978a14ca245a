"""A messy table of the user's through every command that reads one: each option does its work and refuses nonsense."""

from __future__ import annotations

import io
import random
from pathlib import Path

import pandas as pd
import pytest

from ..command import call, piped

HEAD = "nr;gewicht;gr\u00f6\u00dfe;filiale;bestellt;farbe;notiz 1;notiz 2;urteil\n"
RULES = ("--missing", "impute", "--drop", "nr", "--drop", "notiz*", "--categorical", "filiale",
         "--ordinal", "gr\u00f6\u00dfe=S<M<L")  # fmt: skip
ONE_POINT = ("--machine", "oneLSM:gamma=0.1,sigma=2", "--folds", "3")


def rows(n, seed=0):
    r = random.Random(seed)
    for i in range(n):
        s = r.randrange(3)
        weight = "" if r.random() < 0.1 else f"{r.gauss(10 + 3 * s, 1):.2f}".replace(".", ",")
        day = f"{r.randint(1, 28):02d}.{r.randint(1, 12):02d}.{r.choice((2023, 2024))}"
        hue = "" if r.random() < 0.1 else ("gr\u00fcn", "blau", "rot")[s if r.random() < 0.7 else r.randrange(3)]
        yield [
            str(900 + i),
            weight,
            "SML"[s],
            r.choice(("101", "205")),
            day,
            hue,
            f"n {i}",
            "x",
            ("keep", "mend", "back")[s],
        ]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("own")
    text = HEAD + "".join(";".join(row) + "\n" for row in rows(80))
    (folder / "orders.csv").write_bytes(text.encode("latin-1"))
    (folder / "new.csv").write_text(HEAD + "".join(";".join(row) + "\n" for row in rows(20, 1)))
    code, out, err = call(
        "fit", folder / "orders.csv", "--target", "urteil", *RULES, *ONE_POINT, "-o", folder / "m.mcls"
    )
    assert code == 0, err
    assert "(1 of numbers, 2 of text, 1 ordered, 1 of dates)" in out
    for said in ("read as Windows-1252", "decimal comma", "'bestellt' holds dates", "often missing"):
        assert said in err
    return folder


def test_the_options_are_named_where_they_are_needed(place):
    code, _, err = call("fit", place / "orders.csv", "--target", "urteil", "-o", place / "x.mcls")
    assert code == 2
    assert err.count("\n") == 1
    assert "4 columns cannot be learnt from: 'nr' counts the rows" in err
    for option in ("--drop nr --drop gewicht --drop farbe --drop 'notiz 1'", "--keep nr", "--missing impute"):
        assert option in err


def test_prediction_keeps_the_table_as_it_was(place):
    code, out, err = call("predict", place / "m.mcls", place / "new.csv", "--scores")
    assert code == 0, err
    lines = out.splitlines()
    assert [line.split(";")[:9] for line in lines[1:]] == list(rows(20, 1))
    assert lines[0].split(";")[9:] == ["prediction", "score back", "score keep", "score mend"]
    found = pd.read_csv(io.StringIO(out), sep=";", decimal=",")
    assert (found["prediction"] == found["urteil"]).mean() > 0.7
    assert (found.filter(like="score").idxmax(axis=1) == "score " + found["prediction"]).all()


def test_a_bad_row_does_not_lose_the_batch(place, tmp_path):
    text = (place / "new.csv").read_text()
    text += "1;schwer;S;101;01.02.2024;rot;;;keep\n2;9,5;S;101;gestern;rot;;;keep\n"
    text += "3;9,5;S\n4;9,5;XL;101;01.02.2024;lila;;;keep\n"
    (tmp_path / "t.csv").write_text(text)
    code, out, err = call("predict", place / "m.mcls", tmp_path / "t.csv")
    assert code == 2
    assert "line 22, column 'gewicht': 'schwer' is not a finite number (mcls predict --on-error skip" in err
    code, out, err = call("predict", place / "m.mcls", tmp_path / "t.csv", "--on-error", "skip")
    assert code == 0
    cells = [line.split(";") for line in out.splitlines()]
    assert cells[0][-2:] == ["prediction", "reason"]
    assert {len(line) for line in cells} == {11}
    assert [line[-1] for line in cells[-4:]] == [
        "column 'gewicht': 'schwer' is not a finite number",
        "column 'bestellt': 'gestern' is not a date such as 31.12.2024",
        "the row has 3 cells, expected 9",
        "",
    ]
    assert [bool(line[-2]) for line in cells[-5:]] == [True, False, False, False, True]
    assert "3 rows of 24 could not be read" in err
    assert "'farbe' in 1 row (such as 'lila')" in err
    code, out, err = call("predict", place / "m.mcls", tmp_path / "t.csv", "--on-error", "skip", "--strict")
    assert out.splitlines()[-1].endswith(
        ";;column 'gr\u00f6\u00dfe': 'XL' was not in the training table (known: S, M, L)"
    )
    # rows that can be read are predicted as without the others
    alone = call("predict", place / "m.mcls", place / "new.csv")[1].splitlines()
    assert [line[:-1] for line in cells[:21]] == [line.split(";") for line in alone]


def test_the_training_table_is_known_again_also_from_standard_input(place):
    code, out, _ = call("evaluate", place / "m.mcls", place / "orders.csv")
    assert (code, "the model was fitted to these very rows" in out) == (0, True)
    for content in ((place / "orders.csv").read_bytes(), b"", b"PAR1"):
        done = piped("evaluate", place / "m.mcls", "-", given=content)
        assert (done.returncode, b"these very rows" in done.stdout) == (
            (0, True) if len(content) > 9 else (2, False)
        )
        assert b"Traceback" not in done.stderr


def test_parquet_and_csv_give_the_same_model_and_predictions(place, tmp_path):
    pytest.importorskip("pyarrow")
    frame = pd.read_csv(place / "orders.csv", sep=";", decimal=",", encoding="latin-1")
    frame.to_parquet(tmp_path / "orders.parquet")
    frame.to_feather(tmp_path / "orders.feather")
    models = []
    for name in ("orders.parquet", "orders.feather"):
        code, _, err = call(
            "fit", tmp_path / name, "--target", "urteil", *RULES, *ONE_POINT, "-o", tmp_path / "m.mcls"
        )
        assert code == 0, err
        models.append(call("inspect", tmp_path / "m.mcls")[1].split("fingerprint")[1].split()[0])
        assert "these very rows" in call("evaluate", place / "m.mcls", tmp_path / name)[1]
    assert models[0] == models[1] == call("inspect", place / "m.mcls")[1].split("fingerprint")[1].split()[0]


@pytest.mark.parametrize(
    "options, complaint",
    [
        (["--missing", "guess"], "unknown rule for missing values: 'guess'"),
        (["--delimiter", "::"], "the separator must be one character"),
        (["--decimal", ";"], "the decimal mark is a point or a comma"),
        (["--delimiter", ";", "--decimal", ";"], "the decimal mark is a point or a comma"),
        (["--encoding", "latin-99"], "unknown encoding 'latin-99'; did you mean"),
        (["--ordinal", "farbe"], "'farbe' is not an order"),
        (["--ordinal", "frbe=a<b"], "did you mean 'farbe'"),
        (["--categorical", "filale"], "did you mean 'filiale'"),
        (["--drop", "notes*"], "unknown column"),
        (["--drop", "*"], "is the class column, which cannot be dropped"),
    ],
)
def test_bad_options_are_one_line(place, options, complaint):
    for command in ("fit", "init"):
        code, _, err = call(command, place / "orders.csv", "--target", "urteil", *options, "-o", place / "none")
        assert (code, err.count("\n")) == (2, 1)
        assert complaint in err
    assert not (place / "none").exists()


def test_bad_options_of_predict_and_evaluate(place):
    for command in ("predict", "evaluate"):
        for option, value in (("--delimiter", "xx"), ("--decimal", "x"), ("--encoding", "x")):
            code, _, err = call(command, place / "m.mcls", place / "new.csv", option, value)
            assert (code, err.count("\n")) == (2, 1)
    code, _, err = call("predict", place / "m.mcls", place / "new.csv", "--on-error", "hide")
    assert (code, "unknown way with errors: 'hide'" in err) == (2, True)
    code, _, err = call("predict", place / "m.mcls", place / "new.csv", "--decimal", ".")
    assert (code, "is not a finite number" in err) == (2, True)


def test_a_config_and_a_comparison_take_the_same_options(place, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "orders.csv").write_bytes((place / "orders.csv").read_bytes())
    options = ("--decimal", ",", "--delimiter", ";", "--encoding", "latin-1")
    code, _, err = call("init", "orders.csv", "--target", "urteil", *RULES, *options, "-o", "o.yaml")
    assert code == 0, err
    text = Path("o.yaml").read_text()
    for line in ('missing: "impute"', 'decimal: ","', 'encoding: "latin-1"', 'categorical: ["filiale"]'):
        assert line in text
    rest = "machines: oneLSM\nprotocol: nested\nfolds: 3\ninner_folds: 3\nreplicates: 1\nscaling: fold\n"
    small = text.split("machines:")[0] + rest + "grid: {gamma: [0.1], sigma: [1, 2]}\n"
    Path("o.yaml").write_text(small)
    code, out, err = call("run", "o.yaml", "-j", "1")
    assert code == 0, out + err
    assert "'bestellt' holds dates" in err
    spec = "orders.csv:target=urteil,missing=impute,drop=n*,categorical=filiale,ordinal=gr\u00f6\u00dfe=S<M<L"
    code, out, err = call(
        "compare", "oneLSM:gamma=0.1,sigma=2", "ovA:gamma=0.1,sigma=2", "--dataset", spec, "-j", "1"
    )
    assert code == 0, out + err
    assert "identical" in out
    for wrong, complaint in (
        ("missing=guess", "missing"),
        ("decimal=x", "decimal mark"),
        ("encoding=zip", "unknown encoding"),
    ):
        code, _, err = call("compare", "oneLSM", "ovA", "--dataset", f"orders.csv:target=urteil,{wrong}")
        assert code == 2
        assert complaint in err


def test_what_pandas_and_excel_write_beside_the_columns_is_left_out_everywhere(tmp_path):
    lines = ["a,b,kind", *(f"{i % 7},{i * i % 5},{'xyz'[i % 3]}" for i in range(30))]
    for name, text in (
        ("pandas.csv", "\n".join(f"{'' if i == 0 else i - 1},{line}" for i, line in enumerate(lines))),
        ("excel.csv", "\n".join(f"{line},," for line in lines)),
    ):
        path, model = tmp_path / name, tmp_path / f"{name}.mcls"
        path.write_text(text + "\n")
        for more in ((), ("--budget", "60s")):  # in memory, and piece by piece
            args = ("fit", path, "--target", "kind", *ONE_POINT, *more, "-o", model, "--force")
            code, out, err = call(*args)
            assert (code, "has no name" in err, "(2 of numbers, 0 of text)" in out) == (0, True, True)
        assert "(no name)" in call("inspect", model)[1]
        assert "columns left out | (no name)" in call("inspect", model, "--card", "-")[1]
        assert call("evaluate", model, path)[0] == 0
        code, out, err = call("predict", model, path)
        assert (code, out.splitlines()[0]) == (0, text.splitlines()[0] + ",prediction")
