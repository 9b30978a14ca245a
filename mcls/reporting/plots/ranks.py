"""Critical-difference diagram (Demšar 2006): average ranks, machines joined that do not differ."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from mcls.evaluation.statistics import FriedmanResult
from mcls.reporting.plots.style import new_figure


def groups(ranks: Sequence[float], critical: float) -> list[tuple[float, float]]:
    """Widest spans of sorted ranks within the critical difference, none inside another.

    >>> groups([1.0, 1.5, 3.0, 3.2], 1.6)
    [(1.0, 1.5), (1.5, 3.0), (3.0, 3.2)]
    """
    order = sorted(ranks)
    spans: list[tuple[float, float]] = []
    for i, low in enumerate(order):
        high = max(rank for rank in order[i:] if rank - low <= critical)
        if high > low and not any(a <= low and high <= b for a, b in spans):
            spans.append((low, high))
    return spans


def critical_difference(names: Sequence[str], result: FriedmanResult, protocol: str = "5×2cv") -> Figure:
    """Draw the ranks (1 the best, to the left) with the bars of Nemenyi's test."""
    order = np.argsort(result.ranks)
    k = len(names)
    spans = groups(result.ranks, result.critical_difference)
    half = (k + 1) // 2
    axis_y = 0.45 + 0.16 * len(spans)
    depth = axis_y + 0.35 * half
    figure = new_figure(7.2, depth + 1.1)
    ax = figure.subplots()
    ax.set_axis_off()
    ax.set_xlim(-0.9, k + 1.9)
    ax.set_ylim(depth, -1.0)
    ax.plot([1, k], [0, 0], color="black", linewidth=1.2)
    for rank in range(1, k + 1):
        ax.plot([rank, rank], [0, -0.1], color="black", linewidth=1)
        ax.text(rank, -0.15, str(rank), ha="center", va="bottom")
    ax.plot([1, 1 + result.critical_difference], [-0.6, -0.6], color="black", linewidth=2)
    ax.text(
        1 + result.critical_difference / 2,
        -0.66,
        f"CD = {result.critical_difference:.2f}",
        ha="center",
        va="bottom",
    )
    for place, i in enumerate(order):
        left = place < half
        level = axis_y + 0.35 * (place if left else k - 1 - place)
        end = 0.8 if left else k + 0.2
        rank = result.ranks[i]
        ax.plot([rank, rank, end], [0, level, level], color="0.35", linewidth=1)
        text = f"{names[i]} ({rank:.2f})"
        ax.text(end + (-0.05 if left else 0.05), level, text, ha="right" if left else "left", va="center")
    for j, (low, high) in enumerate(spans):
        y = 0.22 + 0.16 * j
        ax.plot([low - 0.04, high + 0.04], [y, y], color="black", linewidth=3.5, solid_capstyle="butt")
    p = "p < 0.001" if result.p < 0.001 else f"p = {result.p:.3f}"
    ax.set_title(
        f"Average ranks over {result.n_datasets} data sets, {protocol} (Friedman {p}); "
        f"joined: not significant at {result.alpha:g}",
        fontsize=9,
    )
    return figure
