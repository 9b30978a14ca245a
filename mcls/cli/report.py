"""``mcls report``: one HTML page with everything that the store holds for the papers."""

from __future__ import annotations

from pathlib import Path

import typer

from mcls.cli.run import Out
from mcls.cli.tables import Quick


def report(out: Out = Path("results"), quick: Quick = False) -> None:
    """Write DIR/report.html from the results of earlier runs: all tables and figures on one page, offline.

    Example: mcls report
    """
    from mcls.cli.show import print_damaged
    from mcls.reporting.figures import draw_all, drawing

    with drawing(out, quick) as begun:
        from mcls.reporting.catalog import PAPERS
        from mcls.reporting.page import write_report
        from mcls.reporting.studies import Studies

        studies = Studies(out, quick)
        tables = [table for paper in PAPERS.values() for spec in paper.tables for table in spec.build(studies)]
        figures = draw_all(studies, lambda text: typer.echo(text, err=True), begun)
    typer.echo(f"Written {write_report(studies, tables, figures)}")
    print_damaged(*(study.experiment.store for study in studies.loaded()))
