"""noumir2011: iris with two features, and the hyperspectral scene of Pavia University."""

from __future__ import annotations

import numpy as np

from mcls.packing import unpack
from mcls.reporting.paper import (
    TableSpec,
    difference,
    mean_entry,
    not_run,
    processors,
    ratio,
    run_command,
)
from mcls.reporting.published import value
from mcls.reporting.studies import AbsentDataError, Studies, StudyRow, lacking
from mcls.reporting.table import Table, make, number, seconds, words

#: The paper does not say whether it scaled the features; both readings are run.
READINGS = {"noumir2011-iris": "[-1, 1]", "noumir2011-iris-raw": "cm"}
#: Scene → its experiment in the published table.
PUBLISHED = {"pavia": "pavia-university"}


def iris(studies: Studies) -> list[Table]:
    """Error and time on the two features, over random splits of 120 and 30 rows."""
    rows, used = [], []
    paper_base = value("noumir2011", "seconds", experiment="iris-2d", machine="voRLS-f")
    for name, reading in READINGS.items():
        base = studies[name].one(machine="voRLS-f")
        for found in studies[name].figures:
            used.append(found)
            machine, line = found.row.machine, found.line
            error, time = (
                value("noumir2011", column, experiment="iris-2d", machine=machine)
                for column in ("error", "seconds")
            )
            rows.append(
                [
                    words(machine),
                    words(found.row.labelbook),
                    words(reading),
                    mean_entry(found),
                    number(line.best, source=found.extreme(worst=False)),
                    number(line.worst, source=found.extreme(worst=True)),
                    number(error, 0),
                    difference(line.mean, error, found.anchor),
                    seconds(cpu_seconds(found), found.anchor),
                    number(ratio(cpu_seconds(found), cpu_seconds(base)), source=found.anchor),
                    seconds(time),
                    number(ratio(time, paper_base)),
                ]
            )
    return [
        make(
            "noumir2011-iris",
            "noumir2011: iris, sepal length and petal width",
            [
                *("machine", "labels", "features", "error", "best", "worst", "paper error", "difference"),
                *("seconds", "ratio", "paper s", "paper ratio"),
            ],
            rows,
            [
                f"Mean, best and worst of {used[0].line.replicates} random splits into 120 and 30 rows, in percent "
                "(one of 30 rows is 3.33); gamma = 100, sigma = 0.60. The paper shows one split and does not say how "
                "the features were scaled; its labels are indicators. seconds: processor time, as in the paper, of "
                "fitting and judging one split; ratio: over that of voRLS-f with indicators.",
                *processors(used),
            ],
            studies.quick,
            lacking=lacking(used, run_command("noumir2011", "iris", studies)),
        )
    ]


def class_accuracies(found: StudyRow) -> dict[str, float]:
    """Accuracy on the test rows of each class, in percent, from the stored predictions of the first replicate."""
    data = found.data
    predictions = unpack(found.results[0]["predictions"])
    tested = predictions >= 0
    return {
        name: 100.0 * float(np.mean(predictions[tested & (data.y == code)] == code))
        for code, name in enumerate(data.classes)
    }


def cpu_seconds(found: StudyRow | None) -> float | None:
    """Processor time of one replicate, which is what the paper measured; None unless all are done."""
    if found is None or not found.complete:
        return None
    return float(np.mean([record["cpu_seconds"] for record in found.records if record is not None]))


def pavia(studies: Studies) -> list[Table]:
    """The corner of Pavia University, where the cube has been fetched."""
    return [
        _scene(
            studies,
            "pavia",
            "Pavia University",
            "The scene is the top-left 300 × 300 corner; the paper's training map is not public: its training counts "
            "are drawn from the corner, the rest is tested.",
        )
    ]


def indian_pines(studies: Studies) -> list[Table]:
    """The same protocol on Indian Pines."""
    return [
        _scene(
            studies,
            "indian-pines",
            "its protocol on Indian Pines",
            "Not in the paper: a public scene of 145 × 145 pixels in the place of Pavia's. The paper trains on 1483 of "
            "14100 pixels; so does this, on 10.5 % of each class, and the rest is tested.",
        )
    ]


def _scene(studies: Studies, name: str, title: str, note: str) -> Table:
    """Error, time and the accuracy of each class: one row per class, one column per machine."""
    stem, title = f"noumir2011-{name}", f"noumir2011: {title}"
    try:
        study = studies[stem]
    except AbsentDataError as absent:
        return not_run(stem, title, absent, studies.quick)
    figures = study.figures
    rows = [[words("error"), *map(mean_entry, figures)]]
    if name in PUBLISHED:
        where = {"experiment": PUBLISHED[name]}
        printed = [value("noumir2011", "error", machine=found.row.machine, **where) for found in figures]
        rows += [
            [words("paper error"), *(number(error, 0) for error in printed)],
            [words("difference"), *(difference(f.line.mean, e, f.anchor) for f, e in zip(figures, printed))],
        ]
    rows.append([words("processor seconds"), *(seconds(cpu_seconds(f), f.anchor) for f in figures)])
    accuracies = [class_accuracies(found) if found.complete else {} for found in figures]
    for each in figures[0].data.classes:
        rows.append([words(each), *(number(a.get(each), 1, f.cell(0)) for a, f in zip(accuracies, figures))])
    return make(
        stem,
        title,
        ["figure", *(f"{found.row.machine}, {found.row.labelbook}" for found in figures)],
        rows,
        [
            f"Error in percent over the test pixels (mean of {figures[0].line.replicates}), then the accuracy of each "
            f"class on the first split. {note} sigma: the largest value of the labelled pixels; gamma by CV inside the "
            "training pixels, which the time contains.",
            *processors(figures),
        ],
        studies.quick,
        lacking=lacking(figures, run_command("noumir2011", name, studies)),
    )


IRIS = TableSpec("iris", "iris with two features", tuple(READINGS), iris)
PAVIA = TableSpec("pavia", "the hyperspectral scene", (), pavia, extra=("noumir2011-pavia",))
INDIAN_PINES = TableSpec(
    "indian-pines", "another hyperspectral scene", (), indian_pines, extra=("noumir2011-indian-pines",)
)
