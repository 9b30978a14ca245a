"""Figures of any experiment or suite: errors, intervals, ranks, grids, sweeps, confusion, decision regions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from mcls.errors import McLsError, unknown_name
from mcls.evaluation.resampling_tests import corrected_ttest
from mcls.reporting.board import ALPHA, Board
from mcls.reporting.plots.confusion import confusion_figure
from mcls.reporting.plots.errors import Pairs, bars_figure, own_error_bars
from mcls.reporting.plots.heatmap import choices, heatmap
from mcls.reporting.plots.ranks import critical_difference
from mcls.reporting.plots.regions import plane_figure
from mcls.reporting.plots.style import STYLE, save
from mcls.reporting.plots.sweep import sweep_curves
from mcls.reporting.studies import StudyRow
from mcls.specs import parse_spec

#: What an experiment can be drawn as → caption.
CAPTIONS = {
    "grid": "Heat map of the grid search",
    "errors": "Errors of the machines, mean with best and worst replicate",
    "ranks": "Critical-difference diagram of the average ranks",
    "intervals": "Mean errors with 95 % intervals of the corrected resampled t-test",
    "sweep": "Cross-validation error over one parameter, a curve per value of the other",
    "confusion": "Confusion of the classes",
    "regions": "Decision regions in the plane of the two features",
}
KINDS = tuple(CAPTIONS)
#: Kinds that one picture of the whole shows; the others have one per data set or machine, and a selection.
_WHOLE = ("errors", "ranks", "intervals")
#: Kinds that show every machine together, those with all their cells.
_OF_COMPLETE = ("errors", "ranks", "intervals", "confusion")
Drawn = Iterator[
    tuple[str, "Figure | McLsError"]
]  # the end of the file's name, and the figure or why there is none
Refit = Callable[[StudyRow], Any]


def draw_own(
    kind: str,
    board: Board,
    tell: Callable[[str], None],
    dataset: str | None = None,
    machine: str | None = None,
    replicate: int | None = None,
    metric: str | None = None,
    refit: Refit | None = None,
) -> dict[str, list[Path]]:
    """Draw an experiment into ``figures/``: file stem → files; ``tell`` hears what had to be left out.

    ``dataset``, ``machine`` and ``replicate`` narrow what has a picture per data set and machine. ``refit`` gives the
    fitted machine of a row for ``regions``: nothing is fitted here.
    """
    if kind not in KINDS:
        raise unknown_name("figure of an experiment", kind, KINDS)
    if kind in _WHOLE and (dataset, machine, replicate) != (None, None, None):
        raise McLsError(
            f"--dataset, --machine and --replicate go with {', '.join(k for k in KINDS if k not in _WHOLE)}"
        )
    makers: Mapping[str, Callable[[], Drawn]] = {
        "grid": lambda: _grids(board, dataset, machine, replicate),
        "errors": lambda: iter([("", _errors(board))]),
        "ranks": lambda: iter([("", _ranks(board, metric))]),
        "intervals": lambda: iter([("", _intervals(board))]),
        "sweep": lambda: _each(board, dataset, machine, sweep_curves),
        "confusion": lambda: _confusions(board, dataset, machine),
        "regions": lambda: _regions(board, dataset, machine, refit),
    }
    drawn: dict[str, list[Path]] = {}
    reasons: list[McLsError] = []
    with mpl.rc_context(
        {**STYLE, "text.parse_math": False}
    ):  # names of data sets and classes may hold dollar signs
        for ending, figure in makers[kind]():
            if isinstance(figure, McLsError):
                reasons.append(figure)
                continue
            stem = re.sub(r"(?:[^\w.]|_)+", "-", f"{board.name}-{kind}{ending}").strip("-")
            if stem in drawn:  # of two names that differ in signs alone
                stem = f"{stem}-{len(drawn)}"
            drawn[stem] = save(figure, board.out / "figures", stem)
    if not drawn:
        raise reasons[0]
    for reason in reasons:
        tell(f"not drawn: {reason}")
    if kind in _OF_COMPLETE:
        for (name, label), row in board.rows.items():
            if not row.complete and dataset in (None, name) and (machine is None or _is(row, machine)):
                tell(f"left out: {label} on {name}: {row.line.state}; to run what is missing: {board.command}")
    return drawn


def _errors(board: Board) -> Figure | McLsError:
    panels = {
        dataset: [
            row.line for row in (board.rows.get((dataset, name)) for name in board.machines) if row is not None
        ]
        for dataset in board.datasets
        if all((dataset, name) in board.rows for name in board.machines)
    }
    figure = own_error_bars(board.machines, panels)
    return figure or McLsError(f"{board.name}: no row has all its cells; to run them: {board.command}")


def _intervals(board: Board) -> Figure | McLsError:
    panels: dict[str, Pairs] = {
        d: [(_interval(board, d, m), None) for m in board.machines] for d in board.datasets
    }
    meaning = "error in percent: mean, and 95 % interval that allows for overlapping training rows"
    figure = bars_figure(board.machines, board.machines, panels, meaning)
    if figure is None and any(row.complete for row in board.rows.values()):
        return McLsError(
            f"{board.name}: an interval needs two or more splits, and every row has one: more 'replicates'"
        )
    return figure or McLsError(f"{board.name}: no row has all its cells; to run them: {board.command}")


def _interval(board: Board, dataset: str, machine: str) -> tuple[float, float, float] | None:
    row = board.rows.get((dataset, machine))
    splits = row.split_values("error") if row is not None else None
    if row is None or splits is None or splits.size < 2:
        return None
    found = corrected_ttest(splits.ravel(), np.zeros(splits.size), row.share_tested)
    return 100 * max(found.low, 0.0), 100 * found.difference, 100 * min(found.high, 1.0)


def _ranks(board: Board, metric: str | None) -> Figure | McLsError:
    chosen = board.metrics[0] if metric is None else board.metric(metric)
    result = board.ranking(chosen, ALPHA)
    if result is not None:
        said = "" if chosen.name == "error" else f", {chosen.name}"
        return critical_difference(board.machines, result, " and ".join(board.protocols) + said)
    complete = int(np.isfinite(board.means(chosen)).all(axis=1).sum())
    return McLsError(
        "ranks need at least two machines, and two data sets on which all of them are done; "
        f"{board.name} has {len(board.machines)} and {complete}"
    )


def _chosen(board: Board, dataset: str | None, machine: str | None) -> dict[tuple[str, str], StudyRow]:
    """The rows that the user has narrowed a figure to."""
    rows = {
        key: row
        for key, row in board.rows.items()
        if dataset in (None, row.dataset) and (machine is None or _is(row, machine))
    }
    if not rows:
        known = ", ".join(dict.fromkeys(f"{row.dataset} {row.row.machine}" for row in board.rows.values()))
        wanted = " ".join(word for word in (dataset, machine) if word)
        raise McLsError(f"{board.name} has no row '{wanted}'; it has: {known}")
    return rows


def _ending(row: StudyRow, seen: Counter[str]) -> str:
    ending = "-".join(["", row.dataset, row.row.machine, *filter(None, (row.row.labelbook, row.row.options))])
    seen[ending] += 1
    return ending + (f"-{seen[ending]}" if seen[ending] > 1 else "")


def _each(board: Board, dataset: str | None, machine: str | None, make: Callable[[StudyRow], Figure]) -> Drawn:
    """One picture per row."""
    seen: Counter[str] = Counter()
    for row in _chosen(board, dataset, machine).values():
        ending = _ending(row, seen)
        try:
            if not row.complete:
                raise McLsError(f"{row.dataset} {row.row.machine}: {row.line.state}; to run them: {board.command}")
            yield ending, make(row)
        except McLsError as error:
            yield ending, error


def _grids(board: Board, dataset: str | None, machine: str | None, replicate: int | None) -> Drawn:
    """One map per row: of the errors where the protocol is one search over all rows, else of the choices."""
    seen: Counter[str] = Counter()
    for found in _chosen(board, dataset, machine).values():
        row, count = found.row, len(found.records)
        if replicate is not None and replicate >= count:
            raise McLsError(f"{board.name} has the replicates 0 to {count - 1}, got {replicate}")
        published = row.protocol == "published"
        at = 0 if published and replicate is None else replicate
        ending = _ending(found, seen) + ("" if at is None else f"-{at}")
        missing = [r for r, record in enumerate(found.records) if record is None and at in (None, r)]
        try:
            if missing:
                raise McLsError(
                    f"{found.dataset} {row.machine}: replicate {missing[0]} has not been run; to run it: "
                    f"{board.command}"
                )
            yield ending, heatmap(found, at or 0) if published else choices(found, at)
        except McLsError as error:
            yield ending, error


def _confusions(board: Board, dataset: str | None, machine: str | None) -> Drawn:
    rows = _chosen(board, dataset, machine)
    for name in dict.fromkeys(d for d, _ in rows):
        of = {m: row for (d, m), row in rows.items() if d == name and row.complete}
        try:
            if not of:
                raise McLsError(f"{name}: no row has all its cells; to run them: {board.command}")
            yield f"-{name}", confusion_figure(name, of)
        except McLsError as error:
            yield f"-{name}", error


def _regions(board: Board, dataset: str | None, machine: str | None, refit: Refit | None) -> Drawn:
    def make(row: StudyRow) -> Figure:
        if refit is None:
            raise McLsError("regions are drawn by: mcls plot regions NAME, which fits the machines again")
        return plane_figure(refit(row), f"{row.dataset}: {row.row.machine}")

    return _each(board, dataset, machine, make)


def _is(found: StudyRow, machine: str) -> bool:
    """Whether a row is the machine that the user named, with at least the options given."""
    name, options = parse_spec(machine)
    return found.row.machine.lower() == name.lower() and all(
        found.parameters.get(key) == value for key, value in options.items()
    )
