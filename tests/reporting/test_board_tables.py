"""Tables of any experiment: bold, marks, published figures."""

from __future__ import annotations

import shutil

import pytest
from scipy.stats import friedmanchisquare

from mcls.errors import McLsError
from mcls.reporting.board import find_board
from mcls.reporting.board_tables import PUBLISHED_FILE, board_tables, read_published
from mcls.reporting.render import to_latex, to_markdown
from mcls.reporting.studies import Studies

from .made_up import texts


def test_the_best_is_bold_and_what_differs_is_marked_in_either_direction(board):
    tables = {table.name: table for table in board_tables(board, "oneLSM")}
    assert list(tables) == ["lab-error", "lab-error-tests", "lab-macro-f1", "lab-macro-f1-tests", "lab-seconds"]
    for name in ("lab-error", "lab-macro-f1"):
        row = texts(tables[name], **{"data set": "iris:sample=60"})
        assert row["ovO"].endswith("⁻")  # significantly worse, whichever way is better
        assert not row["oneLSM"].endswith(("⁻", "⁺"))
        bold = [entry.bold for entry in tables[name].rows[0]]
        means = board.means(board.metric(name.removeprefix("lab-")))[0]
        assert bold[1:] == list(means == means.min())
        assert tables[name].columns == ("data set", "oneLSM", "ovO", "voLSSVM, pm1", "voLSSVM, alignment")
        assert tables[name].foot[0][0].text == "average rank"
    assert "**" in to_markdown(tables["lab-error"])
    assert r"\textbf{" in to_latex(tables["lab-error"])
    turned = board_tables(board, "ovo", ["error"])[0]
    assert texts(turned, **{"data set": "iris:sample=60"})["oneLSM"].endswith("⁺")


def test_published_figures_stand_beside_ours(results, tmp_path):
    shutil.copytree(results, tmp_path / "results")
    lines = "dataset,machine,metric,value,source\niris:sample=60,onelsm,,9.5,a paper\nnowhere,ovO,error,3,\n"
    (tmp_path / "results/lab" / PUBLISHED_FILE).write_text(lines)
    table = next(
        t for t in board_tables(find_board(Studies(tmp_path / "results"), "lab")) if "published" in t.name
    )
    row = texts(table, machine="oneLSM")
    assert (row["published"], row["source"]) == ("9.5", "a paper")
    assert float(row["difference"]) == pytest.approx(float(row["ours"]) - 9.5, abs=0.01)
    assert texts(table, **{"data set": "nowhere"})["ours"] == "–"


@pytest.mark.parametrize(
    "text, message",
    [
        ("dataset,machine,value\niris,,3\n", ":2: 'machine' is missing"),
        ("dataset,machine,value\na,b,x\n", "not a number"),
    ],
)
def test_published_figures_with_mistakes_are_refused_by_line(text, message, tmp_path):
    (tmp_path / "mine.published.csv").write_text(text)
    with pytest.raises(McLsError, match=message):
        read_published(tmp_path / "mine.published.csv")


def test_published_figures_of_what_is_not_here_stand_alone(results, tmp_path):
    shutil.copytree(results, tmp_path / "results")
    (tmp_path / "results" / "lab" / PUBLISHED_FILE).write_text(
        "dataset,machine,metric,value\niris:sample=60,voLSSVM:labelbook=pm1,Error,9\n"
        "iris:sample=60,oneLSM,auc,0.9\niris:sample=60,another,error,3\n"
    )
    board = find_board(Studies(tmp_path / "results"), "lab")
    (table,) = (t for t in board_tables(board) if "published" in t.name)
    assert [row[3].text != "–" for row in table.rows] == [True, False, False]


def test_a_published_metric_that_the_config_does_not_ask_for_is_refused(tmp_path):
    (tmp_path / "mine.published.csv").write_text("dataset,machine,metric,value\niris,oneLSM,auc,0.9\n")
    with pytest.raises(
        McLsError, match=r"mine.published.csv:2: unknown metric of the config 'auc' \(known: error\)"
    ):
        read_published(tmp_path / "mine.published.csv", ["error"])


def test_ranks_say_what_they_are_over_and_whether_they_differ(results, tmp_path):
    shutil.copytree(results, tmp_path / "results")
    board = find_board(Studies(tmp_path / "results"), "lab")
    found = friedmanchisquare(*board.means(board.metric("error")).T)
    note = board_tables(board)[0].notes[-1]
    assert note.startswith("Average rank over the 3 data sets: 1 is the best; ")
    assert (
        f"p = {found.pvalue:.4g}, Nemenyi's critical difference at 0.05 is {2.569 * (20 / 18) ** 0.5:.2f}." in note
    )
    row = board.rows["iris:sample=60", "ovO"]
    row.store.path(row.row.cells[1].key).unlink()
    notes = board_tables(find_board(Studies(tmp_path / "results"), "lab"))[0].notes
    assert any("over the 2 data sets on which all machines have a figure" in each for each in notes)
