"""Time against the number of samples and of classes."""

from __future__ import annotations

import pytest

from mcls.reporting.plots.growth import growth, read_bench

pytestmark = pytest.mark.usefixtures("cache")


def test_growth_is_read_from_the_bench_s_tables(tmp_path):
    head = "benchmark,data,ours,seconds,peer\n"
    (tmp_path / "samples.csv").write_text(head + 'g,"letter, n=1000",x,2.5,\ng,"letter, n=500",x,0.5,\n')
    (tmp_path / "classes.csv").write_text(head + 'g,"letter, n=2000, l=2",x,1.0,\n')
    assert read_bench(tmp_path / "samples.csv", "n") == [(500, 0.5), (1000, 2.5)]
    assert read_bench(tmp_path / "classes.csv", "l") == [(2, 1.0)]
    figure = growth(tmp_path)
    assert figure is not None
    assert len(figure.axes) == 1  # one class count alone is not a curve
    assert growth(tmp_path / "nowhere") is None
