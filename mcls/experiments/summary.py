"""Summaries of an experiment from its store: one line per machine and data set; what is missing is said.

A line whose cells are not all there has no figures: a mean over what happens to be done is not the protocol's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from mcls.evaluation.metrics import ERROR, get_metric
from mcls.evaluation.protocols import get_protocol
from mcls.experiments.cells import Cell
from mcls.experiments.plan import Plan, PlanRow
from mcls.experiments.store import Brief, Store
from mcls.files import csv_text, without_html


class Spread(NamedTuple):
    """Mean and standard deviation of a metric over the replicates, in percent where it is shown so."""

    mean: float
    std: float | None


@dataclass(frozen=True)
class Line:
    """One line of a summary; errors are percentages, None where they are not known."""

    dataset: str
    machine: str
    labelbook: str
    options: str
    protocol: str
    replicates: int
    done: int
    failed: int
    mean: float | None
    std: float | None
    best: float | None
    worst: float | None
    nested: float | None
    oracle: float | None
    chosen: dict[str, Any]
    time_mean: float | None
    time_total: float | None
    tuned: bool = True  # whether there was anything to choose
    metrics: dict[str, Spread | None] = field(default_factory=dict)  # asked for beside the error, or before it
    nested_metrics: dict[str, Spread | None] = field(default_factory=dict)

    @property
    def missing(self) -> int:
        """Cells without a record of either kind."""
        return self.replicates - self.done - self.failed

    @property
    def state(self) -> str:
        """``complete``, or what is wanting."""
        parts = []
        if self.failed:
            parts.append(f"{self.failed} failed")
        if self.missing:
            parts.append(f"{self.missing} missing")
        return f"{', '.join(parts)} of {self.replicates}" if parts else "complete"


def summarise(plan: Plan, store: Store) -> list[Line]:
    """Read the store and fill one line per row of the plan."""
    return [_line(row, store) for row in plan.rows]


def _line(row: PlanRow, store: Store) -> Line:
    found = [store.brief(cell) for cell in row.cells]
    done = [brief for brief in found if brief is not None and brief.status == "done"]
    failed = sum(1 for brief in found if brief is not None and brief.status == "failed")
    complete = len(done) == len(row.cells)
    errors = 100.0 * np.array([brief.error for brief in done], dtype=float)
    seconds = [brief.seconds for brief in done]
    return Line(
        dataset=row.dataset,
        machine=row.machine,
        labelbook=row.labelbook,
        options=row.options,
        protocol=row.protocol,
        replicates=len(row.cells),
        done=len(done),
        failed=failed,
        mean=float(errors.mean()) if complete else None,
        std=float(errors.std(ddof=1)) if complete and len(done) > 1 else None,
        best=float(errors.min()) if complete else None,
        worst=float(errors.max()) if complete else None,
        nested=_mean([brief.error if brief else None for brief in map(store.brief, row.nested)]),
        oracle=_mean([brief.oracle_error if brief else None for brief in found]),
        chosen=_most_frequent(done) if complete else {},
        time_mean=float(np.mean(seconds)) if complete else None,
        time_total=float(np.sum(seconds)) if complete else None,
        tuned=row.tuned,
        metrics=_spreads(row.cells, found),
        nested_metrics=_spreads(row.nested, [store.brief(cell) for cell in row.nested]),
    )


def _spreads(cells: Sequence[Cell], found: Sequence[Brief | None]) -> dict[str, Spread | None]:
    """Each metric that was asked for beside the error; None where cells are missing or it is not defined."""
    names = [name for name in cells[0].metrics if name != ERROR.name] if cells else []
    made: dict[str, Spread | None] = {}
    for name in names:
        known = [v for b in found if b is not None and (v := b.metrics.get(name)) is not None]
        values = (100.0 if get_metric(name).percent else 1.0) * np.array(known)
        std = float(values.std(ddof=1)) if len(known) > 1 else None
        made[name] = Spread(float(values.mean()), std) if known and len(known) == len(found) else None
    return made


def _mean(fractions: Sequence[float | None]) -> float | None:
    """Mean of fractions in percent; None unless every one is there."""
    known = [fraction for fraction in fractions if fraction is not None]
    return 100.0 * float(np.mean(known)) if known and len(known) == len(fractions) else None


def _most_frequent(done: Sequence[Brief]) -> dict[str, Any]:
    """The grid point chosen most often, the first of equally frequent ones."""
    points = [tuple(point.items()) for brief in done for point in brief.chosen]
    return dict(Counter(points).most_common(1)[0][0])


#: Columns that differ from run to run; everything before them is the same for every number of workers.
TIME_COLUMNS = ("time_mean", "time_total")


def _some_tuned(lines: Sequence[Line]) -> bool:
    """Whether tuned and untuned machines stand side by side, which a reader must know."""
    return len({line.tuned for line in lines}) > 1


def to_csv(lines: Sequence[Line]) -> str:
    """The summary as CSV: errors in percent, an empty field for what is not known, times last."""
    tuned = sorted({name for line in lines for name in line.chosen})
    figures = ("mean", "std", "best", "worst", "nested", "oracle")
    head = ["dataset", "machine", "labelbook", "options", "protocol", "replicates", "done", "failed", "missing"]
    head += ["tuned"] if _some_tuned(lines) else []
    metrics = _metric_columns(lines)
    rows = [
        [
            *(getattr(line, name) for name in head),
            *(_number(getattr(line, name), 4) for name in figures),
            *(cell for of in metrics.values() for cell in of(line)),
            *(show_value(line.chosen.get(name, "")) for name in tuned),
            *(_number(getattr(line, name), 6) for name in TIME_COLUMNS),
        ]
        for line in lines
    ]
    named = [column for name in metrics for column in (name, f"{name}_std")]
    return csv_text([[*head, *figures, *named, *(f"chosen_{name}" for name in tuned), *TIME_COLUMNS], *rows])


def _metric_columns(lines: Sequence[Line]) -> dict[str, Callable[[Line], tuple[str, str]]]:
    """Column → its mean and standard deviation in a line, for every metric of the summary."""

    def cells(line: Line, field: str, name: str) -> tuple[str, str]:
        spread = getattr(line, field).get(name)
        return (_number(spread.mean, 4), _number(spread.std, 4)) if spread is not None else ("", "")

    fields = [("metrics", ""), ("nested_metrics", "nested_")]
    return {
        f"{prefix}{name}": partial(cells, field=field, name=name)
        for field, prefix in fields
        for name in dict.fromkeys(name for line in lines for name in getattr(line, field))
    }


def to_markdown(
    title: str,
    description: str,
    lines: Sequence[Line],
    n_shared: int,
    baselines: Mapping[str, float] | None = None,
) -> str:
    """The summary as a Markdown page; ``baselines`` are those of the plan."""
    columns, rows = table(lines)
    text = [f"# {title}", ""]
    if description:
        text += [without_html(" ".join(description.split())), ""]
    text += [
        *markdown_table(columns, rows),
        "",
        "Errors in percent; the time is that of one replicate, in seconds.",
    ]
    for metric in [get_metric(name) for name in dict.fromkeys(name for line in lines for name in line.metrics)]:
        unit = " in percent" if metric.percent else ""
        text += ["", f"`{metric.name}`: {metric.summary}{unit} (the {metric.direction} the better)."]
    if baselines:
        text += ["", "The error of always saying the largest class:", ""]
        text += [f"- {without_html(name)}: {error:.2f}" for name, error in baselines.items()]
    for name in dict.fromkeys(line.protocol for line in lines):
        text += ["", f"`{name}`: {get_protocol(name).summary}."]
    if n_shared:
        text += ["", f"{n_shared} cells are shared by rows whose work is provably identical."]
    incomplete = [line for line in lines if line.state != "complete"]
    if incomplete:
        text += ["", f"**Incomplete**: {len(incomplete)} of {len(lines)} rows; run the config again to go on."]
    return "\n".join(text) + "\n"


def markdown_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a Markdown table."""
    head = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    return head + [
        "| " + " | ".join(without_html(cell).replace("|", "\\|") for cell in row) + " |" for row in rows
    ]


def table(lines: Sequence[Line]) -> tuple[list[str], list[list[str]]]:
    """Headings and cells of the summary for people, without the columns that nothing fills."""
    tuned = sorted({name for line in lines for name in line.chosen})
    columns: dict[str, list[str]] = {
        "data set": [line.dataset for line in lines],
        "machine": [line.machine for line in lines],
        "labelbook": [line.labelbook for line in lines],
        "options": [line.options for line in lines],
        "tuned": ["not tuned" if _some_tuned(lines) and not line.tuned else "" for line in lines],
        "mean": [_number(line.mean, 2) for line in lines],
        # What is optimistic shows its best and worst, as the papers' tables do; the others print mean ± deviation.
        "std": ["" if get_protocol(line.protocol).honest else _number(line.std, 2) for line in lines],
        "best": [_number(line.best, 2) for line in lines],
        "worst": [_number(line.worst, 2) for line in lines],
        **{name.replace("_", " "): [of(line)[0] for line in lines] for name, of in _metric_columns(lines).items()},
        "nested": [_number(line.nested, 2) for line in lines],
        "oracle": [_number(line.oracle, 2) for line in lines],
        **{name: [show_value(line.chosen.get(name, "")) for line in lines] for name in tuned},
        "time": [_number(line.time_mean, 3) for line in lines],
        "state": ["" if line.state == "complete" else line.state for line in lines],
    }
    used = {name: cells for name, cells in columns.items() if any(cells)}
    return list(used), [list(row) for row in zip(*used.values())]


def show_value(value: Any) -> str:
    """A parameter's value, short: numbers with as many digits as they need."""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return str(value)


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"
