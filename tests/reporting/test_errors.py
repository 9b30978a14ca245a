"""Errors as bars."""

from __future__ import annotations

import pytest

from mcls.papers.honeine2013.error_bars import error_bars
from mcls.reporting.studies import Studies

from .made_up import fill

pytestmark = pytest.mark.usefixtures("cache")


def test_error_bars_show_both_and_point_at_what_lies_far_off(tmp_path):
    studies = Studies(tmp_path, is_quick=True)
    fill(studies["honeine2013-table4"], lambda cell: 0.006)
    assert error_bars(Studies(tmp_path / "empty", is_quick=True)) is None
    figure = error_bars(studies)
    assert figure is not None
    panels = {ax.get_title(): ax for ax in figure.axes}
    assert list(panels) == ["iris", "wine", "glass", "vowel"]  # yeast has no figure of ours
    names = [tick.get_text() for tick in panels["iris"].get_yticklabels()]
    assert (names[0], names[-1], len(names)) == ("oneLSM", "elm", 34)
    # The paper's 41.33 for elm on vowel is beyond the axis, and said as a number.
    assert panels["vowel"].get_xlim()[1] < 5
    assert [text.get_text() for text in panels["vowel"].texts] == ["41.3"]
    means = [line for line in panels["vowel"].lines if line.get_marker() == "o" and len(line.get_xdata()) == 1]
    assert means
    assert all(line.get_xdata()[0] == pytest.approx(0.6) for line in means)
