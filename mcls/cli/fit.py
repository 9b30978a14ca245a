"""``mcls fit``: a CSV in, a model out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from mcls.models.fitting import Fitted

Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first row names the columns; otherwise the table tells. Without names they are x0, x1, ...",
    ),
]


def fit(
    table: Annotated[Path, typer.Argument(metavar="DATA.csv", help="CSV or TSV in UTF-8, also gzipped.")],
    target: Annotated[
        str, typer.Option(metavar="COLUMN", help="The class column: its name, or its index; -1 is the last.")
    ] = "-1",
    header: Header = None,
    machine: Annotated[
        str, typer.Option(metavar="NAME", help="A machine, such as oneLSM:kernel=linear, or auto.")
    ] = "oneLSM",
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="The model.")] = Path(
        "model.mcls"
    ),
    grid: Annotated[
        str,
        typer.Option(
            metavar="auto|paper|RANGES",
            help="Widths around the median distance, extended around the choice; the grid of the machine's paper; or "
            "ranges and lists joined by commas, such as gamma=2^-8..2^2,sigma=0.5+1+2. What is left out has the grid "
            "of the paper.",
        ),
    ] = "auto",
    nested: Annotated[
        bool, typer.Option("--nested", help="Also the error with the parameters chosen inside each fold.")
    ] = False,
    folds: Annotated[
        str, typer.Option(metavar="K", help="Folds of the cross-validation; loo leaves out one row at a time.")
    ] = "10",
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Of the folds and samples.")] = 0,
) -> None:
    """Fit a machine to a table of your own, its parameters chosen by exact cross-validation.

    A column of numbers is scaled to [-1, 1]; any other becomes one 0/1 feature for each of its texts.

    --machine auto ranks the fast machines and tests the best two against each other.

    --nested searches the grid inside each fold, and prints the predictions of that. The scaling, the automatic grid
    with its extension and the machine of auto still come from all rows, so some optimism remains.

    Example: mcls fit flowers.csv --target species -o flowers.mcls
    """
    from mcls.cli.guard import check_output, interruptible
    from mcls.cli.show import print_note
    from mcls.errors import McLsError
    from mcls.evaluation.folds import parse_folds
    from mcls.models.fitting import fit_table
    from mcls.models.saving import save

    check_output(output)
    try:
        count = parse_folds(folds)
    except McLsError as error:
        raise McLsError(f"--folds {error}") from None
    with interruptible("no model was written; the same command starts again"):
        fitted = fit_table(
            table,
            target,
            machine,
            grid,
            header=header,
            folds=count,
            seed=seed,
            nested=nested,
            say=print_note,
        )
        _print(fitted, automatic_grid=grid == "auto")
        save(fitted.model, output)
    typer.echo(f"model written to {output}")


def _print(fitted: Fitted, automatic_grid: bool) -> None:
    from mcls.cli.show import print_table
    from mcls.errors import printable
    from mcls.experiments.specs import format_options

    facts, found = fitted.model.facts, fitted.selection
    columns = fitted.model.encoder.columns
    texts = sum(column.kind == "text" for column in columns)
    typer.echo(
        f"{facts.file}: {facts.rows} rows, {len(columns)} columns "
        f"({len(columns) - texts} of numbers, {texts} of text), "
        f"{len(facts.classes)} classes in '{printable(fitted.model.target)}'"
    )
    if fitted.ranking is not None:
        rows = [
            [r.machine, f"{100 * r.error:.2f}", f"{100 * r.spread:.2f}", f"{r.seconds:.1f}", _shown(r.best_params)]
            for r in fitted.ranking.machines
        ]
        print_table(
            "machines by CV error in percent",
            ["machine", "error", "std over folds", "seconds", "parameters"],
            rows,
        )
        typer.echo(f"5x2cv F-test of the best two: {fitted.ranking.verdict()}")
    sample = f" on a sample of {len(found.rows)} of the {facts.rows} rows" * (len(found.rows) < facts.rows)
    typer.echo(
        f"{facts.machine}: CV error {100 * found.error:.2f} %{sample}, standard deviation over the folds "
        f"{100 * found.spread:.2f} ({found.folds} folds, {len(found.results)} grid points, {len(found.rows)} rows; "
        f"the folds that choose also judge) at {_shown(found.best_params) or 'the parameters given'}"
    )
    if found.nested_error is not None and found.nested_spread is not None:
        grid = "the extended grid" if found.extended else "the grid"
        outside = ["the scaling", *[grid] * automatic_grid, *["the machine"] * (fitted.ranking is not None)]
        typer.echo(
            f"nested CV error {100 * found.nested_error:.2f} %{sample}, standard deviation over the folds "
            f"{100 * found.nested_spread:.2f} (parameters chosen inside each fold; from all rows: {', '.join(outside)})"
        )
    chosen = "at the parameters above" if found.nested_error is None else "parameters chosen inside each fold"
    print_table(f"out-of-fold predictions, {chosen}", *fitted.confusion.table())
    options = {k: v for k, v in found.estimator.get_params(deep=False).items() if k in ("solver", "n_landmarks")}
    if options.get("solver") == "nystrom":
        typer.echo(f"fitted with {format_options(options)}")


def _shown(parameters: dict[str, object]) -> str:
    return ", ".join(f"{k}={v:.4g}" if isinstance(v, float) else f"{k}={v}" for k, v in parameters.items())
