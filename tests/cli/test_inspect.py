"""``mcls inspect``: every fact of a table model, and of a bare machine."""

from __future__ import annotations

import re

import pytest

import mcls
from mcls.data import load_table
from mcls.models.archive import read_archive, write_archive
from mcls.models.fitting import fit_table
from mcls.resources import datasets_dir

from ..command import call

IRIS = datasets_dir() / "iris.csv"


def test_a_table_model(tmp_path):
    fitted = fit_table(IRIS, "class", "oneLSM", grid={"gamma": [0.125], "sigma": [1.0, 2.0]}, folds=3, nested=True)
    mcls.save(fitted.model, tmp_path / "m.mcls")
    code, out, err = call("inspect", tmp_path / "m.mcls")
    assert (code, err) == (0, "")
    facts = dict(re.findall(r"^ *(\S.*?) {2,}(\S.*?) *$", out, re.MULTILINE))
    assert facts["machine"] == "OneLSM (oneLSM)"
    assert facts["trained on"] == "iris.csv, 150 rows"
    assert facts["fingerprint"] == load_table(IRIS, "class").fingerprint
    assert facts["classes"] == "class: setosa (50), versicolor (50), virginica (50)"
    assert facts["column petal_width"] == "numbers, 0.1 to 2.5"
    assert facts["parameter gamma"] == "0.125"
    assert facts["grid of sigma"] == "1, 2"
    low, high = fitted.model.facts.cv_interval
    assert f"% (95 %: {100 * low:.1f}–{100 * high:.1f}; 3 folds of 150 rows, seed 0)" in facts["CV error"]
    assert facts["baseline"] == "66.67 % for always setosa"
    assert (
        "(parameters chosen inside each fold; scaling, grid and machine fixed before)" in facts["nested CV error"]
    )
    assert "chosen inside the folds" not in facts
    assert "mcls " in facts["written by"]
    assert out.splitlines()[-1] == "the checksum fits: the file is as it was written"


def test_a_machine_that_each_fold_chose_for_itself_is_not_called_fixed(tmp_path):
    fitted = fit_table(IRIS, "class", grid={"gamma": [0.125], "sigma": [1.0, 2.0]}, folds=3, nested=True)
    mcls.save(fitted.model, tmp_path / "m.mcls")
    out = call("inspect", tmp_path / "m.mcls")[1]
    assert "(parameters and machine chosen inside each fold; scaling and grid fixed before)" in out
    counts = re.search(r"chosen inside the folds +(.+)", out).group(1)
    assert sum(int(number) for number in re.findall(r" in (\d+)", counts)) == 3


def test_a_bare_machine(tmp_path):
    mcls.save(mcls.OvOLSM().fit([[0.0], [1.0]], ["a", "b"]), tmp_path / "m.mcls")
    out = call("inspect", tmp_path / "m.mcls")[1]
    assert "OvOLSM" in out
    assert "a, b" in out


def test_a_damaged_one(tmp_path):
    (tmp_path / "m.mcls").write_bytes(b"PK\x03\x04" + bytes(200))
    code, out, err = call("inspect", tmp_path / "m.mcls")
    assert (code, out) == (2, "")
    assert "is damaged" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("broken", [None, {"part": "ProbabilityMap", "state": {"slope": 1}}])
def test_probabilities_without_their_map(tmp_path, broken):
    table = fit_table(IRIS, "class", "oneLSM:gamma=1,sigma=1", folds=2).model
    mcls.save(table, tmp_path / "m.mcls")
    content, arrays = read_archive(tmp_path / "m.mcls")
    content["estimator"]["fitted"]["probability_map_"] = broken
    write_archive(tmp_path / "m.mcls", content, arrays)
    code, out, err = call("inspect", tmp_path / "m.mcls")
    assert (code, out) == (2, "")
    assert "holds no usable model" in err


def test_names_cannot_write_to_the_terminal(tmp_path):
    rows = "0,\x1b[31mb\n1,a\n" * 4
    (tmp_path / "t.csv").write_text("x\x1b]0;mine\x07,kind\x1b[2J\n" + rows)
    model = tmp_path / "m.mcls"
    for command in (
        (
            "fit",
            tmp_path / "t.csv",
            "--target",
            "1",
            "--folds",
            2,
            "--machine",
            "oneLSM:gamma=1,sigma=1",
            "-o",
            model,
        ),
        ("inspect", model),
        ("evaluate", model, tmp_path / "t.csv"),
        ("evaluate", model, IRIS),
    ):
        _, out, err = call(*command)
        assert out + err
        assert not {"\x1b", "\x07"} & set(out + err)
