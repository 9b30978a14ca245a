"""The papers: one folder each, found here by looking, with its tables, plots and published figures."""

from __future__ import annotations

import importlib
import pkgutil

from mcls.errors import unknown_name
from mcls.reporting import plots
from mcls.reporting.paper import Paper

#: Name → paper, the most figures first.
PAPERS: dict[str, Paper] = {}


def get_paper(name: str) -> Paper:
    """Look a paper up by its name."""
    if name.lower() not in PAPERS:
        raise unknown_name("paper", name, PAPERS)
    return PAPERS[name.lower()]


def _discover() -> None:
    folders = [module.name for module in pkgutil.iter_modules(__path__) if module.ispkg]
    found = [importlib.import_module(f"{__name__}.{name}").PAPER for name in folders]
    for paper in sorted(found, key=lambda paper: -len(paper.tables)):
        PAPERS[paper.name] = paper
        for plot in paper.plots:
            plots.register(plot)


_discover()
