"""The methods in words say what was done, and claim nothing that was not."""

from __future__ import annotations

import pytest

from mcls.evaluation.protocols import get_protocol
from mcls.reporting.methods import filled

from ..command import call

TABLE = "x,y,n,c,site,w\n" + "".join(
    f"{i * 7 % 11},{i * 5 % 7 if i % 9 else ''},{i // 4},{'ab'[i % 2]},{i % 3},1\n" for i in range(24)
)


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Run a study of a table of one's own and return its methods."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(TABLE)

    def run(datasets: str, protocol: str, grid: str = "{gamma: [0.1, 1], sigma: 1}") -> str:
        (tmp_path / "mine.yaml").write_text(
            f"datasets: [{datasets}]\nmachines: [oneLSM, ovO]\ngrid: {grid}\nscaling: fold\n{protocol}\n"
        )
        for command in (("run", "mine.yaml", "-j", 1), ("report", "mine")):
            code, _, err = call(*command)
            assert code == 0, err
        return (tmp_path / "results" / "mine" / "methods.txt").read_text(encoding="utf-8")

    return run


def test_what_was_done_to_a_table_is_told(written):
    entry = "{path: t.csv, target: c, name: soils, missing: impute, drop: w, categorical: site, group: n}"
    text = written(entry, "protocol: nested-folds\nfolds: 3\nrepeats: 2\nreplicates: 1")
    for words in (
        "Of soils the column 'w' was left out.",
        "Of soils the column 'site' was taken for codes of categories.",
        "Missing numbers of soils were replaced by the median over the training rows of each split",
        "Rows of soils with one value of 'n' were kept in one fold.",
        "Parameters were chosen by the error on grids (oneLSM and ovO: γ ∈ {0.1, 1} and σ = 1)",
        "stratified 3-fold cross-validation, the parameters of each fold chosen by the other folds, over 2 partitions",
        "We report the mean over the splits (error",
        "Differences to oneLSM were tested",
    ):
        assert words in text, words
    weighted = "{path: t.csv, target: c, drop: [n, site], missing: impute, weight: w}"
    text = written(weighted, "folds: 20\nreplicates: 2", "{gamma: 1, sigma: 0.5}")
    assert "Rows of t were weighted by the column 'w'." in text
    assert "oneLSM and ovO had fixed parameters (γ = 1 and σ = 0.5)." in text
    assert "Of t there were 12 folds, as many as its largest class allows." in text


def test_nothing_is_claimed_that_was_not_done(written):
    entry = "{path: t.csv, target: c, missing: impute}"
    text = written(entry, "protocol: half-split\nreplicates: 1")
    assert "Differences" not in text
    assert "deviation" not in text
    assert "Average ranks" not in text
    text = written("{path: t.csv, target: c, missing: impute, group: n}", "folds: logo\nreplicates: 2")
    assert "leave-one-group-out cross-validation" in text
    assert "repeated 2 times (seed" in text
    text = written(entry, "protocol: 5x2cv\nmetric: [error, macro-f1]")
    assert "five replications" in text
    assert "repeated 5 times" not in text
    assert "5×2cv F-test" in text


@pytest.mark.parametrize(
    "train, told",
    [
        ("declared", "the split into training and test rows that the source of the data declares"),
        (0.6, "a random split into training rows (60 %) and test rows"),
        (40, "the first 40 rows for training and the others for testing"),
        ([4, 5], "a random split into training rows (4 and 5 of the classes) and test rows"),
    ],
)
def test_training_rows_are_told_as_they_were_taken(train, told):
    assert filled(get_protocol("hold-out").words, {"train": train, "inner_folds": 3}).startswith(told)


def test_machines_are_told_apart_in_a_sentence(written, tmp_path):
    entry = "{path: t.csv, target: c, missing: impute}"
    written(entry, "folds: 2\nreplicates: 1")
    config = (tmp_path / "mine.yaml").read_text().replace("ovO]", "ovO, 'ovO:gamma=2', 'sk:TableClassifier']")
    (tmp_path / "mine.yaml").write_text(config)
    for command in (("run", "mine.yaml", "-j", 1), ("report", "mine")):
        assert call(*command)[0] == 0
    text = (tmp_path / "results" / "mine" / "methods.txt").read_text(encoding="utf-8")
    assert ", ovO with gamma=2 (one least-squares" in text
    assert "sk:TableClassifier chose parameters in every fit." in text
