"""Plots: what there is to draw from the store, one entry each, and drawing it."""

from __future__ import annotations

import contextlib
import functools
import importlib
import multiprocessing
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcls import plugins
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
    ``captions`` gives stems a caption of their own. ``with_tables`` says that it shows what the tables compute: it is
    drawn by the process that has made them.
    """

    name: str
    summary: str
    target: str
    section: str
    made_by: str = ""
    captions: Mapping[str, str] = field(default_factory=dict)
    with_tables: bool = False

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
    plugins.note("plot", plot.name)


plugins.registers(Plot, register)


def get_plot(name: str) -> Plot:
    """Look a plot up by its name."""
    if name not in PLOTS and not plugins.load_entry("plot", name):
        raise unknown_name("figure", name, [*PLOTS, *plugins.entry_names("plot")])
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


def draw(plot: Plot, studies: Studies) -> dict[str, list[Path]]:
    """Draw one plot into ``figures/``: file stem → files, none where the data are missing."""
    import matplotlib as mpl

    from mcls.reporting.plots.style import QUICK_TITLE, STYLE, save

    drawn: dict[str, list[Path]] = {}
    with mpl.rc_context(STYLE):
        for stem, figure in plot.pictures(studies):
            if figure is not None and studies.quick:
                figure.text(0.995, 0.005, QUICK_TITLE.strip(), ha="right", va="bottom", color="red", fontsize=8)
            drawn[stem] = [] if figure is None else save(figure, studies.out / "figures", stem)
    return drawn


#: Name of a plot → the future of what ``draw`` returns, made in another process.
Begun = dict[str, Any]


@contextlib.contextmanager
def drawing(out: Path, quick: bool) -> Iterator[Begun]:
    """Begin to draw all plots in a process beside this one, where there is a core for it.

    The process is a fork, begun before anything was computed here: it has what is imported already, which a new one
    would import once more. Where there is no fork, nothing is begun and all is drawn here.
    """
    from joblib import cpu_count

    from mcls.threads import blas_threads

    if sys.platform != "linux" or cpu_count() < 2:
        yield {}
        return
    import mcls.reporting.plots.style  # noqa: F401  (for both processes)

    executor = ProcessPoolExecutor(1, multiprocessing.get_context("fork"), initializer=_alone)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # BLAS has threads, which sleep and know of forks
            apart = {name: plot for name, plot in PLOTS.items() if not plot.with_tables}
            begun = {name: executor.submit(_draw_there, plot, out, quick) for name, plot in apart.items()}
        with blas_threads(1):  # one core is the other process's
            yield begun
    finally:
        executor.shutdown(wait=False, cancel_futures=True)
        for process in multiprocessing.active_children():
            process.terminate()


def _alone() -> None:
    """Leave the signals of the terminal to the parent, and end when it says so."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    from mcls.threads import blas_threads

    blas_threads(1)


@functools.cache
def _studies(out: Path, quick: bool) -> Studies:
    from mcls.reporting.studies import Studies

    return Studies(out, quick)


def _draw_there(plot: Plot, out: Path, quick: bool) -> dict[str, list[Path]]:
    return draw(plot, _studies(out, quick))


def draw_all(studies: Studies, tell: Callable[[str], None], begun: Begun | None = None) -> dict[str, list[Path]]:
    """Draw everything there are data for, and say what was left out; file stem → files.

    What another process has ``begun`` to draw is waited for; the rest, from the end, is drawn here.
    """
    waiting = begun or {}
    here = {
        name: draw(PLOTS[name], studies)
        for name in reversed(PLOTS)
        if name not in waiting or waiting[name].cancel()
    }
    made = [here[name] if name in here else waiting[name].result() for name in PLOTS]
    drawn = {stem: files for each in made for stem, files in each.items()}
    for stem, files in drawn.items():
        if not files:
            tell(f"figure {stem}: not drawn, its data are not there")
    return drawn
