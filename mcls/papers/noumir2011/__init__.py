"""noumir2011: its tables, plots and published figures."""

from __future__ import annotations

from mcls.papers.noumir2011.agreement import verdicts
from mcls.papers.noumir2011.classes import CLASSES
from mcls.papers.noumir2011.tables import INDIAN_PINES, IRIS, PAVIA
from mcls.reporting.paper import Paper
from mcls.reporting.plots import Plot

PAPER = Paper(
    "noumir2011",
    "Noumir, Honeine, Richard (2011): Multi-class least squares classification at binary-classification complexity",
    (IRIS, PAVIA, INDIAN_PINES, CLASSES),
    (
        Plot(
            "regions",
            "decision regions of noumir2011's iris, and the maps of two scenes",
            "mcls.papers.noumir2011.plane:pictures",
            section="noumir2011",
            made_by="mcls tables noumir2011",
            captions={
                "regions-iris": "Decision regions on two features of iris, with the training and the test rows",
                "regions-pavia": "The scene of Pavia University: ground truth and predictions",
                "regions-indian-pines": "The scene of Indian Pines: ground truth and predictions on the first split",
            },
        ),
        Plot(
            "classes",
            "processor time against the number of classes, on letter",
            "mcls.papers.noumir2011.growth:pictures",
            section="noumir2011",
            made_by="mcls tables noumir2011",
        ),
    ),
    agreement=verdicts,
)
