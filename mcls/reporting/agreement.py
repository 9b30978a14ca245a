"""Agreement: what became of every published figure, counted for each paper on the report's front page."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from mcls.reporting.published import read
from mcls.reporting.table import Entry, Table, Tone, make, number, words

if TYPE_CHECKING:
    from mcls.reporting.paper import Paper
    from mcls.reporting.studies import Studies

Outcome = Literal["reproduced", "explained", "unexplained", "no comparison"]
OUTCOMES: tuple[Outcome, ...] = ("reproduced", "explained", "unexplained", "no comparison")
_TONES: dict[Outcome, Tone] = {
    "reproduced": "good",
    "explained": "near",
    "unexplained": "bad",
    "no comparison": "weak",
}

#: What is said of a figure whose cells the store does not hold.
NOT_RUN = "not run: its cells are not in the store"


@dataclass(frozen=True)
class Verdict:
    """What became of one published figure: the column of a line of a published table."""

    file: str
    line: int
    column: str
    outcome: Outcome
    why: str


#: Column → (outcome, why) of a published line.
Judgements = Mapping[str, tuple[Outcome, str]]


def judge(
    file: str, columns: Sequence[str], verdict: Callable[[Mapping[str, str]], Judgements]
) -> Iterator[Verdict]:
    """A verdict on every figure in some columns of a published table; an empty field is not a figure."""
    for line, row in enumerate(read(file)):
        judged = verdict(row)
        for column in columns:
            if row[column]:
                yield Verdict(file, line, column, *judged[column])


def alike(
    close: bool | None, why: str, otherwise: Outcome = "unexplained", reason: str = ""
) -> tuple[Outcome, str]:
    """Reproduced where it is close, ``otherwise`` for a reason where it is not, no comparison where it was not run."""
    if close is None:
        return "no comparison", NOT_RUN
    return ("reproduced", why) if close else (otherwise, reason or "outside, and we do not know why")


def two_errors(percent: float, n: int, samples: int = 1) -> float:
    """Two standard errors, in points, of a percentage of n rows, or of the difference of two such ``samples``.

    >>> round(two_errors(10.0, 900), 2), round(two_errors(10.0, 900, samples=2), 2)
    (2.0, 2.83)
    """
    return 2 * math.sqrt(samples * percent * (100.0 - percent) / n)


def agreement(papers: Iterable[Paper], studies: Studies) -> dict[str, list[Verdict]]:
    """Paper → the verdicts on its published figures."""
    return {paper.name: list(paper.agreement(studies)) for paper in papers if paper.agreement is not None}


def agreement_tables(found: Mapping[str, Sequence[Verdict]], quick: bool = False) -> list[Table]:
    """The counts of each paper, and the reasons behind them."""
    return [_counts(found, quick), _reasons(found, quick)]


def _counts(found: Mapping[str, Sequence[Verdict]], quick: bool) -> Table:
    rows = [[words(name), *_row(verdicts)] for name, verdicts in found.items()]
    total = [words("all"), *_row([verdict for verdicts in found.values() for verdict in verdicts])]
    return make(
        "agreement",
        "every published figure: what became of it",
        ["paper", "figures published", *OUTCOMES],
        rows,
        [
            "reproduced: ours lies within the paper's own spread; where it gives none, by the rule of the table below. "
            "explained: it does not, and the reason given fits the figure, which does not prove it. no comparison: "
            "settings, units of time, and figures of data that are not public or not on this machine. The four add up "
            "to the figures published.",
        ],
        quick,
        [total],
    )


def _row(verdicts: Sequence[Verdict]) -> list[Entry]:
    counts = Counter(verdict.outcome for verdict in verdicts)
    return [number(len(verdicts), 0), *(number(counts[outcome], 0) for outcome in OUTCOMES)]


def _reasons(found: Mapping[str, Sequence[Verdict]], quick: bool) -> Table:
    rows = []
    for name, verdicts in found.items():
        counts = Counter((verdict.file, verdict.outcome, verdict.why) for verdict in verdicts)
        ordered = sorted(counts.items(), key=lambda item: (item[0][0], OUTCOMES.index(item[0][1]), -item[1]))
        for (file, outcome, why), count in ordered:
            rows.append(
                [
                    words(name),
                    words(file.removeprefix(name).strip("-") or "all"),
                    words(outcome, _TONES[outcome]),
                    number(count, 0),
                    words(why),
                ]
            )
    return make(
        "agreement-reasons",
        "every published figure: by which rule, and why not",
        ["paper", "published table", "verdict", "figures", "why"],
        rows,
        quick=quick,
    )
