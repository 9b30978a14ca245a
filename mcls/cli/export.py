"""``mcls export``: the results of an experiment as one tidy table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mcls.cli.options import Force, Out, experiment_argument, output_option
from mcls.cli.outputs import STANDARD_OUTPUT, beside, check_output, open_output
from mcls.terminal import counted, echo


def export(
    experiment: Annotated[str, experiment_argument()],
    output: Annotated[Path, output_option("Where the table goes: .csv or .parquet")],
    predictions: Annotated[
        bool, typer.Option("--predictions", help="One row per predicted row of the data instead.")
    ] = False,
    out: Out = Path("results"),
    force: Force = False,
) -> None:
    """Write the results of an experiment as one tidy table: a row per cell and metric.

    Values are as stored: an error of 2.5 percent is 0.025. Parquet needs the package pyarrow.

    Examples: mcls export mine -o results.csv, mcls export mine --predictions -o predictions.parquet
    """
    from mcls.cli.printing import print_damaged
    from mcls.reporting.board import find_board
    from mcls.reporting.export import check_suffix, predictions_table, results_table, to_bytes
    from mcls.reporting.studies import Studies

    if output != STANDARD_OUTPUT:
        check_suffix(output)
    check_output(output, kind="table", force=force)
    board = find_board(Studies(out), experiment)
    table = predictions_table(board) if predictions else results_table(board)
    with open_output(output) as stream:
        stream.write(to_bytes(table, output.suffix or ".csv"))
    with beside(output):
        unfinished = sum(row.line.missing + row.line.failed for row in board.rows.values())
        more = (
            f"; {counted(unfinished, 'cell')} not done and left out, to run them: {board.command}"
            if unfinished
            else ""
        )
        echo(f"{counted(len(table), 'row')} written to {output}{more}")
    print_damaged(*(study.store for study in board.studies))
