"""``mcls evaluate``: how good a model is on a labelled table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from mcls.cli.options import Decimal, Delimiter, Encoding, Force, Json, Labelled, Model, Strict, picture_option

if TYPE_CHECKING:
    from mcls.data.formats import TableFormat
    from mcls.models.judging import Confusion
    from mcls.models.table import TableModel


def evaluate(
    model: Model,
    table: Labelled,
    picture: Annotated[
        Path | None,
        picture_option("the confusion matrix, and reliability and ROC of the probabilities"),
    ] = None,
    force: Force = False,
    strict: Strict = False,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    as_json: Json = False,
) -> None:
    """Print the error and other metrics, each class's recall and precision, and the confusion matrix of a model.

    A model with probabilities is also judged by log-loss, Brier score, area under the ROC curve (each class against
    the rest) and the error of the two most probable classes.

    The error has a 95 % interval (Wilson) and stands beside that of always predicting the training
    table's largest class. On the
    training table itself it says nothing about new rows: the cross-validation error is printed beside it.

    A note tells how many rows lie far outside the range of the training table, as those in another unit do.

    Example: mcls evaluate flowers.mcls labelled.csv --picture confusion.png
    """
    from mcls.cli.documents import print_json
    from mcls.cli.outputs import check_drawing, interruptible
    from mcls.cli.printing import print_note, print_table
    from mcls.cli.progress import Steps
    from mcls.data.formats import TableFormat
    from mcls.models.saving import load_table_model
    from mcls.models.streaming import Care, judge_table
    from mcls.terminal import echo

    form = TableFormat(delimiter, decimal, encoding)
    check_drawing(picture, model, table, force=force)
    loaded = load_table_model(model)[0]
    with interruptible("nothing was written; the same command starts again"):
        with Steps() as on_step:
            found = judge_table(loaded, table, print_note, on_step, form, Care(strict=strict))
        if as_json:
            print_json("evaluate", evaluation_content(loaded, table, found, form))
            if picture is not None:
                found.draw(picture)
            return
        print_evaluation(loaded, table, found, form)
        print_table(None, *found.table())
        if picture is not None:
            found.draw(picture)
            curves = "" if found.probabilities is None else ", reliability and ROC curves"
            echo(f"confusion matrix{curves} drawn to {picture}")


def evaluation_content(model: TableModel, table: Path, found: Confusion, form: TableFormat) -> dict[str, Any]:
    """What was found, as values."""
    from mcls.cli.documents import confusion_content
    from mcls.evaluation.statistics import wilson
    from mcls.models.streaming import is_training_table

    return {
        "table": table.name,
        "training_table": found.n == model.facts.rows and is_training_table(model, table, form),
        "rows": found.n,
        "mistakes": found.mistakes,
        "error": found.error,
        "interval": wilson(found.mistakes, found.n),
        "always_largest": found.error_of_always(model.facts.largest_class),
        "metrics": found.metrics(),
        "confusion": confusion_content(found),
    }


def print_evaluation(model: TableModel, table: Path, found: Confusion, form: TableFormat) -> None:
    """The error, the other metrics, and the classes that the model does not know."""
    from mcls.models.judging import show_metrics
    from mcls.terminal import echo

    echo(_error(model, table, found, form))
    echo(show_metrics({name: value for name, value in found.metrics().items() if name != "error"}))
    if unknown := found.true[len(found.predicted) :]:
        echo(f"the model never saw the class {', '.join(unknown[:8])}: those rows count as wrong")


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
