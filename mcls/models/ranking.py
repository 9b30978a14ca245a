"""``--machine auto``: several fast machines on one table, ranked, and a test between the best two."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from mcls.evaluation.folds import EQUAL_ROWS
from mcls.evaluation.grid import OnStep, steps
from mcls.evaluation.grid_result import GridResult
from mcls.evaluation.metrics import ERROR
from mcls.evaluation.protocols import five_by_two, hold_out_rows
from mcls.evaluation.statistics import TestResult, ftest_5x2cv
from mcls.machines.registry import MACHINES
from mcls.models.candidates import Candidate, Say, TrainingRows
from mcls.models.selection import IN_PYTHON, Selection, check_calibration, check_metrics, finish
from mcls.seeds import derive

#: What the registry says ``auto`` tries: machines with a closed-form fit and an exact sweep, one of each kind.
AUTO_MACHINES = tuple(name for name, machine in MACHINES.items() if machine.auto)
#: Rows of the F-test, which searches the grid ten times per machine.
TEST_ROWS = 1000


@dataclass(frozen=True)
class Ranked:
    """One machine of a ranking."""

    machine: str
    error: float
    spread: float
    seconds: float
    best_params: dict[str, Any]
    metrics: dict[str, float]


@dataclass(frozen=True)
class Ranking:
    """Machines in the order of the metric that chooses (by default the CV error), and the test of the best two."""

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
    repeats: int = 1,
    groups: Any = EQUAL_ROWS,
    metric: Any = ERROR.name,
    costs: Any = None,
    calibration: str | None = None,
    sample_weight: Any = None,
    say: Say | None = None,
    on_step: OnStep | None = None,
    advice: str = IN_PYTHON,
) -> tuple[Selection, Ranking]:
    """Search each machine's grid on the same folds, test the best two, and fit the best.

    The arguments are those of ``select``. Machines are ranked by the metric that chooses their points; equal ones are
    ordered as they are given: the cheaper first. ``nested`` estimates the error of the best with its parameters chosen
    inside each fold; that it is the best was seen on all rows. The test between the best two compares their errors.
    """
    metrics = check_metrics(metric, costs, y)
    data = TrainingRows.read(X, y, folds=folds, seed=seed, groups=groups, sample_weight=sample_weight, say=say)
    partitions = data.partitions(repeats) if nested else []
    candidates: list[Candidate] = []
    found: list[GridResult] = []
    ranked: list[Ranked] = []
    for machine in machines:
        started = time.perf_counter()
        candidates.append(Candidate.read(data, machine, grid, metrics, on_step))
        wanted = check_calibration(candidates[-1], calibration)
        found.append(candidates[-1].search(data, keep_scores=wanted is not None)[0])
        spread = float(found[-1].fold_errors[found[-1].best].std())
        seconds = time.perf_counter() - started
        values = {name.name: found[-1].best_values[name.name] for name in metrics}
        ranked.append(Ranked(machine, found[-1].best_error, spread, seconds, found[-1].best_point, values))
    order = np.argsort([result.losses[result.best] for result in found], kind="stable").tolist()
    best, second = ((candidates[i], found[i]) for i in order[:2])
    test, errors = compare(data, best, second)
    wanted = check_calibration(best[0], calibration)
    outcomes = best[0].nested(data, best[1], partitions, wanted is not None) if nested else None
    chosen = finish(best[0], data, best[1], outcomes, calibration=wanted, say=say, advice=advice)
    return chosen, Ranking(tuple(ranked[i] for i in order), test, errors)


def compare(
    data: TrainingRows, a: tuple[Candidate, GridResult], b: tuple[Candidate, GridResult]
) -> tuple[TestResult, tuple[float, float]]:
    """5×2cv F-test of two searches on the same halves, each half's parameters chosen inside it."""
    codes, seed = data.codes[data.rows], data.seed
    rows = np.arange(len(codes))
    if len(rows) > TEST_ROWS:
        rows = np.sort(hold_out_rows(codes, TEST_ROWS / len(rows), derive(seed, "test"), None)[0])
        if data.say is not None:
            data.say(f"the F-test of the best two uses a stratified sample of {len(rows)} rows")
    with threadpool_limits(1):
        todo = [(candidate.searched(found).of_rows(rows), i) for candidate, found in (a, b) for i in range(5)]
        halves = [
            five_by_two(task, derive(seed, "5x2cv", i), inner_folds=data.inner_folds)["errors"]
            for task, i in steps(todo, "replications of 5x2cv", a[0].task.on_step)
        ]
    errors = halves[:5], halves[5:]
    return ftest_5x2cv(*errors, len(rows)), (float(np.mean(errors[0])), float(np.mean(errors[1])))
