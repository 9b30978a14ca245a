"""A model in words: one line a fact."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mcls.data.encoder import DateColumn, EncodedColumn, OrdinalColumn, ScaledColumn
from mcls.models.archive import FORMAT
from mcls.models.judging import show_error, show_metrics
from mcls.models.outlined import is_ours
from mcls.models.table import ModelFacts, TableModel

_SHOWN = 12
NAMELESS = "(no name)"  # how a column without one is shown


def describe(model: Any, versions: Mapping[str, str]) -> list[list[str]]:
    """Rows (what, value) that tell a machine or a table model."""
    estimator = model.estimator if isinstance(model, TableModel) else model
    parameters = estimator.get_params(deep=False)
    rows = [["machine", type(estimator).__name__]]
    if isinstance(model, TableModel):
        rows[0][1] += f" ({model.facts.machine})"
        rows += _table_rows(model)
    else:
        rows.append(["features", str(estimator.n_features_in_)])
        rows.append(["classes", _some([str(c) for c in estimator.classes_.tolist()])])
    rows += [[f"parameter {name}", _value(value)] for name, value in parameters.items()]
    rows += [
        [f"fitted {name}", f"array {value.shape} of {value.dtype}"]
        for name, value in sorted(vars(estimator).items())
        if name not in parameters and isinstance(value, np.ndarray)
    ]
    rows += _importance_rows(model)
    rows.append(["format", str(FORMAT)])
    rows.append(["written by", ", ".join(f"{name} {version}" for name, version in versions.items())])
    return rows


def column_importances(model: Any) -> dict[str, float]:
    """Column → how much it matters, as shares of one, the most important first; empty where the machine does not say.

    The features of a column of text count together.
    """
    table = isinstance(model, TableModel)
    machine = model.estimator if table else model
    shares = machine.importances() if is_ours(machine) else None
    if shares is None:
        return {}
    if table:
        sizes = [len(column.feature_names) for column in model.encoder.columns]
        shares = np.add.reduceat(shares, np.cumsum([0, *sizes[:-1]]))
        names = [column.name for column in model.encoder.columns]
    else:
        known = vars(model).get("feature_names_in_")
        names = [f"column {i + 1}" for i in range(len(shares))] if known is None else [str(n) for n in known]
    return {names[i]: float(shares[i]) for i in np.argsort(-shares, kind="stable")}


def _importance_rows(model: Any) -> list[list[str]]:
    shares = list(column_importances(model).items())
    rows = [[f"importance of {name}", f"{100 * share:.1f} %"] for name, share in shares[:_SHOWN]]
    if rest := shares[_SHOWN:]:
        rows.append([f"importance of {len(rest)} others", f"{100 * sum(share for _, share in rest):.1f} %"])
    return rows


def _table_rows(model: TableModel) -> list[list[str]]:
    facts = model.facts
    rows = [
        ["trained on", f"{facts.file}, {facts.rows} rows"],
        ["fingerprint", facts.fingerprint],
        ["classes", f"{model.target}: " + _some([f"{name} ({count})" for name, count in facts.classes.items()])],
    ]
    if facts.dropped:
        rows.append(["left out", _some(name or NAMELESS for name in facts.dropped)])
    rows += [[f"column {column.name}", column_words(column)] for column in model.encoder.columns]
    sample = "" if facts.rows_searched == facts.rows else f" of the {facts.rows}"
    searched = f"{facts.folds} folds of {facts.rows_searched}{sample} rows, seed {facts.seed}"
    rows.append(["CV error", show_error(facts.cv_error, facts.cv_interval, searched)])
    if facts.nested_error is not None:
        rows.append(["nested CV error", f"{100 * facts.nested_error:.2f} % ({chosen_where(facts)})"])
        if facts.nested_machines:
            counts = [f"{name} in {folds}" for name, folds in facts.nested_machines.items()]
            rows.append(["chosen inside the folds", _some(counts)])
    if facts.metric != "error":
        rows.append(["chosen by", facts.metric])
    rows += [
        [f"CV {name}", show_metrics({name: value}).partition(" ")[2]] for name, value in facts.metrics.items()
    ]
    if facts.group is not None:
        rows.append(["groups", f"column {facts.group}"])
    if facts.weight is not None:
        rows.append(["weights", f"column {facts.weight}"])
    sets = "" if model.conformal is None else f"; sets of classes from {len(model.conformal.truths)} rows"
    kind = "none"
    if model.has_probabilities:
        kind = model.estimator.probability_map_.kind if is_ours(model.estimator) else "its own, not calibrated"
    rows.append(["probabilities", f"{kind}{sets}"])
    rows.append(["baseline", f"{100 * facts.baseline:.2f} % for always {facts.largest_class}"])
    rows += [[f"grid of {name}", _some([_value(v) for v in values])] for name, values in facts.grid.items()]
    rows += [["note", note] for note in facts.notes]
    return rows


def chosen_where(facts: ModelFacts) -> str:
    """What each fold of the nested error chose from its own training rows, and what was known before."""
    by_fold, named = facts.scaling == "fold", not facts.nested_machines
    inside = ["parameters"] + ["scaling"] * by_fold + ["machine"] * (not named)
    before = ["scaling"] * (not by_fold) + ["grid"] + ["machine"] * named
    told = [", ".join(words[:-1]) + " and " * (len(words) > 1) + words[-1] for words in (inside, before)]
    return f"{told[0]} chosen inside each fold; {told[1]} fixed before"


def column_words(column: EncodedColumn) -> str:
    """What a model knows of a column."""
    if isinstance(column, ScaledColumn):
        missing = "" if column.fill is None else f"; {column.fill:g} where missing"
        return f"numbers, {column.low:g} to {column.high:g}{missing}"
    if isinstance(column, DateColumn):
        return f"dates: {', '.join(part.name for part in column.parts)}"
    if isinstance(column, OrdinalColumn):
        return f"ordered: {' < '.join(column.levels[:_SHOWN])}"
    return f"text: {_some(column.levels)}"


def _value(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"array {value.shape}"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _some(texts: Any) -> str:
    texts = list(texts)
    return ", ".join(texts[:_SHOWN]) + (f", … ({len(texts)} in all)" if len(texts) > _SHOWN else "")
