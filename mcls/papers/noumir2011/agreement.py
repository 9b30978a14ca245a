"""noumir2011: what became of its figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mcls.papers.noumir2011.tables import READINGS, cpu_seconds
from mcls.reporting.agreement import Judgements, Verdict, alike, judge
from mcls.reporting.paper import ratio
from mcls.reporting.published import value
from mcls.reporting.studies import AbsentDataError, Studies


def verdicts(studies: Studies) -> Iterator[Verdict]:
    """Both experiments, and the counts of Table 1."""

    def iris(row: Mapping[str, str]) -> Judgements:
        found = studies[next(iter(READINGS))].one(machine=row["machine"])
        base = studies[next(iter(READINGS))].one(machine="voRLS-f")
        if found is None or base is None or found.line.best is None or found.line.worst is None:
            return {"error": alike(None, ""), "seconds": alike(None, "")}
        inside = found.line.best <= float(row["error"]) <= found.line.worst
        printed = ratio(
            float(row["seconds"]), value("noumir2011", "seconds", experiment="iris-2d", machine="voRLS-f")
        )
        ours = ratio(cpu_seconds(found), cpu_seconds(base))
        near = None if printed is None or ours is None else printed / 2 <= ours <= 2 * printed
        return {
            "error": alike(inside, "one split: inside the range of our twenty"),
            "seconds": ("no comparison", "vo-RLS(f)'s time is the unit of the other")
            if row["machine"] == "voRLS-f"
            else alike(
                near,
                "ratio of the processor times within a factor of two",
                "unexplained",
                "with three classes and 120 rows one-against-all is not slower here",
            ),
        }

    def pavia(row: Mapping[str, str]) -> Judgements:
        try:
            found = studies["noumir2011-pavia"].one(machine=row["machine"])
        except AbsentDataError:
            return {"error": ("no comparison", "the cube of Pavia University is not on this machine")}
        mean = found.line.mean if found is not None else None
        close = None if mean is None else abs(mean - float(row["error"])) <= 2.0
        return {"error": alike(close, "within two points; the paper's training pixels are not public")}

    def either(row: Mapping[str, str]) -> Judgements:
        return iris(row) if row["experiment"] == "iris-2d" else pavia(row)

    yield from judge("noumir2011", ["error", "seconds"], either)
    yield from judge(
        "noumir2011-pavia-counts",
        ["train", "test"],
        lambda row: {
            "train": ("no comparison", "a setting: as many pixels are drawn"),
            "test": (
                "reproduced",
                "equal to the counts of the public ground truth in the top-left 300 × 300 corner",
            ),
        },
    )
