"""A study that is not in the project, from three tables to the page, killed on its way and resumed."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pandas as pd
import pytest

from .command import piped
from .reporting.browser import CHROMIUM, Browser
from .reporting.tex import PDFLATEX, compile_latex

MCLS = [sys.executable, "-m", "mcls"]

TABLES = {  # three tables that are not in the project; the third has what tables of the world have
    "flowers.csv": lambda i: f"{i % 3 + i % 7 / 10},{i * 5 % 11 / 10},{'abc'[i % 3]}",
    "shapes.csv": lambda i: f"{i % 2 * 2 + i % 5 / 4},{i % 9},{i * 7 % 13},{('round', 'long')[i % 2]}",
    "clinic.csv": lambda i: ";".join(
        [
            f"2024-0{i % 8 + 1}-1{i % 9}",
            "" if i % 11 == 5 else f"{i % 2 * 3 + i % 7},{i % 10}",
            ("low", "mid", "high")[i % 3],
            f"p{i // 4}",
            ("ill", "well")[i % 2],
        ]
    ),
}
HEADS = {"flowers.csv": "a,b,kind", "shapes.csv": "u,v,w,kind", "clinic.csv": "day;value;grade;patient;state"}
STUDY = """\
datasets:
  - {path: flowers.csv, target: kind}
  - {path: shapes.csv, target: kind}
  - {path: clinic.csv, target: state, group: patient, delimiter: ";", decimal: ",", missing: impute}
machines: [oneLSM, pipe, {name: hgb, options: {max_iter: 5}}]
metric: [balanced-error, error]
protocol: nested
folds: 2
inner_folds: 2
replicates: 2
grid: {gamma: [0.1, 1], sigma: [1, 4]}
"""
PLUGIN = """\
import mcls
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
mcls.register("pipe", make_pipeline(StandardScaler(), LogisticRegression()), grid={"logisticregression__C": [1, 10]})
mcls.register("hgb", HistGradientBoostingClassifier(min_samples_leaf=5))
"""


def run(*args):
    """In a process of its own: what a plug-in registers is gone with it."""
    done = piped(*args)
    assert done.returncode == 0, f"{args}\n{done.stdout!r}\n{done.stderr!r}"
    assert b"Traceback" not in done.stderr
    return done.stdout.decode()


@pytest.mark.long
def test_a_study_of_tables_of_the_world_killed_and_resumed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, row in TABLES.items():
        lines = [HEADS[name], *map(row, range(72))]
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "study.yaml").write_text(STUDY)
    (tmp_path / "mine.py").write_text(PLUGIN)
    begun = subprocess.Popen(
        [*MCLS, "run", "study.yaml", "--plugin", "mine.py", "-j", "1"],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    cells = tmp_path / "results" / "study" / "cells"
    while begun.poll() is None and len(list(cells.glob("*.json"))) < 3:
        time.sleep(0.02)
    begun.send_signal(signal.SIGKILL)
    _, err = begun.communicate()
    assert cells.is_dir(), err
    kept = len(list(cells.glob("*.json")))
    out = run("run", "study.yaml", "--plugin", "mine.py", "-j", "1")
    assert f"{kept} reused" in out
    assert "tests against oneLSM" in out
    run("tables", "study", "--against", "oneLSM")
    made = [path.read_text(encoding="utf-8") for path in sorted((tmp_path / "results/study/tables").glob("*.tex"))]
    assert len(made) > 2
    assert all("\\toprule" in text for text in made)
    if PDFLATEX is not None:
        compile_latex(made, tmp_path)
    assert "study-ranks.svg" in run("plot", "ranks", "study")
    run("report", "study")
    run("export", "study", "-o", "r.csv")
    table = pd.read_csv(tmp_path / "r.csv")
    assert set(table["dataset"]) == {"flowers", "shapes", "clinic"}
    assert set(table["machine"]) == {"oneLSM", "pipe", "hgb"}
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed: the page is not opened")
    with Browser(tmp_path / "profile") as browser:
        browser.open((tmp_path / "results/study/report.html").as_uri())
        assert browser.complaints == []
        assert [r for r in browser.requests if not r.startswith(("data:", "file:"))] == []
        rows = "Array.from(document.querySelectorAll('#study-balanced-error-tests tbody tr'))"
        read = f"{rows}.map(row => parseFloat(row.children[2].textContent))"
        for reverse in (False, True):
            browser.click("#study-balanced-error-tests th:nth-child(3) button")
            assert browser.value(read) == sorted(browser.value(read), reverse=reverse)
        assert len(set(browser.value(read))) > 1
