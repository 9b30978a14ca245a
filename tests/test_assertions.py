"""The tests themselves: assertions that cannot fail are found, and nobody outside the registry probes or lists machines."""

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
