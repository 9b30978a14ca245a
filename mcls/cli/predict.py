"""``mcls predict``: a model and a CSV in, the CSV with a column of predictions out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mcls.cli.options import Decimal, Delimiter, Encoding, Force, Model, Strict, output_option
from mcls.cli.outputs import STANDARD_OUTPUT
from mcls.cli.standard_input import from_standard_input


def predict(
    model: Model,
    table: Annotated[
        Path,
        typer.Argument(
            metavar="NEW.csv",
            help="The training table's columns in any order; others are kept. - is standard input.",
            callback=from_standard_input,
        ),
    ],
    output: Annotated[Path, output_option("Where to write")] = STANDARD_OUTPUT,
    force: Force = False,
    scores: Annotated[
        bool, typer.Option("--scores", help="Also the score of each class; the largest wins.")
    ] = False,
    proba: Annotated[
        bool,
        typer.Option("--proba", help="Also the probability of each class; the largest is the predicted one's."),
    ] = False,
    coverage: Annotated[
        float | None,
        typer.Option(
            metavar="0.9",
            help="Also a set of classes that holds the true one with this probability, the most probable first.",
        ),
    ] = None,
    on_error: Annotated[
        str,
        typer.Option(
            metavar="stop|skip",
            help="A row that cannot be read: stop there, or write it with an empty prediction and the reason.",
        ),
    ] = "stop",
    strict: Strict = False,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
) -> None:
    """Predict the class of each row of a table; it may be larger than memory.

    A text that the training table did not have counts as none of the known ones; a note says so (--strict refuses it).
    A note tells how many rows lie far outside the range of the training table, as those in another unit do.

    --coverage 0.9 adds a set of classes, joined by |, that holds the true one in at least 90 % of new rows if they come
    from the same source as the training table (split-conformal; approximate, since its rows were scored out of fold).
    This holds on average over rows, not for each class. A set is never empty.

    Example: mcls predict flowers.mcls new.csv -o named.csv
    """
    import io
    import sys
    from contextlib import nullcontext

    from mcls.cli.outputs import check_output, interruptible, open_output
    from mcls.cli.printing import print_note
    from mcls.cli.progress import Steps
    from mcls.data.formats import TableFormat
    from mcls.models.saving import load_table_model
    from mcls.models.streaming import Care, Extra, predict_table
    from mcls.terminal import echo

    form = TableFormat(delimiter, decimal, encoding)
    check_output(output, model, table, kind="table", force=force)
    loaded = load_table_model(model)[0]
    extra = Extra(scores, proba, coverage)
    extra.check(loaded)
    to_file = output != STANDARD_OUTPUT
    state = f"{output} was not written; the same command starts again" if to_file else "the output is not complete"
    # On a terminal the rows themselves show how far it is.
    shown = Steps() if to_file or not sys.stdout.isatty() else nullcontext()
    with interruptible(state), open_output(output) as raw, shown as told:
        text = io.TextIOWrapper(raw, encoding="utf-8", newline="", write_through=True)
        try:
            count = predict_table(loaded, table, text, extra, print_note, told, form, Care(on_error, strict))
        finally:
            text.detach()
    if to_file:
        echo(f"{count} rows written to {output}")
