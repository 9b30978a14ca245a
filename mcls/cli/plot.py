"""``mcls plot``: figures from the store, as PNG and SVG."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mcls.cli.run import Out
from mcls.cli.tables import Quick
from mcls.terminal import echo


def plot(
    figure: Annotated[str | None, typer.Argument(metavar="FIGURE", help="Such as ranks, or all.")] = None,
    config: Annotated[str | None, typer.Argument(metavar="[CONFIG]", help="For grid: the experiment.")] = None,
    dataset: Annotated[
        str | None, typer.Option("--dataset", metavar="NAME", help="For grid: the data set.")
    ] = None,
    machine: Annotated[
        str | None, typer.Option("--machine", metavar="NAME", help="For grid: the machine.")
    ] = None,
    replicate: Annotated[int, typer.Option("--replicate", min=0, metavar="R", help="For grid.")] = 0,
    out: Out = Path("results"),
    quick: Quick = False,
) -> None:
    """Draw figures from the results of earlier runs into DIR/figures/; no experiment is run again.

    What is not stored is computed for the picture: overview searches a small grid, regions fits its machines.

    Without a figure, list what there is. `mcls plot grid CONFIG --dataset D --machine M` draws the heat map of
    any experiment of yours.

    Examples: mcls plot labelbooks, mcls plot grid iris --dataset iris --machine oneLSM
    """
    import mcls.papers  # noqa: F401  (registers the papers' plots)
    from mcls.errors import McLsError
    from mcls.reporting.plots import PLOTS, draw, draw_heatmap
    from mcls.reporting.studies import Studies

    if figure is None:
        from mcls.cli.show import print_table

        print_table(None, ["figure", "what it shows"], [[each.name, each.summary] for each in PLOTS.values()])
        return
    studies = Studies(out, quick)
    if config is not None:
        if figure != "grid" or dataset is None or machine is None:
            raise McLsError("a config goes with: mcls plot grid CONFIG --dataset NAME --machine NAME")
        for path in draw_heatmap(studies, config, dataset, machine, replicate):
            echo(path)
        return
    if dataset is not None or machine is not None:
        raise McLsError("--dataset and --machine go with: mcls plot grid CONFIG --dataset NAME --machine NAME")
    for name in PLOTS if figure == "all" else [figure]:
        drawn = dict(draw(name, studies))
        for path in (path for files in drawn.values() for path in files):
            echo(path)
        if all(drawn.values()):
            continue
        command = PLOTS[name].made_by or "mcls tables --all"
        if command.startswith("mcls"):
            command += (" --quick" if quick else "") + ("" if out == Path("results") else f" --out {out}")
        missing = ", ".join(stem for stem, files in drawn.items() if not files)
        told = f"{missing}: not drawn, the data are not in {studies.out}; to make them: {command}"
        if figure != "all" and not any(drawn.values()):
            raise McLsError(told)
        echo(told, err=True)
