"""The ``mcls`` command: gathers the subcommands and turns a user's mistake into one line."""

from __future__ import annotations

import gc
import sys
from typing import Annotated

import typer

from mcls.cli import data, store
from mcls.cli.compare import compare
from mcls.cli.evaluate import evaluate
from mcls.cli.explain import explain
from mcls.cli.export import export
from mcls.cli.fit import fit
from mcls.cli.init import init
from mcls.cli.inspect import inspect
from mcls.cli.machines import labelbooks, machines
from mcls.cli.plot import plot
from mcls.cli.predict import predict
from mcls.cli.report import report
from mcls.cli.run import run
from mcls.cli.standard_input import in_words
from mcls.cli.tables import tables
from mcls.cli.typer_app import App, UsageError, explain_usage, respect_no_color
from mcls.cli.validate import validate
from mcls.errors import ClusterError, McLsError
from mcls.terminal import echo, patient_streams

#: Made between two searches for cycles: Python's own 700 search the thousands of results of a table again and again.
_OBJECTS = 100_000

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
    plugin: Annotated[
        list[str] | None,
        typer.Option(
            "--plugin",
            metavar="FILE.py",
            help="Run this Python file, which registers machines of yours; repeatable.",
        ),
    ] = None,
) -> None:
    """Options that stand before or after every command (they are read in ``main``)."""


def main(args: list[str] | None = None) -> None:
    """Run the command line: exit 2 and one line on stderr for a mistake, a traceback only with --debug.

    What a command has to do is done also where its output is lost, to a closed pipe (exit 141) or a full device (1).
    """
    gc.set_threshold(_OBJECTS)
    with patient_streams():
        _main(args)


def _main(args: list[str] | None) -> None:
    argv = list(sys.argv[1:] if args is None else args)
    debug = "--debug" in argv
    argv = [a for a in argv if a != "--debug"]
    respect_no_color()
    try:
        argv, files = _without_plugins(argv)
        if files:
            from mcls.plugins import load_files

            load_files(files)
        code = app(argv, prog_name="mcls", standalone_mode=False)
        raise SystemExit(code if isinstance(code, int) else 0)
    except UsageError as error:
        text = explain_usage(error)
        if text:
            echo(f"mcls: {text}", err=True)
        raise SystemExit(2) from None
    except McLsError as error:
        if debug:
            raise
        echo(f"mcls: {_one_line(error)}", err=True)
        raise SystemExit(2) from None
    except ClusterError as error:
        if debug:
            raise
        echo(f"mcls: {_one_line(error)}", err=True)
        raise SystemExit(1) from None
    except KeyboardInterrupt:
        if debug:
            raise
        echo("mcls: interrupted", err=True)
        raise SystemExit(130) from None
    except Exception as error:
        if debug:
            raise
        if _was_interrupt(error):
            echo("mcls: interrupted", err=True)
            raise SystemExit(130) from None
        text = _one_line(error) or type(error).__name__
        echo(f"mcls: {text} ({type(error).__name__}; --debug shows where)", err=True)
        raise SystemExit(1) from None


def _was_interrupt(error: Exception) -> bool:
    """Whether an error is what a library made of Ctrl-C: pydantic's, of one that comes while a model is declared."""
    made = type(error).__name__ == "SchemaError" and KeyboardInterrupt.__name__ in str(error)
    return made or isinstance(error.__cause__, KeyboardInterrupt)


def _without_plugins(argv: list[str]) -> tuple[list[str], list[str]]:
    """The command line without ``--plugin FILE``, wherever it stands before ``--``, and the files."""
    end = argv.index("--") if "--" in argv else len(argv)
    rest, files = [], []
    words = iter(argv[:end])
    for word in words:
        option, equals, value = word.partition("=")
        if option != "--plugin":
            rest.append(word)
            continue
        file = value if equals else next(words, "")
        if not file or file.startswith("-"):
            raise McLsError("--plugin needs a Python file, such as: mcls run mine.yaml --plugin mine.py")
        files.append(file)
    return rest + argv[end:], files


def _one_line(error: Exception) -> str:
    return in_words(" ".join(str(error).split()))


app.add_typer(data.app, name="data")
app.add_typer(store.app, name="store")

for _command in (run, validate, init, compare, machines, labelbooks, fit, predict, evaluate, inspect, explain):
    app.command()(_command)
app.command()(tables)
app.command()(plot)
app.command()(report)
app.command()(export)
