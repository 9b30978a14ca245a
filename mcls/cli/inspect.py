"""``mcls inspect``: what a model is, from what data, with what parameters."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mcls.cli.options import Force, Json, Model


def inspect(
    model: Model,
    card: Annotated[
        Path | None,
        typer.Option("--card", metavar="CARD.md", help="Write a model card in Markdown; - is standard output."),
    ] = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Say what a model file holds: machine, data, columns, parameters, errors, versions.

    Examples: mcls inspect flowers.mcls, mcls inspect flowers.mcls --card flowers.md
    """
    from mcls.cli.documents import model_content, print_json
    from mcls.cli.outputs import check_output, open_output, standard_output_place
    from mcls.cli.printing import print_table
    from mcls.models.card import model_card
    from mcls.models.describe import describe
    from mcls.models.outline import load_outline, load_table_outline
    from mcls.models.skops_files import is_skops
    from mcls.models.table import TableModel
    from mcls.terminal import echo

    if card is not None:
        where = standard_output_place(card) or card
        check_output(where, model, kind="card", force=force)
        table_model, versions = load_table_outline(model)
        with open_output(where) as stream:
            stream.write(model_card(table_model, versions, model.name).encode("utf-8"))
        if str(where) != "-":
            echo(f"model card written to {where}")
        return
    loaded, versions = load_outline(model)
    if as_json:
        table = model_content(loaded) if isinstance(loaded, TableModel) else {}
        kind = type(loaded.estimator if isinstance(loaded, TableModel) else loaded).__name__
        print_json("inspect", {"model": str(model), "class": kind, "versions": versions, **table})
        return
    print_table(None, ["", model.name], describe(loaded, versions))
    if not is_skops(model):  # which has no checksum
        typer.echo("the checksum fits: the file is as it was written")
