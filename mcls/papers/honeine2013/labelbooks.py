"""The labelbooks for three classes in three dimensions (honeine2013, Fig. 2)."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from mcls.labelbooks import label_vectors
from mcls.reporting.plots import Pictures
from mcls.reporting.plots.style import COLOURS, new_figure
from mcls.reporting.studies import Studies

_TITLES = {
    "pm1": "±1",
    "indicators": "indicators",
    "alignment": "alignment",
    "consistency": "consistency",
    "mincorr": "min-correlation (in a plane)",
}


def labelbooks() -> Figure:
    """One panel a labelbook, an arrow from the origin a class."""
    figure = new_figure(12.5, 3.1)
    for i, (name, title) in enumerate(_TITLES.items()):
        B = label_vectors(name, 3)  # (p, 3)
        B = np.vstack([B, np.zeros((3 - len(B), 3))])
        ax: Any = figure.add_subplot(1, len(_TITLES), i + 1, projection="3d")
        for c, y in enumerate(B.T):
            ax.quiver(0, 0, 0, *y, color=COLOURS[c], arrow_length_ratio=0.12, linewidth=2)
            end = y * (1 + 0.3 / np.linalg.norm(y))
            ax.text(*end, f"$y_{c + 1}$", color=COLOURS[c], fontsize=11, ha="center", va="center")
        corners = np.column_stack([B, B[:, :1]])
        ax.plot(*corners, color="0.6", linewidth=0.8, linestyle="--")
        limit = 1.4
        ax.set(xlim=(-limit, limit), ylim=(-limit, limit), zlim=(-limit, limit))
        ax.set_title(title, y=1.04)
        for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
            axis.set_ticks([-1, 0, 1])
            axis.set_tick_params(labelsize=7, pad=-3, colors="0.4")
            axis.pane.set_alpha(0.5)
        ax.view_init(elev=24, azim=52)
        ax.set_box_aspect((1, 1, 1), zoom=0.98)
    return figure


def pictures(studies: Studies) -> Pictures:
    """One picture; it needs no results."""
    yield "labelbooks", labelbooks()
