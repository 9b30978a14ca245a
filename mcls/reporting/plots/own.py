"""Figures of any experiment: the errors of its machines, their ranks, and where on the grid the choices fell."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from mcls.errors import McLsError, unknown_name
from mcls.experiments.compare import machine_label, ranking
from mcls.reporting.plots.errors import own_error_bars
from mcls.reporting.plots.heatmap import choices, heatmap
from mcls.reporting.plots.ranks import critical_difference
from mcls.reporting.plots.style import STYLE, save
from mcls.reporting.studies import Studies, Study, StudyRow
from mcls.specs import parse_spec

ALPHA = 0.05
#: What an experiment can be drawn as.
KINDS = ("grid", "errors", "ranks")
Drawn = Iterator[tuple[str, Figure | McLsError]]  # the end of the file's name, and the figure or why there is none


def draw_own(
    kind: str,
    studies: Studies,
    experiment: str,
    tell: Callable[[str], None],
    dataset: str | None = None,
    machine: str | None = None,
    replicate: int | None = None,
) -> list[Path]:
    """Draw an experiment into ``figures/``; ``tell`` hears what had to be left out.

    ``dataset``, ``machine`` and ``replicate`` narrow ``grid``, which otherwise has a map per data set and machine.
    """
    if kind not in KINDS:
        raise unknown_name("figure of an experiment", kind, KINDS)
    study = studies.experiment(experiment)
    command = "mcls tables --all --quick" if studies.quick else f"mcls run {study.source}"
    command += "" if studies.root == Path("results") else f" --out {studies.root}"
    files: list[Path] = []
    reasons: list[McLsError] = []
    with mpl.rc_context(STYLE):
        if kind == "grid":
            figures = _grids(study, dataset, machine, replicate, command)
        else:
            figures = iter([("", _errors(study, command) if kind == "errors" else _ranks(study))])
        for ending, figure in figures:
            if isinstance(figure, McLsError):
                reasons.append(figure)
                continue
            stem = re.sub(r"[^A-Za-z0-9._]+", "-", f"{experiment_name(study)}-{kind}{ending}").strip("-")
            files += save(figure, studies.out / "figures", stem)
    if not files:
        raise reasons[0]
    for reason in reasons:
        tell(f"not drawn: {reason}")
    return files


def experiment_name(study: Study) -> str:
    """The name of an experiment, with the folder of a comparison, of which there are many."""
    folder = Path(study.source).parent.name
    return f"{study.name}-{folder}" if study.name == "compare" and folder else study.name


def _errors(study: Study, command: str) -> Figure | McLsError:
    lines = [[f.line for f in study.figures if f.dataset == entry.label] for entry in study.config.datasets]
    panels = dict(zip([entry.label for entry in study.config.datasets], lines))
    figure = own_error_bars(_row_names(study), panels)
    return figure or McLsError(f"{study.name}: no row has all its cells; to run them: {command}")


def _ranks(study: Study) -> Figure | McLsError:
    names = _row_names(study)
    means = [np.nan if f.line.mean is None else f.line.mean for f in study.figures]
    table = np.array(means, dtype=float).reshape(-1, len(names))  # (data sets, machines)
    result = ranking(table, ALPHA) if len(names) > 1 else None
    if result is not None:
        return critical_difference(names, result, study.protocol)
    complete = int(np.isfinite(table).all(axis=1).sum())
    return McLsError(
        "ranks need at least two machines, and two data sets on which all of them are done; "
        f"{study.name} has {len(names)} and {complete}"
    )


def _grids(study: Study, dataset: str | None, machine: str | None, replicate: int | None, command: str) -> Drawn:
    """One map per row: of the errors where the protocol is one search over all rows, else of the choices."""
    rows = [f for f in study.figures if dataset in (None, f.dataset) and (machine is None or _is(f, machine))]
    if not rows:
        known = ", ".join(dict.fromkeys(f"{f.dataset} {f.row.machine}" for f in study.figures))
        wanted = " ".join(word for word in (dataset, machine and machine_label(machine)) if word)
        raise McLsError(f"{study.name} has no row '{wanted}'; it has: {known}")
    if replicate is not None and replicate >= len(rows[0].records):
        raise McLsError(f"{study.name} has the replicates 0 to {len(rows[0].records) - 1}, got {replicate}")
    published = study.protocol == "published"
    at = 0 if published and replicate is None else replicate
    seen: Counter[str] = Counter()
    for found in rows:
        row = found.row
        ending = "-".join(["", found.dataset, row.machine, *filter(None, (row.labelbook, row.options))])
        seen[ending] += 1
        ending += f"-{seen[ending]}" if seen[ending] > 1 else ""
        ending += "" if at is None else f"-{at}"
        missing = [r for r, record in enumerate(found.records) if record is None and at in (None, r)]
        try:
            if missing:
                raise McLsError(
                    f"{found.dataset} {row.machine}: replicate {missing[0]} has not been run; to run it: {command}"
                )
            yield ending, heatmap(found, at or 0) if published else choices(found, at)
        except McLsError as error:
            yield ending, error


def _row_names(study: Study) -> list[str]:
    """What tells the rows of a data set apart: machine and options, and the labelbook where there are several."""
    rows = [f.row for f in study.figures[: len(study.figures) // len(study.config.datasets)]]
    several = Counter(row.machine for row in rows)
    return [
        ", ".join(filter(None, (row.machine, row.labelbook if several[row.machine] > 1 else "", row.options)))
        for row in rows
    ]


def _is(found: StudyRow, machine: str) -> bool:
    """Whether a row is the machine that the user named, with at least the options given."""
    name, options = parse_spec(machine_label(machine))
    return found.row.machine == name and all(found.parameters.get(key) == value for key, value in options.items())
