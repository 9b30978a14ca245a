"""Errors of the machines of Table 4 as bars from best to worst, beside the paper's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from mcls.reporting.figures.style import OURS, PAPER, new_figure
from mcls.reporting.papers.honeine2013 import ours, printed_rows, theirs
from mcls.reporting.studies import Studies

_COLUMNS = ("mean", "best", "worst")


def error_bars(studies: Studies, dataset: str) -> Figure | None:
    """Mean with best and worst of each row on one data set; None when we have no figure at all."""
    rows = [(m, b) for m, b in printed_rows() if theirs("mean", dataset, m, b) is not None]
    figure = new_figure(6.4, 0.24 * len(rows) + 1.2)
    ax = figure.subplots()
    drawn = 0
    for i, (machine, labelbook) in enumerate(rows):
        _bar(ax, i + 0.16, [theirs(column, dataset, machine, labelbook) for column in _COLUMNS], PAPER)
        found = ours(studies, dataset, machine, labelbook)
        if found is not None and found.line.mean is not None:
            _bar(ax, i - 0.16, [getattr(found.line, column) for column in _COLUMNS], OURS)
            drawn += 1
    if not drawn:
        return None
    ax.set_yticks(range(len(rows)), [m if b == "any" else f"{m}, {b}" for m, b in rows])
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.set_xlabel("error, % (bar from the best to the worst replicate)")
    ax.set_title(f"honeine2013, Table 4: {dataset}")
    ax.grid(axis="x", linewidth=0.4)
    ax.plot([], [], "o-", color=OURS, label="ours")
    ax.plot([], [], "o-", color=PAPER, label="the paper's")
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.5 / (0.24 * len(rows) + 1.2)), ncols=2)
    return figure


def _bar(ax: Any, y: float, figures: Sequence[float | None], colour: str) -> None:
    mean, best, worst = figures
    if mean is None:
        return
    if best is not None and worst is not None:
        ax.plot([best, worst], [y, y], color=colour, linewidth=1.4, solid_capstyle="butt")
    ax.plot(mean, y, "o", color=colour, markersize=4)
