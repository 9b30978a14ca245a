"""keshet2014: its worked examples and their figures."""

from __future__ import annotations

from mcls.papers.keshet2014.agreement import verdicts
from mcls.papers.keshet2014.tables import EXAMPLES_TABLE
from mcls.reporting.paper import Paper
from mcls.reporting.plots import Plot

PAPER = Paper(
    "keshet2014",
    "Keshet (2014): Multiclass classification (notes)",
    (EXAMPLES_TABLE,),
    (
        Plot(
            "notes",
            "keshet2014's figures: perceptron updates, and three sectors of the disc",
            "mcls.papers.keshet2014.pictures:pictures",
            section="keshet2014",
            with_tables=True,
            captions={
                "notes-updates": "Fig. 1 of the notes: the weights before (dashed) and after a mistake on the row x",
                "notes-sectors": "Fig. 2 of the notes: the multiclass SVM separates three sectors, straight lines and, "
                "where the sectors are not equal, one-against-all do not",
            },
        ),
    ),
    agreement=verdicts,
)
