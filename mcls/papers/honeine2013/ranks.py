"""Average ranks of the paper's machines, from the cells of the F-test."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from mcls.experiments.compare import ranking
from mcls.papers.honeine2013.ftest import ALPHA, STUDY
from mcls.reporting.plots import Pictures
from mcls.reporting.plots.ranks import critical_difference
from mcls.reporting.studies import Studies


def pictures(studies: Studies) -> Pictures:
    """The critical-difference diagram."""
    yield "ranks", honeine_ranks(studies)


def honeine_ranks(studies: Studies) -> Figure | None:
    """The paper's machines, each with its first labelbook, from the F-test's cells; None with too few data sets."""
    study = studies[STUDY]
    labels = [entry.label for entry in study.config.datasets]
    names = list(dict.fromkeys(f.row.machine for f in study.figures))
    table = np.full((len(labels), len(names)), np.nan)
    for i, label in enumerate(labels):
        for j, name in enumerate(names):
            found = study.one(dataset=label, machine=name)
            if found is not None and found.line.mean is not None:
                table[i, j] = found.line.mean
    result = ranking(table, ALPHA)
    return None if result is None else critical_difference(names, result)
