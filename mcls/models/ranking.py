"""``--machine auto``: several fast machines on one table, ranked, and a test between the best two."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from mcls.evaluation.grid import GridResult
from mcls.evaluation.protocols import five_by_two, hold_out_rows
from mcls.evaluation.statistics import TestResult, ftest_5x2cv
from mcls.models.selection import IN_PYTHON, Quest, Say, Selection, prepare, read_folds
from mcls.seeds import derive

#: The registered machines with a closed-form fit and an exact sweep, one of each kind: oneLSM stands for ovA and rlsc,
#: which are the same function of the data.
FAST_MACHINES = ("oneLSM", "ovO", "voLSSVM", "voRLS-beta", "lssvm")
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
        said = f"f = {self.test.statistic:.2f}, p = {self.test.p:.3f}"
        if not self.test.differs(alpha):
            return f"the difference between {first} and {second} is not significant ({said})"
        better = first if self.test_errors[0] < self.test_errors[1] else second
        return f"{better} is better than {second if better == first else first} ({said})"


def rank(
    X: Any,
    y: Any,
    grid: Any = "auto",
    machines: Sequence[str] = FAST_MACHINES,
    *,
    folds: Any = 10,
    seed: int = 0,
    nested: bool = False,
    say: Say | None = None,
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
        quest = prepare(X, y, machine, grid, folds=folds, seed=seed, say=None if quests else say)
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
    errors = []
    with threadpool_limits(1):
        for quest, found in (a, b):
            task = quest.task(found, rows)
            errors.append(
                [five_by_two(task, derive(seed, "5x2cv", i), quest.inner_folds)["errors"] for i in range(5)]
            )
    return ftest_5x2cv(*errors), (float(np.mean(errors[0])), float(np.mean(errors[1])))
