"""noumir2011: its tables, plots and published figures."""

from __future__ import annotations

from mcls.papers.noumir2011.agreement import verdicts
from mcls.papers.noumir2011.tables import IRIS, PAVIA
from mcls.reporting.paper import Paper
from mcls.reporting.plots import Plot

PAPER = Paper(
    "noumir2011",
    "Noumir, Honeine, Richard (2011): Multi-class least squares classification at binary-classification complexity",
    (IRIS, PAVIA),
    (
        Plot(
            "regions",
            "decision regions of noumir2011's iris, and the map of Pavia",
            "mcls.papers.noumir2011.plane:pictures",
            section="noumir2011",
            made_by="mcls tables noumir2011",
            captions={
                "regions-iris": "Decision regions on two features of iris, with the training and the test rows",
                "regions-pavia": "The scene of Pavia University: ground truth and predictions",
            },
        ),
    ),
    agreement=verdicts,
)
