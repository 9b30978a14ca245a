"""honeine2013, Table 4: Szedmak's block by a problem without the constraint that makes two of its rows impossible."""

from __future__ import annotations

from mcls.papers.honeine2013.table4 import ours, theirs
from mcls.reporting.paper import TableSpec, mean_entry, run_command
from mcls.reporting.studies import Studies, StudyRow, lacking
from mcls.reporting.table import Entry, Table, Tone, make, number, words

_STUDIES = ("honeine2013-szedmak", "honeine2013-szedmak-yeast")
_NAMES = {"pm1": "±1"}
#: Column → what the bias is averaged over, and whether labels have length one.
READINGS = {
    "no constraint": ("support", False),
    "no constraint, free": ("free", False),
    "no constraint, length one": ("support", True),
    "no constraint, free, length one": ("free", True),
}


def szedmak(studies: Studies) -> list[Table]:
    """One row per data set and labelbook: the paper, the printed problem, and the readings."""
    rows: list[list[Entry]] = []
    used: list[StudyRow] = []
    inside: dict[str, list[bool]] = {column: [] for column in ("exact", *READINGS)}
    for name in _STUDIES:
        figures = studies[name].figures
        used += figures
        for dataset in dict.fromkeys(found.dataset for found in figures):
            for book in dict.fromkeys(found.row.labelbook for found in figures):
                mean, best, worst = (theirs(c, dataset, "szedmak", book) for c in ("mean", "best", "worst"))
                exact = ours(studies, dataset, "szedmak", book)
                found = {column: _find(figures, dataset, book, *how) for column, how in READINGS.items()}
                row = [words(dataset), words(_NAMES.get(book, book)), number(mean), number(best), number(worst)]
                row.append(words("degenerate", "weak") if exact is None else _marked(exact, best, worst))
                row += [_marked(each, best, worst) for each in found.values()]
                for column, each in {"exact": exact, **found}.items():
                    if each is not None:
                        inside[column].append(_is_inside(each, best, worst))
                rows.append(row)
    counted = [words("inside the paper's bracket"), *[words("")] * 4]
    return [
        make(
            "honeine2013-szedmak",
            "honeine2013, Table 4: Szedmak's model without its constraint, errors in percent",
            ["data set", "labels", "paper mean", "paper best", "paper worst", "exact", *READINGS],
            rows,
            [
                "exact: the printed problem, ten replicates (Table 4). no constraint: Yβ = 0 is dropped and the bias "
                "is the mean of y − f over the support vectors; free: over those below their bound; length one: ±1 "
                "labels divided by their length, the other labels have it already. Three replicates with the folds of "
                "Table 4, one on yeast. Whether a figure lies in the paper's bracket from best to worst says that the "
                "reading is possible for that row, not that it was used.",
            ],
            studies.quick,
            [[*counted, *(words(f"{sum(each)} of {len(each)}") for each in inside.values())]],
            lacking=lacking(used, run_command("honeine2013", "szedmak", studies)),
        )
    ]


def _find(figures: list[StudyRow], dataset: str, book: str, averaged: str, unit: bool) -> StudyRow | None:
    for found in figures:
        p = found.parameters
        same = found.dataset == dataset and found.row.labelbook == book
        if same and (p["averaged"], p["unit_labels"]) == (averaged, unit):
            return found
    return None


def _is_inside(found: StudyRow | None, best: float | None, worst: float | None) -> bool:
    mean = found.line.mean if found is not None else None
    return None not in (mean, best, worst) and (best or 0.0) <= (mean or 0.0) <= (worst or 0.0)


def _marked(found: StudyRow | None, best: float | None, worst: float | None) -> Entry:
    entry = mean_entry(found)
    if found is None or found.line.mean is None:
        return entry
    tone: Tone = "good" if _is_inside(found, best, worst) else ""
    return Entry(entry.text, entry.value, entry.source, tone)


SZEDMAK = TableSpec(
    "szedmak", "Szedmak's block without its constraint", (*_STUDIES, "honeine2013-table4"), szedmak
)
