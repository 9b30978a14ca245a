"""Comparing the machines of any experiment from its plan and its store: nothing is computed again but the tests.

Each machine has one value per split: the halves of 5×2cv, the folds of a cross-validation (those of the chosen point
where the same folds choose), or one per replicate of a protocol that splits once. Where an experiment has honest
cells beside those of its protocol (``nested:``), the honest ones are compared.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from mcls.errors import McLsError, unknown_name
from mcls.evaluation.folds import LEAVE_ONE_GROUP_OUT, LEAVE_ONE_OUT
from mcls.evaluation.metrics import ERROR, Metric, get_metric
from mcls.evaluation.permutations import PermutationResult, paired_permutation_test
from mcls.evaluation.resampling_tests import (
    Effect,
    Posterior,
    bayesian_signed_rank,
    bayesian_ttest,
    corrected_ttest,
    pairwise_wilcoxon,
    wilcoxon,
)
from mcls.evaluation.statistics import FriedmanResult, TestResult, friedman, ftest_5x2cv
from mcls.experiments.cells import Cell
from mcls.experiments.plan import Plan, PlanRow
from mcls.experiments.store import Record, Store
from mcls.packing import unpack
from mcls.specs import format_spec, parse_spec

Found = list[tuple[Cell, Record]]


@dataclass(frozen=True)
class StoredPair:
    """Two machines on one data set; a difference is a − b of the metric taken as a loss, smaller being better."""

    dataset: str
    a: str
    b: str
    value_a: float
    value_b: float
    ftest: TestResult | None  # of five replications of 5×2cv
    corrected: Effect
    posterior: Posterior
    permutation: PermutationResult | None


@dataclass(frozen=True)
class StoredComparison:
    """Every pair on every data set, and the tests over data sets where there are at least two of them."""

    metric: Metric
    machines: list[str]
    datasets: list[str]
    table: np.ndarray  # (data sets, machines) means over the splits
    pairs: list[StoredPair]
    over: list[tuple[str, str, Effect, Posterior]]
    ranks: FriedmanResult | None  # of more than two machines
    holm: np.ndarray | None  # (machines, machines) corrected p-values of Wilcoxon's test
    left_out: int = 0  # pairs on a data set where cells of either are missing

    @property
    def complete(self) -> int:
        """The data sets on which every machine has all its cells: those that tests over data sets are about."""
        return int(np.isfinite(self.table).all(axis=1).sum())


def compare_stored(folder: Path, machines: Sequence[str] = (), **settings: Any) -> StoredComparison:
    """Compare the machines of an experiment, all or some of them, from the folder of its results."""
    plan = Plan.read(folder / "plan.json")
    if plan is None and os.path.isfile(folder / "plan.json"):
        raise McLsError(f"{folder / 'plan.json'} is damaged, or of a later version of mcls: run its config again")
    if plan is None:
        raise McLsError(f"{folder} holds no plan.json: give the folder of an experiment, such as results/iris")
    shared = folder.parent / "cells"  # those of a comparison, which has a folder of its own beside them
    cells = shared if shared.is_dir() and not (folder / "cells").is_dir() else folder / "cells"
    return compare_planned(plan, Store(cells), machines, **settings)


def compare_planned(
    plan: Plan,
    store: Store,
    machines: Sequence[str] = (),
    *,
    metric: str = ERROR.name,
    rope: float = 0.01,
    permutations: int = 0,
    alpha: float = 0.05,
) -> StoredComparison:
    """Compare machines from a plan and the store of its cells."""
    wanted = get_metric(metric)
    names = _chosen(list(dict.fromkeys(machine_name(row) for row in plan.rows)), machines)
    datasets = list(dict.fromkeys(row.dataset for row in plan.rows))
    rows = {(row.dataset, machine_name(row)): row for row in plan.rows}
    table = np.full((len(datasets), len(names)), np.nan)
    pairs: list[StoredPair] = []
    left_out = 0
    for d, dataset in enumerate(datasets):
        records = [_records(rows.get((dataset, name)), store) for name in names]
        values = [None if of is None else _values(of, wanted) for of in records]
        for m, of_machine in enumerate(values):
            table[d, m] = np.nan if of_machine is None else np.mean(of_machine)
        for i, j in combinations(range(len(names)), 2):
            a, b, of_a, of_b = values[i], values[j], records[i], records[j]
            if a is None or b is None or of_a is None or of_b is None:
                left_out += 1
                continue
            if a.shape != b.shape or len(a) < 2:
                raise McLsError(
                    f"{dataset}: the tests need the same two or more splits of {names[i]} and {names[j]}; "
                    f"there are {len(a)} and {len(b)}"
                )
            share = share_tested(of_a[0][0], of_a[0][1]["result"])
            loss_a, loss_b = wanted.as_loss(a), wanted.as_loss(b)
            swapped = None
            if permutations:
                y = plan.datasets[dataset].y
                first = [unpack(of[0][1]["result"]["predictions"]) for of in (of_a, of_b)]
                seen = (first[0] >= 0) & (first[1] >= 0)
                swapped = paired_permutation_test(
                    y[seen], first[0][seen], first[1][seen], permutations, metric=wanted
                )
            pairs.append(
                StoredPair(
                    dataset=dataset,
                    a=names[i],
                    b=names[j],
                    value_a=float(a.mean()),
                    value_b=float(b.mean()),
                    # Metrics other than the error do not count rows.
                    ftest=_ftest(of_a, loss_a, loss_b, plan.datasets[dataset].n if wanted is ERROR else None),
                    corrected=corrected_ttest(loss_a, loss_b, share),
                    posterior=bayesian_ttest(loss_a, loss_b, share, rope),
                    permutation=swapped,
                )
            )
    losses = wanted.as_loss(table[np.isfinite(table).all(axis=1)])
    over: list[tuple[str, str, Effect, Posterior]] = []
    if len(losses) >= 2:
        over = [
            (
                names[i],
                names[j],
                wilcoxon(losses[:, i], losses[:, j]),
                bayesian_signed_rank(losses[:, i], losses[:, j], rope),
            )
            for i, j in combinations(range(len(names)), 2)
        ]
    many = len(names) > 2 and len(losses) >= 2
    return StoredComparison(
        wanted,
        names,
        datasets,
        table,
        pairs,
        over,
        friedman(losses, alpha) if many else None,
        pairwise_wilcoxon(losses) if many else None,
        left_out,
    )


def _ftest(found: Found, loss_a: np.ndarray, loss_b: np.ndarray, n: int | None) -> TestResult | None:
    """The combined F-test of n rows, where the splits are the halves of five replications of 5×2cv."""
    if len(loss_a) != 10 or any(cell.protocol != "5x2cv" for cell, _ in found):
        return None
    return ftest_5x2cv(loss_a.reshape(5, 2), loss_b.reshape(5, 2), n)


def machine_name(row: PlanRow) -> str:
    """The machine of a row with its options, as a user types it."""
    options = {"labelbook": row.labelbook} if row.labelbook else {}
    spec = format_spec(row.machine, options)
    return f"{spec}{',' if options else ':'}{row.options}" if row.options else spec


def _chosen(known: list[str], wanted: Sequence[str]) -> list[str]:
    """The machines that a user names, in the order given: in full, or by the name alone where that is one machine."""
    if not wanted:
        if len(known) < 2:
            raise McLsError(f"there is nothing to compare: the experiment has one machine, {known[0]}")
        return known
    found = []
    for text in wanted:
        alike = [k for k in known if k.lower() == text.lower()] or alike_machines(known, text)
        if not alike:
            raise unknown_name("machine of the experiment:", text, known)
        if len(alike) > 1:
            raise McLsError(
                f"'{text}' is several machines of the experiment: {', '.join(alike)}; name one in full"
            )
        found.append(alike[0])
    if len(set(found)) < 2:
        raise McLsError("give at least two different machines of the experiment, or none to compare all")
    return found


def alike_machines(known: Sequence[str], text: str) -> list[str]:
    """The machines of that name that have the options given: those without others but a labelbook, if there are any."""
    name, options = parse_spec(text)
    spelt = {k: parse_spec(k) for k in known}
    found = [k for k, (n, of) in spelt.items() if n.lower() == name.lower() and options.items() <= of.items()]
    return [k for k in found if spelt[k][1].keys() - options.keys() <= {"labelbook"}] or found


def _records(row: PlanRow | None, store: Store) -> Found | None:
    """The cells of a row with their records, the honest ones if it has some; None where some are missing."""
    if row is None:
        return None
    cells = row.nested or row.cells
    found = [(cell, record) for cell in cells if (record := store.result(cell)) is not None]
    return found if len(found) == len(cells) else None


def of_splits(result: Mapping[str, Any], metric: str) -> list[float | None] | None:
    """A metric on each split of a replicate; None where that is not stored."""
    if metric in result.get("split_metrics", {}):
        return list(result["split_metrics"][metric])
    if metric != ERROR.name:
        return None
    if "train" in result:  # one split
        return [result["error"]]
    if "grid" in result:  # the folds of the chosen point
        grid, point = result["grid"], result["chosen"][0]
        shape = [len(grid["values"][name]) for name in grid["names"]]
        at = [grid["values"][name].index(point[name]) for name in grid["names"]]
        mistakes = unpack(grid["fold_mistakes"])[np.ravel_multi_index(at, shape) if shape else 0]
        return list(mistakes / np.array(grid["fold_sizes"]))
    return result.get("fold_errors") or result.get("errors")


def share_tested(cell: Cell, result: Mapping[str, Any]) -> float:
    """The share of the rows that one split tests: of as many folds as there were, whatever the config asked for."""
    if "train" in result:
        return float(result["test"] / (result["test"] + result["train"]))
    splits = of_splits(result, ERROR.name) or [None]
    return float(cell.settings.get("repeats", 1) / len(splits))


def split_values(result: Mapping[str, Any], metric: Metric) -> list[float]:
    """The metric on every split of a stored result, NaN where it is not defined."""
    kept = of_splits(result, metric.name)
    if kept is None:
        if metric.name == ERROR.name:
            return [float(result["error"])]
        raise McLsError(
            f"the results hold no '{metric.name}': add it to the experiment's 'metric:' and run it again"
        )
    return [np.nan if value is None else float(value) for value in kept]


def without_copies(cell: Cell, values: np.ndarray) -> np.ndarray:
    """Values (replicates, splits), or their mean (1, splits) where all replicates have the same splits.

    Folds of one row or one group, and test rows that are given, are no further evidence when they are judged again.
    """
    if cell.settings.get("folds") in (LEAVE_ONE_OUT, LEAVE_ONE_GROUP_OUT):
        values = values.reshape(-1, values.shape[1] // cell.settings.get("repeats", 1))
    elif isinstance(cell.settings.get("train", 0.5), float | list):  # drawn at random, as other folds are
        return values
    return values.mean(axis=0, keepdims=True)


def _values(found: Found, metric: Metric) -> np.ndarray:
    """The metric of every different split."""
    of_replicates = [split_values(record["result"], metric) for _, record in found]
    values = np.concatenate(of_replicates)
    if np.isnan(values).any():
        raise McLsError(f"'{metric.name}' is not defined on some split: use fewer folds or another metric")
    if len({len(of) for of in of_replicates}) > 1:
        return values
    return without_copies(found[0][0], np.array(of_replicates)).ravel()


def stored_tables(found: StoredComparison, as_csv: bool = False) -> list[tuple[str, list[str], list[list[str]]]]:
    """Titles, headings and rows: the pairs on each data set, and the tests over data sets.

    For people an interval is one entry; ``as_csv`` has its ends, and its level, in columns of their own.
    """
    per_cent = found.metric.percent
    what = "errors" if found.metric.name == ERROR.name else found.metric.name
    scale, unit = (100.0, f"{what} in percent") if per_cent else (1.0, what)
    digits = ".2f" if per_cent else ".4f"
    turned = "" if found.metric.direction == "smaller" else "; a difference below zero speaks for A"

    def number(value: float) -> str:
        return "" if np.isnan(value) else format(scale * value, digits)

    def p_value(of: Effect | TestResult) -> str:
        return "identical" if of.identical else "undefined" if of.undefined else f"{of.p:.4g}"

    def effect(of: Effect) -> list[str]:
        reached = "" if of.level >= 0.95 else f" ({100 * of.level:.3g} %)"  # few data sets allow no more
        between = [f"{number(of.low)} to {number(of.high)}{reached}"]
        if as_csv:
            between = [number(of.low), number(of.high), f"{of.level:g}"]
        return [f"{scale * of.difference:+{digits}}", *between, p_value(of)]

    def posterior(of: Posterior) -> list[str]:
        return [f"{of.a_better:.3f}", f"{of.equivalent:.3f}", f"{of.b_better:.3f}"]

    chances = ["P(A better)", "P(equivalent)", "P(B better)"]
    halves = any(pair.ftest is not None for pair in found.pairs)
    columns = ["data set", "A", "B", "mean A", "mean B", *["p(5x2cv F)"] * halves]
    interval = ["low", "high", "level"] if as_csv else ["95 %"]
    columns += ["difference", *interval, "p(corrected t)", *chances]
    permuted = any(pair.permutation is not None for pair in found.pairs)
    rows = [
        [
            *(pair.dataset, pair.a, pair.b, number(pair.value_a), number(pair.value_b)),
            *([p_value(pair.ftest)] if pair.ftest is not None else [""] * halves),
            *effect(pair.corrected),
            *posterior(pair.posterior),
            *([f"{pair.permutation.p:.4g}"] if pair.permutation is not None else [""] * permuted),
        ]
        for pair in found.pairs
    ]
    tables = [(f"{unit}, every pair on every data set{turned}", [*columns, *["p(permutation)"] * permuted], rows)]
    if found.over:
        columns = ["A", "B", "difference", *interval, "p(Wilcoxon)", *chances]
        columns += ["p(Wilcoxon, Holm)"] * (found.holm is not None)
        place = {name: i for i, name in enumerate(found.machines)}
        rows = [
            [
                *(a, b, *effect(test), *posterior(chance)),
                *([] if found.holm is None else [f"{found.holm[place[a], place[b]]:.4g}"]),
            ]
            for a, b, test, chance in found.over
        ]
        tables.append((f"{unit}, over {found.complete} data sets{turned}", columns, rows))
    return tables
