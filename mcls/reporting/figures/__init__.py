"""Figures from the store: what there is to draw, and drawing it all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from mcls.errors import unknown_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mcls.reporting.studies import Studies

Named = Iterator[tuple[str, "Figure | None"]]

#: The heat maps that are drawn with everything else: (study, data set, machine).
HEATMAPS = (
    ("honeine2013-table4", "glass", "oneLSM"),
    ("honeine2013-table4", "glass", "voSVM"),
    ("honeine2013-table4-yeast", "yeast", "oneLSM"),
)


def _heatmaps(studies: Studies) -> Named:
    from mcls.reporting.figures.heatmap import heatmap

    for name, dataset, machine in HEATMAPS:
        found = studies[name].one(dataset=dataset, machine=machine)
        there = found is not None and found.records[0] is not None
        yield f"grid-{dataset}-{machine}", heatmap(found) if found and there else None


def _errors(studies: Studies) -> Named:
    from mcls.reporting.figures.errors import error_bars

    yield "errors", error_bars(studies)


def _labelbooks(studies: Studies) -> Named:
    from mcls.reporting.figures.labelbooks import labelbooks

    yield "labelbooks", labelbooks()


def _ranks(studies: Studies) -> Named:
    from mcls.reporting.figures.ranks import honeine_ranks

    yield "ranks", honeine_ranks(studies)


def _codes(studies: Studies) -> Named:
    from mcls.reporting.figures.codes import coding_matrices

    yield "codes-glass", coding_matrices(studies)


def _regions(studies: Studies) -> Named:
    from mcls.reporting.figures.plane import decision_regions, pavia_map

    yield "regions-iris", decision_regions(studies)
    yield "regions-pavia", pavia_map(studies)


def _sets(studies: Studies) -> Named:
    from mcls.reporting.figures.plane import artificial_sets

    yield "sets", artificial_sets()


def _growth(studies: Studies) -> Named:
    from mcls.reporting.figures.growth import growth

    yield "growth", growth(studies.bench)


def _overview(studies: Studies) -> Named:
    from mcls.reporting.figures.overview import overview

    yield "overview", overview(studies)


#: Name on the command line → what it shows, and the function that draws it.
FIGURES: dict[str, tuple[str, Callable[[Studies], Named]]] = {
    "overview": ("a machine, the grid it was chosen from, and our errors against the paper's", _overview),
    "grid": ("CV error over the grid, the chosen point marked", _heatmaps),
    "errors": ("errors of all machines beside the paper's (Table 4)", _errors),
    "labelbooks": ("the labelbooks in three dimensions (honeine2013, Fig. 2)", _labelbooks),
    "ranks": ("critical-difference diagram of the machines", _ranks),
    "codes": ("coding matrices of DECOC and sub-ECOC", _codes),
    "regions": ("decision regions of noumir2011's iris, and the map of Pavia", _regions),
    "sets": ("the four artificial sets", _sets),
    "growth": ("time against n and against the classes, from make bench", _growth),
}


def draw(name: str, studies: Studies) -> Iterator[tuple[str, list[Path]]]:
    """Draw the figures of one name into ``figures/``; yields (file stem, files), no files where data are missing."""
    import matplotlib as mpl

    from mcls.reporting.figures.style import QUICK_TITLE, STYLE, save

    if name not in FIGURES:
        raise unknown_name("figure", name, FIGURES)
    with mpl.rc_context(STYLE):
        for stem, figure in FIGURES[name][1](studies):
            if figure is None:
                yield stem, []
                continue
            if studies.quick:
                figure.text(0.995, 0.005, QUICK_TITLE.strip(), ha="right", va="bottom", color="red", fontsize=8)
            yield stem, save(figure, studies.out / "figures", stem)


def draw_all(studies: Studies, tell: Callable[[str], None]) -> dict[str, list[Path]]:
    """Draw everything there are data for, and say what was left out; file stem → files."""
    drawn = {stem: files for name in FIGURES for stem, files in draw(name, studies)}
    for stem, files in drawn.items():
        if not files:
            tell(f"figure {stem}: not drawn, its data are not there")
    return drawn
