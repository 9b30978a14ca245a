"""Results as one tidy table: a row per cell and metric, or a row per predicted row of the data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcls.errors import McLsError
from mcls.experiments.stored import of_splits
from mcls.files import no_formula
from mcls.packing import unpack
from mcls.reporting.board import Board
from mcls.reporting.studies import StudyRow

if TYPE_CHECKING:
    import pandas as pd

#: Suffix of a file → what writes it.
SUFFIXES = (".csv", ".parquet")


def check_suffix(path: Path) -> None:
    """Refuse a file that is neither CSV nor Parquet, and Parquet where its package is missing."""
    if path.suffix not in SUFFIXES:
        raise McLsError(f"results are exported as {' or '.join(SUFFIXES)}; got {path}")
    if path.suffix == ".parquet":
        try:
            import pyarrow  # noqa: F401
        except ImportError:
            raise McLsError(
                "Parquet needs the package pyarrow: pip install 'mcls[parquet]', or export .csv"
            ) from None


def results_table(board: Board) -> pd.DataFrame:
    """One row per cell and metric: what was judged, the value as stored (fractions, not percent), choices, times.

    ``part`` is ``protocol`` or ``nested`` (the honest estimate that a config asks for with ``nested: 1``).
    """
    import pandas as pd

    rows = [line for row in board.rows.values() for line in _cells(row)]
    if not rows:
        raise McLsError(f"{board.name} has no finished cells; to run them: {board.command}")
    return pd.DataFrame(rows)


def _cells(row: StudyRow) -> list[dict[str, Any]]:
    lines = []
    parts = {"protocol": row.row.cells, "nested": row.row.nested}
    for part, cells in parts.items():
        for cell in cells:
            record = row.store.result(cell)
            if record is None:
                continue
            result = record["result"]
            metrics = {"error": result["error"], **result.get("metrics", {})}
            for metric, value in metrics.items():
                lines.append(
                    {
                        "experiment": row.study,
                        "dataset": row.dataset,
                        "machine": row.row.machine,
                        "labelbook": row.row.labelbook,
                        "options": row.row.options,
                        "protocol": cell.protocol,
                        "part": part,
                        "replicate": cell.replicate,
                        "metric": metric,
                        "value": value,
                        "splits": json.dumps(of_splits(result, metric)),
                        "chosen": json.dumps(result["chosen"]),
                        "seconds": record["seconds"],
                        "engine": record["engine"],
                        "cell": cell.key,
                    }
                )
    return lines


def predictions_table(board: Board) -> pd.DataFrame:
    """One row per cell and tested row of its data set: the row's number, its class and the predicted one."""
    import numpy as np
    import pandas as pd

    parts = []
    for row in board.rows.values():
        names = np.array(row.data.classes, dtype=object)
        for cell in row.row.cells:
            record = row.store.result(cell)
            if record is None or "predictions" not in record["result"]:
                continue
            codes = unpack(record["result"]["predictions"])
            tested = np.flatnonzero(codes >= 0)
            parts.append(
                pd.DataFrame(
                    {
                        "experiment": row.study,
                        "dataset": row.dataset,
                        "machine": row.row.machine,
                        "labelbook": row.row.labelbook,
                        "options": row.row.options,
                        "replicate": cell.replicate,
                        "row": tested,
                        "class": names[row.data.y[tested]],
                        "prediction": names[codes[tested]],
                    }
                )
            )
    if not parts:
        raise McLsError(f"{board.name} has no stored predictions; to run its cells: {board.command}")
    return pd.concat(parts, ignore_index=True)


def to_bytes(table: pd.DataFrame, suffix: str) -> bytes:
    """The table as a file's content; in CSV no text is a formula."""
    if suffix == ".csv":
        texts = table.select_dtypes(exclude="number").columns
        table = table.assign(**{name: table[name].map(no_formula) for name in texts})
        return table.to_csv(index=False, lineterminator="\n").encode("utf-8")
    import io

    buffer = io.BytesIO()
    table.to_parquet(buffer, index=False)
    return buffer.getvalue()
