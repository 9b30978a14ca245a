"""Plots: what there is to draw from the store, one entry each, and drawing it."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from mcls.errors import McLsError, unknown_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mcls.reporting.studies import Studies

#: What a plot's function yields: the stem of the files and the picture, None where its data are missing.
Pictures = Iterator[tuple[str, "Figure | None"]]


@dataclass(frozen=True)
class Plot:
    """One entry of ``mcls plot``.

    ``target`` is ``"module:function"``, imported when it is drawn; the function takes the studies and yields
    ``Pictures``. ``section`` is where the report shows it, ``made_by`` the command that makes its data, and
    ``captions`` gives stems a caption of their own.
    """

    name: str
    summary: str
    target: str
    section: str
    made_by: str = ""
    captions: Mapping[str, str] = field(default_factory=dict)

    def pictures(self, studies: Studies) -> Pictures:
        """Draw from the store (imports matplotlib)."""
        module, _, function = self.target.partition(":")
        pictures: Pictures = getattr(importlib.import_module(module), function)(studies)
        return pictures


PLOTS: dict[str, Plot] = {}


def register(plot: Plot) -> None:
    """Add a plot; its name must be new."""
    if plot.name in PLOTS:
        raise McLsError(f"a plot named '{plot.name}' is registered already")
    PLOTS[plot.name] = plot


def get_plot(name: str) -> Plot:
    """Look a plot up by its name."""
    if name not in PLOTS:
        raise unknown_name("figure", name, PLOTS)
    return PLOTS[name]


register(
    Plot(
        "growth",
        "time against n and against the classes, from make bench",
        "mcls.reporting.plots.growth:pictures",
        section="performance",
        made_by="make bench",
    )
)


def draw(name: str, studies: Studies) -> Iterator[tuple[str, list[Path]]]:
    """Draw the figures of one name into ``figures/``; yields (file stem, files), no files where data are missing."""
    import matplotlib as mpl

    from mcls.reporting.plots.style import QUICK_TITLE, STYLE, save

    with mpl.rc_context(STYLE):
        for stem, figure in get_plot(name).pictures(studies):
            if figure is None:
                yield stem, []
                continue
            if studies.quick:
                figure.text(0.995, 0.005, QUICK_TITLE.strip(), ha="right", va="bottom", color="red", fontsize=8)
            yield stem, save(figure, studies.out / "figures", stem)


def draw_all(studies: Studies, tell: Callable[[str], None]) -> dict[str, list[Path]]:
    """Draw everything there are data for, and say what was left out; file stem → files."""
    drawn = {stem: files for name in PLOTS for stem, files in draw(name, studies)}
    for stem, files in drawn.items():
        if not files:
            tell(f"figure {stem}: not drawn, its data are not there")
    return drawn
