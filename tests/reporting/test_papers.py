"""Each paper's tables from a made-up store: marks, differences, what is missing, quick labels."""

from __future__ import annotations

import numpy as np
import pytest

from mcls.data import Dataset
from mcls.experiments import cells
from mcls.packing import pack
from mcls.papers import PAPERS
from mcls.papers.honeine2013 import table4 as honeine2013
from mcls.papers.honeine2013.times import table6
from mcls.papers.noumir2011.growth import growth
from mcls.papers.noumir2011.plane import scene_map
from mcls.reporting.paper import Paper, TableSpec
from mcls.reporting.published import read, value
from mcls.reporting.render import to_latex
from mcls.reporting.studies import Studies

from .made_up import fill, record, texts

pytestmark = pytest.mark.usefixtures("cache")

RUN = ("honeine2013-table4", "honeine2013-table4-yeast")
BORROWED = ("honeine2013-borrowed", "honeine2013-borrowed-vowel")
COUNTS = ("n", "training rows", "test rows", "tests", "equality rejected", "identical")
SPECS = [
    pytest.param(paper, spec, id=f"{paper.name}-{spec.id}")
    for paper in PAPERS.values()
    for spec in paper.tables
    if spec.studies or spec.extra  # worked examples are computed on the spot
]


@pytest.mark.parametrize("paper, spec", SPECS)
def test_an_empty_store_says_what_is_missing_and_how_to_get_it(tmp_path, paper: Paper, spec: TableSpec):
    for table in spec.build(Studies(tmp_path, is_quick=True)):
        text = " ".join(table.remarks) + " ".join(entry.text for row in table.rows for entry in row)
        assert "missing" in text or "not run" in text or "not complete" in text
        assert "QUICK" in table.heading
        assert all(entry.source == "" for row in table.rows for entry in row if entry.text.endswith("missing"))


@pytest.mark.parametrize("paper, spec", SPECS)
def test_a_full_store_leaves_nothing_to_say(tmp_path, paper: Paper, spec: TableSpec):
    studies = Studies(tmp_path, is_quick=True)
    for name in spec.studies:
        fill(studies[name])
    for table in spec.build(studies):
        assert "INCOMPLETE" not in " ".join(table.notes)
        assert to_latex(table).isascii()  # every sign we use has its command
        for row in table.rows:
            for column, entry in zip(table.columns, row):
                if entry.source and not entry.source.startswith("#"):
                    assert (studies.out / entry.source).is_file()
                # A number that is not the paper's, nor a count, leads to what produced it.
                if entry.value is not None and "paper" not in column and column not in COUNTS:
                    assert entry.source, column


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
            made = record(cell, 0.03, seconds=100, train=16000, test=4000)
            studies[name].experiment.store.write({**made, "peak_memory_gb": gigabytes})
    table = next(t for t in table6(studies) if t.name == "honeine2013-table6-full")
    letter = texts(table, **{"data set": "letter"})
    assert (letter["error"], letter["seconds"], letter["peak GB"]) == ("3.00", "100", "1.2")
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
    assert len(names) == len(set(names)) == 14
    assert names[:2] == [("fqmi", "the paper"), ("fqmi", "as in Table 3")]
    assert [row[1].text for row in table.rows if row[0].text == "fqmi" and row[-2].bold] == ["larger side"]


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


def test_pavia_is_not_run_without_its_cube(tmp_path):
    (table,) = PAPERS["noumir2011"].table("pavia").build(Studies(tmp_path))
    assert table.rows[0][0].text == "not run: mcls data fetch pavia-university"


@pytest.fixture
def pavia(monkeypatch):
    """A made-up scene in the place of Pavia: seven classes in stripes of 40 × 70 pixels."""
    rows, columns = (each.ravel() for each in np.mgrid[0:70, 0:40])
    y = rows // 10
    names = ("Asphalt", "Meadows", "Trees", "Painted metal sheets", "Bare soil", "Self-blocking bricks", "Shadow")
    data = Dataset(
        name="pavia-university",
        X=np.column_stack([rows, columns]).astype(float),
        y=y,
        classes=names,
        feature_names=("a", "b"),
        extra={"row": rows, "column": columns},
    )
    monkeypatch.setattr("mcls.experiments.cells.load_dataset", lambda name, **options: data)
    monkeypatch.setattr("mcls.reporting.studies.absent_data", lambda config: None)
    cells._load.cache_clear()
    yield data
    cells._load.cache_clear()


def test_pavia_shows_the_accuracy_of_each_class_on_tested_pixels(tmp_path, pavia):
    studies = Studies(tmp_path)
    study = studies["noumir2011-pavia"]
    predictions = pavia.y.copy()
    predictions[pavia.y == 6] = 0  # Shadow taken for Asphalt
    predictions[::2] = -1  # training pixels
    for cell in study.experiment.plan.cells:
        study.experiment.store.write(record(cell, 0.1, predictions=pack(predictions)))
    (table,) = PAPERS["noumir2011"].table("pavia").build(studies)
    column = {row[0].text: row[1].text for row in table.rows}
    assert table.columns[1] == "voRLS-f, indicators"
    assert (column["Asphalt"], column["Shadow"]) == ("100.0", "0.0")
    assert (column["error"], column["paper error"], column["difference"]) == ("10.00", "8", "+2.00")
    figure = scene_map(studies, "noumir2011-pavia")
    assert figure is not None
    images = [np.asarray(ax.images[0].get_array()) for ax in figure.axes[:3]]
    assert images[0].shape == (70, 40)
    assert set(np.unique(images[1])) == {-1, 0, 1, 2, 3, 4, 5}


def test_time_against_the_number_of_classes(tmp_path):
    studies = Studies(tmp_path)
    study = studies["noumir2011-classes"]
    for cell in study.experiment.plan.cells:
        each = record(cell, 0.1)
        classes = len(study.plan.datasets[cell.dataset.label].classes)
        study.experiment.store.write(each | {"cpu_seconds": classes * 0.5 if cell.machine == "ovA" else 0.5})
    (table,) = PAPERS["noumir2011"].table("classes").build(studies)
    row = texts(table, classes="26")
    assert (row["seconds ovA"], row["ovA / voRLS-f, indicators"], row["error ovA"]) == ("13", "26.0", "10.00")
    figure = growth(studies)
    assert figure is not None
    assert [len(line.get_xdata()) for line in figure.axes[0].lines] == [7] * 4


def test_every_published_figure_of_table_4_finds_its_place():
    printed = honeine2013.printed_rows()
    assert len(printed) == 34
    for row in read("honeine2013-table4-error"):
        assert (row["machine"], row["labelbook"]) in printed
        assert value(
            "honeine2013-table4-error", "error_mean", **{k: row[k] for k in ("machine", "labelbook", "dataset")}
        )
