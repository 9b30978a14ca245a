"""The tables of honeine2013 from a made-up store: marks, claims, ratios, tests."""

from __future__ import annotations

import pytest

from mcls.papers import PAPERS
from mcls.papers.honeine2013 import table4 as honeine2013
from mcls.papers.honeine2013.times import table6
from mcls.reporting.published import read, value
from mcls.reporting.studies import Studies

from ..reporting.made_up import fill, record, texts

pytestmark = pytest.mark.usefixtures("cache")

RUN = ("honeine2013-table4", "honeine2013-table4-yeast")
BORROWED = ("honeine2013-borrowed", "honeine2013-borrowed-vowel")


def test_marks_against_the_paper_s_bracket(tmp_path):
    studies = Studies(tmp_path, is_quick=True)
    # oneLSM on iris: the paper has 2.80, best 2.00, worst 3.33.
    wanted = {"oneLSM": 0.028, "ovA": 0.040, "ovO": 0.0413}
    for name in RUN:
        fill(studies[name], lambda cell: wanted.get(cell.machine, 0.5))
    for name in BORROWED:
        fill(studies[name])
    tables = {table.name: table for table in honeine2013.table4(studies)}
    iris = tables["honeine2013-table4-iris"]
    marks = {name: texts(iris, machine=name)["mark"] for name in wanted}
    assert marks == {"oneLSM": "inside", "ovA": "near", "ovO": "outside"}
    assert texts(iris, machine="oneLSM")["difference"] == "+0.00"
    assert texts(iris, machine="ovA")["difference"] == "+1.20"
    overview = texts(tables["honeine2013-table4"], machine="ovA")
    assert overview["iris"] == "4.00 (2.80) ≈"
    assert overview["wine"] == "4.00 (0.33) ✗"


def test_szedmak_is_degenerate_where_the_mathematics_says_so(tmp_path):
    studies = Studies(tmp_path, is_quick=True)
    fill(studies["honeine2013-table4"])
    iris = honeine2013.table4(studies)[1]
    for book, shown in (("pm1", "degenerate"), ("indicators", "degenerate"), ("alignment", "25.00")):
        assert texts(iris, machine="szedmak", labelbook=book)["mean"] == shown
    assert texts(iris, machine="szedmak", labelbook="pm1")["paper mean"] == "3.73"


def test_optimism_is_nested_minus_the_same_replicate(tmp_path):
    studies = Studies(tmp_path, is_quick=True)
    study = studies["honeine2013-table4"]
    for cell in study.experiment.plan.cells:
        error = 0.30 if cell.protocol == "nested" else 0.20 + 0.05 * cell.replicate
        study.experiment.store.write(record(cell, error))
    row = texts(honeine2013.table4(studies)[1], machine="oneLSM")
    assert (row["mean"], row["best"], row["worst"]) == ("22.50", "20.00", "25.00")
    assert (row["nested"], row["optimism"]) == ("30.00", "+10.00")


def test_rows_that_share_cells_count_once_among_the_missing(tmp_path):
    studies = Studies(tmp_path, is_quick=True)
    notes = " ".join(honeine2013.table4(studies)[0].notes)
    planned = [c for name in (*RUN, *BORROWED) for c in studies[name].experiment.plan.cells]
    expected = sum(cell.protocol == "published" for cell in planned)
    assert f"{expected} of {expected} cells are missing" in notes


def test_claims_of_table_4(tmp_path):
    studies = Studies(tmp_path, is_quick=True)
    for name in RUN:
        fill(studies[name], lambda cell: {"szedmak": 0.4, "ovA": 0.21}.get(cell.machine, 0.2))
    for name in BORROWED:
        fill(studies[name], lambda cell: 0.2)
    (table,) = honeine2013.claims(studies)
    verdicts = {row[0].text: (row[3].text, row[4].text) for row in table.rows}
    assert verdicts["oneLSM has the error of OvA"] == ("0 of 5", "not confirmed")
    assert verdicts["Szedmak's is worse than all the proposed machines"] == ("15 of 15", "confirmed")
    assert verdicts["vo-SVM without bias is at least as good as Szedmak's with it"] == ("15 of 15", "confirmed")


def test_table_5_gives_ratios_and_scales_yeast_to_the_whole_grid(tmp_path):
    studies = Studies(tmp_path)
    for name, factor in (("refit", 4.0), ("yeast", 1.0), ("fast", 2.0)):
        study = studies[f"honeine2013-table5-{name}"]
        for cell in study.experiment.plan.cells:
            time = factor * {"oneLSM": 1.0, "ovA": 10.0}.get(cell.machine, 3.0)
            study.experiment.store.write(record(cell, 0.1, seconds=time))
    table, claims = PAPERS["honeine2013"].table("5").build(studies)
    iris = texts(table, **{"data set": "iris", "machine": "ovA"})
    assert (iris["paper s"], iris["paper ratio"]) == ("102", "2.68")
    assert (iris["refit s"], iris["refit ratio"], iris["fast s"], iris["fast ratio"]) == (
        "40",
        "10.00",
        "20",
        "10.00",
    )
    assert iris["refit / fast"] == "2.0"
    yeast = texts(table, **{"data set": "yeast", "machine": "oneLSM"})
    assert yeast["refit s"] == "≈ 9"  # 9 of 81 points
    assert "made-up CPU" in " ".join(table.notes)
    verdicts = {row[0].text: [entry.text for entry in row[1:]] for row in claims.rows}
    assert verdicts["oneLSM is faster than OvA"] == ["5 of 5", "5 of 5", "confirmed"]
    assert verdicts["vo-LSSVM takes at most 1.5 times as long as oneLSM"] == ["5 of 5", "0 of 5", "not confirmed"]


def test_table_6_scales_refitting_to_the_whole_grid(tmp_path):
    studies = Studies(tmp_path, is_quick=True)
    for name, time in (("honeine2013-table6-letter", 2.0), ("honeine2013-table6-refit-letter", 8.0)):
        for cell in studies[name].experiment.plan.cells:
            slower = 3 if cell.machine == "ovA" else 1
            studies[name].experiment.store.write(record(cell, 0.03, seconds=slower * time))
    table = next(t for t in table6(studies) if t.name == "honeine2013-table6-letter")
    row = texts(table, machine="ovA")
    # Quick grids have nine points and four.
    assert (row["fast s"], row["fast ratio"], row["refit s"], row["refit ratio"]) == ("6", "3.00", "≈ 54", "3.00")


def test_the_whole_sets_state_error_time_and_memory(tmp_path):
    studies = Studies(tmp_path, is_quick=True)
    for name, gigabytes in (("honeine2013-full-letter", 1.25), ("honeine2013-full-usps", 3.0)):
        for cell in studies[name].experiment.plan.cells:
            made = {**record(cell, 0.03, seconds=130, train=16000, test=4000), "cpu_seconds": 100.0}
            studies[name].experiment.store.write({**made, "peak_memory_gb": gigabytes})
    table = next(t for t in table6(studies) if t.name == "honeine2013-table6-full")
    letter = texts(table, **{"data set": "letter"})
    assert (letter["error"], letter["CPU seconds"], letter["peak GB"]) == ("3.00", "100", "1.2")
    assert letter["machine"].startswith("oneLSM")
    assert "nystrom" in letter["machine"]
    assert texts(table, **{"data set": "usps"})["training rows"] == "16000"


def test_the_f_test_finds_identical_machines_and_real_differences(tmp_path):
    studies = Studies(tmp_path, is_quick=True)
    study = studies["honeine2013-ftest"]
    for cell in study.experiment.plan.cells:
        error = {"ovO": 0.5}.get(cell.machine, 0.2) + 0.001 * cell.replicate
        halves = [error, error + (0.01 if cell.machine == "ovO" else 0.0)]
        study.experiment.store.write(record(cell, error, errors=halves))
    tables = {table.name: table for table in PAPERS["honeine2013"].table("ftest").build(studies)}
    row = texts(tables["honeine2013-ftest-iris"], machine="oneLSM")
    assert row["ovA"] == "identical"
    assert row["ovO"] == "< 0.001"
    claims = {r[0].text: r[4].text for r in tables["honeine2013-ftest-claims"].rows}
    assert claims["oneLSM and OvA are one classifier"] == "confirmed"
    assert claims["Szedmak's depends on the label coding"] == "not confirmed"


def test_an_f_test_without_variance_is_undefined_and_not_counted(tmp_path):
    studies = Studies(tmp_path, is_quick=True)
    study = studies["honeine2013-ftest"]
    for cell in study.experiment.plan.cells:
        labelbook = cell.options.get("labelbook", cell.parameters().get("labelbook"))
        off = cell.machine == "voRLS-f" and labelbook == "pm1" and cell.dataset.label.startswith("vowel")
        error = 0.2 + 0.02 * (off and cell.replicate == 0)  # in both halves alike
        study.experiment.store.write(record(cell, error, errors=[error, error]))
    tables = {table.name: table for table in PAPERS["honeine2013"].table("ftest").build(studies)}
    row = texts(tables["honeine2013-ftest-labelbooks"], machine="voRLS-f", **{"data set": "vowel"})
    assert (row["smallest p"], row["between"], row["equality rejected"]) == (
        "undefined",
        "alignment, pm1",
        "0 of 3",
    )
    claims = tables["honeine2013-ftest-claims"]
    # Of the 136 pairs of 17 proposed machines on vowel, 16 hold the one that is off.
    assert [entry.text for entry in claims.rows[0][1:]] == ["664", "0", "664", "confirmed"]
    assert "Not counted: 16 undefined tests" in claims.notes[1]


def test_szedmak_s_block_counts_what_lies_in_the_paper_s_bracket(tmp_path):
    studies = Studies(tmp_path, is_quick=True)
    for name in ("honeine2013-szedmak", "honeine2013-szedmak-yeast", *RUN):
        fill(studies[name], lambda cell: 0.30 if cell.options.get("averaged") == "free" else 0.5)
    (table,) = PAPERS["honeine2013"].table("szedmak").build(studies)
    row = texts(table, **{"data set": "glass", "labels": "indicators"})
    assert (row["exact"], row["no constraint, free"], row["no constraint, length one"]) == (
        "degenerate",
        "30.00",
        "–",
    )
    assert [entry.text for entry in table.foot[0][5:7]] == ["0 of 7", "0 of 15"]
    assert table.foot[0][7].text == "2 of 15"  # indicators and consistency on glass


def test_every_published_figure_of_table_4_finds_its_place():
    printed = honeine2013.printed_rows()
    assert len(printed) == 34
    for row in read("honeine2013-table4-error"):
        assert (row["machine"], row["labelbook"]) in printed
        assert value(
            "honeine2013-table4-error", "error_mean", **{k: row[k] for k in ("machine", "labelbook", "dataset")}
        )
