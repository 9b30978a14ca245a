"""Decision regions in the plane."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from mcls.errors import McLsError
from mcls.reporting.plots.style import COLOURS, MARKERS, new_figure

_STEPS = 300  # lines of the mesh, and points of a line
_LINES = 6


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
    # A few lines at a time: small blocks stay in the processor's cache.
    Z = np.concatenate([machine.predict(block) for block in np.split(points, _STEPS // _LINES)]).reshape(
        _STEPS, _STEPS
    )
    ell = len(machine.classes_)
    ax.imshow(
        Z,
        origin="lower",
        extent=(low[0], high[0], low[1], high[1]),
        aspect="auto",
        cmap=ListedColormap(list(COLOURS[:ell])),  # old versions take two in a tuple for a colour and its alpha
        vmin=-0.5,
        vmax=ell - 0.5,
        alpha=0.25,
        interpolation="nearest",
    )
    for c in range(ell):
        ax.contour(xs, ys, Z == c, levels=[0.5], colors="0.2", linewidths=0.8)


def plane_figure(fitted: Any, title: str) -> Figure:
    """Regions and rows of a machine that was fitted to two features (see ``mcls.experiments.refitting``)."""
    data = fitted.data
    if data.d != 2:
        raise McLsError(f"{title}: decision regions need a data set of two features, this one has {data.d}")
    if data.n_classes > len(COLOURS):
        raise McLsError(f"{title}: decision regions are drawn for at most {len(COLOURS)} classes")
    figure = new_figure(4.6, 4.2)
    ax = figure.subplots()
    paint_regions(ax, fitted.machine, data.X, fitted.X)
    for c, name in enumerate(data.classes):
        xs, ys = data.X[data.y == c].T
        ax.scatter(xs, ys, s=16, marker=MARKERS[c], color=COLOURS[c], linewidths=0, label=name)
    ax.set(xlabel=data.feature_names[0], ylabel=data.feature_names[1], title=title)
    figure.legend(loc="outside lower center", ncols=min(data.n_classes, 4))
    return figure
