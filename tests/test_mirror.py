"""Test files mirror modules: ``tests/ROOM/test_X.py`` tests ``mcls/ROOM/…/X.py``."""

from __future__ import annotations

from pathlib import Path

import pytest

import mcls

TESTS = Path(__file__).parent
PACKAGE = Path(mcls.__file__).parent
ROOMS = [room.name for room in sorted(TESTS.iterdir()) if (PACKAGE / room.name).is_dir() and room.name != "papers"]
#: What several modules of a room do together.
TOGETHER = {
    "cli": {"bad_options", "large", "own_tables", "probabilities", "startup"},
    "experiments": {"metrics"},
    "machines": {"bad_input", "honeine2013"},
}


@pytest.mark.parametrize("room", ROOMS)
def test_a_test_file_is_called_by_its_module_or_folder(room):
    known = {path.stem for path in (PACKAGE / room).rglob("*") if path.suffix == ".py" or path.is_dir()}
    files = {path.stem.removeprefix("test_") for path in (TESTS / room).glob("test_*.py")}
    assert files - known == TOGETHER.get(room, set())


def test_every_command_has_its_tests():
    commands = {path.stem for path in (PACKAGE / "cli").glob("*.py")} - {"__init__"}
    files = {path.stem.removeprefix("test_") for path in (TESTS / "cli").glob("test_*.py")}
    # What commands share is tested through them.
    assert commands - files == {"fitted", "options", "typer_app"}
