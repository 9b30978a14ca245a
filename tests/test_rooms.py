"""The order of the rooms: a module imports only from its own room and from those to its left, lazily or not."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import mcls

PACKAGE = Path(mcls.__file__).parent
#: From left to right; rooms in one line do not know each other. What is in none of them is the root, left of all.
ORDER = (
    ("kernels", "labelbooks"),
    ("data",),
    ("solvers",),
    ("coding",),
    ("machines",),
    ("evaluation",),
    ("experiments", "models"),
    ("reporting",),
    ("papers",),
    ("cli",),
)
PLACE = {room: i for i, rooms in enumerate(ORDER, start=1) for room in rooms}


def room_of(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in PLACE else "root"


def imported(path: Path) -> set[str]:
    """Every module of ours that a file imports, inside functions and for types too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{name.name}" for name in node.names if node.module == "mcls"}
    return {name for name in found if name.startswith("mcls.")}


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_nothing_is_imported_from_a_room_to_the_right(path):
    module = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
    if module in ("mcls.__init__", "mcls.__main__"):  # the public names, and the command itself
        return
    own = room_of(module)
    for name in imported(path):
        other = room_of(name)
        assert other == own or PLACE.get(other, 0) < PLACE.get(own, 0), (
            f"{module} ({own}) imports {name} ({other})"
        )
