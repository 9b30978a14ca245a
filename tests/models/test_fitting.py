"""From a table in a file to a model of it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import mcls
from mcls.data import load_table
from mcls.errors import McLsError
from mcls.models.fitting import fit_table
from mcls.resources import datasets_dir

IRIS = datasets_dir() / "iris.csv"
SMALL = {"gamma": [0.1, 1.0], "sigma": [1.0]}


def test_the_facts_tell_where_it_comes_from(fitted):
    facts = fitted.model.facts
    assert facts.fingerprint == load_table(IRIS, "class").fingerprint
    assert (facts.file, facts.rows, facts.folds, facts.rows_searched) == ("iris.csv", 150, 5, 150)
    assert facts.classes == {"setosa": 50, "versicolor": 50, "virginica": 50}
    assert facts.chosen == fitted.selection.best_params
    assert facts.grid == SMALL
    assert fitted.confusion.n == 150
    assert fitted.confusion.error == pytest.approx(
        np.mean(fitted.selection.predictions != pd.read_csv(IRIS)["class"])
    )


def test_the_same_command_writes_the_same_bytes(fitted, tmp_path):
    for name in "ab":
        mcls.save(fit_table(IRIS, "class", grid=SMALL, folds=5).model, tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize(
    "text, target, machine, complaint",
    [
        ("a,b,c\n1,2,x\n2,3,x\n", "c", "oneLSM", "column 'c' holds one class only: 'x'"),
        ("a,b,c\n" + "".join(f"1,2,{i}\n" for i in range(40)), "c", "oneLSM", "looks like a measurement"),
        ("a,b,c\n1,2,x\n2,3,y\n", "c", "sk:RidgeClassifier", "a .mcls file cannot hold sk:RidgeClassifier"),
        ("a,b,c\n1,2,x\n2,3,y\n", "d", "oneLSM", "unknown column"),
        ("a,b,c\n1,2,x\n2,3,y\n", "c", "oneLMS", "did you mean 'oneLSM'"),
        ("a,b,c\n1,2,x\n2,3,y\n", "c", "oneLSM", "every class here has one"),
    ],
)
def test_tables_that_teach_nothing(tmp_path, text, target, machine, complaint):
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(McLsError, match=complaint):
        fit_table(path, target, machine)
