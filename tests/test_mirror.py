"""Test files mirror modules: ``tests/ROOM/test_X.py`` tests ``mcls/ROOM/…/X.py``, and every module has one."""

from __future__ import annotations

from pathlib import Path

import pytest

import mcls

TESTS = Path(__file__).parent
PACKAGE = Path(mcls.__file__).parent
#: Without the papers, each of which has one file for its whole folder.
ROOMS = [room.name for room in sorted(TESTS.iterdir()) if (PACKAGE / room.name).is_dir() and room.name != "papers"]
#: What several modules of a room do together.
TOGETHER = {
    "cli": {"bad_options", "large", "own_tables", "probabilities", "startup"},
    "machines": {"bad_input"},
}
#: Modules without a file of their own: tested where others use them, or by the examples of their docstrings.
THROUGH_OTHERS = {
    "": {"clusters", "environment", "errors", "parameters", "resources", "seeds"},
    "cli": {"fitted", "options", "typer_app"},
    "data": {"plugged", "relearning", "roles", "scanning"},
    "evaluation": {"all_tests"},
    "experiments": {"plan", "refitting", "starter"},
    "machines": {"kernel_machine", "plugged"},
    "models": {
        *("card", "describe", "outline", "outlined"),  # mcls inspect
        *("dask_workers", "large_result", "passes", "spreading"),  # large tables
        *("finishing", "selected"),  # select
    },
    "reporting": {"confusion", "model", "paper", "references", "regions", "sweep"},
    "solvers": {"lsm", "osqp_backend", "sparse", "weights"},
}


def modules(room: str) -> set[str]:
    """Names of the modules of a room; without one, of those beside the rooms."""
    found = (PACKAGE / room).rglob("*.py") if room else PACKAGE.glob("*.py")
    return {path.stem for path in found if not path.stem.startswith("__")}


def files_of(room: str) -> set[str]:
    """What the test files of a room are called by."""
    return {path.stem.removeprefix("test_") for path in (TESTS / room).glob("test_*.py")}


@pytest.mark.parametrize("room", ROOMS)
def test_a_test_file_is_called_by_its_module_or_folder(room):
    folders = {path.name for path in (PACKAGE / room).rglob("*") if path.is_dir()}
    assert files_of(room) - modules(room) - folders == TOGETHER.get(room, set())


@pytest.mark.parametrize("room", ["", *ROOMS])
def test_every_module_has_its_test_file(room):
    assert modules(room) - files_of(room) == THROUGH_OTHERS.get(room, set())
