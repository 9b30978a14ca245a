"""What a store of many cells costs: a dry run and a run with nothing left to do on 20,000, and the papers' tables."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import Row
from mcls.experiments.experiment import Experiment
from mcls.experiments.loading import load_config
from mcls.experiments.records import encode
from mcls.experiments.runner import compute

_CONFIG = """\
name: many
datasets: [iris, wine]
machines: [oneLSM, ovO, voLSSVM, voRLS-f]
replicates: 2500
folds: 3
grid: {gamma: "2^-2..2^2", sigma: [0.5, 1, 2]}
"""


def many_cells() -> Iterator[Row]:
    """A dry run and an empty resume with 20,000 cells, as a user starts them; the time of the processor beside."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "many.yaml").write_text(_CONFIG)
        count = _fill(folder)
        for what, options in (("run --dry-run", ["--dry-run"]), ("run, nothing to do", ["-j", "2"])):
            yield _measured(["run", "many.yaml", "--out", "out", *options], folder, f"{count} cells", what)


def all_tables() -> Iterator[Row]:
    """Every table, figure and page of the papers from the committed store."""
    yield _measured(["tables", "--all", "--no-run"], Path(), "the committed store", "tables --all --no-run")


def _fill(folder: Path) -> int:
    """Store every cell of the config: one is computed for each row, and stands for its other replicates."""
    experiment = Experiment.laid_out(load_config(folder / "many.yaml"), folder, folder / "out")
    cells = experiment.store.folder
    cells.mkdir(parents=True)
    for row in experiment.plan.rows:
        record = compute(row.cells[0])
        for cell in row.cells:
            mine = record | {"key": cell.key, "replicate": cell.replicate, "identity": cell.identity()}
            (cells / f"{cell.key}.json").write_bytes(encode(mine | {"parameters": cell.parameters()}))
    return len(experiment.plan.cells)


def _measured(command: list[str], folder: Path, data: str, what: str) -> Row:
    before, began = _cpu(), time.perf_counter()
    subprocess.run([sys.executable, "-m", "mcls", *command], cwd=folder, check=True, capture_output=True)
    seconds = time.perf_counter() - began
    return Row("store", data, what, seconds, "", None, f"{_cpu() - before:.2f} s of the processor")


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
