"""Comparing machines from 5×2cv cells by the error or another metric: tests between two, ranks over many."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from mcls.evaluation.metrics import ERROR, Metric, get_metric
from mcls.evaluation.statistics import (
    FriedmanResult,
    McNemarResult,
    TestResult,
    friedman,
    ftest_5x2cv,
    mcnemar,
    ttest_5x2cv,
)
from mcls.experiments.experiment import Experiment
from mcls.experiments.layout import plan
from mcls.experiments.loading import config_from
from mcls.experiments.plan import PlanRow
from mcls.experiments.store import Record, Store, write_file
from mcls.experiments.stored import split_values
from mcls.experiments.summary import markdown_table, to_csv, to_markdown
from mcls.files import csv_text
from mcls.packing import unpack
from mcls.seeds import derive
from mcls.specs import format_spec, parse_spec

DEFAULT_DATASETS = ("iris", "wine", "glass", "vowel", "yeast")

#: Test → its name, and the columns of its figures in a table for people.
TESTS = {
    "f": ("F-test", ("f", "p(f)")),
    "t": ("paired t-test", ("t", "p(t)")),
    "mcnemar": ("McNemar's exact test", ("only A wrong", "only B wrong", "p(McNemar)")),
}


@dataclass(frozen=True)
class Pair:
    """Two machines on one data set; a test is None when cells of either are missing."""

    dataset: str
    a: str
    b: str
    value_a: float | None  # of the metric, mean over the ten halves; in percent where it is shown so
    value_b: float | None
    f: TestResult | None
    t: TestResult | None
    mcnemar: McNemarResult | None
    metric: Metric = ERROR

    def verdict(self, test: str, alpha: float) -> str:
        """What the test says in words: identical, not significant, undefined and why, or which machine is better."""
        result: TestResult | None = getattr(self, test)
        if result is None or self.value_a is None or self.value_b is None:
            return "not complete"
        if result.undefined:
            return f"undefined: {result.undefined}"
        if result.identical and (self.f is None or self.f.identical):
            return "identical"
        if not result.differs(alpha):
            return "not significant"
        # Each test looks at differences of its own, and they may point the other way than the mean values.
        if isinstance(result, McNemarResult):
            worse_a: float = result.only_a_wrong - result.only_b_wrong
        elif result is self.t:
            worse_a = result.statistic
        else:
            worse_a = round(float(self.metric.as_loss(np.array(self.value_a - self.value_b))), 9)
        return f"{self.a if worse_a < 0 else self.b} better" if worse_a else "they differ, equal on average"

    def figures(self, test: str, digits: str) -> list[str]:
        """The figures of a test in the order of ``TESTS``, empty where it has none; ``digits`` formats a statistic."""
        result: TestResult | None = getattr(self, test)
        if result is None or result.undefined:
            return [""] * len(TESTS[test][1])
        p = f"{result.p:.4g}"
        if isinstance(result, McNemarResult):
            return [str(result.only_a_wrong), str(result.only_b_wrong), p]
        return ["" if result.identical else format(result.statistic, digits), p]


@dataclass(frozen=True)
class Comparison(Experiment):
    """A 5×2cv experiment whose summary is the outcome of the tests at level ``alpha``."""

    alpha: float = 0.05

    @property
    def metric(self) -> Metric:
        """What chooses the parameters and is compared."""
        return get_metric(self.config.metric_names[0])

    @property
    def unit(self) -> str:
        """What the figures of the tables are."""
        percent = " in percent" if self.metric.percent else ""
        return "errors in percent" if self.metric is ERROR else f"{self.metric.name}{percent}"

    @property
    def labels(self) -> list[str]:
        """The machines as the user named them, spelt as the registry does."""
        return [
            machine_label(format_spec(entry.name, {**entry.options, **entry.grid}))
            for entry in self.config.machines
        ]

    @property
    def titles(self) -> dict[str, str]:
        """The machines as tables name them, by label: with a word where nothing is chosen by cross-validation."""
        named = zip(self.labels, self.plan.rows, strict=False)  # the rows of the first data set
        return {label: label if row.tuned else f"{label} (not tuned)" for label, row in named}

    def pairs(self) -> list[Pair]:
        """Every two machines on every data set, tested from the stored cells."""
        result = []
        for rows in self._by_dataset():
            records = [_records(row, self.store) for row in rows]
            y = self.plan.datasets[rows[0].dataset].y
            for i, j in combinations(range(len(rows)), 2):
                names = rows[0].dataset, self.labels[i], self.labels[j]
                result.append(_pair(*names, y, records[i], records[j], self.metric))
        return result

    def values(self) -> tuple[list[str], np.ndarray]:
        """Names of the data sets and means of the metric (data sets, machines); NaN where cells are missing."""
        names, table = [], []
        for rows in self._by_dataset():
            names.append(rows[0].dataset)
            records = [_records(row, self.store) for row in rows]
            table.append([_mean(found, self.metric) if found else np.nan for found in records])
        return names, np.array(table, dtype=float)

    def ranking(self) -> FriedmanResult | None:
        """Friedman's test of more than two machines; None with fewer, or with fewer than two data sets."""
        return ranking(self.metric.as_loss(self.values()[1]), self.alpha) if len(self.labels) > 2 else None

    def write_summary(self) -> None:
        """Write ``summary.csv`` (a row per pair), ``machines.csv`` (per machine), ``ranking.csv``, ``summary.md``."""
        lines, found, result = self.summary(), self.pairs(), self.ranking()
        page = to_markdown(self.config.name, self.config.description, lines, self.plan.n_shared)
        columns, rows = pair_table(found, list(TESTS), self.alpha, self.titles)
        page += "\n".join(["", f"## Tests at level {self.alpha:g}", "", *markdown_table(columns, rows), ""])
        if result is not None:
            columns, rows = rank_table(*self.values(), self.titles, result, self.metric)
            told = [line for text in ranking_words(self.labels, result) for line in ("", text)]
            page += "\n".join(["", "## Ranks", "", *markdown_table(columns, rows), *told, ""])
            write_file(self.folder / "ranking.csv", _ranking_csv(self.labels, result))
        write_file(self.folder / "summary.csv", _pairs_csv(found, self.titles, self.alpha))
        write_file(self.folder / "machines.csv", to_csv(lines))
        write_file(self.folder / "summary.md", page)

    def _by_dataset(self) -> list[Sequence[PlanRow]]:
        # The plan lists the machines of one data set after those of another.
        rows, n = self.plan.rows, len(self.config.machines)
        return [rows[i : i + n] for i in range(0, len(rows), n)]


def comparison(
    machines: Sequence[str],
    datasets: Sequence[str],
    seed: int,
    engine: str,
    out: Path,
    alpha: float = 0.05,
    metric: str = ERROR.name,
    costs: Path | None = None,
) -> Comparison:
    """The experiment behind a comparison: 5×2cv of every machine on every data set, stored like any other.

    All comparisons share their cells, below ``out/compare/``; each has a folder of its own there for its summary.
    The ``metric`` chooses the parameters inside each half and judges the other; ``costs`` is the file of the matrix of
    the metric ``cost``.
    """
    metric = get_metric(metric).name
    by: dict[str, Any] = {}
    if costs is not None:
        by = {"metric": [{metric: str(costs)}]}
    elif metric != ERROR.name:
        by = {"metric": [metric]}
    values = {
        "name": "compare",
        "description": "5x2cv: parameters chosen by 10-fold grid search inside each half.",
        "datasets": list(datasets),
        "machines": list(machines),
        "protocol": "5x2cv",
        "seed": seed,
        "engine": engine,
        **by,
    }
    config = config_from(values, "compare")
    return Comparison(config, Path(), out, plan(config), _folder_name(machines, datasets, seed, by), alpha)


def _folder_name(machines: Sequence[str], datasets: Sequence[str], seed: int, by: Mapping[str, Any]) -> str:
    """What is compared, as a folder's name: for people its beginning, exact by the number at its end.

    >>> _folder_name(["oneLSM", "voSVM:labelbook=pm1"], ["iris", "data/my.csv"], 0, {})
    'oneLSM-voSVM-labelbook-pm1-iris-my.csv-d5242057'
    """
    labels = [machine_label(text) for text in machines]
    words = [*labels, *(text.rpartition("/")[2] for text in datasets)]
    readable = re.sub(r"[^A-Za-z0-9._]+", "-", "-".join(words))[:80].strip("-.")
    return f"{readable}-{derive('compare', *labels, *datasets, seed, *map(repr, by.values())):08x}"


def machine_label(text: str) -> str:
    """A machine as the user named it, spelt as the registry does."""
    from mcls.machines.registry import get_machine

    name, options = parse_spec(text)
    return format_spec(get_machine(name).name, options)


def ranking(table: np.ndarray, alpha: float) -> FriedmanResult | None:
    """Friedman's test over the data sets that are complete; None with fewer than two of them."""
    complete = table[np.isfinite(table).all(axis=1)]
    return friedman(complete, alpha) if len(complete) >= 2 else None


def pair_table(
    found: Sequence[Pair], tests: Sequence[str], alpha: float, titles: Mapping[str, str]
) -> tuple[list[str], list[list[str]]]:
    """Headings and rows for people: two machines are columns of their own, more are named in each row."""
    named = len(titles) > 2
    what = found[0].metric.name if found else ERROR.name
    columns = ["data set", *(["A", "B", f"{what} A", f"{what} B"] if named else titles.values())]
    for test in tests:
        columns += [*TESTS[test][1], "verdict" if len(tests) == 1 else f"verdict({test})"]
    rows = []
    for pair in found:
        row = [pair.dataset, *([titles[pair.a], titles[pair.b]] if named else [])]
        row += [_figure(value, pair.metric) for value in (pair.value_a, pair.value_b)]
        for test in tests:
            row += [*pair.figures(test, ".3f"), pair.verdict(test, alpha)]
        rows.append(row)
    return columns, rows


def _figure(value: float | None, metric: Metric) -> str:
    return "" if value is None or np.isnan(value) else format(value, ".2f" if metric.percent else ".4f")


def rank_table(
    names: Sequence[str],
    table: np.ndarray,
    titles: Mapping[str, str],
    result: FriedmanResult | None,
    metric: Metric = ERROR,
) -> tuple[list[str], list[list[str]]]:
    """Headings and rows for people: the metric (data sets, machines), and the average ranks below."""
    rows = [[name, *(_figure(value, metric) for value in line)] for name, line in zip(names, table)]
    if result is not None:
        rows.append(["average rank", *(f"{rank:.2f}" for rank in result.ranks)])
    return ["data set", *titles.values()], rows


def ranking_words(labels: Sequence[str], result: FriedmanResult) -> list[str]:
    """Friedman's test and Nemenyi's, a sentence each."""
    sharper = (
        f"the same order on all of them has p = {result.iman_davenport_p:.4g}, exactly"
        if result.one_order
        else f"Iman-Davenport F = {result.iman_davenport:.3f}, p = {result.iman_davenport_p:.4g}"
    )
    pairs = combinations(range(len(labels)), 2)
    differing = "; ".join(f"{labels[i]} and {labels[j]}" for i, j in pairs if result.differs(i, j))
    return [
        f"Friedman over {result.n_datasets} data sets: chi2 = {result.chi2:.3f}, p = {result.p:.4g}; {sharper}",
        f"Nemenyi at {result.alpha:g}: average ranks further apart than {result.critical_difference:.2f} differ: "
        + (differing or "none"),
    ]


def _pairs_csv(found: Sequence[Pair], titles: Mapping[str, str], alpha: float) -> str:
    """One row per data set and pair: the values of the metric, every statistic, p-value and verdict."""
    tuned = {label: str(label == title).lower() for label, title in titles.items()}
    what = (found[0].metric if found else ERROR).name.replace("-", "_")
    head = ["dataset", "machine_a", "machine_b", "tuned_a", "tuned_b", f"{what}_a", f"{what}_b", "alpha"]
    head += ["f", "p_f", "verdict_f", "t", "p_t", "verdict_t"]
    rows = []
    for pair in found:
        row = [pair.dataset, pair.a, pair.b, tuned[pair.a], tuned[pair.b]]
        row += ["" if v is None or np.isnan(v) else f"{v:.4f}" for v in (pair.value_a, pair.value_b)]
        tests = [word for test in TESTS for word in (*pair.figures(test, ".6g"), pair.verdict(test, alpha))]
        rows.append([*row, f"{alpha:g}", *tests])
    return csv_text([[*head, "only_a_wrong", "only_b_wrong", "p_mcnemar", "verdict_mcnemar"], *rows])


def _ranking_csv(labels: Sequence[str], result: FriedmanResult) -> str:
    """One row per machine with its average rank, Friedman's test in each."""
    test = {
        "n_datasets": result.n_datasets,
        "friedman_chi2": result.chi2,
        "friedman_p": result.p,
        "iman_davenport_f": result.iman_davenport,
        "iman_davenport_p": result.iman_davenport_p,
        "alpha": result.alpha,
        "critical_difference": result.critical_difference,
    }
    rows = [[label, rank, *test.values()] for label, rank in zip(labels, result.ranks, strict=True)]
    return csv_text([["machine", "average_rank", *test], *rows])


def _records(row: PlanRow, store: Store) -> list[Record] | None:
    found = [store.result(cell) for cell in row.cells]
    return None if any(record is None for record in found) else [r for r in found if r is not None]


def _halves(records: Sequence[Record], metric: Metric) -> np.ndarray:
    """The metric of both halves of every replication (5, 2), NaN where it is not defined."""
    return np.array([split_values(record["result"], metric) for record in records])


def _mean(records: Sequence[Record], metric: Metric) -> float:
    return (100.0 if metric.percent else 1.0) * float(np.mean(_halves(records, metric)))


def _pair(
    dataset: str,
    a: str,
    b: str,
    y: np.ndarray,
    of_a: list[Record] | None,
    of_b: list[Record] | None,
    metric: Metric,
) -> Pair:
    value_a, value_b = (_mean(found, metric) if found else None for found in (of_a, of_b))
    if of_a is None or of_b is None:
        return Pair(dataset, a, b, value_a, value_b, None, None, None, metric)
    # Differences of losses: a positive one speaks for b.
    losses_a, losses_b = (metric.as_loss(_halves(found, metric)) for found in (of_a, of_b))
    if np.isfinite(losses_a - losses_b).all():
        rows = len(y) if metric is ERROR else None  # other metrics do not count rows
        f, t = (test(losses_a, losses_b, rows) for test in (ftest_5x2cv, ttest_5x2cv))
    else:
        f = t = TestResult(np.nan, np.nan, undefined=f"{metric.name} is not defined on some half")
    # McNemar's test wants each row predicted once: the two halves of the first replication.
    first_a, first_b = (unpack(found[0]["result"]["predictions"]) for found in (of_a, of_b))
    return Pair(dataset, a, b, value_a, value_b, f, t, mcnemar(y, first_a, first_b), metric)
