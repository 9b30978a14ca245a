"""The published figures that travel with the package."""

from __future__ import annotations

import pytest

from mcls.errors import McLsError
from mcls.reporting.published import read, value
from mcls.resources import published_files


def test_every_file_is_as_typed_out_from_the_papers(shared_dir):
    originals = sorted((shared_dir / "paper_tables").glob("*.csv"))
    shipped = published_files()
    assert {path.stem for path in originals} == set(shipped) - {"keshet2014-examples"}  # that one is from the text
    for path in originals:
        assert shipped[path.stem].read_bytes() == path.read_bytes()


def test_figures_are_found_by_their_columns():
    where = {"machine": "voSVM", "labelbook": "alignment", "dataset": "glass"}
    assert value("honeine2013-table4-error", "error_worst", **where) == 28.9
    assert value("honeine2013-table4-error", "error_best", machine="svm-ovA", dataset="iris") is None
    assert value("honeine2013-table4-error", "error_mean", machine="nobody") is None


def test_a_wrong_name_gets_the_nearest_one():
    with pytest.raises(McLsError, match="did you mean 'noumir2011'"):
        read("noumir201")
