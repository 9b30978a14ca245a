"""``mcls tables``: the papers' tables, run where need be, beside the published figures."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mcls.cli.run import Jobs, Out
from mcls.terminal import output

if TYPE_CHECKING:
    from mcls.reporting.figures import Begun
    from mcls.reporting.table import Table

Quick = Annotated[
    bool,
    typer.Option(
        "--quick", envvar="QUICK", help="Fewer replicates, smaller grids; results go to DIR/quick/ and say so."
    ),
]


def tables(
    paper: Annotated[str | None, typer.Argument(metavar="PAPER", help="Such as honeine2013.")] = None,
    table: Annotated[str | None, typer.Option("--table", metavar="N", help="One table of the paper.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="All papers, the figures and the report.")] = False,
    jobs: Jobs = 0,
    out: Out = Path("results"),
    quick: Quick = False,
    no_run: Annotated[
        bool, typer.Option("--no-run", help="Use what the store holds; say what is missing.")
    ] = False,
) -> None:
    """Print the papers' tables beside the published figures; compute what is missing first.

    Tables are written to DIR/tables/ as Markdown, CSV and LaTeX. Without a paper, list what there is.

    Examples: mcls tables honeine2013 --table 4, mcls tables xue2013 -j 2, mcls tables --all --quick
    """
    from mcls.errors import McLsError

    if everything and (paper or table):
        raise McLsError("give a paper or --all, not both")
    if table and not paper:
        raise McLsError("--table belongs to a paper, such as: mcls tables honeine2013 --table 4")
    if not everything and paper is None:
        _list()
        return
    with contextlib.ExitStack() as stack:
        begun = {}
        if everything and no_run:
            from mcls.reporting.figures import drawing

            begun = stack.enter_context(drawing(out, quick))
        _make(paper, table, jobs, out, quick, no_run, begun)


def _make(
    paper: str | None, table: str | None, jobs: int, out: Path, quick: bool, no_run: bool, begun: Begun
) -> None:
    """Print and write one table, the tables of one paper, or without a paper everything."""
    from mcls.cli.run import cores, resumable
    from mcls.cli.show import print_damaged, print_failures
    from mcls.experiments.progress import make_progress
    from mcls.reporting.catalog import PAPERS, get_paper, needed, run, write
    from mcls.reporting.render import print_table
    from mcls.reporting.studies import Studies

    papers = list(PAPERS.values()) if paper is None else [get_paper(paper)]
    specs = [papers[0].table(table)] if table else [spec for each in papers for spec in each.tables]
    studies = Studies(out, quick)
    outcomes = []
    if not no_run:
        with resumable(studies.out):
            outcomes = run(needed(specs, studies), jobs or cores(), make_progress, _tell)
    made = [table for spec in specs for table in spec.build(studies)]
    for each in made:
        with output() as console:
            print_table(each, console)
    typer.echo(f"Written to {write(made, studies.out)}")
    if paper is None:
        from mcls.reporting.figures import draw_all
        from mcls.reporting.page import write_report

        typer.echo(f"Written {write_report(studies, made, draw_all(studies, _tell, begun))}")
    print_damaged(*(study.experiment.store for study in studies.loaded()))
    _tell_states(made)
    for outcome in outcomes:
        print_failures(outcome)
    if not all(outcome.ok for outcome in outcomes):
        raise typer.Exit(1)


def _tell(text: str) -> None:
    typer.echo(text, err=True)


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
    from mcls.cli.show import print_table
    from mcls.reporting.catalog import PAPERS

    rows = [[paper.name, spec.id, spec.title] for paper in PAPERS.values() for spec in paper.tables]
    print_table(None, ["paper", "table", "what it holds"], rows)
    typer.echo("mcls tables PAPER [--table N] runs and prints them; --all does everything; --quick tries it out.")
