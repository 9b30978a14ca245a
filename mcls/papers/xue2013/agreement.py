"""xue2013: what became of its figures, and how many lie within two standard errors of ours."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from mcls.papers.xue2013.tables import SELECTIONS, accuracies, deviation_of, printed_name
from mcls.reporting.agreement import Judgements, Outcome, Verdict, alike, judge
from mcls.reporting.studies import Studies, StudyRow

_REASONS: dict[str, tuple[Outcome, str, str]] = {
    "error": (
        "reproduced",
        "mean within the paper's ± of ours by cross-validation",
        "± within a factor of two of ours by cross-validation",
    ),
    "oracle_error": (
        "explained",
        "as if chosen on the test half: mean within the paper's ± of ours chosen so",
        "as if chosen on the test half: ± within a factor of two of ours chosen so",
    ),
}


def verdicts(studies: Studies) -> Iterator[Verdict]:
    """Means and deviations of both tables."""

    def verdict(row: Mapping[str, str]) -> Judgements:
        found = next(
            (
                each
                for each in studies[f"xue2013-{row['kernel']}"].find(machine=row["machine"])
                if printed_name(each.dataset) == row["dataset"]
            ),
            None,
        )
        mean, spread = float(row["accuracy_mean"]), float(row["spread"])
        return {"accuracy_mean": _judge(found, mean, spread), "spread": _judge(found, None, spread)}

    yield from judge("xue2013-accuracy", ["accuracy_mean", "spread"], verdict)


def _judge(found: StudyRow | None, mean: float | None, spread: float) -> tuple[Outcome, str]:
    """The verdict on a mean, or without it on the deviation: by cross-validation, else by the oracle."""
    for selection in SELECTIONS:
        values = accuracies(found, selection) if found is not None else None
        if values is None:
            return alike(None, "")
        ours = deviation_of(values)
        if mean is not None:
            close = abs(float(values.mean()) - mean) <= spread
        else:
            close = ours > 0 and abs(math.log(spread / ours)) <= math.log(2.0)
        if close:
            outcome, of_mean, of_spread = _REASONS[selection]
            return outcome, of_spread if mean is None else of_mean
    return (
        "unexplained",
        "± not within a factor of two" if mean is None else "outside by either choice of parameters",
    )
