"""Progress: plain lines outside a terminal, a live bar inside one, failures in both."""

from __future__ import annotations

import io
import sys

from mcls.experiments.progress import LiveProgress, PlainProgress, make_progress
from mcls.experiments.runner import run_cells

from .small import make_experiment


def test_plain_lines_tell_failures_and_the_end(tmp_path, capsys, flaky):
    flaky.broken = True
    experiment = make_experiment(tmp_path, machines=["flaky", "ovO"], datasets="iris:sample=60", replicates=1)
    run_cells(experiment.plan.cells, experiment.store, progress=PlainProgress())
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "failed: iris:sample=60 flaky published 0"
    assert lines[-1].startswith("2/2 cells, 1 failed, ")


def test_the_live_bar_counts(tmp_path, monkeypatch, flaky):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "160")
    progress = make_progress()
    assert isinstance(progress, LiveProgress)
    flaky.broken = True
    experiment = make_experiment(tmp_path, machines=["flaky", "ovO"], datasets="iris:sample=60", replicates=1)
    run_cells(experiment.plan.cells, experiment.store, progress=progress)
    shown = screen.getvalue()
    assert "2/2" in shown
    assert "1 failed" in shown
    assert "failed: iris:sample=60 flaky published 0" in shown


def test_nothing_to_do_is_no_bar(capsys, monkeypatch):
    for progress in (LiveProgress(), PlainProgress()):
        progress.start(0)
        progress.stop()
    assert capsys.readouterr().err == ""
