"""Commands that only look something up start without the libraries of learning."""

import subprocess
import sys

import pytest

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
