"""Pictures in the plane: decision regions of noumir2011's iris, the artificial sets, the scene of Pavia."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from mcls.data import load_dataset
from mcls.evaluation.packing import unpack
from mcls.evaluation.protocols import hold_out_rows
from mcls.evaluation.scaling import scale_dataset
from mcls.reporting.figures.style import COLOURS, new_figure
from mcls.reporting.studies import AbsentDataError, Figures, Studies

_STEPS = 300


def decision_regions(studies: Studies) -> Figure | None:
    """Regions, boundaries and training points of both machines for the first split; None when it was not run.

    The store holds no machine: each is fitted again, 120 rows, from what its cell says.
    """
    found = [each for each in studies["noumir2011-iris"].figures if each.complete]
    if not found:
        return None
    figure = new_figure(4.6 * len(found), 4.2)
    for ax, each in zip(figure.subplots(1, len(found), squeeze=False, sharey=True)[0], found):
        _regions(ax, each)
    return figure


def _regions(ax: Any, found: Figures) -> None:
    cell = found.row.cells[0]
    data = cell.dataset.load()
    X = scale_dataset(data.X, cell.scaling)
    train, test = hold_out_rows(data.y, cell.settings["train"], cell.seed, None)
    machine = cell.estimator().fit(X[train], data.y[train])
    # The mesh is laid in the units of the picture, and scaled as the features were (a linear map).
    low, high = data.X.min(axis=0) - 0.3, data.X.max(axis=0) + 0.3
    xs, ys = (np.linspace(low[j], high[j], _STEPS) for j in range(2))
    mesh = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)
    slope = (X.max(axis=0) - X.min(axis=0)) / (data.X.max(axis=0) - data.X.min(axis=0))
    Z = machine.predict(X.min(axis=0) + (mesh - data.X.min(axis=0)) * slope).reshape(_STEPS, _STEPS)
    ell = data.n_classes
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
        ax.contour(xs, ys, Z == c, levels=[0.5], colors="black", linewidths=1)
        for rows, face, size in ((train, COLOURS[c], 14), (test, "none", 30)):
            mine = rows[data.y[rows] == c]
            label = data.classes[c] if rows is train else None
            ax.scatter(
                *data.X[mine].T, s=size, facecolors=face, edgecolors=COLOURS[c], linewidths=0.8, label=label
            )
    wrong = test[machine.predict(X[test]) != data.y[test]]
    ax.scatter(*data.X[wrong].T, s=60, marker="x", color="red", label=f"test errors: {len(wrong)} of {len(test)}")
    ax.set(xlabel="sepal length, cm", ylabel="petal width, cm", title=f"{cell.machine}: filled train, hollow test")
    ax.legend(loc="upper left", fontsize=7)


def artificial_sets() -> Figure:
    """Our four sets in the place of arvanitopoulos' Fig. 1."""
    figure = new_figure(11.0, 3.0)
    for i, ax in enumerate(figure.subplots(1, 4), start=1):
        data = load_dataset(f"artificial-{i}")
        for c, name in enumerate(data.classes):
            ax.scatter(*data.X[data.y == c].T, s=4, color=COLOURS[c], label=name)
        ax.set(title=f"artificial-{i}", xticks=[], yticks=[], aspect="equal")
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
        maps[each.row.machine] = unpack(each.results[0]["predictions"])  # −1: a training pixel
    figure = new_figure(4.2 * len(maps), 4.6)
    colours = ListedColormap(["white", *COLOURS[: data.n_classes]])
    for ax, (title, codes) in zip(figure.subplots(1, len(maps), squeeze=False)[0], maps.items()):
        image = np.full((rows.max() + 1, columns.max() + 1), -1)
        image[rows, columns] = codes
        shown = ax.imshow(image, cmap=colours, vmin=-1.5, vmax=data.n_classes - 0.5, interpolation="nearest")
        ax.set(title=title, xticks=[], yticks=[])
    bar = figure.colorbar(shown, ax=figure.axes, ticks=range(data.n_classes), shrink=0.8)
    bar.ax.set_yticklabels(data.classes)
    return figure
