"""``mcls report``: one HTML page, of everything that the store holds for the papers or of one experiment."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from mcls.cli.options import Against, Out, Quick, experiment_argument
from mcls.terminal import echo

if TYPE_CHECKING:
    from mcls.reporting.board import Board


def report(
    experiment: Annotated[str | None, experiment_argument("[NAME]")] = None,
    out: Out = Path("results"),
    quick: Quick = False,
    against: Against = None,
) -> None:
    """Write a page from the results of earlier runs: all tables and figures, offline.

    Without a name it is DIR/report.html, about the papers. With one it is DIR/NAME/report.html: every metric, tests,
    figures, the methods in words, BibTeX, the config, the environment and every cell; the tables are written beside it.

    Examples: mcls report, mcls report mine --against oneLSM
    """
    from mcls.cli.printing import print_damaged
    from mcls.errors import McLsError
    from mcls.reporting.studies import Studies

    if experiment is not None:
        from mcls.reporting.board import find_board

        if quick:
            raise McLsError("--quick belongs to the papers' report; leave it out for an experiment of your own")
        board = find_board(Studies(out), experiment)
        echo(f"Written {write_page(board, against)}")
        print_damaged(*(study.store for study in board.studies))
        return
    if against is not None:
        raise McLsError("--against belongs to the report of an experiment: mcls report NAME --against MACHINE")
    from mcls.papers import PAPERS
    from mcls.reporting.plots import draw_all, drawing

    with drawing(out, quick) as begun:
        from mcls.reporting.agreement import agreement, agreement_tables
        from mcls.reporting.page import write_report

        studies = Studies(out, quick)
        tables = agreement_tables(agreement(PAPERS.values(), studies), quick)
        tables += [table for paper in PAPERS.values() for spec in paper.tables for table in spec.build(studies)]
        figures = draw_all(studies, lambda text: echo(text, err=True), begun)
    echo(f"Written {write_report(studies, list(PAPERS.values()), tables, figures)}")
    print_damaged(*(study.store for study in studies.loaded()))


#: Figures of the page; what the results do not allow is left out.
_FIGURES = ("intervals", "ranks", "confusion")


def write_page(board: Board, against: str | None = None) -> Path:
    """Write the page of an experiment or a suite, with its tables and figures beside it."""
    from mcls.errors import McLsError
    from mcls.reporting.board_page import write_board
    from mcls.reporting.board_tables import board_tables, write_tables
    from mcls.reporting.plots.own import draw_own

    if against is None and len(board.machines) > 1:
        against = board.machines[0]
    reference = None if against is None else board.machine(against)
    tables = board_tables(board, reference)
    write_tables(tables, board)
    figures: dict[str, list[Path]] = {}
    for kind in _FIGURES:
        with contextlib.suppress(McLsError):
            drawn = draw_own(kind, board, lambda text: None)
            figures |= {f"{kind}/{stem}": files for stem, files in drawn.items()}
    return write_board(board, tables, figures, reference)
