"""Results as one tidy table."""

from __future__ import annotations

import pandas as pd
import pytest

from mcls.errors import McLsError
from mcls.reporting.export import check_suffix, predictions_table, results_table, to_bytes


def test_export_reads_back(board, tmp_path):
    table = results_table(board)
    assert len(table) == 3 * 4 * 2 * 2
    assert set(table["metric"]) == {"error", "macro-f1"}
    (tmp_path / "r.csv").write_bytes(to_bytes(table, ".csv"))
    back = pd.read_csv(tmp_path / "r.csv", keep_default_na=False)
    mean = back[(back.metric == "error") & (back.machine == "ovO")].groupby("dataset").value.mean()
    for dataset in board.datasets:
        assert 100 * mean[dataset] == pytest.approx(board.rows[dataset, "ovO"].line.mean)
    rows = predictions_table(board)
    assert len(rows) == (60 + 60 + 100) * 4 * 2
    assert (rows["class"] == rows["prediction"]).all()  # as made up
    for name in ("r.xls", "results"):
        with pytest.raises(McLsError, match=r"exported as \.csv or \.parquet"):
            check_suffix(tmp_path / name)


def test_parquet_reads_back(board, tmp_path):
    pytest.importorskip("pyarrow")
    (tmp_path / "r.parquet").write_bytes(to_bytes(results_table(board), ".parquet"))
    assert pd.read_parquet(tmp_path / "r.parquet").equals(results_table(board))
