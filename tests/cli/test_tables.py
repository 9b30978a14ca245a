"""``mcls tables``: listing, running what is missing, reading the store alone, quick runs, mistakes."""

from __future__ import annotations

import pytest

from mcls.papers import PAPERS
from mcls.reporting.studies import Studies

from ..command import call
from ..reporting.made_up import fill

pytestmark = pytest.mark.usefixtures("cache")


def test_without_a_paper_it_lists_what_there_is():
    code, out, _ = call("tables")
    assert code == 0
    for name in ("honeine2013", "xue2013", "arvanitopoulos", "noumir2011", "ftest"):
        assert name in out


def test_runs_what_is_missing_once_and_writes_three_formats(tmp_path):
    args = ("tables", "noumir2011", "--quick", "-j", 1, "--out", tmp_path)
    code, out, err = call(*args)
    assert code == 0
    assert "6 of 6 cells to compute" in err
    assert "voRLS-f" in out
    assert "QUICK run" in out
    assert "not run: mcls data fetch pavia-university" in out
    folder = tmp_path / "quick" / "tables"
    for suffix in ("md", "csv", "tex"):
        assert (folder / f"noumir2011-iris.{suffix}").stat().st_size > 100
    code, again, err = call(*args)
    assert "to compute" not in err
    assert again == out


def test_the_environment_asks_for_a_quick_run_too(tmp_path, monkeypatch):
    monkeypatch.setenv("QUICK", "1")
    code, out, _ = call("tables", "noumir2011", "--table", "iris", "--no-run", "--out", tmp_path)
    assert code == 0
    assert "[QUICK]" in out
    monkeypatch.setenv("QUICK", "0")
    assert "[QUICK]" not in call("tables", "noumir2011", "--table", "iris", "--no-run", "--out", tmp_path)[1]


def test_no_run_states_what_is_missing_and_computes_nothing(tmp_path):
    code, out, err = call("tables", "noumir2011", "--table", "iris", "--no-run", "--out", tmp_path)
    assert code == 0
    assert "INCOMPLETE: 120 of 120 cells are missing" in out
    assert "mcls tables noumir2011 --table iris" in out
    assert "compute" not in err
    assert not list(tmp_path.glob("*/cells/*"))


def test_all_from_a_store_prints_what_it_can_names_the_rest_and_writes_everything(tmp_path):
    studies = Studies(tmp_path, is_quick=True)
    for name in ("noumir2011-iris", "noumir2011-iris-raw", "xue2013-linear"):
        fill(studies[name])
    stored = sorted(tmp_path.glob("*/*/cells/*"))
    code, out, err = call("tables", "--all", "--no-run", "--quick", "--out", tmp_path)
    assert code == 0
    assert "to compute" not in err
    assert sorted(tmp_path.glob("*/*/cells/*")) == stored
    built = [table for paper in PAPERS.values() for spec in paper.tables for table in spec.build(studies)]
    for table in built:
        assert table.title in out
        for suffix in ("md", "csv", "tex"):
            assert (studies.out / "tables" / f"{table.name}.{suffix}").is_file()
    *_, count, incomplete, not_run = out.splitlines()
    # Three are worked examples, two count the verdicts, one reads iris in other ways.
    assert count == f"8 of {len(built) + 2} tables are complete."
    assert incomplete.startswith("Incomplete")
    assert incomplete.endswith(": xue2013-table1-gain, xue2013-cells")
    assert "honeine2013-table5, " in not_run
    assert "noumir2011-pavia" in not_run
    assert {path.name for path in (studies.out / "figures").glob("*.svg")} >= {
        "labelbooks.svg",
        "regions-iris.svg",
    }
    assert "figure ranks: not drawn" in err
    page = (studies.out / "report.html").read_text(encoding="utf-8")
    assert all(f'id="{table.name}"' in page for table in built)


@pytest.mark.parametrize(
    "args, message",
    [
        (["honeine"], "unknown paper or experiment 'honeine'; did you mean 'honeine2013'?"),
        (["honeine2013", "--table", "7"], "unknown table of honeine2013 '7'"),
        (["--table", "4"], "--table belongs to a paper"),
        (["xue2013", "--all"], "give a paper or --all, not both"),
        (["xue2013", "--against", "rlsc"], "--against, --metric, --alpha and --format belong to an experiment"),
        (["--all", "--format", "latex"], "--against, --metric, --alpha and --format belong to an experiment"),
        (["iris", "--alpha", "1.5"], "--alpha is a level between 0 and 1"),
        (["iris", "--quick"], "--quick belongs to the papers' tables"),
        (["iris", "--against", "ovX"], "unknown machine of iris 'ovX'"),
        (["iris", "--metric", "kapa"], "unknown metric of iris 'kapa'"),
    ],
)
def test_mistakes_are_one_line(args, message):
    code, _, err = call("tables", *args)
    assert code == 2
    assert message in err
    assert err.count("\n") == 1
