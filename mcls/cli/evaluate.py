"""``mcls evaluate``: how good a model is on a labelled table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mcls.cli.guard import Force
from mcls.cli.predict import Model


def evaluate(
    model: Model,
    table: Annotated[Path, typer.Argument(metavar="LABELLED.csv", help="A table with the class column too.")],
    picture: Annotated[
        Path | None,
        typer.Option("--picture", metavar="FILE.png", help="Also draw the confusion matrix (.png, .svg or .pdf)."),
    ] = None,
    force: Force = False,
) -> None:
    """Print the error, each class's recall and precision, and the confusion matrix of a model on a table.

    A note tells how many rows lie far outside the range of the training table, as those in another unit do.

    Example: mcls evaluate flowers.mcls labelled.csv --picture confusion.png
    """
    from mcls.cli.guard import check_output, interruptible
    from mcls.cli.show import print_note, print_table
    from mcls.models.judging import check_picture
    from mcls.models.saving import load_table_model
    from mcls.models.streaming import judge_table
    from mcls.terminal import echo

    if picture is not None:
        check_output(picture, model, table, kind="picture", force=force)
        check_picture(picture)
    loaded = load_table_model(model)[0]
    with interruptible("nothing was written; the same command starts again"):
        found = judge_table(loaded, table, print_note)
        wrong = round(found.error * found.n)
        echo(f"{table.name}: error {100 * found.error:.2f} % ({wrong} of {found.n} rows wrong)")
        print_table(None, *found.table())
        unknown = found.true[len(found.predicted) :]
        if unknown:
            echo(f"the model never saw the class {', '.join(unknown[:8])}: those rows count as wrong")
        if picture is not None:
            found.draw(picture)
            echo(f"confusion matrix drawn to {picture}")
