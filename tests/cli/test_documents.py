"""``--json``: every document has the keys that docs/json.md lists, and a failure prints none."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from mcls.resources import datasets_dir

from ..command import call

IRIS = datasets_dir() / "iris.csv"
TOP = Path(__file__).resolve().parents[2]
PAGE = (TOP / "docs" / "json.md").read_text(encoding="utf-8")
KEYS = {
    line.split("`")[1]: re.findall(r"`(\w+)`", line.split("|")[2].split("(")[0])
    for line in PAGE.splitlines()
    if line.startswith("| `mcls.")
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("json")
    fit = ("--target", "class", "--machine", "oneLSM:gamma=0.1,sigma=1", "--folds", "3")
    code, out, err = call("fit", IRIS, *fit, "-o", folder / "m.mcls", "--json")
    assert code == 0, err
    (folder / "fit.json").write_text(out)
    (folder / "t.csv").write_text("".join(IRIS.read_text().splitlines(keepends=True)[:120]))
    return folder


def test_the_page_lists_every_kind():
    assert len(KEYS) == 9


@pytest.mark.parametrize(
    "schema, command",
    [
        ("mcls.inspect/1", ["inspect", "m.mcls"]),
        ("mcls.evaluate/1", ["evaluate", "m.mcls", "t.csv"]),
        ("mcls.explain/1", ["explain", "m.mcls", "t.csv", "--repeats", "2"]),
        (
            "mcls.compare/1",
            ["compare", "oneLSM:gamma=1,sigma=1", "ovA:gamma=1,sigma=1", "--dataset", "iris", "-j", "1"],
        ),
        ("mcls.compare-stored/1", ["compare", "--from", TOP / "results" / "beyond"]),
        ("mcls.data/1", ["data", "list"]),
        ("mcls.data/1", ["data", "show", "vowel"]),
        ("mcls.machines/1", ["machines"]),
        ("mcls.machines/1", ["machines", "voSVM"]),
        ("mcls.validate/1", ["validate", "iris"]),
        ("mcls.fit/1", []),
    ],
)
def test_a_document_has_the_keys_of_the_page(folder, monkeypatch, schema, command):
    monkeypatch.chdir(folder)
    code, out, err = call(*command, "--json") if command else (0, (folder / "fit.json").read_text(), "")
    assert code == 0, err
    document = json.loads(out)
    assert document["schema"] == schema
    assert list(document) == KEYS[schema]
    if "facts" in document:
        told = re.search(r"`facts`: .*?later", PAGE, flags=re.DOTALL)[0]
        assert all(f"`{key}`" in told for key in ("cv_error", "confusion", "notes"))
        assert set(re.findall(r"`(\w+)`", told)) - {"facts"} <= set(document["facts"])
    if schema == "mcls.evaluate/1":
        assert not document["training_table"]
        assert document["mistakes"] == sum(map(sum, document["confusion"]["counts"])) - sum(
            document["confusion"]["counts"][i][i] for i in range(3)
        )


def test_a_comparison_holds_its_further_tests(folder, monkeypatch):
    monkeypatch.chdir(folder)
    machines = ("oneLSM:gamma=1,sigma=1", "ovA:gamma=1,sigma=1")
    code, out, err = call(
        "compare", *machines, "--dataset", "iris", "-j", "1", "--rope", "0.01", "--permutations", "20", "--json"
    )
    assert code == 0, err
    (pair,) = json.loads(out)["further"]["pairs"]
    assert pair["corrected_t"]["difference"] == 0  # oneLSM and ovA are the same machine
    assert pair["posterior"]["equivalent"] == 1
    assert pair["permutation"] == 1


@pytest.mark.parametrize(
    "command",
    [["fit", "absent.csv"], ["evaluate", "m.mcls", "absent.csv"], ["inspect", "absent"], ["validate", "no-such-config"],
     ["compare", "oneLSM"], ["data", "show", "irs"], ["machines", "oneLMS"], ["explain", "m.mcls", "m.mcls"]],
)  # fmt: skip
def test_a_failure_is_one_line_and_no_document(folder, monkeypatch, command):
    monkeypatch.chdir(folder)
    code, out, err = call(*command, "--json")
    assert (code, out) == (2, "")
    assert err.count("\n") == 1


def test_a_card_tells_what_the_model_is(folder, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    code, out, _ = call("inspect", folder / "m.mcls", "--card", "card.md")
    assert (code, out) == (0, "model card written to card.md\n")
    card = Path("card.md").read_text()
    for part in (
        "# Model card",
        "## Data",
        "## Errors",
        "## Parameters",
        "## Limits",
        "## Versions",
        "| setosa | 50 |",
    ):
        assert part in card
    assert "No honest error is known" not in card  # nested folds are the default
    assert re.search(r"\| virginica \| 50 \| [\d.]+ % \| [\d.]+ % \|", card)
    assert call("inspect", folder / "m.mcls", "--card", "card.md")[0] == 0  # a card replaces a card
    Path("notes.md").write_text("# Notes\n")
    code, _, err = call("inspect", folder / "m.mcls", "--card", "notes.md")
    assert (code, "exists and is not a card" in err) == (2, True)


def test_names_in_a_card_are_text(tmp_path):
    rows = "".join(f"{i % 7},{'<b>|x' if i % 2 else 'y'},{i % 2}\n" for i in range(20))
    (tmp_path / "t.csv").write_text("a|[b](c),hue,<script>\n" + rows)
    fit = ("--machine", "oneLSM:gamma=1,sigma=1", "--folds", "2", "-o", tmp_path / "m.mcls")
    assert call("fit", tmp_path / "t.csv", *fit)[0] == 0
    card = call("inspect", tmp_path / "m.mcls", "--card", "-")[1]
    assert "<script>" not in card
    assert "<b>" not in card
    assert r"a\|\[b\](c)" in card
