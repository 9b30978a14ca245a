"""Figures from the store: what there is to draw, and drawing it all."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcls.errors import McLsError, unknown_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mcls.reporting.studies import Studies

Named = Iterator[tuple[str, "Figure | None"]]
#: Name of a figure → the future of its files (stem → files), drawn in another process.
Begun = dict[str, Any]

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


@contextlib.contextmanager
def drawing(out: Path, quick: bool) -> Iterator[Begun]:
    """Begin to draw all figures in a process beside this one, where there is a core for it.

    Nothing heavy is imported for it here: both processes start at the same time.
    """
    from joblib.externals.loky import ProcessPoolExecutor, cpu_count

    if cpu_count() < 2:
        yield {}
        return
    executor = ProcessPoolExecutor(max_workers=1, env={"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"})
    try:
        yield {name: executor.submit(_draw_there, name, out, quick) for name in FIGURES}
    finally:
        executor.shutdown(kill_workers=True)


@functools.cache
def _studies(out: Path, quick: bool) -> Studies:
    from mcls.reporting.studies import Studies

    return Studies(out, quick)


def _draw_there(name: str, out: Path, quick: bool) -> dict[str, list[Path]]:
    return dict(draw(name, _studies(out, quick)))


def draw_all(studies: Studies, tell: Callable[[str], None], begun: Begun | None = None) -> dict[str, list[Path]]:
    """Draw everything there are data for, and say what was left out; file stem → files.

    What another process has ``begun`` to draw is waited for; the rest, from the end, is drawn here.
    """
    waiting = begun or {}
    here = {
        name: dict(draw(name, studies))
        for name in reversed(FIGURES)
        if name not in waiting or waiting[name].cancel()
    }
    made = [here[name] if name in here else waiting[name].result() for name in FIGURES]
    drawn = {stem: files for each in made for stem, files in each.items()}
    for stem, files in drawn.items():
        if not files:
            tell(f"figure {stem}: not drawn, its data are not there")
    return drawn


def draw_heatmap(studies: Studies, config: str, dataset: str, machine: str, replicate: int) -> list[Path]:
    """The heat map of one row of any study whose results are in the store."""
    import matplotlib as mpl

    from mcls.experiments.compare import machine_label
    from mcls.experiments.specs import format_spec, parse_spec
    from mcls.reporting.figures.heatmap import heatmap
    from mcls.reporting.figures.style import STYLE, save

    study, wanted = studies[config], machine_label(machine)
    if study.as_run.protocol != "published":
        raise McLsError(
            "a heat map needs one grid search over all rows, as 'protocol: published' makes it; "
            f"{study.name} has 'protocol: {study.as_run.protocol}'"
        )
    name, options = parse_spec(wanted)
    rows = [f for f in study.find(machine=name) if f.dataset == dataset]
    fitting = [f for f in rows if all(f.parameters.get(key) == value for key, value in options.items())]
    if not fitting:
        known = sorted({f"{f.dataset} {format_spec(f.row.machine, {})}" for f in study.figures})
        raise McLsError(f"{study.name} has no row '{dataset} {wanted}'; it has: {', '.join(known)}")
    n_replicates = len(fitting[0].records)
    if replicate >= n_replicates:
        raise McLsError(f"{study.name} has the replicates 0 to {n_replicates - 1}, got {replicate}")
    if fitting[0].records[replicate] is None:
        command = "mcls tables --all --quick" if studies.quick else f"mcls run {config}"
        command += "" if studies.root == Path("results") else f" --out {studies.root}"
        raise McLsError(f"{dataset} {wanted}: replicate {replicate} has not been run; to run it: {command}")
    with mpl.rc_context(STYLE):
        stem = f"grid-{dataset}-{wanted}-{replicate}".replace(":", "-").replace("=", "-").replace(",", "-")
        return save(heatmap(fitting[0], replicate), studies.out / "figures", stem)
