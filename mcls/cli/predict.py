"""``mcls predict``: a model and a CSV in, the CSV with a column of predictions out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Model = Annotated[Path, typer.Argument(metavar="MODEL.mcls", help="What mcls fit wrote.")]


def predict(
    model: Model,
    table: Annotated[
        Path, typer.Argument(metavar="NEW.csv", help="The training table's columns in any order; others are kept.")
    ],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Where to write; otherwise to the terminal."),
    ] = None,
    scores: Annotated[
        bool, typer.Option("--scores", help="Also the score of each class; the largest wins.")
    ] = False,
) -> None:
    """Predict the class of each row of a table; it may be larger than memory.

    A note tells how many rows lie far outside the range of the training table, as those in another unit do.

    Example: mcls predict flowers.mcls new.csv -o named.csv
    """
    import io
    import sys
    from contextlib import nullcontext

    from mcls.cli.guard import check_output, interruptible, writing
    from mcls.cli.progress import Steps
    from mcls.cli.show import print_note
    from mcls.files import open_atomic
    from mcls.models.saving import load_table_model
    from mcls.models.streaming import predict_table

    loaded = load_table_model(model)[0]
    if output is None:
        # On a terminal the rows themselves show how far it is.
        with (
            interruptible("the output is not complete"),
            nullcontext() if sys.stdout.isatty() else Steps() as told,
        ):
            predict_table(loaded, table, sys.stdout, scores, print_note, told)
        return
    check_output(output)
    with (
        interruptible(f"{output} was not written; the same command starts again"),
        writing(output),
        open_atomic(output) as raw,
        Steps() as on_step,
    ):
        text = io.TextIOWrapper(raw, encoding="utf-8", newline="", write_through=True)
        count = predict_table(loaded, table, text, scores, print_note, on_step)
        text.detach()
    typer.echo(f"{count} rows written to {output}")
