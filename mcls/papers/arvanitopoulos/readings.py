"""arvanitopoulos: readings of what it leaves open of sub-ECOC, judged by its matrix sizes; and its speed claim."""

from __future__ import annotations

import math

import numpy as np

from mcls.papers.arvanitopoulos.tables import PRINTED, accuracy_of
from mcls.reporting.paper import TableSpec, processors, ratio, run_command
from mcls.reporting.published import value
from mcls.reporting.studies import Studies, StudyRow, lacking
from mcls.reporting.table import Entry, Table, make, number, seconds, words

_READINGS, _SPEED = "arvanitopoulos-readings", "arvanitopoulos-speed"
#: The paper's words: "FLDR trains in less than one minute, while the FQMI trains in approximately 5 days".
PUBLISHED_SECONDS = {"fqmi": 5 * 86400.0, "fldr": 60.0}


def _reading(found: StudyRow) -> str:
    """A reading in words: what differs from the one that Table 3 uses."""
    p = found.parameters
    parts = []
    if p["criterion"] == "fqmi" and p["criterion_sigma"] != 1.0:
        width = p["criterion_sigma"]
        parts.append("σ half the largest distance" if width is None else f"σ = {width:g}")
    if p["theta_s"] is not None:
        parts.append("theta_s of all rows")
    if p["side"] != "fewer":
        sides = {"more": "side with more subclasses", "larger": "larger side", "scattered": "more scattered side"}
        parts.append(sides.get(p["side"], "either side"))
    if p["judged"] != "both":
        parts.append("mean of both errors")
    return ", ".join(parts) or "as in Table 3"


def _paper(label: str, criterion: str, column: str) -> float:
    where = {"dataset": PRINTED.get(label, label), "machine": "sub-ecoc", "criterion": criterion}
    found = value("arvanitopoulos-accuracy", column, svm_kernel="linear", **where)
    assert found is not None
    return found


def distance(figures: list[StudyRow]) -> float | None:
    """By which factor rows and columns are off, the geometric mean over all data sets; None unless all are done."""
    logs = []
    for found in figures:
        for column in ("rows", "columns"):
            ours = found.facts(column)
            if ours is None:
                return None
            logs.append(
                abs(math.log(ours / _paper(found.dataset, found.parameters["criterion"], f"mean_{column}")))
            )
    return math.exp(float(np.mean(logs)))


def readings(studies: Studies) -> list[Table]:
    """One row per reading, one column per data set, the nearest to the published sizes in bold."""
    study = studies[_READINGS]
    by_reading: dict[str, dict[str, list[StudyRow]]] = {}
    for found in study.figures:
        mine = by_reading.setdefault(found.parameters["criterion"], {})
        mine.setdefault(_reading(found), []).append(found)
    labels = list(dict.fromkeys(found.dataset for found in study.figures))
    rows: list[list[Entry]] = []
    for criterion, figures_of in by_reading.items():
        paper = [
            words(_shape(*(_paper(label, criterion, f"mean_{c}") for c in ("rows", "columns"))), "weak")
            for label in labels
        ]
        rows.append([words(criterion), words("the paper"), *paper, number(None), number(None)])
        distances = {name: distance(figures) for name, figures in figures_of.items()}
        best = min((each for each in distances.values() if each is not None), default=None)
        for name, figures in figures_of.items():
            gaps = [
                abs(accuracy - _paper(found.dataset, criterion, "accuracy"))
                for found in figures
                if (accuracy := accuracy_of(found)) is not None
            ]
            off = number(distances[name], 2, figures[0].cell(0))
            is_best = best is not None and distances[name] == best
            rows.append(
                [
                    words(criterion),
                    words(name),
                    *(_size(f.facts("rows"), f.facts("columns"), f.cell(0)) for f in figures),
                    Entry(off.text, off.value, off.source, off.tone, bold=is_best),
                    number(float(np.mean(gaps)) if len(gaps) == len(figures) else None, 2, figures[0].cell(0)),
                ]
            )
    return [
        make(
            _READINGS,
            "arvanitopoulos, Table 3: readings of sub-ECOC with the linear kernel",
            [
                "criterion",
                "reading",
                *(PRINTED.get(label, label) for label in labels),
                "sizes off by",
                "accuracy off by",
            ],
            rows,
            [
                "Mean rows × columns of the coding matrices over ten folds. sizes off by: the factor between ours and "
                "the paper's, geometric mean over rows and columns of all seven sets; accuracy off by: mean distance "
                "in points. σ: of FQMI's Parzen window (1 in Table 3). theta_s of all rows: N/50 with N the rows of "
                "the whole set, not of the training folds. The faces, the eighth row of the paper's, are not here.",
            ],
            studies.quick,
            lacking=lacking(study.figures, run_command("arvanitopoulos", "readings", studies)),
        )
    ]


def _shape(rows: float, columns: float) -> str:
    return f"{rows:.3g} × {columns:.3g}"


def _size(rows: float | None, columns: float | None, source: str) -> Entry:
    return number(None) if rows is None or columns is None else Entry(_shape(rows, columns), rows, source)


def speed(studies: Studies) -> list[Table]:
    """Processor time of one training on images of the size of the faces, beside the paper's words."""
    study = studies[_SPEED]
    rows = []
    for found in study.figures:
        times = [record["cpu_seconds"] for record in found.records if record is not None]
        ours = float(np.mean(times)) if found.complete else None
        paper = PUBLISHED_SECONDS[found.parameters["criterion"]]
        rows.append(
            [
                words(found.row.machine),
                words(found.parameters["criterion"]),
                seconds(ours, found.anchor),
                words("5 days" if found.parameters["criterion"] == "fqmi" else "less than 1 minute"),
                number(ratio(paper, ours), 0, found.anchor),
            ]
        )
    return [
        make(
            _SPEED,
            "arvanitopoulos: its claim on speed",
            ["machine", "criterion", "processor seconds", "paper", "paper / ours"],
            rows,
            [
                "Training on nine tenths of 704 made-up images of 40 × 30 pixels in seven classes and predicting the "
                "rest, mean of three splits. The paper gives its times for the faces of Cohn and Kanade in a sentence, "
                "without the machine or the number of images; only the order of magnitude compares. The sums over "
                "pairs that FQMI needs are made once for all partitions here.",
                *processors(study.figures),
            ],
            studies.quick,
            lacking=lacking(study.figures, run_command("arvanitopoulos", "speed", studies)),
        )
    ]


READINGS = TableSpec("readings", "readings of sub-ECOC against matrix sizes", (_READINGS,), readings)
SPEED = TableSpec("speed", "five days, measured", (_SPEED,), speed)
