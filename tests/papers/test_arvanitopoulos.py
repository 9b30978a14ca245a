"""The tables of arvanitopoulos from a made-up store: sizes and readings."""

from __future__ import annotations

import pytest

from mcls.papers import PAPERS
from mcls.reporting.studies import Studies

from ..reporting.made_up import fill, record, texts

pytestmark = pytest.mark.usefixtures("cache")


def test_arvanitopoulos_reports_sizes_and_both_readings_of_sigma(tmp_path):
    studies = Studies(tmp_path, is_quick=True)
    study = studies["arvanitopoulos-uci"]
    fill(study, lambda cell: 0.05 if cell.options.get("sigma") != 1 and "sigma" in cell.options else 0.10)
    uci, faces = PAPERS["arvanitopoulos"].table("3").build(studies)
    where = {"data set": "vowel", "kernel": "gaussian", "criterion": "fldr", "machine": "sub-ecoc"}
    row = texts(uci, **where)
    assert (row["accuracy"], row["accuracy, σ a width"]) == ("95.00", "90.00")
    assert (row["rows × columns"], row["paper's"]) == ("5 × 4", "11 × 10")
    assert row["paper"] == "98.99"
    assert faces.rows[0][0].text == "not run: mcls data import cohn-kanade FOLDER"


def test_every_reading_of_sub_ecoc_has_a_row_of_its_own(tmp_path):
    studies = Studies(tmp_path, is_quick=True)
    study = studies["arvanitopoulos-readings"]
    paper = {"balance": (44.3, 51.7), "vowel:rows=all": (22.4, 23.3)}
    for cell in study.experiment.plan.cells:
        near = cell.options.get("side") == "larger" and "criterion_sigma" not in cell.options
        near &= cell.options.get("criterion") == "fqmi"
        rows, columns = paper.get(cell.dataset.label, (3, 2)) if near else (30, 30)
        study.experiment.store.write(record(cell, 0.1, facts=[{"rows": rows, "columns": columns}]))
    (table,) = PAPERS["arvanitopoulos"].table("readings").build(studies)
    names = [(row[0].text, row[1].text) for row in table.rows]
    assert len(names) == len(set(names)) == 18
    assert names[:2] == [("fqmi", "the paper"), ("fqmi", "as in Table 3")]
    assert [row[1].text for row in table.rows if row[0].text == "fqmi" and row[-2].bold] == ["larger side"]
