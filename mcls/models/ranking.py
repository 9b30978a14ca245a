"""``--machine auto``: several fast machines on one table, ranked, and a test between the best two."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from mcls.evaluation.folds import EQUAL_ROWS
from mcls.evaluation.grid import GridResult, OnStep, steps
from mcls.evaluation.protocols import five_by_two, hold_out_rows
from mcls.evaluation.statistics import TestResult, ftest_5x2cv
from mcls.machines.registry import MACHINES
from mcls.models.selection import IN_PYTHON, Quest, Say, Selection, prepare, read_folds
from mcls.seeds import derive

#: What the registry says ``auto`` tries: machines with a closed-form fit and an exact sweep, one of each kind.
AUTO_MACHINES = tuple(name for name, machine in MACHINES.items() if machine.auto)
#: Rows of the F-test, which searches the grid ten times a machine.
TEST_ROWS = 1000


@dataclass(frozen=True)
class Ranked:
    """One machine of a ranking."""

    machine: str
    error: float
    spread: float
    seconds: float
    best_params: dict[str, Any]


@dataclass(frozen=True)
class Ranking:
    """Machines in the order of their CV errors, and the 5×2cv F-test of the first against the second."""

    machines: tuple[Ranked, ...]
    test: TestResult
    test_errors: tuple[float, float]  # means over the ten halves

    def verdict(self, alpha: float = 0.05) -> str:
        """What the test says of the best two, in words."""
        first, second = self.machines[0].machine, self.machines[1].machine
        if self.test.identical:
            return f"{first} and {second} never differ"
        if self.test.undefined:
            return f"the test between {first} and {second} is undefined: {self.test.undefined}"
        said = f"f = {self.test.statistic:.2f}, p = {self.test.p:.3f}"
        if not self.test.differs(alpha):
            return f"the difference between {first} and {second} is not significant ({said})"
        better = first if self.test_errors[0] < self.test_errors[1] else second
        return f"{better} is better than {second if better == first else first} ({said})"


def rank(
    X: Any,
    y: Any,
    grid: Any = "auto",
    machines: Sequence[str] = AUTO_MACHINES,
    *,
    folds: Any = 10,
    seed: int = 0,
    nested: bool = False,
    groups: Any = EQUAL_ROWS,
    say: Say | None = None,
    on_step: OnStep | None = None,
    advice: str = IN_PYTHON,
) -> tuple[Selection, Ranking]:
    """Search each machine's grid on the same folds, test the best two, and fit the best.

    Equal errors are ordered as the machines are given: the cheaper first. ``nested`` estimates the error of the best
    with its parameters chosen inside each fold; that it is the best was seen on all rows.
    """
    folds = read_folds(folds)
    quests: list[Quest] = []
    found: list[GridResult] = []
    ranked: list[Ranked] = []
    for machine in machines:
        started = time.perf_counter()
        told = None if quests else say
        settings: dict[str, Any] = {
            "folds": folds,
            "seed": seed,
            "groups": groups,
            "say": told,
            "on_step": on_step,
            "same_rows": True,
        }
        quest = prepare(X, y, machine, grid, **settings)
        if quests:  # a splitter may draw other folds each time
            quest = replace(quest, splits=quests[0].splits)
        quests.append(quest)
        found.append(quests[-1].search())
        spread = float(found[-1].fold_errors[found[-1].best].std())
        seconds = time.perf_counter() - started
        ranked.append(Ranked(machine, found[-1].best_error, spread, seconds, found[-1].best_point))
    order = np.argsort([r.error for r in ranked], kind="stable").tolist()
    best, second = ((quests[i], found[i]) for i in order[:2])
    test, errors = compare(best, second, say)
    estimate = best[0].nested(best[1]) if nested else None
    chosen = best[0].finish(best[1], estimate, say, advice)
    return chosen, Ranking(tuple(ranked[i] for i in order), test, errors)


def compare(
    a: tuple[Quest, GridResult], b: tuple[Quest, GridResult], say: Say | None = None
) -> tuple[TestResult, tuple[float, float]]:
    """5×2cv F-test of two searches on the same halves, each half's parameters chosen inside it."""
    rows, codes, seed = a[0].rows, a[0].codes, a[0].seed
    if len(rows) > TEST_ROWS:
        rows = rows[np.sort(hold_out_rows(codes[rows], TEST_ROWS / len(rows), derive(seed, "test"), None)[0])]
        if say is not None:
            say(f"the F-test of the best two uses a stratified sample of {len(rows)} rows")
    with threadpool_limits(1):
        todo = [(quest.task(found, rows), quest.inner_folds, i) for quest, found in (a, b) for i in range(5)]
        halves = [
            five_by_two(task, derive(seed, "5x2cv", i), inner_folds=inner_folds)["errors"]
            for task, inner_folds, i in steps(todo, "replications of 5x2cv", a[0].on_step)
        ]
    errors = halves[:5], halves[5:]
    return ftest_5x2cv(*errors, len(rows)), (float(np.mean(errors[0])), float(np.mean(errors[1])))
