"""Errors of the machines of Table 4 as bars from best to worst, beside the paper's."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from mcls.papers.honeine2013.table4 import DATASETS, ours, printed_rows, theirs
from mcls.reporting.plots import Pictures
from mcls.reporting.plots.errors import COLUMNS, Pairs, bars_figure, make_bar
from mcls.reporting.studies import Studies


def error_bars(studies: Studies) -> Figure | None:
    """Mean with best and worst of each row, on the data sets for which we have figures; None without any."""
    rows = printed_rows()
    names = [m if b == "any" else f"{m}, {b}" for m, b in rows]
    panels = {dataset: _bars(studies, dataset, rows) for dataset in DATASETS}
    return bars_figure(names, [machine for machine, _ in rows], panels)


def _bars(studies: Studies, dataset: str, rows: Sequence[tuple[str, str]]) -> Pairs:
    """(Ours, the paper's) for each row."""
    bars = []
    for machine, labelbook in rows:
        found = ours(studies, dataset, machine, labelbook)
        mine = [getattr(found.line, column) if found else None for column in COLUMNS]
        printed = [theirs(column, dataset, machine, labelbook) for column in COLUMNS]
        bars.append((make_bar(mine), make_bar(printed)))
    return bars


def pictures(studies: Studies) -> Pictures:
    """One picture of all data sets."""
    yield "errors", error_bars(studies)
