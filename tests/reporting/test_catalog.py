"""Writing tables."""

from mcls.reporting.catalog import write
from mcls.reporting.paper import not_run
from mcls.reporting.studies import AbsentDataError
from mcls.reporting.table import make, number


def test_a_table_without_its_data_does_not_replace_one_that_was_run(tmp_path):
    absent = not_run("t", "T", AbsentDataError("mcls data fetch x"), quick=False)
    folder = write([absent], tmp_path)
    assert "mcls data fetch x" in (folder / "t.md").read_text()
    for value in (1.0, 2.0):  # a table that was run replaces whatever is there
        write([make("t", "T", ["error"], [[number(value)]])], tmp_path)
        assert f"{value:.2f}" in (folder / "t.md").read_text()
    write([absent], tmp_path)
    assert "2.00" in (folder / "t.md").read_text()
