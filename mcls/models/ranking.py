"""Several fast machines on one table, ranked: the default of ``mcls fit``, and ``--machine auto`` with its test."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mcls.evaluation.folds import EQUAL_ROWS, Fold
from mcls.evaluation.grid import OnStep, steps
from mcls.evaluation.grid_result import GridResult
from mcls.evaluation.metrics import ERROR
from mcls.evaluation.protocols import Outcome, five_by_two, hold_out_rows
from mcls.evaluation.statistics import TestResult, ftest_5x2cv
from mcls.evaluation.task import Prepare, Task
from mcls.machines.registry import MACHINES, Entry
from mcls.models.candidates import Candidate, most_rows, named_machine
from mcls.models.contest import NEAR, Standing, best_of, chosen_inside, standings
from mcls.models.finishing import finish, judged_at_best, spec_with
from mcls.models.growing import far_behind
from mcls.models.searching import CandidateSearch
from mcls.models.selected import IN_PYTHON, Selection
from mcls.models.selection import check_calibration, check_chance, check_metrics
from mcls.models.training_rows import Say, TrainingRows
from mcls.seeds import derive
from mcls.solvers.remembered import solutions_remembered
from mcls.specs import format_spec
from mcls.threads import blas_threads

Array = np.ndarray

#: What the registry says ``auto`` tries: machines with a closed-form fit and an exact sweep, one of each kind.
AUTO_MACHINES = tuple(name for name, machine in MACHINES.items() if machine.auto)
#: The names that ``mcls fit --machine`` and ``TableClassifier`` take for a choice among several machines.
AUTO, BEST = "auto", "best"
#: What the registry says the default tries, the simplest first.
BEST_MACHINES = tuple(
    format_spec(name, entry.options) for name, machine in MACHINES.items() for entry in machine.entries
)
# A guest must be as far ahead as would be asked for on such a share of the rows: 2.5 standard errors.
_FAR_AHEAD = 0.25
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


@solutions_remembered()
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
        able = [name for name in able if len(data.rows) <= (_tried_as(name).most_rows or np.inf)] or able
    if len(able) < len(limits):
        data.note(
            f"with {len(data.rows)} rows to search the choice is among {len(able)} machines: {', '.join(able)}"
        )
    partitions = data.partitions(repeats) if nested else []
    candidates = [Candidate.read(data, machine, grid, metrics, on_step, NEAR) for machine in able]
    begun = [
        Begun(
            candidate,
            check_calibration(candidate, calibration),
            CandidateSearch(candidate, data, True, partitions),
        )
        for candidate in candidates
    ]
    either = not nested or bool(partitions)  # a map that decides is judged inside each fold, or not at all
    if not test:
        begun = _left_by_samples(begun, data, either)
    completed = [each.complete(data, partitions, len(begun)) for each in begun]
    every_way = _ways(begun, [(each.candidate.task, found) for each, (found, _) in zip(begun, completed)], either)
    entrants = [
        Entrant(each.candidate, each.calibration, found, outcomes, ways, each.seconds)
        for each, (found, outcomes), ways in zip(begun, completed, every_way)
    ]
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


def _tried_as(machine: str) -> Entry:
    """What the registry says of trying a machine with such options by default; nothing where it is not tried so."""
    entry, _, options = named_machine(machine)
    known = [each for each in entry.entries if each.options.items() <= options.items()]
    return max(known, key=lambda each: len(each.options), default=Entry())  # what says most of the options


@dataclass
class Begun:
    """A machine whose search is under way."""

    candidate: Candidate
    calibration: str | None
    search: CandidateSearch
    seconds: float = 0.0

    def sample(self, size: int) -> tuple[Task, GridResult]:
        """Search a sample of so many rows."""
        started = time.perf_counter()
        judged = self.search.sample(size)
        self.seconds += time.perf_counter() - started
        return judged

    def complete(
        self, data: TrainingRows, partitions: Sequence[Sequence[Fold]], rivals: int
    ) -> tuple[GridResult, list[list[Outcome]] | None]:
        """Search all rows, as one of so many rivals."""
        started = time.perf_counter()
        found, outcomes = self.search.complete(rivals)
        if partitions and outcomes is None:
            outcomes = self.candidate.nested(data, found, partitions, True)
        self.seconds += time.perf_counter() - started
        return found, outcomes


def _ways(begun: Sequence[Begun], judged: Sequence[tuple[Task, GridResult]], either: bool) -> list[list[Standing]]:
    """The ways to decide of each machine at its best point on the rows that all were judged on.

    ``either`` says whether a map may decide. Maps of one kind are fitted side by side.
    """
    found: list[list[Standing]] = [[] for _ in begun]
    for kind in dict.fromkeys(each.calibration for each in begun):
        alike = [i for i, each in enumerate(begun) if each.calibration == kind]
        metrics = judged[alike[0]][0].metrics
        of_kind = standings([judged_at_best(judged[i][1], judged[i][0]) for i in alike], metrics, kind, either)
        for i, ways in zip(alike, of_kind):
            found[i] = ways
    return found


def _left_by_samples(begun: list[Begun], data: TrainingRows, either: bool) -> list[Begun]:
    """Take all machines through the samples; those that are far behind on one are left out from there on.

    Of so many rows, some machines are guests: they stay only while the others are far behind them. Which machines are
    left out is decided once, by all rows of the samples, and not again inside each nested fold, like the grid: they
    are too far behind to be chosen there.
    """
    n = len(data.rows)
    for size in begun[0].candidate.sizes:
        judged = [each.sample(size) for each in begun]
        if len(begun) == 1:
            continue
        metric = judged[0][0].metrics[0]
        best_ways = [min(ways, key=lambda way: way.loss) for ways in _ways(begun, judged, either)]
        losses = [metric.as_loss(way.fold_values[metric.name]) for way in best_ways]
        means = np.array([np.nanmean(of) for of in losses])
        guest = np.array([n > (_tried_as(each.candidate.machine).as_guest_from or np.inf) for each in begun])
        best = losses[int(np.argmin(means))]
        out = np.array([far_behind(best, of, size / n) for of in losses])
        if guest.any() and not guest.all():
            home = losses[int(np.argmin(np.where(guest, np.inf, means)))]
            out |= guest & ~np.array([far_behind(of, home, _FAR_AHEAD) for of in losses])
        if out.any():
            names = ", ".join(each.candidate.machine for each, left in zip(begun, out) if left)
            data.note(f"not ahead on a sample of {size} rows and left out: {names}")
        begun = [each for each, left in zip(begun, out) if not left]
    return begun


@dataclass(frozen=True)
class Entrant:
    """A machine that was searched, and the ways to decide at its chosen point."""

    candidate: Candidate
    calibration: str | None
    found: GridResult
    outcomes: Any  # of nested folds, per partition, or None
    ways: list[Standing]
    seconds: float

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
