"""Commands that only look something up start without the libraries of learning."""

import subprocess
import sys

import pytest

from mcls.models.fitting import fit_table
from mcls.models.saving import save
from mcls.resources import datasets_dir

SCRIPT = """
import sys
from mcls.cli.app import app
try:
    app(sys.argv[1:])
except SystemExit:
    pass
heavy = [name for name in ("sklearn", "scipy.stats", "cvxpy", "osqp", "matplotlib") if name in sys.modules]
sys.exit(f"imported: {heavy}" if heavy else 0)
"""


@pytest.mark.parametrize("command", [["data", "list"], ["machines"], ["labelbooks"], ["--help"]], ids=" ".join)
def test_looking_something_up_imports_nothing_heavy(command):
    done = subprocess.run([sys.executable, "-c", SCRIPT, *command], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-500:]
    assert done.stdout


@pytest.mark.parametrize("more", [[], ["--json"], ["--card", "-"]], ids=str)
def test_inspecting_a_model_imports_nothing_heavy(tmp_path, more):
    model = fit_table(
        datasets_dir() / "iris.csv", "class", "oneLSM", grid={"gamma": [1.0], "sigma": [1.0]}, folds=2
    ).model
    save(model, tmp_path / "m.mcls")
    command = [sys.executable, "-c", SCRIPT, "inspect", str(tmp_path / "m.mcls"), *more]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-500:]
    assert "OneLSM" in done.stdout or "oneLSM" in done.stdout
