"""Time against the number of samples and of classes, from what ``make bench`` wrote."""

from __future__ import annotations

import re
from pathlib import Path

from matplotlib.figure import Figure

from mcls.reporting.figures.style import OURS, PAPER, new_figure


def read_bench(path: Path, letter: str) -> list[tuple[int, float]]:
    """(n or ℓ, seconds) of the lines of a benchmark table whose data column says ``letter=number``.

    A file that is not there, or lines that say nothing of the kind, give nothing.
    """
    if not path.is_file():
        return []
    points = []
    for line in path.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) >= 4 and (match := re.search(rf"\b{letter}=(\d+)$", cells[1])):
            points.append((int(match[1]), float(cells[3])))
    return sorted(points)


def growth(bench: Path) -> Figure | None:
    """Two panels: time over n with a cubic beside it, time over ℓ; None when there is nothing to draw."""
    by_n, by_ell = read_bench(bench / "samples.md", "n"), read_bench(bench / "classes.md", "l")
    panels = [(points, name) for points, name in ((by_n, "n"), (by_ell, "l")) if len(points) > 1]
    if not panels:
        return None
    figure = new_figure(4.2 * len(panels), 3.2)
    for ax, (points, name) in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels):
        xs, ys = zip(*points)
        ax.plot(xs, ys, "o-", color=OURS, label="oneLSM, whole 9×9 grid, 10 folds")
        if name == "n":
            ax.plot(xs, [ys[-1] * (x / xs[-1]) ** 3 for x in xs], "--", color=PAPER, label="$n^3$")
            ax.set(xscale="log", yscale="log", xlabel="samples n", title="letter, first n rows")
        else:
            ax.set(
                ylim=(0, 1.15 * max(ys)), xlabel="classes ℓ", title="letter, n = 2000, letters merged to ℓ classes"
            )
        ax.set_ylabel("seconds")
        ax.legend(fontsize=8)
    return figure
