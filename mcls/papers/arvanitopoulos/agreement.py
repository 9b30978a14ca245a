"""arvanitopoulos: what became of its figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mcls.papers.arvanitopoulos.tables import GAMMA, PRINTED, accuracy_of, find
from mcls.reporting.agreement import Judgements, Outcome, Verdict, alike, judge, two_errors
from mcls.reporting.studies import Studies, StudyRow

_COLUMNS = ("accuracy", "mean_rows", "mean_columns")
_FACTS = {"mean_rows": "rows", "mean_columns": "columns"}


def verdicts(studies: Studies) -> Iterator[Verdict]:
    """Accuracies and matrix sizes of Tables 2 and 3."""
    labels = {printed: label for label, printed in PRINTED.items()}

    def verdict(row: Mapping[str, str]) -> Judgements:
        if row["dataset"].startswith("A.D."):
            reason: tuple[Outcome, str] = (
                "no comparison",
                "the artificial sets exist in the paper only as pictures",
            )
            return dict.fromkeys(_COLUMNS, reason)
        if row["dataset"] == "kanade":
            return dict.fromkeys(
                _COLUMNS, ("no comparison", "the faces of Cohn and Kanade are not on this machine")
            )
        sigma = GAMMA if row["svm_kernel"] == "gaussian" else None
        label = labels.get(row["dataset"], row["dataset"])
        study = studies["arvanitopoulos-uci"]
        found = find(study, label, row["machine"], row["svm_kernel"], row["criterion"], sigma)
        return {
            "accuracy": _accuracy(found, float(row["accuracy"])),
            **{column: _size(found, column, row[column]) for column in _FACTS},
        }

    yield from judge("arvanitopoulos-accuracy", _COLUMNS, verdict)


def _accuracy(found: StudyRow | None, paper: float) -> tuple[Outcome, str]:
    ours = accuracy_of(found)
    close = None if found is None or ours is None else abs(ours - paper) <= two_errors(paper, found.data.n)
    return alike(close, "accuracy within two standard errors of a share of the rows")


def _size(found: StudyRow | None, column: str, printed: str) -> tuple[Outcome, str]:
    values = (
        [fold[_FACTS[column]] for result in found.results for fold in result.get("facts", [])] if found else []
    )
    if not values or not printed:
        return alike(None, "")
    close = min(values) - 0.05 <= float(printed) <= max(values) + 0.05
    return alike(
        close,
        "size of the code inside the range of our ten folds",
        "unexplained",
        "size of the code outside that range: the paper does not fix how classes are split",
    )
