"""xue2013: its tables and published figures."""

from __future__ import annotations

from mcls.papers.xue2013.agreement import verdicts
from mcls.papers.xue2013.cells import CELLS
from mcls.papers.xue2013.tables import TABLES
from mcls.reporting.paper import Paper

PAPER = Paper(
    "xue2013",
    "Xue, Chen (2013): Orthogonality-based label correction in multi-class classification",
    (*TABLES, CELLS),
    agreement=verdicts,
)
