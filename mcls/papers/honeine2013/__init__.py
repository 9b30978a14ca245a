"""honeine2013: its tables, plots and published figures."""

from __future__ import annotations

from mcls.papers.honeine2013.agreement import verdicts
from mcls.papers.honeine2013.ftest import FTEST
from mcls.papers.honeine2013.other_readings import READINGS
from mcls.papers.honeine2013.szedmak import SZEDMAK
from mcls.papers.honeine2013.table4 import CLAIMS, TABLE4
from mcls.papers.honeine2013.times import TABLE5, TABLE6
from mcls.reporting.paper import Paper
from mcls.reporting.plots import Plot

_HERE = "mcls.papers.honeine2013"
_TABLE4 = "mcls tables honeine2013 --table 4"

PAPER = Paper(
    "honeine2013",
    "Honeine, Noumir, Richard (2013): Multiclass classification machines with the complexity of a single binary "
    "classifier",
    (TABLE4, READINGS, SZEDMAK, CLAIMS, TABLE5, TABLE6, FTEST),
    (
        Plot(
            "overview",
            "a machine, the grid it was chosen from, and our errors against the paper's",
            f"{_HERE}.overview:pictures",
            section="overview",
            with_tables=True,
        ),
        Plot(
            "grid",
            "CV error over the grid, the chosen point marked",
            f"{_HERE}.heatmaps:pictures",
            section="honeine2013",
            made_by=_TABLE4,
        ),
        Plot(
            "errors",
            "errors of all machines beside the paper's (Table 4)",
            f"{_HERE}.error_bars:pictures",
            section="honeine2013",
            made_by=_TABLE4,
        ),
        Plot(
            "labelbooks",
            "the labelbooks in three dimensions (honeine2013, Fig. 2)",
            f"{_HERE}.labelbooks:pictures",
            section="honeine2013",
        ),
        Plot(
            "ranks",
            "critical-difference diagram of the machines",
            f"{_HERE}.ranks:pictures",
            section="honeine2013",
            made_by="mcls tables honeine2013 --table ftest",
        ),
    ),
    agreement=verdicts,
)
