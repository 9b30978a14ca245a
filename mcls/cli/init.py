"""``mcls init``: write a commented config for a table of the user's own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mcls.cli.fit import Drop, Header, Keep


def init(
    data: Annotated[Path, typer.Argument(metavar="DATA.csv", help="A CSV or TSV file with a class column.")],
    target: Annotated[
        str, typer.Option(metavar="COLUMN", help="The class column: its name, or its index from 0.")
    ] = "-1",
    header: Header = None,
    drop: Drop = None,
    keep: Keep = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="The config to write; DATA.yaml here.")
    ] = None,
) -> None:
    """Write a commented starter config for a table of your own.

    A column of text becomes one 0/1 feature for each of its texts, as in mcls fit, and is scaled like the others.

    Example: mcls init flowers.csv --target species -o flowers.yaml
    """
    from mcls.experiments.starter import write_starter

    path = write_starter(data, target, output, header, drop or [], keep or [])
    typer.echo(f"wrote {path}; now: mcls run {path}")
