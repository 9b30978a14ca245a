"""``mcls plot``: figures from the store, as PNG and SVG."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mcls.cli.completing import dataset_names, machine_names
from mcls.cli.options import Out, Quick, experiment_argument
from mcls.terminal import echo, in_folder

if TYPE_CHECKING:
    from mcls.experiments.refitting import Refitted
    from mcls.reporting.board import Board
    from mcls.reporting.studies import StudyRow


def plot(
    figure: Annotated[str | None, typer.Argument(metavar="FIGURE", help="Such as ranks, or all.")] = None,
    experiment: Annotated[
        str | None,
        experiment_argument(
            "[EXPERIMENT]",
            "An experiment or a suite: a folder in DIR, or a config. For importance, sparsity, labels: a model.",
        ),
    ] = None,
    dataset: Annotated[
        str | None,
        typer.Option(
            "--dataset",
            metavar="NAME",
            help="For an experiment: this data set alone.",
            autocompletion=dataset_names,
        ),
    ] = None,
    machine: Annotated[
        str | None,
        typer.Option(
            "--machine",
            metavar="NAME",
            help="For an experiment: this machine alone.",
            autocompletion=machine_names,
        ),
    ] = None,
    replicate: Annotated[
        int | None, typer.Option("--replicate", min=0, metavar="R", help="For grid: this replicate alone.")
    ] = None,
    metric: Annotated[
        str | None, typer.Option("--metric", metavar="NAME", help="For ranks: by this metric.")
    ] = None,
    out: Out = Path("results"),
    quick: Quick = False,
) -> None:
    """Draw figures from the results of earlier runs into DIR/figures/; no experiment is run again.

    What is not stored is computed for the picture: overview searches a small grid, regions fits its machines.

    Without a figure, list what there is. Of any experiment or suite in DIR: errors of its machines, intervals of the
    mean errors, ranks over two or more data sets (critical-difference diagram), confusion of the classes, grid (a heat
    map per data set and machine, of the cross-validation errors of protocol published, or of how often each point was
    chosen), sweep (error over gamma, a curve per sigma) and regions (data sets of two features; fits again). Of a
    model, `mcls plot importance MODEL` draws which columns matter (rfm), `mcls plot sparsity MODEL` the error over
    the rows kept (sparse-oneLSM), and `mcls plot labels MODEL` its labels beside the classical ones.

    Examples: mcls plot labelbooks, mcls plot errors mine, mcls plot grid iris --dataset iris --machine oneLSM
    """
    import mcls.papers  # noqa: F401  (registers the papers' plots)
    from mcls.errors import McLsError
    from mcls.reporting.plots import PLOTS, draw, get_plot
    from mcls.reporting.studies import Studies

    studies = Studies(out, quick)
    if figure is None:
        from mcls.cli.printing import print_table

        print_table(None, ["figure", "what it shows"], [[each.name, each.summary] for each in PLOTS.values()])
        if not (known := studies.experiments()):
            raise McLsError(
                f"there are no results in {studies.out} to draw; make some (mcls run iris), or name their folder with "
                "--out"
            )
        from mcls.reporting.plots.own import KINDS

        echo(f"experiments in {studies.out} (mcls plot {'|'.join(KINDS)} NAME): {', '.join(known)}")
        return
    from mcls.reporting.plots.model import FIGURES, draw_model

    if figure in FIGURES:
        if experiment is None:
            raise McLsError(f"name the model to draw: mcls plot {figure} MODEL.mcls")
        for path in draw_model(figure, experiment, studies.out / "figures"):
            echo(path)
        return
    if experiment is not None:
        from mcls.errors import unknown_name
        from mcls.reporting.board import find_board
        from mcls.reporting.plots.own import KINDS, draw_own

        if figure not in KINDS:
            raise unknown_name("figure of an experiment", figure, KINDS)
        if replicate is not None and figure != "grid":
            raise McLsError("--replicate goes with: mcls plot grid EXPERIMENT")
        if metric is not None and figure != "ranks":
            raise McLsError("--metric goes with: mcls plot ranks EXPERIMENT")
        board = find_board(studies, experiment)
        say = partial(echo, err=True)
        drawn = draw_own(figure, board, say, dataset, machine, replicate, metric, partial(_fit_again, board))
        for path in (path for files in drawn.values() for path in files):
            echo(path)
        return
    if figure not in (*PLOTS, "all") and figure in studies.experiments():
        from mcls.reporting.plots.own import KINDS

        raise McLsError(f"say what to draw of {figure}: mcls plot {'|'.join(KINDS)} {figure}")
    if (dataset, machine, replicate, metric) != (None, None, None, None):
        raise McLsError("--dataset, --machine, --replicate and --metric go with: mcls plot grid EXPERIMENT")
    nothing_from_results = True
    for name in PLOTS if figure == "all" else [figure]:
        drawn = draw(get_plot(name), studies)
        for path in (path for files in drawn.values() for path in files):
            echo(path)
        nothing_from_results &= not PLOTS[name].made_by or not any(drawn.values())
        if all(drawn.values()):
            continue
        command = PLOTS[name].made_by or "mcls tables --all"
        if command.startswith("mcls"):
            command += (" --quick" if quick else "") + in_folder(out)
        missing = ", ".join(stem for stem, files in drawn.items() if not files)
        told = f"{missing}: not drawn, the data are not in {studies.out}; to make them: {command}"
        if figure != "all" and not any(drawn.values()):
            raise McLsError(told)
        echo(told, err=True)
    if figure == "all" and nothing_from_results:
        raise typer.Exit(1)


def _fit_again(board: Board, row: StudyRow) -> Refitted:
    """The machine of a row, fitted to all rows at the point that was chosen most often: the store holds none."""
    from mcls.experiments.refitting import fit_again

    study = next(study for study in board.studies if study.name == row.study)
    return fit_again(study.experiment.plan.rows[row.index].cells[0], row.line.chosen)
