"""``mcls report``: the page from whatever the store holds."""

from __future__ import annotations

import contextlib
import io

import pytest

from mcls.cli.app import main
from mcls.papers import PAPERS


@pytest.mark.usefixtures("cache")
def test_an_empty_store_gives_a_page_that_says_what_is_missing(tmp_path):
    out = io.StringIO()
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(io.StringIO()),
        pytest.raises(SystemExit) as end,
    ):
        main(["report", "--quick", "--out", str(tmp_path)])
    assert not end.value.code
    path = tmp_path / "quick" / "report.html"
    assert str(path) in out.getvalue()
    text = path.read_text(encoding="utf-8")
    assert "INCOMPLETE" in text
    for paper in PAPERS:
        assert f'id="{paper}"' in text
