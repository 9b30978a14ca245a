"""Tables of any experiment or suite: every metric, honest beside optimistic, tests, times, published figures."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from contextlib import suppress
from math import isfinite
from pathlib import Path

import numpy as np

from mcls.errors import McLsError, unknown_name
from mcls.evaluation.metrics import ERROR, Metric, get_metric
from mcls.evaluation.protocols import PROTOCOLS
from mcls.evaluation.resampling_tests import Effect
from mcls.evaluation.statistics import FriedmanResult
from mcls.experiments.store import write_file
from mcls.reporting.board import ALPHA, Against, Board, scale
from mcls.reporting.paper import difference as signed
from mcls.reporting.render import FILES, to_html
from mcls.reporting.studies import lacking
from mcls.reporting.table import Entry, Table, make, number, seconds, words

#: More machines than this stand below each other rather than side by side.
_MOST_ACROSS = 6
#: Beside a config, and after a run among its results: figures that somebody has published.
PUBLISHED_SUFFIX, PUBLISHED_FILE = ".published.csv", "published.csv"
_NEEDED = ("dataset", "machine", "value")


def board_tables(
    board: Board, against: str | None = None, metrics: Sequence[str] = (), alpha: float = ALPHA
) -> list[Table]:
    """Every table that the stored cells can fill; ``against`` is tested against the others."""
    reference = None if against is None else board.machine(against)
    wanted = [board.metric(name) for name in metrics] or board.metrics
    tables = []
    for metric in wanted:
        tests = {} if reference is None else board.against(reference, metric, alpha)
        tables.append(_metric_table(board, metric, reference, tests, alpha))
        if tests:
            tables.append(_test_table(board, metric, str(reference), tests))
    found = [_honest_table(board), _published_table(board), _time_table(board)]
    return [*tables, *(table for table in found if table is not None)]


def write_tables(tables: Sequence[Table], board: Board) -> Path:
    """Write each table as Markdown, CSV, LaTeX and HTML below the folder of the experiment; return that folder."""
    folder = board.folder / "tables"
    for table in tables:
        for suffix, render in {**FILES, ".html": to_html}.items():
            write_file(folder / f"{table.name}{suffix}", render(table))
    return folder


def _name(board: Board, what: str) -> str:
    return f"{board.name}-{what}"


def _unit(metric: Metric) -> str:
    return f"{metric.name}, %" if metric.percent else metric.name


def _digits(metric: Metric) -> int:
    return 2 if metric.percent else 4


def _spread(values: np.ndarray, metric: Metric) -> str:
    text = f"{values.mean():.{_digits(metric)}f}"
    return f"{text} ± {values.std(ddof=1):.{_digits(metric)}f}" if len(values) > 1 else text


def _metric_table(
    board: Board, metric: Metric, reference: str | None, tests: dict[tuple[str, str], Against], alpha: float
) -> Table:
    means = board.means(metric)
    best = np.full(len(means), np.inf)
    for i, line in enumerate(means):
        if np.isfinite(line).any():
            best[i] = np.nanmin(np.round(line, 9))
    grid = [
        [
            _figure(
                board, d, m, metric, tests, bool(np.round(means[i, j], 9) == best[i]) and len(board.machines) > 1
            )
            for j, m in enumerate(board.machines)
        ]
        for i, d in enumerate(board.datasets)
    ]
    ranking = board.ranking(metric, alpha)
    ranks = [number(rank) for rank in ranking.ranks] if ranking is not None else None
    if len(board.machines) > _MOST_ACROSS and len(board.machines) > len(board.datasets):
        columns = ["machine", *board.datasets, *(["average rank"] if ranks else [])]
        rows = [
            [words(m), *(line[j] for line in grid), *([ranks[j]] if ranks else [])]
            for j, m in enumerate(board.machines)
        ]
        foot: list[list[Entry]] = []
    else:
        columns = ["data set", *board.machines]
        rows = [[words(d), *line] for d, line in zip(board.datasets, grid)]
        foot = [[words("average rank"), *ranks]] if ranks else []
    return make(
        _name(board, metric.name),
        f"{board.name}: {_unit(metric)}, mean ± standard deviation over replicates",
        columns,
        rows,
        _metric_notes(board, metric, reference if tests else None, ranking),
        foot=foot,
        lacking=lacking(board.rows.values(), board.command),
    )


def _metric_notes(
    board: Board, metric: Metric, reference: str | None, ranking: FriedmanResult | None
) -> list[str]:
    notes = [f"{metric.name}: {metric.summary}; {metric.direction} is better. Bold: the best mean of a data set."]
    for protocol in board.protocols:
        if protocol in PROTOCOLS:
            why = ", since the same folds choose and judge" if PROTOCOLS[protocol].honest else ""
            notes.append(f"Protocol {protocol}: {PROTOCOLS[protocol].summary}{why}.")
    if reference is not None:
        notes.append(
            f"⁺ significantly better and ⁻ significantly worse than {reference}: {_test_name(board)}, "
            "Holm-corrected within each data set."
        )
    untuned = [m for m in board.machines if not any(row.row.tuned for (_, n), row in board.rows.items() if n == m)]
    if untuned and len(untuned) < len(board.machines):
        notes.append(f"Not tuned: {', '.join(untuned)}.")
    if ranking is None:
        return notes
    every = ranking.n_datasets == len(board.datasets)
    over = f"the {ranking.n_datasets} data sets" + (" on which all machines have a figure" if not every else "")
    test = f"Friedman's test has p = {ranking.p:.4g}, Nemenyi's critical difference at {ranking.alpha:g} is"
    return [*notes, f"Average rank over {over}: 1 is the best; {test} {ranking.critical_difference:.2f}."]


def _test_name(board: Board) -> str:
    names = ["5×2cv F-test" if p == "5x2cv" else "corrected resampled t-test" for p in board.protocols]
    return " or ".join(dict.fromkeys(names))


def _figure(
    board: Board, dataset: str, machine: str, metric: Metric, tests: dict[tuple[str, str], Against], best: bool
) -> Entry:
    row, values = board.rows.get((dataset, machine)), board.values(dataset, machine, metric)
    if row is None:
        return number(None)
    if values is None:
        why = "not defined" if metric.name in row.metrics else "not asked for"
        return words(why if row.complete else row.line.state, "weak")
    mark = tests[dataset, machine].mark if (dataset, machine) in tests else ""
    return Entry(_spread(values, metric) + mark, float(values.mean()), row.anchor, bold=best)


def _test_table(board: Board, metric: Metric, reference: str, tests: dict[tuple[str, str], Against]) -> Table:
    columns = ["data set", "machine", "difference", "95 % interval", "statistic", "p", "p (Holm)", "verdict"]
    rows = [_test_row(each, metric) for each in tests.values()]
    turned = "" if metric.direction == "smaller" else " (the sign is turned, since larger is better here)"
    notes = [
        f"Against {reference} by {metric.name}: {_test_name(board)} on the same splits. A difference below zero speaks "
        f"for the machine of the row{turned}; Holm's correction is for the machines of one data set."
    ]
    title = f"{board.name}: tests against {reference}, {_unit(metric)}"
    return make(_name(board, f"{metric.name}-tests"), title, columns, rows, notes)


def _test_row(each: Against, metric: Metric) -> list[Entry]:
    test, factor = each.test, scale(metric)
    interval = words("–", "weak")
    if isinstance(test, Effect) and not test.undefined:
        low, high = factor * test.low, factor * test.high
        interval = Entry(f"[{low:.{_digits(metric)}f}, {high:.{_digits(metric)}f}]", high - low)
    verdict = {"⁺": "better", "⁻": "worse"}.get(each.mark, "not significant")
    if test.identical:
        verdict = "identical"
    elif test.undefined:
        verdict = f"undefined: {test.undefined}"
    shown = [number(None if np.isnan(v) else v, 4) for v in (test.p, each.p)]
    statistic = number(None if np.isnan(test.statistic) else test.statistic, 3)
    difference = number(each.difference, _digits(metric), sign=True)
    return [words(each.dataset), words(each.machine), difference, interval, statistic, *shown, words(verdict)]


def _honest_table(board: Board) -> Table | None:
    """Where the protocol is optimistic and something honest was computed too."""
    rows = [
        [
            words(dataset),
            words(machine),
            number(row.line.mean, source=row.anchor),
            number(row.line.nested),
            signed(row.line.nested, row.line.mean),
            number(row.line.oracle),
        ]
        for (dataset, machine), row in board.rows.items()
        if row.row.nested or row.line.oracle is not None
    ]
    if not rows:
        return None
    columns = ["data set", "machine", "error, %", "nested, %", "optimism", "oracle, %"]
    kept = [j for j in range(6) if j < 3 or any(row[j].value is not None for row in rows)]
    notes = [
        "error: by the protocol of the table. nested: parameters chosen inside each training part, the honest figure; "
        "optimism: how much larger it is. oracle: parameters chosen on the test rows, which no method may do."
    ]
    title = f"{board.name}: honest beside optimistic errors"
    return make(
        _name(board, "honest"), title, [columns[j] for j in kept], [[row[j] for j in kept] for row in rows], notes
    )


def _time_table(board: Board) -> Table:
    rows = [
        [words(d), *(seconds(row.line.time_mean) if row else number(None) for row in of)]
        for d in board.datasets
        for of in [[board.rows.get((d, m)) for m in board.machines]]
    ]
    notes = [
        "Wall time of one replicate with its whole grid search, one thread; cells ran side by side unless timed."
    ]
    return make(_name(board, "seconds"), f"{board.name}: seconds", ["data set", *board.machines], rows, notes)


def read_published(path: Path, metrics: Sequence[str] = ()) -> list[dict[str, str]]:
    """Published figures of the user's own: columns dataset, machine, value, and if need be metric and source.

    ``metrics`` are those that there will be figures of ours for, where that is known.
    """
    try:
        with open(path, encoding="utf-8-sig", newline="") as lines:
            rows = list(csv.DictReader(lines))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise McLsError(f"cannot read {path}: {error}") from None
    for i, row in enumerate(rows, start=2):
        if missing := [name for name in _NEEDED if not row.get(name)]:
            raise McLsError(
                f"{path}:{i}: '{missing[0]}' is missing; a line has dataset, machine, value [metric, source]"
            )
        try:
            finite = isfinite(float(row["value"]))
        except ValueError:
            finite = False
        if not finite:
            raise McLsError(f"{path}:{i}: the value {row['value']!r} is not a number such as 3.4")
        if metrics and (row.get("metric") or ERROR.name).lower() not in metrics:
            raise McLsError(f"{path}:{i}: {unknown_name('metric of the config', row['metric'], metrics)}")
    return rows


def _published_table(board: Board) -> Table | None:
    """Ours beside what the user has typed out of a paper; figures are as the tables show them, errors in percent."""
    printed = [
        row
        for study in board.studies
        if (path := study.folder / PUBLISHED_FILE).is_file()
        for row in read_published(path)
    ]
    rows = []
    for row in printed:
        metric = get_metric(row.get("metric") or ERROR.name)
        machine = row["machine"]
        with suppress(McLsError):  # a machine that the board does not have has no figure of ours
            machine = board.machine(machine)
        values = board.values(row["dataset"], machine, metric)
        ours = None if values is None else float(values.mean())
        theirs = float(row["value"])
        found = board.rows.get((row["dataset"], machine))
        rows.append(
            [
                *map(words, (row["dataset"], machine, metric.name)),
                number(ours, _digits(metric), found.anchor if found else ""),
                Entry(row["value"], theirs),
                signed(ours, theirs),
                words(row.get("source") or ""),
            ]
        )
    if not rows:
        return None
    columns = ["data set", "machine", "metric", "ours", "published", "difference", "source"]
    title = f"{board.name}: beside published figures"
    return make(_name(board, "published"), title, columns, rows)
