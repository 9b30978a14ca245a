"""Several fast machines on one table, ranked: the default of ``mcls fit``, and ``--machine auto`` with its test."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mcls.evaluation.folds import EQUAL_ROWS
from mcls.evaluation.grid import OnStep, steps
from mcls.evaluation.grid_result import GridResult
from mcls.evaluation.metrics import ERROR
from mcls.evaluation.prepared_folds import Prepare
from mcls.evaluation.protocols import five_by_two, hold_out_rows
from mcls.evaluation.statistics import TestResult, ftest_5x2cv
from mcls.machines.registry import MACHINES
from mcls.models.candidates import Candidate, most_rows, named_machine
from mcls.models.contest import NEAR, Standing, best_of, chosen_inside, standings
from mcls.models.finishing import finish, judged_at_best, spec_with
from mcls.models.selected import IN_PYTHON, Selection
from mcls.models.selection import check_calibration, check_chance, check_metrics
from mcls.models.training_rows import Say, TrainingRows
from mcls.seeds import derive
from mcls.specs import format_spec
from mcls.threads import blas_threads

#: What the registry says ``auto`` tries: machines with a closed-form fit and an exact sweep, one of each kind.
AUTO_MACHINES = tuple(name for name, machine in MACHINES.items() if machine.auto)
#: The names that ``mcls fit --machine`` and ``TableClassifier`` take for a choice among several machines.
AUTO, BEST = "auto", "best"
#: What the registry says the default tries, the simplest first.
BEST_MACHINES = tuple(
    format_spec(name, entry.options) for name, machine in MACHINES.items() for entry in machine.entries
)
#: Rows of the F-test, which searches the grid ten times per machine.
TEST_ROWS = 1000


@dataclass(frozen=True)
class Ranked:
    """One machine of a ranking, with the map that decides where that is the better way."""

    machine: str
    error: float
    spread: float
    seconds: float
    best_params: dict[str, Any]
    metrics: dict[str, float]
    log_loss: float = float("nan")


@dataclass(frozen=True)
class Ranking:
    """Machines in the order of the metric that chooses (by default the CV error), the chosen one first.

    ``test`` is between the first two, where it was asked for. ``nested`` says whether the honest error includes the
    choice of the machine.
    """

    machines: tuple[Ranked, ...]
    test: TestResult | None = None
    test_errors: tuple[float, float] | None = None  # means over the ten halves
    nested: bool = False

    def verdict(self, alpha: float = 0.05) -> str:
        """What the test says of the best two, in words."""
        if self.test is None or self.test_errors is None:
            return "no test was made"
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
    machines: Sequence[str] = BEST_MACHINES,
    *,
    test: bool = False,
    folds: Any = 10,
    seed: int = 0,
    nested: bool = False,
    repeats: int = 1,
    permutations: int = 0,
    groups: Any = EQUAL_ROWS,
    metric: Any = ERROR.name,
    costs: Any = None,
    calibration: str | None = None,
    sample_weight: Any = None,
    prepare: Prepare | None = None,
    say: Say | None = None,
    on_step: OnStep | None = None,
    advice: str = IN_PYTHON,
) -> tuple[Selection, Ranking]:
    """Search the grid of each machine on the same folds, choose among them, and fit the choice.

    The arguments are those of ``select``, and ``test`` asks for an F-test between the best two machines. What is
    chosen, and that ``nested`` repeats the choice inside each fold, stands in ``mcls.models.contest``: with
    ``calibration="auto"`` each machine may decide by its scores or by the map. Machines that can only be searched on
    fewer rows than others are left out, unless they are to be tested, and so are those of which the registry says that
    they are tried on fewer rows, unless no other is left. Folds that are not a partition cannot be nested
    around the choice of a machine: the honest error is then that of the chosen machine alone.
    """
    metrics = check_metrics(metric, costs, y)
    limits = {machine: most_rows(machine, grid) for machine in machines}
    settings: dict[str, Any] = {"folds": folds, "seed": seed, "groups": groups, "sample_weight": sample_weight}
    most = None if test else lambda n: max(limit(n) for limit in limits.values())
    data = TrainingRows.read(X, y, prepare=prepare, say=say, most=most, **settings)
    check_chance(data, permutations)
    able = [machine for machine, limit in limits.items() if test or limit(len(data.X)) >= len(data.rows)]
    if not test:
        able = [machine for machine in able if len(data.rows) <= _tried_rows(machine)] or able
    if len(able) < len(limits):
        data.note(
            f"with {len(data.rows)} rows to search the choice is among {len(able)} machines: {', '.join(able)}"
        )
    partitions = data.partitions(repeats) if nested else []
    either = not nested or bool(partitions)  # a map that decides is judged inside each fold, or not at all
    entrants: list[Entrant] = []
    for machine in able:
        started = time.perf_counter()
        candidate = Candidate.read(data, machine, grid, metrics, on_step, NEAR)
        wanted = check_calibration(candidate, calibration)
        found, outcomes = candidate.search(data, True, partitions)
        if partitions and outcomes is None:
            outcomes = candidate.nested(data, found, partitions, True)
        entrants.append(Entrant(candidate, wanted, found, outcomes, time.perf_counter() - started))
    for wanted in dict.fromkeys(entrant.calibration for entrant in entrants):
        alike = [entrant for entrant in entrants if entrant.calibration == wanted]
        every_way = standings([judged_at_best(e.found, data) for e in alike], metrics, wanted, either)
        for entrant, ways in zip(alike, every_way):
            entrant.ways.extend(ways)
    every = [(entrant, way) for entrant in entrants for way in entrant.ways]
    place = best_of([way for _, way in every], metrics[0])
    chosen, standing = every[place]
    best_ways = [entrant.ways[best_of(entrant.ways, metrics[0])] for entrant in entrants]
    order = sorted(range(len(entrants)), key=lambda i: (entrants[i] is not chosen, best_ways[i].loss))
    ranked = tuple(entrants[i].ranked(standing if entrants[i] is chosen else best_ways[i]) for i in order)
    outcomes = None
    if partitions:
        names, y_codes, w = [e.candidate.machine for e in entrants], data.codes[data.rows], data.weights_of_search
        outcomes = [
            chosen_inside([e.outcomes[part] for e in entrants], names, y_codes, w, metrics, chosen.calibration)
            for part in range(len(partitions))
        ]
    elif nested:
        outcomes = chosen.candidate.nested(data, chosen.found, partitions)
    ranking = Ranking(ranked, nested=bool(partitions))
    if test and len(entrants) > 1:
        found_test, errors = compare(data, *((entrants[i].candidate, entrants[i].found) for i in order[:2]))
        ranking = replace(ranking, test=found_test, test_errors=errors)
    asked: dict[str, Any] = {
        "calibration": chosen.calibration,
        "permutations": permutations,
        "say": say,
        "advice": advice,
    }
    return finish(chosen.candidate, data, chosen.found, outcomes, standing, **asked), ranking


def _tried_rows(machine: str) -> float:
    """Up to how many rows the registry lets a machine with such options be tried beside others."""
    entry, _, options = named_machine(machine)
    limits = {len(e.options): e.most_rows for e in entry.entries if e.options.items() <= options.items()}
    return (limits[max(limits)] if limits else None) or np.inf  # of several, that which says most of the options


@dataclass(frozen=True)
class Entrant:
    """A machine that was searched, and the ways to decide at its chosen point."""

    candidate: Candidate
    calibration: str | None
    found: GridResult
    outcomes: Any  # of nested folds, per partition, or None
    seconds: float
    ways: list[Standing] = field(default_factory=list)

    def ranked(self, way: Standing) -> Ranked:
        """Its line of a ranking, with one of the ways to decide."""
        values, spread = way.values, float(way.fold_values[ERROR.name].std())
        machine = spec_with(self.candidate, way)
        return Ranked(
            machine, values[ERROR.name], spread, self.seconds, self.found.best_point, values, way.log_loss
        )


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
    with blas_threads(1):
        todo = [(candidate.searched(found).of_rows(rows), i) for candidate, found in (a, b) for i in range(5)]
        halves = [
            five_by_two(task, derive(seed, "5x2cv", i), inner_folds=data.inner_folds)["errors"]
            for task, i in steps(todo, "replications of 5x2cv", a[0].task.on_step)
        ]
    errors = halves[:5], halves[5:]
    return ftest_5x2cv(*errors, len(rows)), (float(np.mean(errors[0])), float(np.mean(errors[1])))
