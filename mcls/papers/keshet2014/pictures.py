"""keshet2014, Fig. 1 and 2 drawn: what a mistake changes, and three sectors with what separates them."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from mcls.papers.keshet2014.sectors import EQUAL, UNEQUAL, best_line, fitted, middles, sectors
from mcls.papers.keshet2014.updates import EXAMPLES, Update
from mcls.reporting.plots import Pictures
from mcls.reporting.plots.regions import paint_regions
from mcls.reporting.plots.style import COLOURS, MARKERS, new_figure
from mcls.reporting.studies import Studies


def updates() -> Figure:
    """One panel for each rule: the weights before (dashed), the row, and the weights after."""
    figure = new_figure(10.5, 3.7)
    for ax, example in zip(figure.subplots(1, len(EXAMPLES)), EXAMPLES):
        _update(ax, example)
    return figure


def _update(ax: Any, example: Update) -> None:
    ax.annotate("", example.x, (0, 0), arrowprops={"arrowstyle": "-|>", "color": "black", "linewidth": 1.5})
    ax.annotate("x", 1.12 * example.x, ha="center", va="center", fontsize=11)
    for r, name in enumerate(example.classes):
        before, after = example.W[r], example.after[r]
        moved = bool(example.tau[r])
        colour = COLOURS[r]
        dashed = {"arrowstyle": "->", "color": colour, "linewidth": 1.2, "linestyle": "--" if moved else "-"}
        ax.annotate("", before, (0, 0), arrowprops=dashed)
        if moved:
            ax.annotate("", after, (0, 0), arrowprops={"arrowstyle": "-|>", "color": colour, "linewidth": 2})
            ax.plot(*np.column_stack([before, after]), color="0.6", linewidth=0.8, linestyle=":")
        end = after + 0.16 * after / np.linalg.norm(after)
        true = ", true" if r == example.label else ""
        ax.annotate(f"$w^{{{name}}}${true}", end, color=colour, ha="center", va="center", fontsize=10)
    ax.set(xlim=(-1.2, 1.5), ylim=(-0.8, 1.5), aspect="equal", xticks=[], yticks=[], title=example.name)
    ax.spines[:].set_visible(True)


def three_sectors() -> Figure:
    """The multiclass SVM on equal sectors, the best lines on them, and both kinds of machines on unequal ones."""
    figure = new_figure(12.0, 3.6)
    axes = figure.subplots(1, 4)
    _regions(axes[0], "crammer-singer", EQUAL)
    for c, w in enumerate(middles()):
        arrow = {"arrowstyle": "-|>", "color": COLOURS[c], "linestyle": "--", "linewidth": 1.5}
        axes[0].annotate("", 1.2 * w, (0, 0), arrowprops=arrow)
    X, y = sectors(EQUAL)
    _rows(axes[1], X, y)
    lines = [best_line(X, y == c) for c in range(len(EQUAL))]
    for c, line in enumerate(lines):
        axes[1].axline(line.point, line.point + line.along, color=COLOURS[c], linewidth=1.2)
    axes[1].set_title(f"no line does: the best err by {100 * lines[0].error:.1f} %")
    _regions(axes[2], "crammer-singer", UNEQUAL)
    _regions(axes[3], "svm-ovA", UNEQUAL)
    for ax in axes:
        ax.set(xlim=(-1.3, 1.3), ylim=(-1.3, 1.3), aspect="equal", xticks=[], yticks=[])
        ax.spines[:].set_visible(True)
    return figure


def _regions(ax: Any, name: str, angles: tuple[float, ...]) -> None:
    X, y = sectors(angles)
    machine = fitted(name, angles)
    paint_regions(ax, machine, X, X)
    _rows(ax, X, y)
    wrong = machine.predict(X) != y
    ax.scatter(*X[wrong].T, s=60, marker="x", color="black")
    ax.set_title(f"{name}, linear: {100 * np.mean(wrong):.1f} % wrong")


def _rows(ax: Any, X: np.ndarray, y: np.ndarray) -> None:
    for c in range(int(y.max()) + 1):
        ax.scatter(*X[y == c].T, s=14, marker=MARKERS[c], color=COLOURS[c], linewidths=0)


def pictures(studies: Studies) -> Pictures:
    """Both figures; they need no results."""
    yield "notes-updates", updates()
    yield "notes-sectors", three_sectors()
