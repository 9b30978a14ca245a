"""arvanitopoulos: its tables, plots and published figures."""

from __future__ import annotations

from mcls.papers.arvanitopoulos.agreement import verdicts
from mcls.papers.arvanitopoulos.readings import READINGS, SPEED
from mcls.papers.arvanitopoulos.tables import TABLE2, TABLE3
from mcls.reporting.paper import Paper
from mcls.reporting.plots import Plot

_HERE = "mcls.papers.arvanitopoulos"

PAPER = Paper(
    "arvanitopoulos",
    "Arvanitopoulos, Bouzas, Tefas (2010): Subclass error correcting output codes using Fisher's linear discriminant "
    "ratio",
    (TABLE2, TABLE3, READINGS, SPEED),
    (
        Plot(
            "codes",
            "coding matrices of DECOC and sub-ECOC",
            f"{_HERE}.codes:pictures",
            section="arvanitopoulos",
            made_by="mcls tables arvanitopoulos --table 3",
        ),
        Plot("sets", "the four artificial sets", f"{_HERE}.sets:pictures", section="arvanitopoulos"),
    ),
    agreement=verdicts,
)
