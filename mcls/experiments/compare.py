"""Comparing machines from 5×2cv cells: errors, tests between two, ranks over many."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from mcls.evaluation.statistics import (
    FriedmanResult,
    McNemarResult,
    TestResult,
    friedman,
    ftest_5x2cv,
    mcnemar,
    ttest_5x2cv,
)
from mcls.experiments.cells import Row
from mcls.experiments.experiment import Experiment
from mcls.experiments.loading import config_from
from mcls.experiments.specs import format_spec, parse_spec
from mcls.experiments.store import Record, Store, write_file
from mcls.packing import unpack
from mcls.seeds import derive

DEFAULT_DATASETS = ("iris", "wine", "glass", "vowel", "yeast")


@dataclass(frozen=True)
class Pair:
    """Two machines on one data set; a test is None when cells of either are missing."""

    dataset: str
    a: str
    b: str
    error_a: float | None  # percent, mean over the ten halves
    error_b: float | None
    f: TestResult | None
    t: TestResult | None
    mcnemar: McNemarResult | None

    def verdict(self, test: str, alpha: float) -> str:
        """What the test says in words: identical, not significant, or which machine is better."""
        result: TestResult | None = getattr(self, test)
        if result is None or self.error_a is None or self.error_b is None:
            return "not complete"
        if result.identical and (self.f is None or self.f.identical):
            return "identical"
        if not result.differs(alpha):
            return "not significant"
        # Each test looks at differences of its own, and they may point the other way than the mean errors.
        if isinstance(result, McNemarResult):
            worse_a: float = result.only_a_wrong - result.only_b_wrong
        elif result is self.t:
            worse_a = result.statistic
        else:
            worse_a = round(self.error_a - self.error_b, 9)
        return f"{self.a if worse_a < 0 else self.b} better" if worse_a else "they differ, equal on average"


def comparison(machines: Sequence[str], datasets: Sequence[str], seed: int, engine: str, out: Path) -> Experiment:
    """The experiment behind a comparison: 5×2cv of every machine on every data set, stored like any other.

    All comparisons share their cells, below ``out/compare/``; each has a folder of its own there for its summary.
    """
    values = {
        "name": "compare",
        "description": "5x2cv: parameters chosen by 10-fold grid search inside each half.",
        "datasets": list(datasets),
        "machines": list(machines),
        "protocol": "5x2cv",
        "seed": seed,
        "engine": engine,
    }
    config = config_from(values, "compare")
    return Experiment.prepare(config, Path(), out, _folder_name(machines, datasets, seed))


def _folder_name(machines: Sequence[str], datasets: Sequence[str], seed: int) -> str:
    """What is compared, as a folder's name: for people its beginning, exact by the number at its end.

    >>> _folder_name(["oneLSM", "voSVM:labelbook=pm1"], ["iris", "data/my.csv"], 0)
    'oneLSM-voSVM-labelbook-pm1-iris-my.csv-d5242057'
    """
    labels = [machine_label(text) for text in machines]
    words = [*labels, *(text.rpartition("/")[2] for text in datasets)]
    readable = re.sub(r"[^A-Za-z0-9._]+", "-", "-".join(words))[:80].strip("-.")
    return f"{readable}-{derive('compare', *labels, *datasets, seed):08x}"


def machine_label(text: str) -> str:
    """A machine as the user named it, spelt as the registry does."""
    from mcls.machines.registry import get_machine

    name, options = parse_spec(text)
    return format_spec(get_machine(name).name, options)


def pairs(experiment: Experiment, machines: Sequence[str]) -> list[Pair]:
    """Every two machines on every data set, tested from the stored cells."""
    labels = [machine_label(text) for text in machines]
    result = []
    for rows in _by_dataset(experiment, len(labels)):
        records = [_records(row, experiment.store) for row in rows]
        for i, j in combinations(range(len(labels)), 2):
            result.append(_pair(rows[0], labels[i], labels[j], records[i], records[j]))
    return result


def errors(experiment: Experiment, n_machines: int) -> tuple[list[str], np.ndarray]:
    """Names of the data sets and the mean errors (data sets, machines) in percent; NaN where cells are missing."""
    names, table = [], []
    for rows in _by_dataset(experiment, n_machines):
        names.append(rows[0].dataset)
        records = [_records(row, experiment.store) for row in rows]
        table.append([_mean_error(found) if found else np.nan for found in records])
    return names, np.array(table, dtype=float)


def ranking(table: np.ndarray, alpha: float) -> FriedmanResult | None:
    """Friedman's test over the data sets that are complete; None with fewer than two of them."""
    complete = table[np.isfinite(table).all(axis=1)]
    return friedman(complete, alpha) if len(complete) >= 2 else None


def write_ranking(experiment: Experiment, labels: Sequence[str], result: FriedmanResult) -> Path:
    """Write ``ranking.csv`` beside the summary: a row a machine with its average rank, Friedman's test in each."""
    test = {
        "n_datasets": result.n_datasets,
        "friedman_chi2": result.chi2,
        "friedman_p": result.p,
        "iman_davenport_f": result.iman_davenport,
        "iman_davenport_p": result.iman_davenport_p,
        "alpha": result.alpha,
        "critical_difference": result.critical_difference,
    }
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["machine", "average_rank", *test])
    writer.writerows([label, rank, *test.values()] for label, rank in zip(labels, result.ranks, strict=True))
    path = experiment.folder / "ranking.csv"
    write_file(path, buffer.getvalue())
    return path


def _by_dataset(experiment: Experiment, n_machines: int) -> list[Sequence[Row]]:
    rows = experiment.plan.rows
    return [rows[i : i + n_machines] for i in range(0, len(rows), n_machines)]


def _records(row: Row, store: Store) -> list[Record] | None:
    found = [store.result(cell) for cell in row.cells]
    return None if any(record is None for record in found) else [r for r in found if r is not None]


def _mean_error(records: Sequence[Record]) -> float:
    return 100.0 * float(np.mean([record["result"]["errors"] for record in records]))


def _pair(row: Row, a: str, b: str, of_a: list[Record] | None, of_b: list[Record] | None) -> Pair:
    error_a, error_b = (_mean_error(found) if found else None for found in (of_a, of_b))
    if of_a is None or of_b is None:
        return Pair(row.dataset, a, b, error_a, error_b, None, None, None)
    halves_a, halves_b = ([record["result"]["errors"] for record in found] for found in (of_a, of_b))
    # McNemar's test wants each row predicted once: the two halves of the first replication.
    y = row.cells[0].dataset.load().y
    first_a, first_b = (unpack(found[0]["result"]["predictions"]) for found in (of_a, of_b))
    return Pair(
        dataset=row.dataset,
        a=a,
        b=b,
        error_a=error_a,
        error_b=error_b,
        f=ftest_5x2cv(halves_a, halves_b),
        t=ttest_5x2cv(halves_a, halves_b),
        mcnemar=mcnemar(y, first_a, first_b),
    )
