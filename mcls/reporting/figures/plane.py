"""Pictures in the plane: decision regions of noumir2011's iris, the artificial sets, the scene of Pavia."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from mcls.data import load_dataset
from mcls.evaluation.packing import unpack
from mcls.evaluation.protocols import hold_out_rows
from mcls.evaluation.scaling import scale_dataset
from mcls.reporting.figures.style import COLOURS, MARKERS, new_figure
from mcls.reporting.studies import AbsentDataError, Figures, Studies

_STEPS = 300


def decision_regions(studies: Studies) -> Figure | None:
    """Regions, boundaries and training points of both machines for the first split; None when it was not run.

    The store holds no machine: each is fitted again, 120 rows, from what its cell says.
    """
    found = [each for each in studies["noumir2011-iris"].figures if each.complete]
    if not found:
        return None
    figure = new_figure(4.6 * len(found), 4.5)
    axes = figure.subplots(1, len(found), squeeze=False, sharey=True)[0]
    for ax, each in zip(axes, found):
        _regions(ax, each)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    return figure


def _regions(ax: Any, found: Figures) -> None:
    cell = found.row.cells[0]
    data = cell.dataset.load()
    X = scale_dataset(data.X, cell.scaling)
    train, test = hold_out_rows(data.y, cell.settings["train"], cell.seed, None)
    machine = cell.estimator().fit(X[train], data.y[train])
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


def paint_regions(ax: Any, machine: Any, raw: np.ndarray, scaled: np.ndarray) -> None:
    """Colour the plane by the class a fitted machine gives, with the boundaries.

    ``raw`` (n, 2) are the units of the picture, ``scaled`` (n, 2) the same rows as the machine sees them.
    """
    # The mesh is laid in the units of the picture, and scaled as the features were (a linear map).
    low, high = raw.min(axis=0) - 0.3, raw.max(axis=0) + 0.3
    xs, ys = (np.linspace(low[j], high[j], _STEPS) for j in range(2))
    mesh = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)
    slope = (scaled.max(axis=0) - scaled.min(axis=0)) / (raw.max(axis=0) - raw.min(axis=0))
    points = scaled.min(axis=0) + (mesh - raw.min(axis=0)) * slope
    # Line by line: small blocks stay in the processor's cache.
    Z = np.array([machine.predict(line) for line in points.reshape(_STEPS, _STEPS, 2)])
    ell = len(machine.classes_)
    ax.imshow(
        Z,
        origin="lower",
        extent=(low[0], high[0], low[1], high[1]),
        aspect="auto",
        cmap=ListedColormap(COLOURS[:ell]),
        vmin=-0.5,
        vmax=ell - 0.5,
        alpha=0.25,
        interpolation="nearest",
    )
    for c in range(ell):
        ax.contour(xs, ys, Z == c, levels=[0.5], colors="0.2", linewidths=0.8)


def artificial_sets() -> Figure:
    """Our four sets in the place of arvanitopoulos' Fig. 1."""
    figure = new_figure(11.0, 3.1)
    for i, ax in enumerate(figure.subplots(1, 4), start=1):
        data = load_dataset(f"artificial-{i}")
        for c in range(data.n_classes):
            ax.scatter(*data.X[data.y == c].T, s=9, marker=MARKERS[c], color=COLOURS[c], linewidths=0)
        # A square around the data, so that all four panels have one size.
        middle, reach = (data.X.max(axis=0) + data.X.min(axis=0)) / 2, np.ptp(data.X, axis=0).max() * 0.53
        ax.set(xlim=(middle[0] - reach, middle[0] + reach), ylim=(middle[1] - reach, middle[1] + reach))
        ax.set(title=f"artificial-{i}", xticks=[], yticks=[], aspect="equal")
        ax.spines[:].set_visible(True)
    return figure


def pavia_map(studies: Studies) -> Figure | None:
    """Ground truth and each machine's predictions over the scene; None without the data or the run."""
    try:
        found = [each for each in studies["noumir2011-pavia"].figures if each.complete]
    except AbsentDataError:
        return None
    if not found:
        return None
    data = found[0].row.cells[0].dataset.load()
    rows, columns = data.extra["row"].astype(int), data.extra["column"].astype(int)
    maps = {"ground truth": data.y}
    for each in found:
        maps[f"{each.row.machine}: error {each.line.mean:.1f} %"] = unpack(
            each.results[0]["predictions"]
        )  # −1: a training pixel
    figure = new_figure(3.6 * len(maps), 4.4)
    colours = ListedColormap(["white", *COLOURS[: data.n_classes]])
    for ax, (title, codes) in zip(figure.subplots(1, len(maps), squeeze=False)[0], maps.items()):
        image = np.full((rows.max() + 1, columns.max() + 1), -1)
        image[rows, columns] = codes
        ax.imshow(image, cmap=colours, vmin=-1.5, vmax=data.n_classes - 0.5, interpolation="nearest")
        ax.set(title=title, xticks=[], yticks=[])
        ax.spines[:].set_visible(True)
    named = [*zip(data.classes, COLOURS), ("not labelled, or used for training", "white")]
    handles = [Patch(facecolor=colour, edgecolor="0.5", label=name) for name, colour in named]
    figure.legend(handles=handles, loc="outside lower center", ncols=4)
    return figure
