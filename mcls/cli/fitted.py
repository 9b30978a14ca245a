"""What ``mcls fit`` prints of a fitted table. Imported when there is one: it loads what fitting has loaded."""

from __future__ import annotations

import numpy as np
import typer

from mcls.cli.printing import kind_counts, print_table
from mcls.errors import printable
from mcls.evaluation.statistics import honest_interval, wilson
from mcls.models.fitting import Fitted
from mcls.models.judging import show_error, show_interval, show_metrics
from mcls.specs import format_options


def print_fitted(fitted: Fitted, automatic_grid: bool) -> None:
    """The table, the machines in their order, the errors with their intervals, the confusion."""
    facts, found = fitted.model.facts, fitted.selection
    columns = fitted.model.encoder.columns
    kinds = kind_counts([column.kind for column in columns])

    def interval(error: float) -> tuple[float, float]:
        return wilson(error * found.n_independent, found.n_independent)

    typer.echo(
        f"{printable(facts.file)}: {facts.rows} rows, {len(columns)} columns ({kinds}), "
        f"{len(facts.classes)} classes in '{printable(fitted.model.target)}'"
    )
    if fitted.ranking is not None:
        titles = ["machine", "error", "95 %", "log-loss", "seconds", "parameters"]
        rows = [
            [
                r.machine,
                f"{100 * r.error:.2f}",
                show_interval(interval(r.error)),
                f"{r.log_loss:.4f}",
                f"{r.seconds:.1f}",
                _shown(r.best_params),
            ]
            for r in fitted.ranking.machines
        ]
        print_table("machines, the chosen one first; CV error in percent", titles, rows)
        if fitted.ranking.test is not None:
            typer.echo(f"5x2cv F-test of the best two: {fitted.ranking.verdict()}")
    sample = f" on a sample of {len(found.rows)} of the {facts.rows} rows" * (len(found.rows) < facts.rows)
    if found.nested_error is not None:
        honest = show_error(
            found.nested_error,
            honest_interval(found.nested_error, found.n_independent, found.folds),
            f"nested {found.folds}-fold"
            + f", {len(found.repeat_errors)} repetitions" * (len(found.repeat_errors) > 1),
        )
        typer.echo(
            f"honest error{sample} {honest}, {100 * found.error:.2f} % at the chosen point, "
            f"{100 * facts.baseline:.2f} % for always the largest class"
        )
    searched = f"{len(found.rows)} of {facts.rows}" if len(found.rows) < facts.rows else str(facts.rows)
    measured = f"{found.folds} folds, {len(found.results)} grid points, {searched} rows"
    cv_error = show_error(found.error, facts.cv_interval, measured, "the folds that choose also judge")
    # The baseline stands once, beside the first error.
    baseline = f", {100 * facts.baseline:.2f} % for always the largest class" * (found.nested_error is None)
    chosen = _shown(found.best_params) or "the parameters given"
    typer.echo(f"{facts.machine}: CV error{sample} {cv_error}{baseline}, at {chosen}")
    if found.nested_error is not None and len(found.repeat_errors) > 1:
        low, high = min(found.repeat_errors), max(found.repeat_errors)
        typer.echo(
            f"honest error of {len(found.repeat_errors)} repetitions: {100 * low:.2f} to {100 * high:.2f} %, standard "
            f"deviation {100 * float(np.std(found.repeat_errors, ddof=1)):.2f}"
        )
    if (chance := found.chance) is not None:
        typer.echo(
            f"against chance: p = {chance.p:.4g} ({len(chance.permuted)} permutations of the classes, whose error is "
            f"{100 * chance.expected:.2f} % on average and {100 * min(chance.permuted):.2f} % at best)"
        )
    if facts.metrics:
        honest = f"; nested: {show_metrics(found.nested_metrics)}" * bool(found.nested_metrics)
        typer.echo(f"chosen by {found.metric}; cross-validated: {show_metrics(found.metrics)}{honest}")
    if found.nested_error is not None:
        grid = "the extended grid" if found.extended else "the grid"
        fixed = fitted.ranking is not None and not fitted.ranking.nested
        known = {"the scaling": facts.scaling == "dataset", grid: automatic_grid, "the machine": fixed}
        if outside := [what for what, is_known in known.items() if is_known]:
            typer.echo(f"the honest error takes from all rows: {', '.join(outside)}")
        if len(found.nested_machines) > 1:
            counts = (f"{name} in {count}" for name, count in found.nested_machines.items())
            typer.echo(f"chosen inside the folds: {', '.join(counts)}")
    chosen = "at the parameters above" if found.nested_error is None else "parameters chosen inside each fold"
    print_table(f"out-of-fold predictions, {chosen}", *fitted.confusion.table())
    shown = {name: value for name, value in fitted.confusion.metrics().items() if name != "error"}
    typer.echo(f"of these predictions: {show_metrics(shown)}")
    options = {k: v for k, v in found.estimator.get_params(deep=False).items() if k in ("solver", "n_landmarks")}
    if options.get("solver") == "nystrom":
        typer.echo(f"fitted with {format_options(options)}")


def _shown(parameters: dict[str, object]) -> str:
    return ", ".join(f"{k}={v:.4g}" if isinstance(v, float) else f"{k}={v}" for k, v in parameters.items())
