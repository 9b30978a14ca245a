"""Confusion matrices of the stored predictions, one panel per machine."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import fill

import numpy as np
from matplotlib.figure import Figure

from mcls.errors import McLsError
from mcls.packing import unpack
from mcls.reporting.plots.style import new_figure
from mcls.reporting.studies import StudyRow

_MOST_NUMBERS = 12  # classes; more get colours alone


def confusion_matrix(row: StudyRow) -> np.ndarray:
    """Share of each true class (rows) that was predicted as each class (columns), over all replicates, in percent."""
    ell = len(row.data.classes)
    counts = np.zeros((ell, ell))
    for result in row.results:
        if "predictions" not in result:
            raise McLsError(f"{row.dataset} {row.row.machine}: its cells hold no predictions")
        codes = unpack(result["predictions"])
        tested = codes >= 0
        np.add.at(counts, (row.data.y[tested], codes[tested]), 1)
    return 100.0 * counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)


def confusion_figure(dataset: str, rows: Mapping[str, StudyRow]) -> Figure:
    """One panel per machine of a data set."""
    classes = next(iter(rows.values())).data.classes
    ell = len(classes)
    side = max(2.6, 0.34 * ell)
    named = max(len(name) for name in classes)
    figure = new_figure((side + 0.3) * len(rows) + 0.8, side + 1.3 + 0.06 * named)
    axes = figure.subplots(1, len(rows), squeeze=False)[0]
    for j, (ax, (machine, row)) in enumerate(zip(axes, rows.items())):
        C = confusion_matrix(row)
        ax.imshow(C, cmap="Blues", vmin=0, vmax=100)
        if ell <= _MOST_NUMBERS:
            for (a, b), share in np.ndenumerate(C):
                if share >= 0.05:
                    ink = "white" if share > 55 else "black"
                    ax.text(b, a, f"{share:.1f}", ha="center", va="center", fontsize=7, color=ink)
        ax.set_xticks(range(ell), classes, rotation=90, fontsize=7)
        ax.set_yticks(range(ell), classes if j == 0 else [""] * ell, fontsize=7)
        ax.set(xlabel="predicted", ylabel="true class" if j == 0 else "")
        ax.set_title(fill(machine, 24), fontsize=8)
        ax.spines[:].set_visible(False)
        ax.tick_params(length=0)
    figure.suptitle(f"{dataset}: share of each class, %", fontsize=10)
    return figure
