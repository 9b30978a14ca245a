"""The report of any experiment or suite: one page with tables, figures, methods, references and every cell."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from mcls.data.cards import load_card
from mcls.errors import McLsError
from mcls.experiments.store import write_file
from mcls.reporting.board import Board
from mcls.reporting.methods import described, methods
from mcls.reporting.page import Section, cells_of, embedded, environments_of, render
from mcls.reporting.plots.own import CAPTIONS
from mcls.reporting.references import bibtex
from mcls.reporting.table import Table
from mcls.specs import parse_spec


def write_board(
    board: Board, tables: Sequence[Table], figures: Mapping[str, Sequence[Path]], reference: str | None = None
) -> Path:
    """Write ``report.html`` to the folder of the experiment, with BibTeX and the methods as files beside it.

    ``figures`` are kind and stem, as ``kind/stem``, → files.
    """
    base = os.path.relpath(board.out, board.folder) + "/"
    ranked = board.ranking(board.metrics[0]) is not None
    tested = reference is not None and any(board.against(reference, metric) for metric in board.metrics)
    paragraph = methods(board, reference if tested else None, ranked)
    entries = bibtex([paragraph, *_references(board)], _citations(board), version("mcls"))
    text = render(
        "study.html",
        banner="",
        name=board.name,
        description=_description(board),
        tables=tables,
        figures=Section("figures", "", [], _pictures(board, figures)),
        methods=paragraph,
        bibtex=entries,
        studies=[cells_of(study, base) for study in board.studies],
        environments=list(environments_of(board.studies)),
        version=version("mcls"),
    )
    write_file(board.folder / "methods.txt", paragraph + "\n")
    write_file(board.folder / "references.bib", entries)
    write_file(board.folder / "report.html", text)
    return board.folder / "report.html"


def _description(board: Board) -> str:
    return str(board.studies[0].fields_as_run.get("description") or "") if len(board.studies) == 1 else ""


def _references(board: Board) -> list[str]:
    return [described(label.split(", ")[0])[1] for label in board.machines]


def _citations(board: Board) -> dict[str, str]:
    """Citations of the data sets that have a card; a table of the user's own may be called as one of them."""
    found = {}
    entries = [entry for study in board.studies for entry in study.fields_as_run.get("datasets", [])]
    of_mcls = {entry.get("name") for entry in entries if "path" not in entry}
    for row in board.rows.values():
        try:
            card = load_card(parse_spec(row.dataset)[0])
        except McLsError:
            continue
        if card.name in of_mcls or sorted((card.classes or {}).values()) == sorted(np.bincount(row.data.y)):
            found[card.name] = card.citation
    return found


def _pictures(board: Board, figures: Mapping[str, Sequence[Path]]) -> list[dict[str, Any]]:
    pictures = []
    for key, files in figures.items():
        kind, _, stem = key.partition("/")
        if files:
            caption = f"{CAPTIONS[kind]} ({stem.removeprefix(f'{board.name}-{kind}').strip('-') or board.name})"
            pictures.append(embedded(stem, f"{kind} {board.name}", caption, files))
    return pictures
