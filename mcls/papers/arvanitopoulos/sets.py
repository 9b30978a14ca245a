"""The four artificial sets."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from mcls.data import load_dataset
from mcls.reporting.plots import Pictures
from mcls.reporting.plots.style import COLOURS, MARKERS, new_figure
from mcls.reporting.studies import Studies


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


def pictures(studies: Studies) -> Pictures:
    """One picture; it needs no results."""
    yield "sets", artificial_sets()
