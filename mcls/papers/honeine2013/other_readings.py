"""honeine2013, Table 4: rows by another reading, beside the printed ones: labels of length one, a declared split."""

from __future__ import annotations

from mcls.papers.honeine2013.table4 import ours, theirs
from mcls.reporting.paper import TableSpec, difference, mean_entry, run_command
from mcls.reporting.studies import Studies, StudyRow, lacking
from mcls.reporting.table import Entry, Table, make, number, words

UNIT, DECLARED = "honeine2013-unit-labels", "honeine2013-declared-vowel"


def readings(studies: Studies) -> list[Table]:
    """vo-SVM with labels of length one on yeast, and the borrowed machines on vowel's declared split."""
    return [_unit(studies), _declared(studies)]


def _unit(studies: Studies) -> Table:
    printed = ours(studies, "yeast", "voSVM", "pm1")
    scaled = studies[UNIT].one(machine="voSVM")
    found = [
        ("±1, squared length ten, as printed", printed),
        ("±1 divided by its length: gamma / 10", scaled),
    ]
    used = [each for _, each in found if each is not None]
    rows = [[words(name), *_line(each, theirs("mean", "yeast", "voSVM", "pm1"))] for name, each in found]
    best, worst = (theirs(column, "yeast", "voSVM", "pm1") for column in ("best", "worst"))
    return make(
        "honeine2013-readings-labels",
        "honeine2013, Table 4: vo-SVM with ±1 labels on yeast, errors in percent",
        ["labels", "mean", "best", "worst", "paper mean", "difference"],
        rows,
        [
            "The same folds and ten replicates. Labels of length one make H a tenth, so that the grid of gamma covers "
            f"smaller bounds. The paper's best and worst are {best} and {worst}. It does not say how long its labels "
            "are: this is a reading that fits, not proof.",
        ],
        studies.quick,
        lacking=lacking(used, run_command("honeine2013", "readings", studies)),
    )


def _line(found: StudyRow | None, paper: float | None) -> list[Entry]:
    line = found.line if found is not None else None
    return [
        mean_entry(found),
        number(line.best if line else None, source=found.extreme(worst=False) if found else ""),
        number(line.worst if line else None, source=found.extreme(worst=True) if found else ""),
        number(paper),
        difference(line.mean if line else None, paper, found.anchor if found else ""),
    ]


def _declared(studies: Studies) -> Table:
    figures = studies[DECLARED].figures
    rows, used = [], []
    for found in figures:
        machine = found.row.machine
        usual = ours(studies, "vowel", machine, "any")
        used += [found, *([usual] if usual is not None else [])]
        paper = theirs("mean", "vowel", machine, "any")
        rows.append(
            [
                words(f"{machine}, hidden nodes chosen too" if "n_hidden" in found.row.cells[0].grid else machine),
                mean_entry(usual),
                mean_entry(found),
                number(paper),
                difference(usual.line.mean if usual else None, paper, usual.anchor if usual else ""),
                difference(found.line.mean, paper, found.anchor),
            ]
        )
    return make(
        "honeine2013-readings-vowel",
        "honeine2013, Table 4: vowel by the split that its source declares, errors in percent",
        [
            *("machine", "10-fold, 528 rows", "declared, 528/462", "paper"),
            *("10-fold - paper", "declared - paper"),
        ],
        rows,
        [
            "10-fold: as in Table 4, rows of one speaker on both sides. declared: eight speakers train, seven others "
            "are tested; parameters by 5-fold cross-validation in the training rows. The paper took its figure of "
            "elm from another paper and says in its footnote 9 that it is of the declared split. elm: C from 2^-24 to "
            "2^25 with 1000 hidden nodes, then with 10 to 1000 of them.",
        ],
        studies.quick,
        lacking=lacking(used, run_command("honeine2013", "readings", studies)),
    )


READINGS = TableSpec(
    "readings",
    "rows of Table 4 by another reading",
    (UNIT, DECLARED, "honeine2013-table4-yeast", "honeine2013-borrowed-vowel", "honeine2013-table4"),
    readings,
)
