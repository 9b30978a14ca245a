"""A model card: what a model is, from what data, how well it does and what it is not for, as a page of Markdown."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from mcls.files import without_html
from mcls.models.describe import NAMELESS, chosen_where, column_words
from mcls.models.judging import show_error
from mcls.models.table import TableModel


def model_card(model: TableModel, versions: Mapping[str, str], name: str) -> str:
    """The card of a table model, after Mitchell et al. 2019; only what the model file knows."""
    facts = model.facts
    sample = "" if facts.rows_searched == facts.rows else f" of a sample of {facts.rows_searched} rows"
    searched = f"{facts.folds} folds{sample}, seed {facts.seed}"
    parameters = model.estimator.get_params(deep=False)
    errors = [
        [
            "cross-validation",
            show_error(facts.cv_error, facts.cv_interval, searched),
            "the folds that chose also judged",
        ]
    ]
    if facts.nested_error is not None:
        errors.append(["nested cross-validation", f"{100 * facts.nested_error:.2f} %", chosen_where(facts)])
    errors.append(["always the largest class", f"{100 * facts.baseline:.2f} %", facts.largest_class])
    honest = (
        "The honest error is that of the nested cross-validation."
        if facts.nested_error is not None
        else "No honest error is known: the cross-validation error is optimistic, since its folds also chose the "
        "parameters. `mcls fit --nested` finds one, and `mcls evaluate` judges rows that the model has not seen."
    )
    grid = ", ".join(f"{key} over {len(values)} values" for key, values in facts.grid.items())
    impute = any("missing" in column_words(column) for column in model.encoder.columns)
    limits = [
        "It knows the classes above and no others: every row gets one of them.",
        "Numbers far outside the training ranges, and texts that training did not have, are told by `mcls predict` in "
        "a note; what is predicted there is not covered by the errors above.",
        "Missing values are filled in as the table of columns says." if impute else "It refuses missing values.",
        "The errors hold for rows drawn like the training rows: not for another time, place or way of measuring.",
        "The file holds what it learnt from, in a kernel machine the training rows themselves: do not publish a model "
        "of data that you would not publish.",
    ]
    parts = [
        f"# Model card: {_text(name)}",
        f"A classifier of the column '{_text(model.target)}' by {type(model.estimator).__name__} "
        f"(`{_text(facts.machine)}`), made by mcls.",
        "## Data",
        _table(
            ["", ""],
            [
                ["table", facts.file],
                ["rows", str(facts.rows)],
                ["fingerprint", facts.fingerprint],
                *(
                    [["columns left out", ", ".join(name or NAMELESS for name in facts.dropped)]]
                    if facts.dropped
                    else []
                ),
            ],
        ),
        _table(["class", "rows"], [[label, str(count)] for label, count in facts.classes.items()]),
        _table(["column", "what is known of it"], [[c.name, column_words(c)] for c in model.encoder.columns]),
        "## Errors",
        _table(["protocol", "error", ""], errors),
        honest,
        *_class_metrics(facts),
        "## Parameters",
        _table(["parameter", "value"], [[key, _value(value)] for key, value in parameters.items()]),
        f"Searched: {_text(grid or 'nothing')}.",
        "## Limits",
        "\n".join(f"- {text}" for text in limits),
        *(["## Notes of the fit", "\n".join(f"- {_text(note)}" for note in facts.notes)] if facts.notes else []),
        "## Versions",
        _text(", ".join(f"{package} {version}" for package, version in versions.items())) + ".",
    ]
    return "\n\n".join(parts) + "\n"


def _class_metrics(facts: Any) -> list[str]:
    """Recall and precision of each class out of fold, where the model keeps its confusion."""
    counts = facts.confusion
    if counts is None:
        return ["Recall and precision of each class are not known of a model from before mcls kept them."]
    names = list(facts.classes)
    rows = []
    for i, name in enumerate(names):
        given, right = sum(counts[i]), counts[i][i]
        said = sum(row[i] for row in counts)
        rows.append([name, str(given), _share(right, given), _share(right, said)])
    return [_table(["class", "rows judged out of fold", "recall", "precision"], rows)]


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else ""


def _value(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _table(columns: list[str], rows: list[list[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(_text(cell) for cell in line)} |" for line in lines)


def _text(text: str) -> str:
    """Text of the user's in Markdown: no HTML, no cells, no links, one line."""
    plain = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in " ".join(text.split()))
    return re.sub(r"([|\[\]`*_])", r"\\\1", without_html(plain)) if plain != "---" else plain
