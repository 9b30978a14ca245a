"""Every paper's tables from an empty and from a full store."""

from __future__ import annotations

import pytest

from mcls.papers import PAPERS
from mcls.reporting.paper import Paper, TableSpec
from mcls.reporting.render import to_latex
from mcls.reporting.studies import Studies

from ..reporting.made_up import fill

pytestmark = pytest.mark.usefixtures("cache")

COUNTS = ("n", "training rows", "test rows", "tests", "equality rejected", "identical")
SPECS = [
    pytest.param(paper, spec, id=f"{paper.name}-{spec.id}")
    for paper in PAPERS.values()
    for spec in paper.tables
    if spec.studies or spec.extra  # worked examples are computed on the spot
]


@pytest.mark.parametrize("paper, spec", SPECS)
def test_an_empty_store_says_what_is_missing_and_how_to_get_it(tmp_path, paper: Paper, spec: TableSpec):
    for table in spec.build(Studies(tmp_path, is_quick=True)):
        text = " ".join(table.remarks) + " ".join(entry.text for row in table.rows for entry in row)
        assert "missing" in text or "not run" in text or "not complete" in text
        assert "QUICK" in table.heading
        assert all(entry.source == "" for row in table.rows for entry in row if entry.text.endswith("missing"))


@pytest.mark.parametrize("paper, spec", SPECS)
def test_a_full_store_leaves_nothing_to_say(tmp_path, paper: Paper, spec: TableSpec):
    studies = Studies(tmp_path, is_quick=True)
    for name in spec.studies:
        fill(studies[name])
    for table in spec.build(studies):
        assert "INCOMPLETE" not in " ".join(table.notes)
        assert to_latex(table).isascii()  # every sign we use has its command
        for row in table.rows:
            for column, entry in zip(table.columns, row):
                if entry.source and not entry.source.startswith("#"):
                    assert (studies.out / entry.source).is_file()
                # A number that is not the paper's, nor a count, leads to what produced it.
                if entry.value is not None and "paper" not in column and column not in COUNTS:
                    assert entry.source, column
