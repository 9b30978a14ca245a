"""Cross-validation error over the grid as a heat map, the chosen point marked."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from mcls.errors import McLsError
from mcls.evaluation.packing import unpack
from mcls.reporting.figures.style import new_figure
from mcls.reporting.studies import Figures


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
    names = result.get("grid", {}).get("names", [])
    if len(names) < 2:
        raise McLsError(
            f"{found.row.machine} on {found.dataset}: a heat map needs two tuned parameters, not {names}"
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
    shown = ax.imshow(errors, origin="lower", cmap="viridis_r", aspect="auto")
    ax.set_xticks(range(len(values[x])), [power(v) for v in values[x]])
    ax.set_yticks(range(len(values[y])), [power(v) for v in values[y]])
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    at = (values[x].index(chosen[x]), values[y].index(chosen[y]))
    ax.plot(*at, marker="o", markersize=14, fillstyle="none", markeredgecolor="red", markeredgewidth=2)
    book = f", {found.row.labelbook}" if found.row.labelbook else ""
    extra = "".join(f", {name} = {power(value)}" for name, value in held.items())
    ax.set_title(f"{found.dataset}: {found.row.machine}{book}{extra}\nleast error {100 * result['error']:.2f} %")
    figure.colorbar(shown, ax=ax, label="CV error, %")
    return figure


def power(value: Any) -> str:
    """A value as a power of two where it is one.

    >>> power(0.0625), power(8.0), power(3)
    ('$2^{-4}$', '$2^{3}$', '3')
    """
    if isinstance(value, int | float) and value > 0 and math.log2(value).is_integer():
        return f"$2^{{{int(math.log2(value))}}}$"
    return f"{value:g}" if isinstance(value, float) else str(value)
