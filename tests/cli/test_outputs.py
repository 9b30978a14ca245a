"""Outputs that a user names: what is never written to, what is replaced, and the other names of standard output."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import mcls
from mcls.models.fitting import fit_table
from mcls.resources import datasets_dir

from ..command import call, piped

IRIS = datasets_dir() / "iris.csv"
FAST = ("--target", "class", "--machine", "oneLSM:gamma=1,sigma=1", "--folds", "2")


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> bytes:
    path = tmp_path_factory.mktemp("model") / "iris.mcls"
    mcls.save(fit_table(IRIS, "class", "oneLSM:gamma=1,sigma=1", folds=2).model, path)
    return path.read_bytes()


@pytest.fixture
def place(tmp_path, trained):
    """A folder with a table, a model, a letter and a picture."""
    (tmp_path / "table.csv").write_bytes(IRIS.read_bytes())
    (tmp_path / "model.mcls").write_bytes(trained)
    (tmp_path / "letter.txt").write_text("Dear all,\nthis is not a table.\n\nYours, me, myself, and I\n")
    (tmp_path / "empty").touch()
    (tmp_path / "letter.png").write_text("not a picture")
    return tmp_path


COMMANDS = {
    "fit": (["fit", "table.csv", *FAST, "-o"], ["table.csv"]),
    "predict": (["predict", "model.mcls", "table.csv", "-o"], ["table.csv", "model.mcls"]),
    "init": (["init", "table.csv", "-o"], ["table.csv"]),
}


@pytest.mark.parametrize("way", ["itself", "link", "hard link"])
@pytest.mark.parametrize("command", COMMANDS)
def test_an_input_is_never_written_to(command, way, place, monkeypatch, snapshot):
    monkeypatch.chdir(place)
    args, inputs = COMMANDS[command]
    for name in inputs:
        output = {"itself": name, "link": f"link-{name}", "hard link": f"hard-{name}"}[way]
        if way == "link":
            Path(output).symlink_to(name)
        elif way == "hard link":
            os.link(name, output)
        before = snapshot(place)
        for force in ([], ["--force"]):
            code, out, err = call(*args, output, *force)
            assert (code, out) == (2, "")
            assert err == f"mcls: {output} is an input of this command; give another file to write to\n"
        assert snapshot(place) == before


@pytest.mark.parametrize(
    "command, output, complaint",
    [
        ("fit", "letter.txt", "exists and is not a model"),
        ("fit", "letter.png", "exists and is not a model"),
        ("predict", "letter.txt", "exists and is not a table"),
        ("init", "letter.txt", "exists already"),
        ("init", "model.mcls", "exists already"),
    ],
)
def test_what_would_be_missed_is_replaced_only_by_force(command, output, complaint, place, monkeypatch, snapshot):
    monkeypatch.chdir(place)
    before = snapshot(place)
    code, out, err = call(*COMMANDS[command][0], output)
    assert (code, out) == (2, "")
    assert err == f"mcls: {output} {complaint}; give another file to write to, or --force to replace it\n"
    assert snapshot(place) == before
    assert call(*COMMANDS[command][0], output, "--force")[0] == 0
    after = snapshot(place)
    assert after.pop(output) != before.pop(output)
    assert after == before


def test_one_of_its_own_kind_is_replaced_and_so_is_an_empty_file(place, monkeypatch):
    monkeypatch.chdir(place)
    Path("named.csv").write_text("an,old,table\n1,2,3\n")
    Path("old.mcls").write_bytes(Path("model.mcls").read_bytes())
    for output in ("named.csv", "empty"):
        assert call("predict", "model.mcls", "table.csv", "-o", output)[0] == 0
        assert Path(output).read_text().startswith("sepal_length")
    Path("empty").write_bytes(b"")
    for output in ("old.mcls", "empty"):
        assert call("fit", "table.csv", *FAST, "--seed", 1, "-o", output)[0] == 0
        assert mcls.load(output).facts.seed == 1


def test_a_picture_replaces_a_picture(place, monkeypatch):
    monkeypatch.chdir(place)
    evaluate = ["evaluate", "model.mcls", "table.csv", "--picture"]
    code, _, err = call(*evaluate, "letter.png")
    assert code == 2
    assert "letter.png exists and is not a picture" in err
    assert call(*evaluate, "letter.png", "--force")[0] == 0
    assert call(*evaluate, "letter.png")[0] == 0
    os.link("table.csv", "table.png")
    assert "is an input of this command" in call(*evaluate, "table.png", "--force")[2]


def test_a_link_into_a_folder_that_is_not_there(place, monkeypatch):
    monkeypatch.chdir(place)
    Path("out.csv").symlink_to(place / "nowhere" / "out.csv")
    code, _, err = call("predict", "model.mcls", "table.csv", "-o", "out.csv")
    assert code == 2
    assert f"there is no folder {place / 'nowhere'}" in err


def test_a_name_that_no_system_takes_is_refused_before_the_work(place, monkeypatch):
    monkeypatch.chdir(place)
    code, out, err = call("fit", "table.csv", *FAST, "-o", "x" * 300)
    assert (code, out) == (2, "")
    assert err.endswith(": File name too long\n")


@pytest.mark.skipif(os.name == "nt", reason="/dev/stdout")
def test_standard_output_holds_what_is_made_and_nothing_else(place, monkeypatch, trained):
    monkeypatch.chdir(place)
    done = piped("fit", IRIS, *FAST, "-o", "-")
    assert (done.returncode, done.stdout) == (0, trained)
    assert b"CV error" in done.stderr
    done = piped("init", "table.csv", "-o", "-")
    assert done.stdout.startswith(b"# 150 rows")
    assert b"datasets:" in done.stdout
    call("predict", "model.mcls", "table.csv", "-o", "named.csv")
    for output in ("-", "/dev/stdout"):
        with open("log", "ab") as log:  # as by >> log: nothing in it is lost
            assert piped("predict", "model.mcls", "table.csv", "-o", output, to=log).returncode == 0
    assert Path("log").read_bytes() == 2 * Path("named.csv").read_bytes()
    assert not Path("-").exists()
