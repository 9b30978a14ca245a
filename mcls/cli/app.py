"""The ``mcls`` command: gathers the subcommands and turns a user's mistake into one line."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from mcls.cli import data, store
from mcls.cli.compare import compare
from mcls.cli.evaluate import evaluate
from mcls.cli.fit import fit
from mcls.cli.init import init
from mcls.cli.inspect import inspect
from mcls.cli.machines import labelbooks, machines
from mcls.cli.plain import App, UsageError, explain_usage, respect_no_color
from mcls.cli.plot import plot
from mcls.cli.predict import predict
from mcls.cli.report import report
from mcls.cli.run import run
from mcls.cli.tables import tables
from mcls.cli.validate import validate
from mcls.errors import McLsError, printable

app = App(
    name="mcls",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Multiclass kernel least-squares classification: run experiments, compare machines, use your data.",
    epilog="Examples:  mcls run configs/iris.yaml   |   mcls compare oneLSM ovA --ftest   |   mcls data list",
)


def _version(show: bool) -> None:
    if show:
        from importlib.metadata import version

        typer.echo(f"mcls {version('mcls')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Options that stand before every command (they are read in ``main``)."""


def main(args: list[str] | None = None) -> None:
    """Run the command line: exit 2 and one line on stderr for a mistake, a traceback only with --debug."""
    argv = list(sys.argv[1:] if args is None else args)
    debug = "--debug" in argv
    argv = [a for a in argv if a != "--debug"]
    respect_no_color()
    try:
        code = app(argv, prog_name="mcls", standalone_mode=False)
        raise SystemExit(code if isinstance(code, int) else 0)
    except UsageError as error:
        text = explain_usage(error)
        if text:
            typer.echo(f"mcls: {text}", err=True)
        raise SystemExit(2) from None
    except McLsError as error:
        if debug:
            raise
        typer.echo(f"mcls: {_one_line(error)}", err=True)
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        if debug:
            raise
        typer.echo("mcls: interrupted", err=True)
        raise SystemExit(130) from None
    except Exception as error:
        if debug:
            raise
        text = _one_line(error) or type(error).__name__
        typer.echo(f"mcls: {text} ({type(error).__name__}; --debug shows where)", err=True)
        raise SystemExit(1) from None


def _one_line(error: Exception) -> str:
    return printable(" ".join(str(error).split()))


app.add_typer(data.app, name="data")
app.add_typer(store.app, name="store")

for _command in (run, validate, init, compare, machines, labelbooks, fit, predict, evaluate, inspect):
    app.command()(_command)
app.command()(tables)
app.command()(plot)
app.command()(report)
