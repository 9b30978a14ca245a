"""Time against the number of samples and of classes, from what ``make bench`` wrote."""

from __future__ import annotations

import re
from pathlib import Path

from matplotlib.figure import Figure

from mcls.reporting.bench import read_rows
from mcls.reporting.plots import Pictures
from mcls.reporting.plots.style import OURS, PAPER, new_figure
from mcls.reporting.studies import Studies


def read_bench(path: Path, letter: str) -> list[tuple[int, float]]:
    """(n or ℓ, seconds) of the lines of a benchmark table whose data column says ``letter=number``.

    A file that is not there, or lines that say nothing of the kind, give nothing.
    """
    found = [(re.search(rf"\b{letter}=(\d+)$", row["data"]), row["seconds"]) for row in read_rows(path)]
    return sorted((int(match[1]), float(seconds)) for match, seconds in found if match)


def growth(bench: Path) -> Figure | None:
    """Two panels: time over n with a cubic beside it, time over ℓ; None when there is nothing to draw."""
    by_n, by_ell = read_bench(bench / "samples.csv", "n"), read_bench(bench / "classes.csv", "l")
    panels = [(points, name) for points, name in ((by_n, "n"), (by_ell, "l")) if len(points) > 1]
    if not panels:
        return None
    figure = new_figure(4.2 * len(panels), 3.2)
    for ax, (points, name) in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels):
        xs, ys = zip(*points)
        ax.plot(xs, ys, "o-", color=OURS, label="oneLSM, 9×9 grid, 10 folds")
        if name == "n":
            ax.plot(xs, [ys[-1] * (x / xs[-1]) ** 3 for x in xs], "--", color=PAPER, label="grows as n³")
            ax.set(xscale="log", yscale="log", xlabel="samples n", title="letter, the first n rows")
            ax.yaxis.set_major_formatter("{x:g}")
        else:
            ax.set(
                ylim=(0, 1.35 * max(ys)), xlabel="classes ℓ", title="letter, n = 2000, letters merged to ℓ classes"
            )
        # A tick where something was measured, and nowhere else: the labels of a logarithmic axis run together.
        ax.set_xticks(xs, [str(x) for x in xs])
        ax.minorticks_off()
        ax.set_ylabel("seconds")
        ax.grid(axis="y", linewidth=0.4)
        ax.legend(loc="upper left")
    return figure


def pictures(studies: Studies) -> Pictures:
    """One picture of both."""
    yield "growth", growth(studies.bench)
