"""``mcls init``: write a commented config for a table of the user's own."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from mcls.cli.options import (
    Categorical,
    Decimal,
    Delimiter,
    Drop,
    Encoding,
    Force,
    Header,
    Keep,
    Missing,
    Ordinal,
    output_option,
)


def init(
    data: Annotated[
        Path, typer.Argument(metavar="DATA.csv", help="CSV, TSV, Parquet or Feather with a class column.")
    ],
    target: Annotated[
        str, typer.Option(metavar="COLUMN", help="The class column: its name, or its index from 0.")
    ] = "-1",
    header: Header = None,
    drop: Drop = None,
    keep: Keep = None,
    categorical: Categorical = None,
    ordinal: Ordinal = None,
    missing: Missing = "refuse",
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    output: Annotated[Path | None, output_option("The config to write; DATA.yaml here")] = None,
    force: Force = False,
) -> None:
    """Write a commented starter config for a table of your own.

    A column of text becomes one 0/1 feature for each of its texts, as in mcls fit, and is scaled like the others.

    Example: mcls init flowers.csv --target species -o flowers.yaml
    """
    from mcls.cli.outputs import STANDARD_OUTPUT, check_output, open_output
    from mcls.data.formats import ColumnRules, TableFormat
    from mcls.experiments.starter import make_starter
    from mcls.terminal import echo

    form = TableFormat(delimiter, decimal, encoding, header)
    rules = ColumnRules(drop or (), keep or (), categorical or (), ordinal or (), missing)
    to_file = output != STANDARD_OUTPUT
    path, text = make_starter(data, target, output if to_file else None, form, rules)
    place = path if to_file else STANDARD_OUTPUT
    check_output(place, data, kind="config", force=force)
    with open_output(place) as stream:
        stream.write(text.encode("utf-8"))
    if to_file:
        echo(f"wrote {path}; now: mcls run {shlex.quote(str(path))}")
