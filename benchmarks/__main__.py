"""``python -m benchmarks [NAME …]``: run the benchmarks, print them, write them to results/bench."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from threadpoolctl import threadpool_limits

from benchmarks import (
    accuracy,
    criteria,
    fit,
    grids,
    growth,
    honest,
    imbalanced,
    many_rows,
    million,
    probabilities,
    scale,
    sparse,
    store,
    sweepcv,
)
from benchmarks.measure import Row
from mcls.environment import environment
from mcls.errors import McLsError, unknown_name
from mcls.files import write_atomic

BENCHMARKS: dict[str, Callable[[], Iterator[Row]]] = {
    "kernel-ridge": grids.onelsm_against_kernel_ridge,
    "sweepcv": sweepcv.sweepcv_against_grid_search,
    "plain": grids.onelsm_against_plain_schemes,
    "ovo": grids.ovo_against_onelsm,
    "svc": grids.vosvm_against_svc,
    "samples": growth.with_samples,
    "classes": growth.with_classes,
    "memory": growth.memory,
    "fqmi": criteria.fqmi_on_vowel,
    "faces": criteria.fqmi_on_faces,
    "fit": fit.fit_against_grid_search,
    "costs": scale.costs,
    "certified": scale.certified,
    "certified-all": scale.certified_all,
    "landmarks": scale.landmarks,
    "fit-many": many_rows.fit_many,
    "peers": many_rows.peers,
    "million": million.million,
    "predict": million.predictions,
    "probabilities": probabilities.log_losses,
    "calibration-time": probabilities.calibration_time,
    "coverage": probabilities.coverage,
    "imbalanced": imbalanced.balanced,
    "accuracy": accuracy.accuracy,
    "sparse": sparse.sparse_against_full,
    "nested": honest.nested_against_flat,
    "nested-kernel-ridge": honest.nested_against_kernel_ridge,
    "permutations": honest.permutations,
    "store": store.many_cells,
    "tables": store.all_tables,
    "honest-interval": honest.interval_of_the_honest_error,
}
COLUMNS = ("benchmark", "data", "ours", "seconds", "peer", "peer seconds", "ratio", "note")


def cells(row: Row) -> list[str]:
    """The row as text, in the order of ``COLUMNS``."""
    peer = "" if row.peer_seconds is None else f"{row.peer_seconds:.3f}"
    ratio = "" if row.ratio is None else f"{row.ratio:.1f}"
    return [row.benchmark, row.data, row.ours, f"{row.seconds:.3f}", row.peer, peer, ratio, row.note]


def main(names: list[str]) -> None:
    """Run the named benchmarks (all by default), each line printed as soon as it is measured."""
    for name in names:
        if name not in BENCHMARKS:
            raise unknown_name("benchmark", name, BENCHMARKS)
    folder = Path("results/bench")
    folder.mkdir(parents=True, exist_ok=True)
    with threadpool_limits(1):
        for name in names or BENCHMARKS:
            lines = []
            for row in BENCHMARKS[name]():
                lines.append(cells(row))
                print(" | ".join(text for text in lines[-1] if text), flush=True)
            buffer = io.StringIO()
            csv.writer(buffer, lineterminator="\n").writerows([COLUMNS, *lines])
            write_atomic(folder / f"{name}.csv", buffer.getvalue())
    write_atomic(folder / "environment.json", json.dumps(environment(), indent=2) + "\n")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except McLsError as error:
        sys.exit(f"mcls: {error}")
