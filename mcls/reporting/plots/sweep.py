"""The sweep as curves: cross-validation error over one parameter, a curve per value of another."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from mcls.errors import McLsError
from mcls.reporting.plots.heatmap import SYMBOLS, chosen_axes, grid_errors
from mcls.reporting.plots.style import new_figure
from mcls.reporting.studies import StudyRow


def sweep_curves(found: StudyRow) -> Figure:
    """Mean over the replicates of the error over γ (or the second parameter), one curve per σ."""
    results = [result for result in found.results if "grid" in result]
    if not results:
        raise McLsError(
            f"{found.dataset} {found.row.machine}: only the protocol 'published' stores the error of every grid point"
        )
    names = results[0]["grid"]["names"]
    values = results[0]["grid"]["values"]
    x, y = chosen_axes(found, names)  # curves over y, one per x
    errors = np.mean([grid_errors(result) for result in results], axis=0)
    keep = tuple(names.index(name) for name in (x, y))
    rest = tuple(i for i in range(len(names)) if i not in keep)
    errors = errors.min(axis=rest) if rest else errors  # the best of further parameters
    errors = errors if names.index(x) < names.index(y) else errors.T  # (x, y)
    figure = new_figure(5.4, 3.6)
    ax = figure.subplots()
    shades = np.linspace(0.1, 0.9, len(values[x]))
    import matplotlib as mpl

    for line, value, shade in zip(errors, values[x], shades):
        colour = mpl.colormaps["viridis"](shade)
        ax.plot(range(len(values[y])), line, "o-", markersize=3, color=colour, label=f"{value:g}")
    ax.set_xticks(range(len(values[y])), [f"{v:g}" if isinstance(v, int | float) else v for v in values[y]])
    ax.set(xlabel=SYMBOLS.get(y, y), ylabel="CV error, %", title=f"{found.dataset}: {found.row.machine}")
    ax.legend(title=SYMBOLS.get(x, x), fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))
    ax.grid(axis="y", linewidth=0.4)
    return figure
