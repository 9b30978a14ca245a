"""The text of the project: no assertion that cannot fail, no list of machines, no probing of machines."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcls.machines.registry import MACHINES

ROOT = Path(__file__).resolve().parents[1]
TESTS = sorted((ROOT / "tests").rglob("*.py"))
SOURCES = sorted((ROOT / "mcls").rglob("*.py"))


def asserted(text: str) -> Iterator[tuple[int, ast.expr]]:
    """The line and the expression of every assertion."""
    return ((node.lineno, node.test) for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Assert))


def cannot_fail(test: ast.expr) -> bool:
    """Whether an assertion holds by its form: ``a == b if c else d`` asserts d alone where c is false."""
    if isinstance(test, ast.IfExp | ast.Tuple | ast.Constant | ast.GeneratorExp | ast.Lambda | ast.JoinedStr):
        return True
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return ast.dump(test.left) == ast.dump(test.comparators[0]) and isinstance(test.ops[0], ast.Eq)
    return False


@pytest.mark.parametrize("text", ["a == b if c else d", "(a, 'why')", "f(a) == f(a)", "(x for x in y)", "True"])
def test_an_assertion_that_cannot_fail_is_recognised(text):
    ((_, test),) = asserted(f"assert {text}")
    assert cannot_fail(test)


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_assertion_can_fail(path):
    assert [line for line, test in asserted(path.read_text(encoding="utf-8")) if cannot_fail(test)] == []


def test_no_list_of_machines_stands_outside_the_registry():
    """Papers name the machines of their tables, and solvers have losses of the same names; nobody else lists any."""
    found = []
    for path in SOURCES:
        room = path.relative_to(ROOT / "mcls").parts[0]
        if path.name == "registry.py" or room in ("papers", "solvers"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.List | ast.Tuple | ast.Set | ast.Dict):
                parts = [*node.keys, *node.values] if isinstance(node, ast.Dict) else node.elts
                named = [part.value for part in parts if isinstance(part, ast.Constant) and part.value in MACHINES]
                if len(named) > 1:
                    found.append(f"{path.relative_to(ROOT)}:{node.lineno}: {named}")
    assert found == []


#: Where an object may be of any library, and scikit-learn's convention is to look: the binary learner of a coded
#: machine, and what a user gives as a table or a parameter.
_FOREIGN = {
    "cli/documents.py",
    "coding/binary.py",
    "evaluation/scorers.py",
    "machines/ecoc.py",
    "models/state.py",
    "models/table.py",
    "models/table_classifier.py",
}


def test_what_a_machine_can_is_declared_not_probed():
    probing = {
        path.relative_to(ROOT / "mcls").as_posix()
        for path in SOURCES
        if re.search(r"\bhasattr\(", path.read_text(encoding="utf-8"))
    }
    assert probing <= _FOREIGN
