"""Options and arguments that several commands share; each command file declares only its own.

Nothing is imported here that learns or reads: the help of every command loads this file.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from mcls.cli.completing import config_names, experiment_names, machine_names
from mcls.cli.outputs import standard_output_place
from mcls.cli.standard_input import from_standard_input


class Engine(StrEnum):
    """How cross-validation is computed."""

    fast = "fast"
    refit = "refit"


# Runs and their results.

Jobs = Annotated[
    int,
    typer.Option(
        "-j",
        "--jobs",
        min=0,
        metavar="N",
        help="Processes; 0, the default, means one per core.",
        show_default=False,
    ),
]
Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder of results.")]
Fresh = Annotated[bool, typer.Option("--fresh", help="Compute everything, whatever is there.")]
Scheduler = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="Address of a running Dask scheduler (implies dask).")
]
Quick = Annotated[
    bool,
    typer.Option(
        "--quick", envvar="QUICK", help="Fewer replicates, smaller grids; results go to DIR/quick/ and say so."
    ),
]
Against = Annotated[
    str | None,
    typer.Option(
        "--against",
        metavar="MACHINE",
        help="For an experiment: test every other machine against this one.",
        autocompletion=machine_names,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document (docs/json.md has its keys).")]


def config_argument(help_text: str) -> Any:
    """The argument that names a config."""
    return typer.Argument(metavar="CONFIG", help=help_text, autocompletion=config_names)


def experiment_argument(
    metavar: str = "NAME", help_text: str = "An experiment or a suite in DIR, or a config."
) -> Any:
    """The argument that names an experiment that has run."""
    return typer.Argument(metavar=metavar, help=help_text, autocompletion=experiment_names)


def seed_option(help_text: str) -> Any:
    """The option of a seed."""
    return typer.Option(min=0, max=2**32 - 1, help=help_text)


# Models and the files that a command writes.

Model = Annotated[Path, typer.Argument(metavar="MODEL.mcls", help="What mcls fit wrote.")]
Force = Annotated[bool, typer.Option("--force", help="Replace an existing file, whatever it holds.")]


def output_option(what: str) -> Any:
    """The option that names the file a command writes."""
    return typer.Option(
        "-o", "--output", metavar="FILE", help=f"{what}; - is standard output.", callback=standard_output_place
    )


def picture_option(what: str) -> Any:
    """The option that names a picture which a command draws beside what it prints."""
    return typer.Option("--picture", metavar="FILE.png", help=f"Also draw {what} (.png, .svg or .pdf).")


# Tables of the user: how they are written, and what their columns are for.

Labelled = Annotated[
    Path,
    typer.Argument(
        metavar="LABELLED.csv",
        help="A table with the class column too; - is standard input.",
        callback=from_standard_input,
    ),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first row names the columns; otherwise the table tells. Without names they are x0, x1, ...",
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option("--drop", metavar="COLUMN", help="Leave a column, or all like note*, out; repeat for more."),
]
Keep = Annotated[
    list[str] | None,
    typer.Option("--keep", metavar="COLUMN", help="Use a column although it counts the rows; repeat for more."),
]
Categorical = Annotated[
    list[str] | None,
    typer.Option(
        "--categorical",
        metavar="COLUMN",
        help="A column whose numbers are codes: one 0/1 feature per code; repeat for more.",
    ),
]
Ordinal = Annotated[
    list[str] | None,
    typer.Option(
        "--ordinal", metavar="COLUMN=A<B<C", help="A column whose texts have this order; repeat for more."
    ),
]
Missing = Annotated[
    str,
    typer.Option(
        metavar="refuse|impute",
        help="Missing values: refuse them, or use the median of the training rows, and for text a level of its own.",
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        metavar="CHARACTER", help="The character between two cells, or comma, semicolon, tab, pipe, space."
    ),
]
Decimal = Annotated[str | None, typer.Option(metavar=".|,", help="The decimal mark of the numbers.")]
Encoding = Annotated[str | None, typer.Option(metavar="NAME", help="The encoding of the text, such as latin-1.")]
Strict = Annotated[bool, typer.Option("--strict", help="Refuse a text that the training table did not have.")]
