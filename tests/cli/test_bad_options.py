"""Every option of every command with a value that it cannot take: one line, exit code 2, nothing written."""

from __future__ import annotations

import os

import pytest
import typer

from mcls.cli.app import app

from ..command import call

TABLE = "a,b,kind\n" + "".join(f"{i % 7},{i % 5 + i % 2},{'xy'[i % 2]}\n" for i in range(40))
CONFIG = """\
datasets: [{path: t.csv, target: kind}]
machines: [{name: oneLSM, options: {gamma: 1, sigma: 1}}, {name: ovO, options: {gamma: 1, sigma: 1}}]
folds: 2
replicates: 1
"""
#: A command line of each command that would work.
GOOD = {
    "": ["machines"],
    "run": ["lab.yaml", "-j", "1", "--fresh"],
    "init": ["t.csv", "--target", "kind"],
    "compare": ["oneLSM", "ovA", "--dataset", "iris"],
    "fit": ["t.csv", "--machine", "oneLSM:gamma=1,sigma=1", "--folds", "2"],
    "predict": ["m.mcls", "t.csv", "-o", "p.csv"],
    "evaluate": ["m.mcls", "t.csv"],
    "inspect": ["m.mcls"],
    "explain": ["m.mcls", "t.csv"],
    "tables": ["lab"],
    "plot": ["errors", "lab"],
    "report": ["lab"],
    "export": ["lab", "-o", "e.csv"],
    "data fetch": ["iris", "--remote"],
}
#: A value of each option that no command takes.
BAD = {
    "--against": "nobody", "--alpha": "7", "--backend": "nix", "--budget": "nix", "--card": "nix/card.md",
    "--categorical": "nix", "--memory": "0GB",
    "--class-weight": "nix", "--costs": "nix.csv", "--coverage": "7", "--dataset": "nix", "--decimal": "x",
    "--delimiter": "ab", "--encoding": "nix", "--engine": "nix", "--folds": "1", "--format": "nix", "--from": "nix",
    "--drop": "nix", "--grid": "nix", "--group": "nix", "--jobs": "-1", "--keep": "nix", "--machine": "nix",
    "--metric": "nix", "--mirror": "nix", "--missing": "nix", "--on-error": "nix", "--ordinal": "nix",
    "--out": "t.csv", "--output": "nix/file.csv", "--permutations": "-1", "--picture": "picture.txt",
    "--plugin": "nix.py", "--repeats": "0", "--replicate": "-1", "--rope": "-1", "--rows": "-1", "--scaling": "nix",
    "--scheduler": "nix", "--seed": "-1", "--table": "99", "--target": "nix", "--test": "nix.csv", "--weight": "nix",
}  # fmt: skip
#: What typer itself answers.
OF_TYPER = {"--install-completion", "--show-completion"}


def options():
    """(command, option) of all options that take a value."""
    found = []

    def walk(command, path):
        for name, inner in getattr(command, "commands", {}).items():
            walk(inner, f"{path} {name}".strip())
        valued = [param for param in command.params if not getattr(param, "is_flag", False)]
        names = [name for param in valued for name in param.opts]
        found.extend((path, name) for name in names if name.startswith("--") and name not in OF_TYPER)

    walk(typer.main.get_command(app), "")
    return found


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a table, a model, a config and its results."""
    folder = tmp_path_factory.mktemp("options")
    (folder / "t.csv").write_text(TABLE)
    (folder / "lab.yaml").write_text(CONFIG)
    before = os.getcwd()
    os.chdir(folder)
    assert call("fit", *GOOD["fit"], "-o", "m.mcls")[0] == 0
    assert call("run", "lab.yaml", "-j", 1)[0] == 0
    yield folder
    os.chdir(before)


def test_every_option_refuses_a_value_that_it_cannot_take(place):
    listed = options()
    assert {command for command, _ in listed} <= set(GOOD)
    assert {name for _, name in listed} == set(BAD)
    before = sorted(path for path in place.rglob("*") if path.is_file())
    accepted = []
    for command, name in listed:
        words = [*command.split(), *GOOD[command]]
        code, _, err = call(*words, name, BAD[name])
        told = [line for line in err.splitlines() if not line.startswith("note: ")]
        if code != 2 or len(told) != 1 or not told[0].startswith("mcls: "):
            accepted.append((command, name, code, err))
    assert accepted == []
    assert sorted(path for path in place.rglob("*") if path.is_file()) == before
