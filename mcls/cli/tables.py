"""``mcls tables``: the papers' tables, run where need be, beside the published figures; those of any experiment."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mcls.cli.completing import papers_and_experiments
from mcls.cli.options import Against, Jobs, Out, Quick
from mcls.terminal import echo, output

if TYPE_CHECKING:
    from mcls.reporting.plots import Begun
    from mcls.reporting.table import Table


class Format(StrEnum):
    """How a table is printed."""

    terminal = "terminal"
    markdown = "markdown"
    latex = "latex"
    csv = "csv"
    html = "html"


def tables(
    paper: Annotated[
        str | None,
        typer.Argument(
            metavar="[PAPER|NAME]",
            help="A paper such as honeine2013; or an experiment, suite or config.",
            autocompletion=papers_and_experiments,
        ),
    ] = None,
    table: Annotated[str | None, typer.Option("--table", metavar="N", help="One table of the paper.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="All papers, the figures and the report.")] = False,
    jobs: Jobs = 0,
    out: Out = Path("results"),
    quick: Quick = False,
    no_run: Annotated[
        bool, typer.Option("--no-run", help="Use what the store holds; say what is missing.")
    ] = False,
    against: Against = None,
    metric: Annotated[
        list[str] | None,
        typer.Option("--metric", metavar="NAME", help="For an experiment: this metric; repeatable."),
    ] = None,
    alpha: Annotated[float, typer.Option("--alpha", metavar="A", help="Level of the tests.")] = 0.05,
    form: Annotated[
        Format,
        typer.Option(
            "--format", help="For an experiment: the format that is printed; files of all formats are written."
        ),
    ] = Format.terminal,
) -> None:
    """Print tables: the papers' beside the published figures, or those of any experiment.

    Of a paper, what is missing is computed first, and tables are written to DIR/tables/ as Markdown, CSV and LaTeX. Of
    an experiment, every stored metric has a table, mean ± deviation with the best in bold; with --against the others
    are tested against a machine. They are written to DIR/NAME/tables/ as Markdown, LaTeX (booktabs), CSV and HTML.
    Without a name, list what there is.

    Examples: mcls tables honeine2013 --table 4, mcls tables --all --quick, mcls tables mine --against oneLSM
    """
    from mcls.errors import McLsError

    own_options = (against, metric) != (None, None) or alpha != 0.05 or form is not Format.terminal
    if everything and (paper or table):
        raise McLsError("give a paper or --all, not both")
    if table and not paper:
        raise McLsError("--table belongs to a paper, such as: mcls tables honeine2013 --table 4")
    if paper is not None and not table and _is_experiment(paper):
        _print_own(paper, out, quick, against, metric or [], alpha, form)
        return
    if own_options:
        raise McLsError(
            "--against, --metric, --alpha and --format belong to an experiment: mcls tables NAME --against MACHINE"
        )
    if not everything and paper is None:
        _list()
        return
    with contextlib.ExitStack() as stack:
        begun = {}
        if everything and no_run:
            import mcls.papers  # noqa: F401  (registers the plots)
            from mcls.reporting.plots import drawing

            begun = stack.enter_context(drawing(out, quick))
        _make(paper, table, jobs, out, quick, no_run, begun)


def _is_experiment(name: str) -> bool:
    from mcls.papers import PAPERS

    return name.lower() not in PAPERS


def _print_own(
    name: str, out: Path, quick: bool, against: str | None, metrics: Sequence[str], alpha: float, form: Format
) -> None:
    """Print and write the tables of an experiment or a suite."""
    from mcls.cli.printing import print_damaged
    from mcls.errors import McLsError, unknown_name
    from mcls.papers import PAPERS
    from mcls.reporting.board import find_board
    from mcls.reporting.board_tables import board_tables, write_tables
    from mcls.reporting.render import print_table, to_csv, to_html, to_latex, to_markdown
    from mcls.reporting.studies import Studies

    if quick:
        raise McLsError("--quick belongs to the papers' tables")
    if not 0.0 < alpha < 1.0:
        raise McLsError(f"--alpha is a level between 0 and 1, such as 0.05; got {alpha:g}")
    studies = Studies(out)
    try:
        board = find_board(studies, name)
    except McLsError as error:
        if str(error).startswith("unknown experiment"):
            raise unknown_name("paper or experiment", name, [*PAPERS, *studies.experiments()]) from None
        raise
    made = board_tables(board, against, metrics, alpha)
    render = {"markdown": to_markdown, "latex": to_latex, "csv": to_csv, "html": to_html}.get(form.value)
    for each in made:
        if render is not None:
            for line in render(each).splitlines():
                echo(line)
            continue
        with output() as console:
            print_table(each, console)
    echo(f"Written to {write_tables(made, board)}", err=render is not None)
    print_damaged(*(study.store for study in board.studies))


def _make(
    paper: str | None, table: str | None, jobs: int, out: Path, quick: bool, no_run: bool, begun: Begun
) -> None:
    """Print and write one table, the tables of one paper, or without a paper everything."""
    from mcls.cli.printing import print_damaged, print_failures
    from mcls.cli.progress import CellProgress
    from mcls.cli.run import cores, resumable
    from mcls.papers import PAPERS, get_paper
    from mcls.reporting.agreement import agreement, agreement_tables
    from mcls.reporting.catalog import needed, run, write
    from mcls.reporting.render import print_table
    from mcls.reporting.studies import Studies

    papers = list(PAPERS.values()) if paper is None else [get_paper(paper)]
    specs = [papers[0].table(table)] if table else [spec for each in papers for spec in each.tables]
    studies = Studies(out, quick)
    outcomes = []
    if not no_run:
        with resumable(studies.out):
            outcomes = run(needed(specs, studies), jobs or cores(), CellProgress, _tell)
    made = [table for spec in specs for table in spec.build(studies)]
    if paper is None:
        made = [*agreement_tables(agreement(papers, studies), quick), *made]
    for each in made:
        with output() as console:
            print_table(each, console)
    echo(f"Written to {write(made, studies.out)}")
    if paper is None:
        from mcls.reporting.page import write_report
        from mcls.reporting.plots import draw_all

        echo(f"Written {write_report(studies, papers, made, draw_all(studies, _tell, begun))}")
    print_damaged(*(study.store for study in studies.loaded()))
    _tell_states(made)
    for outcome in outcomes:
        print_failures(outcome)
    if not all(outcome.ok for outcome in outcomes):
        raise typer.Exit(1)


def _tell(text: str) -> None:
    echo(text, err=True)


def _tell_states(made: Sequence[Table]) -> None:
    """Name the tables that lack something; what, each says in its notes."""
    complete = sum(each.state == "complete" for each in made)
    if complete == len(made):
        return
    typer.echo(f"{complete} of {len(made)} tables are complete.")
    for state in ("incomplete", "not run"):
        if names := [each.name for each in made if each.state == state]:
            typer.echo(f"{state.capitalize()}, each table has the command that runs it: {', '.join(names)}")


def _list() -> None:
    from mcls.cli.printing import print_table
    from mcls.papers import PAPERS

    rows = [[paper.name, spec.id, spec.title] for paper in PAPERS.values() for spec in paper.tables]
    print_table(None, ["paper", "table", "what it holds"], rows)
    typer.echo("mcls tables PAPER [--table N] runs and prints them; --all does everything; --quick tries it out.")
