"""The files of a figure: the same bytes for the same data."""

from __future__ import annotations

import hashlib

import pytest

from mcls.reporting.plots import PLOTS, draw
from mcls.reporting.studies import Studies

pytestmark = pytest.mark.usefixtures("cache")


def test_both_files_are_the_same_whenever_they_are_drawn(tmp_path):
    digests = []
    for folder in (tmp_path / "a", tmp_path / "b"):
        (files,) = draw(PLOTS["labelbooks"], Studies(folder)).values()
        assert [path.suffix for path in files] == [".png", ".svg"]
        digests.append([hashlib.sha256(path.read_bytes()).hexdigest() for path in files])
    assert digests[0] == digests[1]


def test_a_png_of_the_same_drawing_is_kept_and_another_is_not(tmp_path, monkeypatch):
    from matplotlib.figure import Figure

    drawn, savefig = [], Figure.savefig

    def counts(self, *args, **settings):
        drawn.append(settings["format"])
        return savefig(self, *args, **settings)

    monkeypatch.setattr(Figure, "savefig", counts)
    studies = Studies(tmp_path, is_quick=True)
    (files,) = draw(PLOTS["labelbooks"], studies).values()
    assert drawn == ["svg", "png"]
    before = [path.read_bytes() for path in files]
    assert draw(PLOTS["labelbooks"], studies) == {"labelbooks": files}
    assert drawn == ["svg", "png", "svg"]
    assert [path.read_bytes() for path in files] == before
    (files,) = draw(
        PLOTS["labelbooks"], Studies(tmp_path / "real")
    ).values()  # the same without "quick" in its corner
    (tmp_path / "quick/figures/labelbooks.png").write_bytes(files[0].read_bytes())
    assert draw(PLOTS["labelbooks"], studies)
    assert drawn[-2:] == ["svg", "png"]
    assert (tmp_path / "quick/figures/labelbooks.png").read_bytes() == before[0]
