"""Errors as bars from best to worst, one panel per data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from mcls.experiments.summary import Line
from mcls.reporting.plots.style import OURS, PAPER, new_figure

#: Best, mean and worst error in percent; best and worst are None where the paper gives none.
Bar = tuple[float | None, float, float | None]
#: (Ours, the paper's) of each row.
Pairs = list[tuple[Bar | None, Bar | None]]
COLUMNS = ("best", "mean", "worst")
_COLOURS, _MARKERS = (OURS, PAPER), ("o", "D")  # told apart by their shape too


def own_error_bars(names: Sequence[str], panels: Mapping[str, Sequence[Line]]) -> Figure | None:
    """The errors of any experiment: a bar per line, named alike in every panel; None without a complete line."""
    bars: dict[str, Pairs] = {
        dataset: [(make_bar([getattr(line, column) for column in COLUMNS]), None) for line in lines]
        for dataset, lines in panels.items()
    }
    return bars_figure(names, names, bars)


_MEANING = "error in percent: mean, and bar from the best to the worst replicate"


def bars_figure(
    names: Sequence[str], bands: Sequence[str], panels: Mapping[str, Pairs], meaning: str = _MEANING
) -> Figure | None:
    """Panels of (our, the paper's) bars; those without any of ours are left out. Equal ``bands`` share a ground."""
    panels = {dataset: bars for dataset, bars in panels.items() if any(mine for mine, _ in bars)}
    if not panels:
        return None
    printed = any(paper for bars in panels.values() for _, paper in bars)
    figure = new_figure(max(1.6 + 2.3 * len(panels), 5.0), 0.22 * len(names) + 1.3)
    axes = figure.subplots(1, len(panels), squeeze=False, sharey=True)[0]
    for ax, (dataset, bars) in zip(axes, panels.items()):
        ax.set_title(dataset)
        limits = _limits([bar for pair in bars for bar in pair if bar])
        ax.set_xlim(limits)
        for y, pair in enumerate(bars):
            for bar, offset, colour, marker in zip(
                pair, (-0.18, 0.18) if printed else (0.0, 0.0), _COLOURS, _MARKERS
            ):
                if bar:
                    _draw(ax, y + offset, bar, limits, colour, marker)
        _bands(ax, bands)
        ax.grid(axis="x", linewidth=0.4)
        ax.tick_params(axis="y", length=0)
    axes[0].set_yticks(range(len(names)), names)
    axes[0].set_ylim(len(names) - 0.5, -0.5)
    figure.supxlabel(meaning, fontsize=9)
    if printed:
        for label, colour, marker in zip(("ours", "the paper's"), _COLOURS, _MARKERS):
            axes[0].plot([], [], marker=marker, color=colour, markersize=4, label=label)
        figure.legend(loc="outside upper center", ncols=2)
    return figure


def make_bar(figures: Sequence[float | None]) -> Bar | None:
    """A bar from best, mean and worst; None without a mean."""
    best, mean, worst = figures
    return None if mean is None else (best, mean, worst)


def _limits(bars: Sequence[Bar]) -> tuple[float, float]:
    """The axis: all the bars, but for means that lie far off and would press the others together."""
    means = np.array([mean for _, mean, _ in bars])
    low, high = np.percentile(means, [5, 90])
    reach = high + 3 * max(high - low, 0.5)
    kept = [value for bar in bars if bar[1] <= reach for value in bar if value is not None]
    margin = 0.06 * (max(kept) - min(kept)) or 0.5
    return min(kept) - margin, max(kept) + margin


def _draw(ax: Any, y: float, bar: Bar, limits: tuple[float, float], colour: str, marker: str) -> None:
    best, mean, worst = bar
    if mean > limits[1]:  # off the axis: an arrow at its end, with the number
        ax.annotate(
            f"{mean:.1f}",
            (limits[1], y),
            (-16, 0),
            textcoords="offset points",
            ha="right",
            va="center",
            fontsize=7,
            color=colour,
            arrowprops={"arrowstyle": "->", "color": colour},
        )
        return
    if best is not None and worst is not None:
        ax.plot([best, worst], [y, y], color=colour, linewidth=1.4, solid_capstyle="butt")
    ax.plot(mean, y, marker, color=colour, markersize=3.5)


def _bands(ax: Any, machines: Sequence[str]) -> None:
    """A grey ground behind the rows of every second machine."""
    start = 0
    for i, (_, group) in enumerate(groupby(machines)):
        count = len(list(group))
        if i % 2:
            ax.axhspan(start - 0.5, start + count - 0.5, color="0.95", zorder=0)
        start += count
