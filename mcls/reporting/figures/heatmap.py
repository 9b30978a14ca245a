"""Cross-validation error over the grid as a heat map, the chosen point marked."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib import patheffects
from matplotlib.colors import PowerNorm
from matplotlib.figure import Figure

from mcls.errors import McLsError
from mcls.evaluation.packing import unpack
from mcls.reporting.figures.style import new_figure
from mcls.reporting.studies import Figures

_SYMBOLS = {"sigma": "σ", "gamma": "γ"}
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_MOST_NUMBERS = 144  # a grid with more points gets no number in each cell


def grid_errors(result: dict[str, Any]) -> np.ndarray:
    """Mean error over the folds in percent, one axis a parameter in the order of ``result["grid"]["names"]``."""
    grid = result["grid"]
    mistakes = unpack(grid["fold_mistakes"])  # (points, folds)
    errors = 100.0 * (mistakes / np.array(grid["fold_sizes"])).mean(axis=1)
    return errors.reshape([len(grid["values"][name]) for name in grid["names"]])


def heatmap(found: Figures, replicate: int = 0) -> Figure:
    """The error of one replicate over two parameters; a third is held at its chosen value."""
    record = found.records[replicate] if replicate < len(found.records) else None
    if record is None:
        raise McLsError(f"{found.dataset} {found.row.machine}: replicate {replicate} is not in the store")
    result = record["result"]
    names = result["grid"]["names"]
    if len(names) < 2:
        tuned = names[0] if names else "none"
        raise McLsError(
            f"{found.row.machine} on {found.dataset}: a heat map needs two tuned parameters; tuned here: {tuned}"
        )
    errors, values, chosen = grid_errors(result), result["grid"]["values"], result["chosen"][0]
    x, y = ("sigma", "gamma") if {"sigma", "gamma"} <= set(names) else names[:2]
    held = {name: chosen[name] for name in names if name not in (x, y)}
    index = tuple(slice(None) if n in (x, y) else values[n].index(chosen[n]) for n in names)
    errors = errors[index]  # two axes are left, in the order of names
    if names.index(x) < names.index(y):
        errors = errors.T  # (y, x)

    figure = new_figure(0.45 * len(values[x]) + 2.2, 0.38 * len(values[y]) + 1.3)
    ax = figure.subplots()
    shown = paint(ax, errors, {x: values[x], y: values[y]}, (chosen[x], chosen[y]))
    book = f", {found.row.labelbook}" if found.row.labelbook else ""
    extra = "".join(f", {name} = {power(value)}" for name, value in held.items())
    least = f"least error {100 * result['error']:.2f} % (ring)"
    ax.set_title(f"{found.dataset}: {found.row.machine}{book}{extra}\n{least}")
    bar = figure.colorbar(shown, ax=ax, label="CV error, %")
    bar.outline.set_visible(False)
    return figure


def paint(ax: Any, errors: np.ndarray, axes: dict[str, list[Any]], chosen: tuple[Any, Any]) -> Any:
    """Draw errors (y, x) in percent with their numbers and a ring around the chosen point; return the image.

    ``axes`` names the parameters of x and y, in this order, with their values. Colours follow the square root of
    the distance to the least error: the valley is what a reader looks at.
    """
    (x, xs), (y, ys) = axes.items()
    low, high = float(errors.min()), float(errors.max())
    shown = ax.imshow(
        errors, origin="lower", cmap="viridis_r", aspect="auto", norm=PowerNorm(0.5, low, max(high, low + 1e-9))
    )
    if errors.size <= _MOST_NUMBERS:
        for (i, j), error in np.ndenumerate(errors):
            ink = "white" if shown.norm(error) > 0.5 else "black"
            ax.text(j, i, f"{error:.1f}", ha="center", va="center", fontsize=7, color=ink)
    ax.set_xticks(range(len(xs)), [power(v) for v in xs])
    ax.set_yticks(range(len(ys)), [power(v) for v in ys])
    ax.set(xlabel=_SYMBOLS.get(x, x), ylabel=_SYMBOLS.get(y, y))
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
