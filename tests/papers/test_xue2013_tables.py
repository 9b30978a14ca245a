"""The tables of xue2013 from a made-up store: both selections, averages, verdicts."""

from __future__ import annotations

import pytest

from mcls.papers import PAPERS
from mcls.reporting.studies import Studies

from ..reporting.made_up import fill, record, texts

pytestmark = pytest.mark.usefixtures("cache")


def test_xue_shows_both_selections_and_who_wins(tmp_path):
    studies = Studies(tmp_path, is_quick=True)
    fill(studies["xue2013-linear"], lambda cell: 0.17 if cell.machine == "rlsc" else 0.20)
    fill(studies["xue2013-ftest-linear"])
    accuracy, gain = PAPERS["xue2013"].table("1").build(studies)
    row = texts(accuracy, **{"data set": "iris", "machine": "rlsc"})
    assert row["paper"] == "82.93 ± 3.48"
    assert row["ours, CV"] == "83.00 ± 0.00"
    assert row["CV - paper"] == "+0.07"
    assert row["ours, oracle"] == "85.00 ± 0.00"
    assert "ORACLE" in " ".join(accuracy.notes)
    row = texts(gain, **{"data set": "iris", "machines": "rlsc → olc-rlsc"})
    assert (row["paper"], row["ours, CV"]) == ("+1.20", "-3.00")
    assert (row["p (F-test)"], row["by the test"]) == ("identical", "not significant")
    assert (row["overlap with"], row["cosine with"]) == ("0.100", "0.200")
    assert "wins in 12 of 12 cases of the paper, 0 of ours" in " ".join(gain.notes)


#: The rows "Average" as xue2013 prints them.
AVERAGES = {
    "1": {
        "rlsc": "72.29 ± 2.81",
        "olc-rlsc": "74.03 ± 2.93",
        "lssvm": "73.79 ± 3.17",
        "olc-lssvm": "76.86 ± 2.09",
    },
    "2": {
        "rlsc": "78.93 ± 2.82",
        "olc-rlsc": "80.41 ± 2.56",
        "lssvm": "79.00 ± 2.97",
        "olc-lssvm": "81.67 ± 2.29",
    },
}


@pytest.mark.parametrize("table_id, kernel", [("1", "linear"), ("2", "gaussian")])
def test_xue_s_average_rows_are_the_printed_ones_beside_our_mean_over_the_data_sets(tmp_path, table_id, kernel):
    studies = Studies(tmp_path, is_quick=True)
    # Six data sets at 10, 20, ... 60 % error; two repeats one point to either side: a deviation of √2.
    order = list(studies[f"xue2013-{kernel}"].plan.datasets)
    fill(
        studies[f"xue2013-{kernel}"],
        lambda cell: 0.1 * (1 + order.index(cell.dataset.label)) + (0.01 if cell.replicate else -0.01),
    )
    accuracy, gain = PAPERS["xue2013"].table(table_id).build(studies)
    rows = {row[1].text: [entry.text for entry in row] for row in accuracy.foot}
    assert {machine: row[2] for machine, row in rows.items()} == AVERAGES[table_id]
    for machine, row in rows.items():
        assert row[0] == "Average"
        assert (row[3], row[5]) == ("65.00 ± 1.41", "67.00 ± 1.41")
        assert float(row[4]) == pytest.approx(65 - float(AVERAGES[table_id][machine][:5]), abs=0.006)
    assert [[e.text for e in row[1:5]] for row in gain.foot] == [
        ["rlsc → olc-rlsc", {"1": "+1.74", "2": "+1.48"}[table_id], "+0.00", "+0.00"],
        ["lssvm → olc-lssvm", {"1": "+3.07", "2": "+2.67"}[table_id], "+0.00", "+0.00"],
    ]


def test_xue_has_no_average_of_ours_while_a_data_set_is_incomplete(tmp_path):
    studies = Studies(tmp_path, is_quick=True)
    fill(studies["xue2013-linear"], leave_out=lambda cell: cell.dataset.label == "tae" and cell.machine == "rlsc")
    accuracy, gain = PAPERS["xue2013"].table("1").build(studies)
    shown = {row[1].text: row[3].text for row in accuracy.foot}
    assert shown["rlsc"] == "not complete"
    assert shown["lssvm"] == "75.00 ± 0.00"
    assert [row[3].text for row in gain.foot] == ["–", "+0.00"]


@pytest.mark.parametrize(
    "error, step, verdict", [(0.1, 0.02, "helps"), (0.3, 0.02, "hurts"), (0.1, 0.0, "undefined")]
)
def test_xue_tells_whether_correction_helps_or_hurts(tmp_path, error, step, verdict):
    studies = Studies(tmp_path, is_quick=True)
    fill(studies["xue2013-linear"])
    study = studies["xue2013-ftest-linear"]
    for cell in study.experiment.plan.cells:
        base = error if cell.machine.startswith("olc") else 0.2
        study.experiment.store.write(
            record(cell, base, errors=[base, base + step * cell.replicate * (base != 0.2)])
        )
    gain = PAPERS["xue2013"].table("1").build(studies)[1]
    assert {row[6].text for row in gain.rows} == {verdict}
    assert ({row[5].text for row in gain.rows} == {"undefined"}) == (verdict == "undefined")
