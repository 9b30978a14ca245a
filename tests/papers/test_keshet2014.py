"""The worked examples of keshet2014: the notes' own figures, and what they say about lines and sectors."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from mcls.papers import PAPERS
from mcls.papers.keshet2014.sectors import EQUAL, UNEQUAL, best_line, sectors
from mcls.papers.keshet2014.updates import EXAMPLES
from mcls.reporting.studies import Studies

from ..reporting.made_up import texts


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    made = PAPERS["keshet2014"].table("examples").build(Studies(tmp_path_factory.mktemp("empty")))
    return {table.name: table for table in made}


def test_every_figure_of_the_decoding_example_is_ours_too(tables):
    table = tables["keshet2014-decoding"]
    assert [row[2].text for row in table.rows] == ["3.5", "4.5", "1.5", "2.5"]
    assert [row[5].text for row in table.rows] == ["30133", "192893", "162757", "5.4"]
    for row in (*table.rows, *table.foot):
        assert (row[4].text, row[7].text) == ("+0.00", "+0.00")
    assert [entry.text for entry in table.foot[0]][2:4] == ["3", "3"]
    assert [entry.text for entry in table.foot[0]][5:7] == ["4", "4"]


def test_only_machines_with_one_problem_for_all_classes_separate_every_kind_of_sectors(tables):
    table = tables["keshet2014-sectors"]
    for row in table.rows:
        zero = row[3].text == "0.00"
        if "one problem" in row[2].text or "by hand" in row[2].text:
            assert zero
        elif "straight line" in row[2].text:
            assert not zero
    ova = "svm-ovA"
    assert texts(table, sectors="equal", **{"what decides": ova})["error"] == "0.00"
    assert texts(table, sectors="160, 130, 70", **{"what decides": ova})["error"] != "0.00"


@pytest.mark.parametrize("angles", [EQUAL, UNEQUAL])
def test_no_line_of_a_fine_mesh_beats_the_best_line(angles):
    X, y = sectors(angles)
    for c in range(3):
        best = best_line(X, y == c)
        for angle, bias in product(np.linspace(0, np.pi, 60), np.linspace(-1, 1, 41)):
            right = ((X @ [np.cos(angle), np.sin(angle)] > bias) == (y == c)).mean()
            assert best.error <= min(right, 1 - right) + 1e-12
    half = X[:, 0] > 0.01
    assert best_line(X, half).error == 0.0


def test_updates_are_those_of_the_notes():
    binary, two, spread = EXAMPLES
    # w ← w + y x for the class +1 and its opposite: the two weights stay opposite, their difference is 2w.
    np.testing.assert_allclose(binary.after[1], binary.W[1] + binary.x)
    np.testing.assert_allclose(binary.after[0], -binary.after[1])
    assert two.tau.tolist() == [1, -1, 0, 0]
    assert spread.tau.tolist() == [1, -0.5, -0.5, 0]
    for example in EXAMPLES:
        assert example.scores.argmax() != example.label
        assert example.tau.sum() == 0
        assert example.scores_after.argmax() == example.label
