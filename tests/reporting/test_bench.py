"""The benchmarks as the report shows them."""

from __future__ import annotations

from mcls.reporting.bench import bench_table, read_rows

from .made_up import ENVIRONMENT

HEAD = "benchmark,data,ours,seconds,peer,peer seconds,ratio,note\n"


def test_all_files_come_into_one_table_with_numbers_that_sort(tmp_path):
    import json

    (tmp_path / "b.csv").write_text(HEAD + "grid,iris,oneLSM,0.018,peer,0.932,52.0,equal\n")
    (tmp_path / "a.csv").write_text(HEAD + "search,faces,sums,0.873,,,,peak\n")
    (tmp_path / "environment.json").write_text(json.dumps(ENVIRONMENT))
    table = bench_table(tmp_path, quick=False)
    assert table is not None
    assert [row[0].text for row in table.rows] == ["search", "grid"]
    assert [row[6].value for row in table.rows] == [None, 52.0]
    assert [table.is_numeric(j) for j in range(8)] == [False, False, False, True, False, True, True, False]
    assert "made-up CPU" in table.notes[1]


def test_nothing_measured_is_no_table(tmp_path):
    assert bench_table(tmp_path, quick=False) is None
    assert read_rows(tmp_path / "nowhere.csv") == []
