"""``mcls evaluate``: how good a model is on a labelled table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mcls.cli.guard import Force
from mcls.cli.own_tables import Decimal, Delimiter, Encoding, Strict, from_standard_input
from mcls.cli.predict import Model

if TYPE_CHECKING:
    from mcls.data.formats import TableFormat
    from mcls.models.judging import Confusion
    from mcls.models.table import TableModel


def evaluate(
    model: Model,
    table: Annotated[
        Path,
        typer.Argument(
            metavar="LABELLED.csv",
            help="A table with the class column too; - is standard input.",
            callback=from_standard_input,
        ),
    ],
    picture: Annotated[
        Path | None,
        typer.Option(
            "--picture",
            metavar="FILE.png",
            help="Also draw the confusion matrix, and of probabilities reliability and ROC (.png, .svg or .pdf).",
        ),
    ] = None,
    force: Force = False,
    strict: Strict = False,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
) -> None:
    """Print the error and other metrics, each class's recall and precision, and the confusion matrix of a model.

    A model with probabilities is also judged by log-loss, Brier score, area under the ROC curve (each class against
    the rest) and the error of the two most probable classes.

    The error has a 95 % interval (Wilson) and stands beside that of always the training table's largest class. On the
    training table itself it says nothing about new rows: the cross-validation error is printed beside it.

    A note tells how many rows lie far outside the range of the training table, as those in another unit do.

    Example: mcls evaluate flowers.mcls labelled.csv --picture confusion.png
    """
    from mcls.cli.guard import check_output, interruptible
    from mcls.cli.progress import Steps
    from mcls.cli.show import print_note, print_table
    from mcls.data.formats import TableFormat
    from mcls.models.judging import check_picture, show_metrics
    from mcls.models.saving import load_table_model
    from mcls.models.streaming import Care, judge_table
    from mcls.terminal import echo

    form = TableFormat(delimiter, decimal, encoding)
    if picture is not None:
        check_output(picture, model, table, kind="picture", force=force)
        check_picture(picture)
    loaded = load_table_model(model)[0]
    with interruptible("nothing was written; the same command starts again"):
        with Steps() as on_step:
            found = judge_table(loaded, table, print_note, on_step, form, Care(strict=strict))
        echo(_error(loaded, table, found, form))
        echo(show_metrics({name: value for name, value in found.metrics().items() if name != "error"}))
        print_table(None, *found.table())
        unknown = found.true[len(found.predicted) :]
        if unknown:
            echo(f"the model never saw the class {', '.join(unknown[:8])}: those rows count as wrong")
        if picture is not None:
            found.draw(picture)
            curves = "" if found.probabilities is None else ", reliability and ROC curves"
            echo(f"confusion matrix{curves} drawn to {picture}")


def _error(model: TableModel, table: Path, found: Confusion, form: TableFormat) -> str:
    """The error in a sentence, with what it is to be compared with; on the training table it says nothing."""
    from mcls.errors import printable
    from mcls.evaluation.statistics import wilson
    from mcls.models.judging import show_error
    from mcls.models.streaming import is_training_table

    facts = model.facts
    wrong = f"{found.mistakes} of {found.n} rows wrong"
    always = (
        f"{100 * found.error_of_always(facts.largest_class):.2f} % for always {printable(facts.largest_class)}"
    )
    if found.n != facts.rows or not is_training_table(model, table, form):
        interval = wilson(found.mistakes, found.n)
        return f"{table.name}: error {show_error(found.error, interval, wrong)}, {always}"
    expected = show_error(facts.cv_error, facts.cv_interval, "the folds that chose also judged")
    nested = "" if facts.nested_error is None else f", nested CV error {100 * facts.nested_error:.2f} %"
    return (
        f"{table.name}: training error {100 * found.error:.2f} % ({wrong}): the model was fitted to these very rows; "
        f"for new rows see its CV error {expected}{nested}, {always}"
    )
