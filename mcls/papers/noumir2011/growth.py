"""The picture of the time against the number of classes."""

from __future__ import annotations

from matplotlib.figure import Figure

from mcls.papers.noumir2011.classes import curves_of
from mcls.papers.noumir2011.tables import cpu_seconds
from mcls.reporting.plots import Pictures
from mcls.reporting.plots.style import COLOURS, MARKERS, new_figure
from mcls.reporting.studies import Studies


def growth(studies: Studies) -> Figure | None:
    """Processor time over the number of classes, one curve per machine; None when it was not run."""
    curves = curves_of(studies)
    if not all(each.complete for curve in curves.values() for each in curve.values()):
        return None
    figure = new_figure(5.6, 3.6)
    ax = figure.subplots()
    for (name, curve), colour, marker in zip(curves.items(), COLOURS, MARKERS):
        times = [cpu_seconds(each) or 0.0 for each in curve.values()]
        ax.plot(list(curve), times, marker=marker, color=colour, label=name)
    ax.set(xlabel="classes ℓ", ylabel="processor seconds", title="letter, 1200 rows, one fit")
    ax.set_ylim(bottom=0)
    ax.set_xticks(list(next(iter(curves.values()))))
    ax.grid(axis="y", linewidth=0.4)
    ax.legend(loc="upper left")
    return figure


def pictures(studies: Studies) -> Pictures:
    """One picture."""
    yield "classes", growth(studies)
