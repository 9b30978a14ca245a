"""The house: a module imports only from its own room and from those to its left, lazily or not, and no module knows a
list of machines, probes one for what it can do, or is longer than 400 lines."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import mcls
from mcls.machines.registry import MACHINES

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


MOST_LINES = 400
MODULES = sorted(PACKAGE.rglob("*.py"))


def test_no_module_is_too_long():
    long = {
        path.name: n for path in MODULES if (n := len(path.read_text(encoding="utf-8").splitlines())) > MOST_LINES
    }
    assert not long


def test_only_the_registry_and_the_papers_list_machines():
    """A paper's tables have the rows of the paper, and a solver names its problems; all else asks the registry."""
    lists = (ast.Tuple, ast.List, ast.Set, ast.Dict)
    found = []
    for path in MODULES:
        if {"papers", "solvers"} & set(path.parts) or path.name == "registry.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            values = (node.keys if isinstance(node, ast.Dict) else node.elts) if isinstance(node, lists) else []
            words = [
                each.value for each in values if isinstance(each, ast.Constant) and isinstance(each.value, str)
            ]
            if sum(word.partition(":")[0] in MACHINES for word in words) > 1:
                found.append(f"{path.relative_to(PACKAGE)}:{node.lineno}: {words}")
    assert not found


def test_no_machine_is_probed():
    """What a machine can do is declared on its class; only estimators of other libraries are asked what they have."""
    ours = ("machine", "estimator", "entry", "candidate")
    found = []
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "hasattr":
                asked = ast.unparse(node.args[0]).split(".")[-1]
                if asked.strip("_") in ours:
                    found.append(f"{path.relative_to(PACKAGE)}:{node.lineno}")
    assert not found
