"""One picture of what this is about: a machine in the plane, the grid it was chosen from, agreement with the paper."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from mcls.data import load_dataset
from mcls.evaluation.scaling import scale_dataset
from mcls.models.selection import select
from mcls.papers.honeine2013.table4 import DATASETS, ours, printed_rows, theirs
from mcls.reporting.agreement import OUTCOMES, agreement
from mcls.reporting.plots import Pictures
from mcls.reporting.plots.heatmap import paint, power
from mcls.reporting.plots.regions import paint_regions
from mcls.reporting.plots.style import COLOURS, MARKERS, PAPER, THIRD, new_figure
from mcls.reporting.studies import Studies

_FEATURES = "sepal-length+petal-width"  # the two of noumir2011


def overview(studies: Studies) -> Figure:
    """oneLSM on two features of iris, its sweep (a moment's work), and Table 4 where the store holds it."""
    pairs = {dataset: _pairs(studies, dataset) for dataset in DATASETS}
    pairs = {dataset: found for dataset, found in pairs.items() if found}
    count = 4 if pairs else 2
    figure = new_figure(3.4 * count, 3.4)
    axes = figure.subplots(1, count)
    _machine_and_grid(axes[0], axes[1])
    if pairs:
        _agreement(axes[2], pairs)
        _counts(axes[3], studies)
    return figure


def _machine_and_grid(plane: Any, grid: Any) -> None:
    data = load_dataset("iris", features=_FEATURES)
    X = scale_dataset(data.X, "dataset")
    chosen = select(X, data.y, machine="oneLSM", grid="paper")
    sigma, gamma = chosen.best_params["sigma"], chosen.best_params["gamma"]
    paint_regions(plane, chosen.estimator, data.X, X)
    for c, name in enumerate(data.classes):
        plane.scatter(*data.X[data.y == c].T, s=18, marker=MARKERS[c], color=COLOURS[c], linewidths=0, label=name)
    plane.set(xlabel="sepal length, cm", ylabel="petal width, cm")
    plane.set_title(f"oneLSM on iris, σ = {power(sigma)}, γ = {power(gamma)}")
    plane.legend(loc="upper left", frameon=True, framealpha=0.85, edgecolor="none")
    table = chosen.results.pivot(index="gamma", columns="sigma", values="error")  # both sorted
    axes = {"sigma": list(table.columns), "gamma": list(table.index)}
    paint(grid, 100 * table.to_numpy(), axes, (sigma, gamma))
    grid.set_title("chosen by exact 10-fold CV, error in %")


def _pairs(studies: Studies, dataset: str) -> list[tuple[float, float]]:
    """(The paper's mean, ours) of the rows that the paper ran itself and we have."""
    pairs = []
    for machine, labelbook in printed_rows():
        mine, paper = ours(studies, dataset, machine, labelbook), theirs("mean", dataset, machine, labelbook)
        bracket = theirs("best", dataset, machine, labelbook)
        if mine is not None and mine.line.mean is not None and paper is not None and bracket is not None:
            pairs.append((paper, mine.line.mean))
    return pairs


def _agreement(ax: Any, pairs: dict[str, list[tuple[float, float]]]) -> None:
    """Our errors over the paper's, logarithmic: from half a percent to forty."""
    values = np.array([pair for found in pairs.values() for pair in found])
    low, high = 0.8 * max(values.min(), 0.1), 1.25 * values.max()
    ax.plot([low, high], [low, high], color=PAPER, linewidth=1, label="equal")
    for c, (dataset, found) in enumerate(pairs.items()):
        ax.scatter(
            *zip(*found), s=24, marker=MARKERS[c], color=COLOURS[c], alpha=0.75, linewidths=0, label=dataset
        )
    ax.set(xscale="log", yscale="log", xlim=(low, high), ylim=(low, high), aspect="equal")
    ticks = [tick for tick in (0.2, 0.5, 1, 2, 5, 10, 20, 40) if low < tick < high]
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.minorticks_off()
    ax.set(xlabel="the paper's error, %", ylabel="ours, %", title=f"honeine2013, Table 4: {len(values)} errors")
    ax.legend(loc="lower right")


def _counts(ax: Any, studies: Studies) -> None:
    """What became of every published figure, one bar per paper."""
    from mcls.papers import PAPERS  # the papers import this one

    found = agreement(PAPERS.values(), studies)
    tones = dict(zip(OUTCOMES, (THIRD, "#E69F00", PAPER, "0.8")))
    for place, verdicts in enumerate(found.values()):
        left = 0.0
        counts = Counter(verdict.outcome for verdict in verdicts)
        for outcome in OUTCOMES:
            share = 100 * counts[outcome] / len(verdicts)
            label = outcome if place == 0 else None
            ax.barh(place, share, left=left, color=tones[outcome], height=0.6, label=label)
            if share > 8:
                ax.text(left + share / 2, place, str(counts[outcome]), ha="center", va="center", fontsize=8)
            left += share
    ax.set_yticks(range(len(found)), [f"{name}\n{len(verdicts)} figures" for name, verdicts in found.items()])
    ax.invert_yaxis()
    ax.set(xlim=(0, 100), xlabel="share of the published figures, %", title="all published figures")
    ax.legend(loc="upper center", bbox_to_anchor=(0.4, -0.18), ncols=2, fontsize=8)


def pictures(studies: Studies) -> Pictures:
    """One picture."""
    yield "overview", overview(studies)
