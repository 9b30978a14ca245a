"""``mcls report``: one HTML page with everything that the store holds for the papers."""

from __future__ import annotations

from pathlib import Path

from mcls.cli.run import Out
from mcls.cli.tables import Quick
from mcls.terminal import echo


def report(out: Out = Path("results"), quick: Quick = False) -> None:
    """Write DIR/report.html from the results of earlier runs: all tables and figures on one page, offline.

    Example: mcls report
    """
    from mcls.cli.show import print_damaged
    from mcls.papers import PAPERS
    from mcls.reporting.plots import draw_all, drawing

    with drawing(out, quick) as begun:
        from mcls.reporting.page import write_report
        from mcls.reporting.studies import Studies

        studies = Studies(out, quick)
        tables = [table for paper in PAPERS.values() for spec in paper.tables for table in spec.build(studies)]
        figures = draw_all(studies, lambda text: echo(text, err=True), begun)
    echo(f"Written {write_report(studies, list(PAPERS.values()), tables, figures)}")
    print_damaged(*(study.store for study in studies.loaded()))
