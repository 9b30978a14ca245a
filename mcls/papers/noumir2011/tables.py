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
                    words(reading),
                    mean_entry(found),
                    number(line.best, source=found.extreme(worst=False)),
                    number(line.worst, source=found.extreme(worst=True)),
                    number(error, 0),
                    difference(line.mean, error, found.anchor),
                    seconds(line.time_mean, found.anchor),
                    number(ratio(line.time_mean, base.line.time_mean if base else None), source=found.anchor),
                    seconds(time),
                    number(ratio(time, paper_base)),
                ]
            )
    return [
        make(
            "noumir2011-iris",
            "noumir2011: iris, sepal length and petal width",
            [
                *("machine", "features", "error", "best", "worst", "paper error", "difference"),
                *("seconds", "ratio", "paper s", "paper ratio"),
            ],
            rows,
            [
                f"Mean, best and worst of {used[0].line.replicates} random splits into 120 and 30 rows, in percent "
                "(one of 30 rows is 3.33); gamma = 100, sigma = 0.60. The paper shows one split and does not say how "
                "the features were scaled. seconds: fitting and judging one split; ratio: over voRLS-f's.",
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


def pavia(studies: Studies) -> list[Table]:
    """The corner of Pavia University, where the cube has been fetched."""
    title = "noumir2011: Pavia University"
    try:
        study = studies["noumir2011-pavia"]
    except AbsentDataError as absent:
        return [not_run("noumir2011-pavia", title, absent, studies.quick)]
    classes = study.figures[0].data.classes
    rows = []
    for found in study.figures:
        error = value("noumir2011", "error", experiment="pavia-university", machine=found.row.machine)
        by_class = class_accuracies(found) if found.complete else {}
        rows.append(
            [
                words(found.row.machine),
                mean_entry(found),
                number(error, 0),
                difference(found.line.mean, error, found.anchor),
                seconds(found.line.time_mean, found.cell(0)),
                *(number(by_class.get(name), 1, found.cell(0)) for name in classes),
            ]
        )
    return [
        make(
            "noumir2011-pavia",
            title,
            ["machine", "error", "paper error", "difference", "seconds", *classes],
            rows,
            [
                "Error in percent over the test pixels, then the accuracy of each class. The scene is the top-left "
                "300 × 300 corner; the paper's training map is not public: its training counts are drawn from the "
                "corner, the rest is tested. sigma: the largest value of the data; gamma by CV.",
                *processors(study.figures),
            ],
            studies.quick,
            lacking=lacking(study.figures, run_command("noumir2011", "pavia", studies)),
        )
    ]


IRIS = TableSpec("iris", "iris with two features", tuple(READINGS), iris)
PAVIA = TableSpec("pavia", "the hyperspectral scene", (), pavia, extra=("noumir2011-pavia",))
