"""Coding matrices that DECOC and sub-ECOC designed, as the store noted them for the first fold."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import Patch

from mcls.coding.plot import draw
from mcls.packing import unpack
from mcls.reporting.plots import Pictures
from mcls.reporting.plots.style import new_figure
from mcls.reporting.studies import Studies, StudyRow

_CELL = 0.26  # inches


def coding_matrices(studies: Studies) -> Figure | None:
    """Both machines by both criteria on glass, with the linear kernel; None when no cell is there."""
    found = [
        each
        for each in studies["arvanitopoulos-uci"].find(dataset="glass")
        if each.parameters["kernel"] == "linear" and each.results
    ]
    if not found:
        return None
    shapes = [unpack(each.results[0]["facts"][0]["code"]).shape for each in found]
    columns = [max(wide, 4) for _, wide in shapes]  # room for the title above
    figure = new_figure(_CELL * sum(columns) + 0.75 * len(found), _CELL * max(high for high, _ in shapes) + 1.7)
    # With the columns as ratios of the widths, a cell has the same size in all panels.
    for ax, each in zip(figure.subplots(1, len(found), squeeze=False, width_ratios=columns)[0], found):
        _draw(ax, each)
    figure.suptitle("glass, linear SVM, first fold")
    signs = [
        Patch(facecolor=c, edgecolor="0.3", label=s) for c, s in (("white", "+1"), ("0.5", "0"), ("black", "−1"))
    ]
    figure.legend(handles=signs, loc="outside lower center", ncols=3)
    return figure


def _draw(ax: Any, found: StudyRow) -> None:
    facts = found.results[0]["facts"][0]
    classes = found.data.classes
    draw(unpack(facts["code"]), ax, [classes[c] for c in facts["row_classes"]])
    ax.set_anchor("N")
    ax.spines[:].set_visible(True)
    ax.spines[:].set_color("0.3")
    ax.tick_params(labelsize=8, length=0)
    ax.set_title(f"{found.row.machine}, {found.parameters['criterion']}")


def pictures(studies: Studies) -> Pictures:
    """The matrices of glass."""
    yield "codes-glass", coding_matrices(studies)
