"""keshet2014: its figures are examples worked out by hand, so that ours must be equal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mcls.papers.keshet2014.sectors import EQUAL, error_of
from mcls.papers.keshet2014.tables import decoding
from mcls.reporting.agreement import Judgements, Verdict, alike, judge
from mcls.reporting.studies import Studies


def verdicts(studies: Studies) -> Iterator[Verdict]:
    """Every figure of the worked examples."""
    table = decoding(studies)
    rows = (*table.rows, *table.foot)
    ours: dict[str, dict[str, float | None]] = {
        "hamming": {row[0].text: row[2].value for row in rows},
        "loss-exponential": {row[0].text: row[5].value for row in rows},
        "sectors": {"multiclass error": error_of("crammer-singer", EQUAL)},
    }

    def verdict(row: Mapping[str, str]) -> Judgements:
        value, paper = ours[row["example"]][row["item"]], float(row["value"])
        digits = 0 if paper > 1000 else 1
        return {
            "value": alike(value is not None and round(value, digits) == paper, "equal, as far as it is printed")
        }

    yield from judge("keshet2014-examples", ["value"], verdict)
