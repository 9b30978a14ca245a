"""Git keeps the papers' results and passes over those of a user's own runs."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

pytestmark = pytest.mark.skipif(
    shutil.which("git") is None or not (ROOT / ".git").exists(), reason="this is not a git checkout"
)


def ignored(path: str) -> bool:
    done = subprocess.run(["git", "check-ignore", "--no-index", "-q", path], cwd=ROOT, check=False)
    assert done.returncode in (0, 1)
    return done.returncode == 0


@pytest.mark.parametrize("name", ["iris", "compare", "quick", "mine", "honeine2013"])
def test_runs_of_ones_own_are_passed_over(name):
    assert ignored(f"results/{name}/cells/0.json")
    assert ignored(f"results/{name}/summary.csv")


@pytest.mark.parametrize(
    "path",
    [
        *(f"results/{config.stem}/cells/0.json" for config in sorted((ROOT / "configs").glob("*-*.yaml"))),
        "results/bench/grid.csv",
        "results/figures/ranks.png",
        "results/report.html",
        "results/stress/stress.md",
        "results/tables/honeine2013-table4.md",
    ],
)
def test_what_the_papers_tables_come_from_is_kept(path):
    assert not ignored(path)


def test_nothing_that_is_kept_would_be_passed_over():
    kept = subprocess.run(["git", "ls-files", "results"], cwd=ROOT, capture_output=True, text=True, check=True)
    done = subprocess.run(
        ["git", "check-ignore", "--no-index", "--stdin"],
        cwd=ROOT,
        input=kept.stdout,
        capture_output=True,
        text=True,
    )
    assert done.stdout == ""
