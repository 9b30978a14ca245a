"""``mcls store``: whether the stored results are what was computed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mcls.cli.typer_app import App
from mcls.terminal import counted

app = App(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Stored results: whether they are sound.",
    epilog="Examples:  mcls store verify results   |   mcls store verify results/iris --repair",
)


@app.callback()
def _group() -> None:
    """Keep ``verify`` a command of its own, though it is the only one."""


@app.command()
def verify(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder of results, or one experiment in it.")],
    repair: Annotated[
        bool, typer.Option("--repair", help="Remove damaged cells; the next run computes them again.")
    ] = False,
) -> None:
    """Check every cell in and below DIR against its checksum, and list what is damaged.

    Cells of earlier versions have no checksum: of those, only the content is checked. The exit code is 1 when
    something is damaged and stays.

    Examples: mcls store verify results, mcls store verify results/iris --repair
    """
    from mcls.errors import printable
    from mcls.experiments.verify import verify as check

    found = check(folder, repair)
    for path, reason in found.damaged.items():
        typer.echo(f"damaged: {printable(f'{path}: {reason}')}")
    parts = [f"{counted(found.sound, 'cell')} sound"]
    parts += [f"{found.unchecked} of them without a checksum"] if found.unchecked else []
    parts += [f"{found.newer} of a later version"] if found.newer else []
    parts += [f"{len(found.damaged)} damaged"]
    if found.removed:
        parts += [f"{found.removed} removed: run the config again to compute them"]
    elif found.damaged and not repair:
        parts += ["--repair removes them, and the next run computes them again"]
    typer.echo(", ".join(parts))
    if len(found.damaged) > found.removed:
        raise typer.Exit(1)
