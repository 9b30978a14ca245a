"""Coding matrices that DECOC and sub-ECOC designed, as the store noted them for the first fold."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure

from mcls.coding.plot import draw
from mcls.evaluation.packing import unpack
from mcls.reporting.figures.style import new_figure
from mcls.reporting.studies import Figures, Studies


def coding_matrices(studies: Studies, dataset: str = "glass", kernel: str = "linear") -> Figure | None:
    """Both machines by both criteria on one data set; None when no cell is there."""
    found = [
        each
        for each in studies["arvanitopoulos-uci"].find(dataset=dataset)
        if each.parameters["kernel"] == kernel and each.results
    ]
    if not found:
        return None
    sizes = [unpack(each.results[0]["facts"][0]["code"]).shape for each in found]
    widths = [columns + 4 for _, columns in sizes]
    figure = new_figure(0.24 * sum(widths) + 1, 0.24 * max(rows for rows, _ in sizes) + 1.3)
    for ax, each in zip(figure.subplots(1, len(found), squeeze=False, width_ratios=widths)[0], found):
        _draw(ax, each)
    figure.suptitle(f"{dataset}, {kernel} SVM, first fold: white +1, black −1, grey 0")
    return figure


def _draw(ax: Any, found: Figures) -> None:
    facts = found.results[0]["facts"][0]
    classes = found.row.cells[0].dataset.load().classes
    draw(unpack(facts["code"]), ax, [classes[c] for c in facts["row_classes"]])
    ax.tick_params(labelsize=7)
    ax.set_title(f"{found.row.machine}, {found.parameters['criterion']}")
