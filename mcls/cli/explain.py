"""``mcls explain``: which columns a model needs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mcls.cli.options import (
    Decimal,
    Delimiter,
    Encoding,
    Force,
    Json,
    Labelled,
    Model,
    picture_option,
    seed_option,
)


def explain(
    model: Model,
    table: Labelled,
    picture: Annotated[Path | None, picture_option("bars")] = None,
    force: Force = False,
    repeats: Annotated[int, typer.Option(min=1, max=1000, help="Permutations of each column.")] = 10,
    rows: Annotated[int, typer.Option(min=10, max=10**6, help="Rows at most, drawn at random.")] = 2000,
    seed: Annotated[int, seed_option("Seed of the permutations and the sample.")] = 0,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    as_json: Json = False,
) -> None:
    """Print by how much the error grows when the values of one column are permuted among the rows.

    Give rows that the model has not seen. On the table that it was fitted to, machines with the same parameters are
    fitted to four fifths of the rows and asked about the others, five times, so that no row is judged by a machine
    that knows it. A column whose information another column has too
    gets little importance.

    Example: mcls explain flowers.mcls labelled.csv --picture importance.png
    """
    from mcls.cli.documents import print_json
    from mcls.cli.outputs import check_drawing, interruptible
    from mcls.cli.printing import print_note, print_table
    from mcls.cli.progress import Steps
    from mcls.data.formats import TableFormat
    from mcls.models.explaining import explain_table
    from mcls.models.saving import load_table_model
    from mcls.terminal import echo

    form = TableFormat(delimiter, decimal, encoding)
    check_drawing(picture, model, table, force=force)
    loaded = load_table_model(model)[0]
    with interruptible("nothing was written; the same command starts again"):
        with Steps() as on_step:
            found = explain_table(
                loaded, table, repeats=repeats, rows=rows, seed=seed, form=form, say=print_note, on_step=on_step
            )
        if picture is not None:
            found.draw(picture)
    if as_json:
        facts = {"rows": found.rows, "error": found.error, "out_of_fold": found.out_of_fold, "repeats": repeats}
        print_json("explain", {"table": table.name, **facts, "columns": found.to_json()})
        return
    where = (
        "out of fold: the model was fitted to these very rows" if found.out_of_fold else "rows of another table"
    )
    echo(f"{table.name}: error {100 * found.error:.2f} % of {found.rows} rows ({where})")
    print_table(None, *found.table())
    if picture is not None:
        echo(f"importance drawn to {picture}")
