"""``mcls inspect``: what a model is, from what data, with what parameters."""

from __future__ import annotations

import typer

from mcls.cli.predict import Model


def inspect(model: Model) -> None:
    """Say what a model file holds: machine, data, columns, parameters, errors, versions.

    Example: mcls inspect flowers.mcls
    """
    from mcls.cli.show import print_table
    from mcls.models.describe import describe
    from mcls.models.saving import load_with_versions

    loaded, versions = load_with_versions(model)
    print_table(None, ["", model.name], describe(loaded, versions))
    typer.echo("the checksum fits: the file is as it was written")
