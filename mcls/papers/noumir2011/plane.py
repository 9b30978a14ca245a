"""Pictures in the plane: decision regions of iris, and the maps of two scenes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from mcls.evaluation.protocols import hold_out_rows
from mcls.experiments.cells import Cell
from mcls.experiments.refitting import fit_again
from mcls.packing import unpack
from mcls.reporting.plots import Pictures
from mcls.reporting.plots.regions import paint_regions
from mcls.reporting.plots.style import COLOURS, MARKERS, new_figure
from mcls.reporting.studies import AbsentDataError, Studies


def decision_regions(studies: Studies) -> Figure | None:
    """Regions, boundaries and training points of both machines for the first split; None when it was not run.

    The store holds no machine: each is fitted again, 120 rows, from what its cell says.
    """
    study = studies["noumir2011-iris"]
    found = [each for each in study.figures if each.complete and each.row.labelbook == "indicators"]
    if not found:
        return None
    figure = new_figure(4.6 * len(found), 4.5)
    axes = figure.subplots(1, len(found), squeeze=False, sharey=True)[0]
    for ax, each in zip(axes, found):
        _regions(ax, study.experiment.plan.rows[each.index].cells[0])
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    return figure


def _regions(ax: Any, cell: Cell) -> None:
    y = cell.dataset.load().y
    train, test = hold_out_rows(y, cell.settings["train"], cell.seed, None)
    machine, data, X = fit_again(cell, {}, train)
    paint_regions(ax, machine, data.X, X)
    for c in range(data.n_classes):
        for rows, face, size in ((train, COLOURS[c], 16), (test, "white", 30)):
            mine = rows[data.y[rows] == c]
            label = data.classes[c] if rows is train else None
            ax.scatter(
                *data.X[mine].T,
                s=size,
                marker=MARKERS[c],
                facecolors=face,
                edgecolors=COLOURS[c],
                linewidths=1.0,
                label=label,
            )
    wrong = test[machine.predict(X[test]) != data.y[test]]
    ax.scatter(*data.X[wrong].T, s=70, marker="x", color="black", label="test error")
    ax.set(
        xlabel="sepal length, cm",
        ylabel="petal width, cm",
        title=f"{cell.machine}: {len(wrong)} errors on {len(test)} test rows (white)",
    )


def scene_map(studies: Studies, name: str) -> Figure | None:
    """Ground truth and each machine's predictions over a scene; None without the data or the run."""
    try:
        found = [each for each in studies[name].figures if each.complete]
    except AbsentDataError:
        return None
    if not found:
        return None
    data = found[0].data
    rows, columns = data.places["row"], data.places["column"]
    maps = {"ground truth": data.y}
    for each in found:
        title = f"{each.row.machine}, {each.row.labelbook}: error {100 * each.results[0]['error']:.1f} %"
        maps[title] = unpack(each.results[0]["predictions"])  # −1: a training pixel
    colours: Sequence[Any] = COLOURS
    if len(data.classes) > len(COLOURS):
        colours = [colormaps["tab20"](k) for k in range(20)]
    figure = new_figure(3.4 * len(maps), 4.4)
    shown = ListedColormap(["white", *colours[: len(data.classes)]])
    for ax, (title, codes) in zip(figure.subplots(1, len(maps), squeeze=False)[0], maps.items()):
        image = np.full((rows.max() + 1, columns.max() + 1), -1)
        image[rows, columns] = codes
        ax.imshow(image, cmap=shown, vmin=-1.5, vmax=len(data.classes) - 0.5, interpolation="nearest")
        ax.set(title=title, xticks=[], yticks=[])
        ax.spines[:].set_visible(True)
    named = [*zip(data.classes, colours), ("not labelled, or used for training", "white")]
    handles = [Patch(facecolor=colour, edgecolor="0.5", label=name) for name, colour in named]
    figure.legend(handles=handles, loc="outside lower center", ncols=4 if len(named) < 10 else 6)
    return figure


def pictures(studies: Studies) -> Pictures:
    """The two experiments of the paper, and the second one on another scene."""
    yield "regions-iris", decision_regions(studies)
    yield "regions-pavia", scene_map(studies, "noumir2011-pavia")
    yield "regions-indian-pines", scene_map(studies, "noumir2011-indian-pines")
