"""Figures of any experiment."""

from __future__ import annotations

import pytest

from mcls.errors import McLsError
from mcls.reporting.plots.own import draw_own


def test_the_figures(board, tmp_path):
    board.out = tmp_path
    for kind in ("intervals", "ranks", "confusion", "errors"):
        drawn = draw_own(kind, board, print)
        assert all(path.is_file() for files in drawn.values() for path in files)
    assert len(draw_own("confusion", board, print, dataset="iris:sample=60", machine="ovO")) == 1
    with pytest.raises(McLsError, match="only the protocol 'published' stores the error of every grid point"):
        draw_own("sweep", board, print)
    with pytest.raises(McLsError, match="regions are drawn by: mcls plot regions NAME"):
        draw_own("regions", board, print)
    with pytest.raises(McLsError, match="go with grid, sweep, confusion, regions"):
        draw_own("ranks", board, print, dataset="iris:sample=60")
    svg = (tmp_path / "figures" / "lab-ranks.svg").read_text(encoding="utf-8")
    assert "CD = " in svg
