"""honeine2013, Tables 5 and 6: computation times, and the larger data sets."""

from __future__ import annotations

import math

from mcls.reporting.paper import TableSpec, difference, mean_entry, not_run, processors, ratio, run_command
from mcls.reporting.published import value
from mcls.reporting.studies import AbsentDataError, Studies, Study, StudyRow, lacking
from mcls.reporting.table import Entry, Table, make, number, seconds, words

_MACHINES = ("ovA", "ovO", "oneLSM", "voLSSVM", "voRLS", "voSVM")  # as Table 5 calls them
_OURS = {"voRLS": "voRLS-beta"}
_DATASETS = ("iris", "wine", "glass", "vowel", "yeast")


def _points(found: StudyRow) -> int:
    return math.prod(len(values) for values in found.row.cells[0].grid.values())


def time_of(
    studies: Studies, engine: str, dataset: str, machine: str
) -> tuple[StudyRow | None, float | None, bool]:
    """Our row, its time in seconds, and whether that is scaled up from a part of the grid."""
    study = studies[f"honeine2013-table5-{engine}"]
    scale = 1.0
    if engine == "refit" and dataset == "yeast":
        whole = _points(study.figures[0])
        study = studies["honeine2013-table5-yeast"]
        scale = whole / _points(study.figures[0])
    found = study.one(dataset=dataset, machine=_OURS.get(machine, machine))
    if found is None or found.line.time_mean is None:
        return found, None, scale != 1
    return found, scale * found.line.time_mean, scale != 1


def table5(studies: Studies) -> list[Table]:
    """Times by both engines, each with its ratio to oneLSM's beside the paper's ratio."""
    rows, used = [], []
    for dataset in _DATASETS:
        base = {e: time_of(studies, e, dataset, "oneLSM")[1] for e in ("refit", "fast")}
        paper_base = value("honeine2013-table5-time", "seconds", dataset=dataset, machine="oneLSM")
        for machine in _MACHINES:
            printed = value("honeine2013-table5-time", "seconds", dataset=dataset, machine=machine)
            row = [words(dataset), words(machine), number(printed, 0), number(ratio(printed, paper_base))]
            times = {}
            for engine in ("refit", "fast"):
                found, time, scaled = time_of(studies, engine, dataset, machine)
                used += [found] if found else []
                times[engine] = time
                entry = seconds(time, found.cell(0) if found else "")
                about = "≈ " if scaled and time is not None else ""
                row += [Entry(about + entry.text, entry.value, entry.source, entry.tone)]
                row += [number(ratio(time, base[engine]), source=found.anchor if found else "")]
            rows.append([*row, number(ratio(times["refit"], times["fast"]), 1, row[-2].source)])
    columns = ["data set", "machine", "paper s", "paper ratio", "refit s", "refit ratio", "fast s", "fast ratio"]
    return [
        make(
            "honeine2013-table5",
            "honeine2013, Table 5: seconds of one whole grid search",
            [*columns, "refit / fast"],
            rows,
            [
                "ratio: the time over oneLSM's on the same data set by the same engine. refit: a fit at every fold and "
                "point, as the authors timed; fast: the exact shortcuts, with the same errors.",
                "≈: measured at 9 points spread over the grid and scaled to all of it. voRLS is voRLS-beta; voSVM uses "
                "the active-set solver; labelbook alignment.",
                *processors(used),
            ],
            studies.quick,
            lacking=lacking(used, run_command("honeine2013", "5", studies)),
        ),
        _speed_claims(studies, used),
    ]


def _speed_claims(studies: Studies, used: list[StudyRow]) -> Table:
    """The orderings of Table 5, on its own figures and on ours by refitting."""
    rows = []
    for text, faster, slower, factor in (
        ("oneLSM is faster than OvA", "oneLSM", "ovA", 1.0),
        ("oneLSM is faster than OvO", "oneLSM", "ovO", 1.0),
        ("oneLSM is faster than vo-RLS", "oneLSM", "voRLS", 1.0),
        ("oneLSM is faster than vo-SVM", "oneLSM", "voSVM", 1.0),
        ("vo-LSSVM takes at most 1.5 times as long as oneLSM", "voLSSVM", "oneLSM", 1.5),
        ("vo-RLS is faster than OvA", "voRLS", "ovA", 1.0),
        ("vo-SVM is faster than OvO", "voSVM", "ovO", 1.0),
    ):
        cases: dict[str, list[bool]] = {"paper": [], "ours": []}
        for dataset in _DATASETS:
            printed = [
                value("honeine2013-table5-time", "seconds", dataset=dataset, machine=m) for m in (faster, slower)
            ]
            measured = [time_of(studies, "refit", dataset, machine)[1] for machine in (faster, slower)]
            for source, (a, b) in (("paper", printed), ("ours", measured)):
                if a is not None and b is not None:
                    cases[source].append(a <= factor * b)
        counts = [words(f"{sum(found)} of {len(found)}") for found in cases.values()]
        holds = all(cases["ours"])
        verdict = words("confirmed" if holds else "not confirmed", "good" if holds else "bad")
        rows.append([words(text), *counts, verdict if cases["ours"] else words("not run", "weak")])
    return make(
        "honeine2013-table5-claims",
        "honeine2013, Table 5: who is faster, one by one",
        ["claim", "in the paper's times", "in ours, refit", "verdict"],
        rows,
        ["Data sets on which it holds; confirmed: on all that were run."],
        studies.quick,
        lacking=lacking(used, run_command("honeine2013", "5", studies)),
    )


_FULL = ("honeine2013-full-letter", "honeine2013-full-usps")
_REFIT = {
    "honeine2013-table6-usps": "honeine2013-table6-refit-usps",
    "honeine2013-table6-letter": "honeine2013-table6-refit-letter",
}
#: The studies behind each data set of Table 6, that whose copy is nearest to the paper's first.
LARGE_STUDIES = {
    "usps": ("honeine2013-table6-usps-esl", "honeine2013-table6-usps"),
    "letter": ("honeine2013-table6-letter",),
}
_LARGE = ("oneLSM", "voLSSVM", "voSVM", "ovA", "ovO", "szedmak")


def table6(studies: Studies) -> list[Table]:
    """USPS (the copy is named) and the first 2000 letters: errors and times."""
    tables = [_large_table(studies, "honeine2013-table6-usps", "usps", "USPS, the shipped copy (GPML)")]
    title = "USPS, ESL's copy"
    try:
        tables.append(_large_table(studies, "honeine2013-table6-usps-esl", "usps", title))
    except AbsentDataError as absent:
        tables.append(not_run("honeine2013-table6-usps-esl", _title6(title), absent, studies.quick))
    tables.append(_large_table(studies, "honeine2013-table6-letter", "letter", "letter, the first 2000 rows"))
    return [*tables, _full_table(studies)]


def _title6(what: str) -> str:
    return f"honeine2013, Table 6: {what}"


def _large_table(studies: Studies, name: str, printed_as: str, what: str) -> Table:
    study = studies[name]
    refitted = studies[_REFIT[name]] if name in _REFIT else None
    rows, used = [], list(study.figures)
    for entry in study.config.datasets:
        n = str(entry.options.get("sample", entry.options.get("first")))
        where = {"dataset": printed_as, "n": n}
        paper_base = value("honeine2013-table6-large", "seconds", machine="oneLSM", **where)
        bases = [_whole_grid(s, study, entry.label, "oneLSM")[1] for s in (study, refitted)]
        for machine in _LARGE:
            found = study.one(dataset=entry.label, machine=machine)
            if found is None:
                continue
            error, time = (
                value("honeine2013-table6-large", column, machine=machine, **where)
                for column in ("error", "seconds")
            )
            row = [
                number(found.data.n, 0),
                words(machine),
                mean_entry(found),
                number(error),
                difference(found.line.mean, error, found.anchor),
                number(time, 0),
                number(ratio(time, paper_base)),
                seconds(found.line.time_mean, found.cell(0)),
                number(ratio(found.line.time_mean, bases[0]), source=found.anchor),
            ]
            if refitted:
                slow, whole = _whole_grid(refitted, study, entry.label, machine)
                used += [slow] if slow else []
                shown = seconds(whole, slow.cell(0) if slow else "")
                about = "≈ " if whole is not None else ""
                row.append(Entry(about + shown.text, shown.value, shown.source, shown.tone))
                row.append(number(ratio(whole, bases[1]), source=slow.anchor if slow else ""))
            rows.append(row)
    columns = [
        "n",
        "machine",
        "error",
        "paper error",
        "difference",
        "paper s",
        "paper ratio",
        "fast s",
        "fast ratio",
    ]
    notes = [
        "The smallest 10-fold cross-validation error over the grid, in percent; seconds of the whole grid search; "
        "ratio: over oneLSM's time by the same engine. USPS: every second pixel, not rescaled.",
    ]
    if refitted:
        columns += ["refit s", "refit ratio"]
        notes.append(
            "≈: measured at a few points of the grid and scaled to all of it, a fit at every fold and point."
        )
    notes += processors(used)
    return make(
        name,
        _title6(what),
        columns,
        rows,
        notes,
        studies.quick,
        lacking=lacking(used, run_command("honeine2013", "6", studies)),
    )


def _whole_grid(
    study: Study | None, whole: Study, dataset: str, machine: str
) -> tuple[StudyRow | None, float | None]:
    """A row of a study and its time, scaled from its own grid to that of another study."""
    found = study.one(dataset=dataset, machine=machine) if study else None
    if found is None or found.line.time_mean is None:
        return found, None
    return found, found.line.time_mean * _points(whole.figures[0]) / _points(found)


def _full_table(studies: Studies) -> Table:
    """The whole of both sets, which the authors could not do: error, time and memory of a whole grid."""
    rows, used = [], []
    for name in _FULL:
        for found in studies[name].figures:
            used.append(found)
            result = found.results[0] if found.complete else {}
            record = (found.records[0] or {}) if found.complete else {}
            chosen = result.get("chosen", [{}])[0]
            rows.append(
                [
                    words(found.dataset),
                    words(f"{found.row.machine} {found.row.options}".strip()),
                    number(result.get("train"), 0),
                    number(result.get("test"), 0),
                    mean_entry(found),
                    number(chosen.get("sigma"), 4, found.cell(0)),
                    number(chosen.get("gamma"), 4, found.cell(0)),
                    seconds(record.get("cpu_seconds"), found.cell(0)),
                    number(record.get("peak_memory_gb"), 1, found.cell(0)),
                ]
            )
    return make(
        "honeine2013-table6-full",
        _title6("all of letter and all of USPS"),
        [
            "data set",
            "machine",
            "training rows",
            "test rows",
            "error",
            "sigma",
            "gamma",
            "CPU seconds",
            "peak GB",
        ],
        rows,
        [
            "The point is chosen by 3-fold cross-validation over the whole grid of 81 points on the training rows and "
            "judged on the test rows, so the error is honest. Processor time and memory of it all.",
            *processors(used, alone=False),
        ],
        studies.quick,
        lacking=lacking(used, run_command("honeine2013", "6", studies)),
    )


TABLE5 = TableSpec(
    "5",
    "computation times by both engines",
    ("honeine2013-table5-refit", "honeine2013-table5-yeast", "honeine2013-table5-fast"),
    table5,
)
TABLE6 = TableSpec(
    "6",
    "USPS and letters",
    (*_REFIT, *_REFIT.values(), *_FULL),
    table6,
    extra=("honeine2013-table6-usps-esl",),
)
