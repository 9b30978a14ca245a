"""Progress: nothing for short work, plain lines outside a terminal, a live line inside one, failures at once."""

from __future__ import annotations

import io
import sys
import time
from types import SimpleNamespace

import pytest

from mcls.cli import progress
from mcls.cli.progress import CellProgress, Steps
from mcls.data import load_dataset
from mcls.evaluation.folds import stratified_folds
from mcls.evaluation.grid import search
from mcls.machines.lsm import OneLSM
from mcls.models import streaming
from mcls.models.fitting import fit_table
from mcls.models.ranking import rank
from mcls.resources import datasets_dir

IRIS = datasets_dir() / "iris.csv"
GRID = {"gamma": [0.1, 1.0], "sigma": [0.5, 1.0, 2.0]}


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def quick(monkeypatch):
    """Show at once and often."""
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(progress, "_BETWEEN_LINES", 0.01)
    monkeypatch.setattr(progress, "_BETWEEN_LOOKS", 0.01)


def until(condition):
    for _ in range(1000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("it never came")


def test_short_work_is_silent(capsys):
    with Steps() as on_step:
        on_step("rows", 2000, None)
    cells = CellProgress()
    cells.start(2)
    cells.advance(SimpleNamespace(title="one"), {"status": "done"})
    cells.stop()
    cells.start(0)
    cells.stop()
    assert capsys.readouterr() == ("", "")


def test_plain_lines_come_while_a_single_step_lasts(quick, monkeypatch):
    heard = io.StringIO()
    monkeypatch.setattr(sys, "stderr", heard)
    with Steps() as on_step:
        until(lambda: "reading the table, 0 s\n" in heard.getvalue())
        on_step("outer folds", 3, 10)
        until(lambda: heard.getvalue().count("3/10 outer folds, 0 s, 0 s left\n") > 1)
        on_step("rows", 4000, None)
        until(lambda: "4000 rows, 0 s\n" in heard.getvalue())


def test_the_time_left_is_that_of_what_is_being_done(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    on_step = Steps()
    now[0] = 100.0
    on_step("outer folds", 0, 10)
    now[0] = 130.0
    on_step("outer folds", 3, 10)
    assert on_step.line() == "3/10 outer folds, 130 s, 70 s left"
    on_step("outer folds", 0, 5)  # the same again, from the start
    assert on_step.line() == "0/5 outer folds, 130 s"


def test_the_live_line_counts_and_leaves_nothing_on_standard_output(quick, monkeypatch, capsys):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "160")
    cells = CellProgress()
    cells.start(2)
    cells.advance(SimpleNamespace(title="iris flaky published 0"), {"status": "failed"})
    print("data")
    cells.advance(SimpleNamespace(title="iris ovO published 0"), {"status": "done"})
    until(lambda: "2/2 cells, 1 failed" in screen.getvalue())
    cells.stop()
    assert "failed: iris flaky published 0" in screen.getvalue()
    assert capsys.readouterr().out == "data\n"


def test_a_failure_is_told_at_once_and_the_end_where_it_is_logged(capsys):
    cells = CellProgress()
    cells.start(1)
    cells.advance(SimpleNamespace(title="iris flaky published 0"), {"status": "failed"})
    assert capsys.readouterr().err == "failed: iris flaky published 0\n"
    cells.stop()
    assert capsys.readouterr().err == "1/1 cells, 1 failed, 0 s, 0 s left\n"


def test_a_run_that_waited_for_another_says_when_it_computes_again(monkeypatch):
    now = 0.0
    monkeypatch.setattr(progress.time, "monotonic", lambda: now)
    steps, cells = Steps("cells"), CellProgress()
    monkeypatch.setattr(progress, "Steps", lambda what: steps)
    cells.start(0)
    cells._total = 4
    now = 10.0
    cells.advance(SimpleNamespace(title="one"), {"status": "done"})
    assert steps.line() == "1/4 cells, 0 failed, 10 s, 30 s left"
    cells.wait(3)
    assert steps.line() == "3 cells of another run to wait for, 10 s"
    now = 20.0
    cells.wait(0)
    assert steps.line() == "1/4 cells, 0 failed, 20 s, 60 s left"


def test_a_search_tells_its_points_and_a_fit_its_folds():
    told = []
    fitted = fit_table(
        IRIS, "class", "oneLSM", GRID, folds=3, nested=False, on_step=lambda *step: told.append(step)
    )
    assert told == [*[("grid points", done, 6) for done in (0, 2, 4, 6)], ("fitting to all rows", 0, None)]
    data = fitted.model
    for work in (streaming.predict_table, streaming.judge_table):
        told.clear()
        extra = (io.StringIO(),) if work is streaming.predict_table else ()
        work(data, IRIS, *extra, on_step=lambda *step: told.append(step))
        assert told == [("rows", 150, None)]


def test_a_ranking_and_folds_that_scale_tell_theirs(iris):
    told = []
    X, y = iris.X[::3], iris.y[::3]
    rank(X, y, "paper", ("oneLSM", "ovO"), folds=3, test=True, on_step=lambda *step: told.append(step))
    assert [step for step in told if "5x2cv" in step[0]] == [("replications of 5x2cv", i, 10) for i in range(10)]
    told.clear()
    folds = stratified_folds(y, 3, 0)
    search(OneLSM(), X, y, GRID, folds, scaling="fold", on_step=lambda *step: told.append(step))
    assert told == [("folds", i, 3) for i in range(3)]


@pytest.fixture
def iris():
    return load_dataset("iris")
