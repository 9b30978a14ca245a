"""The grid as a heat map: its cross-validation errors with the chosen point, or how often each point was chosen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib import patheffects
from matplotlib.colors import PowerNorm
from matplotlib.figure import Figure

from mcls.errors import McLsError
from mcls.packing import unpack
from mcls.reporting.plots.style import new_figure
from mcls.reporting.studies import StudyRow

SYMBOLS = {"sigma": "σ", "gamma": "γ"}
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_MOST_NUMBERS = 144  # a grid with more points gets no number in each cell


def grid_errors(result: dict[str, Any]) -> np.ndarray:
    """Mean error over the folds in percent, one axis a parameter in the order of ``result["grid"]["names"]``."""
    grid = result["grid"]
    mistakes = unpack(grid["fold_mistakes"])  # (points, folds)
    errors = 100.0 * (mistakes / np.array(grid["fold_sizes"])).mean(axis=1)
    return errors.reshape([len(grid["values"][name]) for name in grid["names"]])


def heatmap(found: StudyRow, replicate: int = 0) -> Figure:
    """The error of one replicate over two parameters; a third is held at its chosen value."""
    record = found.records[replicate] if replicate < len(found.records) else None
    if record is None:
        raise McLsError(f"{found.dataset} {found.row.machine}: replicate {replicate} is not in the store")
    result = record["result"]
    names = result["grid"]["names"]
    errors, values, chosen = grid_errors(result), result["grid"]["values"], result["chosen"][0]
    x, y = chosen_axes(found, names)
    held = {name: chosen[name] for name in names if name not in (x, y)}
    index = tuple(slice(None) if n in (x, y) else values[n].index(chosen[n]) for n in names)
    errors = errors[index]  # two axes are left, in the order of names
    if names.index(x) < names.index(y):
        errors = errors.T  # (y, x)

    extra = "".join(f", {name} = {power(value)}" for name, value in held.items())
    return _map(
        errors,
        {x: values[x], y: values[y]},
        (chosen[x], chosen[y]),
        f"{_title(found)}{extra}\nleast error {100 * result['error']:.2f} % (ring)",
        "CV error, %",
    )


def choices(found: StudyRow, replicate: int | None = None) -> Figure:
    """How often each point of two parameters was chosen, in one replicate or in all of them.

    For protocols that choose inside the training rows of every split: there is a choice per split, and no error of a
    point on all rows. Further parameters are summed over.
    """
    records = found.records if replicate is None else [found.records[replicate]]
    points = [point for record in records if record is not None for point in record["result"]["chosen"]]
    values = {name: list(v) for name, v in found.row.cells[0].grid.items() if len(v) > 1}
    x, y = chosen_axes(found, list(values))
    counts = np.zeros((len(values[y]), len(values[x])), dtype=int)
    for point in points:
        counts[values[y].index(point[y]), values[x].index(point[x])] += 1
    i, j = np.unravel_index(counts.argmax(), counts.shape)
    return _map(
        counts,
        {x: values[x], y: values[y]},
        (values[x][j], values[y][i]),
        f"{_title(found)}\nchosen by {len(points)} searches, {found.row.protocol} (ring: most often)",
        "times chosen",
    )


def chosen_axes(found: StudyRow, names: Sequence[str]) -> tuple[str, str]:
    """The parameters of the two axes."""
    if len(names) < 2:
        tuned = names[0] if names else "none"
        raise McLsError(
            f"{found.row.machine} on {found.dataset}: a heat map needs two tuned parameters; tuned here: {tuned}"
        )
    return ("sigma", "gamma") if {"sigma", "gamma"} <= set(names) else (names[0], names[1])


def _title(found: StudyRow) -> str:
    return f"{found.dataset}: {found.row.machine}" + (f", {found.row.labelbook}" if found.row.labelbook else "")


def _map(
    values: np.ndarray, axes: dict[str, list[Any]], chosen: tuple[Any, Any], title: str, meaning: str
) -> Figure:
    """A figure of one map with its scale."""
    height, width = values.shape
    figure = new_figure(0.45 * width + 2.2, 0.38 * height + 1.3)
    ax = figure.subplots()
    shown = paint(ax, values, axes, chosen)
    ax.set_title(title)
    bar = figure.colorbar(shown, ax=ax, label=meaning)
    bar.outline.set_visible(False)
    return figure


def paint(ax: Any, errors: np.ndarray, axes: dict[str, list[Any]], chosen: tuple[Any, Any]) -> Any:
    """Draw errors (y, x) in percent, or counts, with their numbers and a ring at the chosen point; return the image.

    ``axes`` names the parameters of x and y, in this order, with their values. Colours follow the square root of
    the distance to the least error: the valley is what a reader looks at. A count of zero is left white and empty.
    """
    counts = errors.dtype.kind == "i"
    (x, xs), (y, ys) = axes.items()
    low, high = float(errors.min()), float(errors.max())
    shown = ax.imshow(
        errors,
        origin="lower",
        cmap="Blues" if counts else "viridis_r",
        aspect="auto",
        norm=PowerNorm(0.5, low, max(high, low + 1e-9)),
    )
    if errors.size <= _MOST_NUMBERS:
        for (i, j), error in np.ndenumerate(errors):
            ink = "white" if shown.norm(error) > 0.5 else "black"
            text = str(error or "") if counts else f"{error:.1f}"
            ax.text(j, i, text, ha="center", va="center", fontsize=7, color=ink)
    ax.set_xticks(range(len(xs)), [power(v) for v in xs])
    ax.set_yticks(range(len(ys)), [power(v) for v in ys])
    ax.set(xlabel=SYMBOLS.get(x, x), ylabel=SYMBOLS.get(y, y))
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    # Red on white: seen on every colour of the map, by everybody.
    ring = ax.plot(
        xs.index(chosen[0]),
        ys.index(chosen[1]),
        marker="o",
        markersize=21,
        fillstyle="none",
        markeredgecolor="#C00000",
        markeredgewidth=2,
        clip_on=False,
    )
    ring[0].set_path_effects([patheffects.withStroke(linewidth=4, foreground="white")])
    return shown


def power(value: Any) -> str:
    """A value as a power of two where it is one.

    >>> power(0.0625), power(8.0), power(3)
    ('2⁻⁴', '2³', '3')
    """
    if isinstance(value, int | float) and value > 0 and math.log2(value).is_integer():
        return "2" + str(int(math.log2(value))).translate(_RAISED)
    return f"{value:.3g}" if isinstance(value, float) else str(value)
