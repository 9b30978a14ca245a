"""Fixtures that several test files of this room share."""

from pathlib import Path

import numpy as np
import pytest

from mcls.reporting.board import Board, find_board
from mcls.reporting.studies import Studies, Study

from .made_up import record

CONFIG = """\
datasets: [iris:sample=60, wine:sample=60, glass:sample=100]
machines: [oneLSM, ovO, {name: voLSSVM, labelbook: [pm1, alignment]}]
protocol: nested
folds: 5
inner_folds: 3
replicates: 2
metric: [error, macro-f1]
grid: {gamma: [0.25, 4], sigma: [0.5, 2]}
"""
ERRORS = {"oneLSM": 0.10, "ovO": 0.30, "voLSSVM": 0.10}


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> Path:
    """A folder of results with the experiment ``lab``, its figures made up."""
    folder = tmp_path_factory.mktemp("lab")
    (folder / "lab.yaml").write_text(CONFIG)
    study = Study(str(folder / "lab.yaml"), folder / "results", False)
    study.experiment.write_plan()
    (study.folder / "config.yaml").write_text(study.experiment.config_as_run())
    for i, cell in enumerate(study.experiment.plan.cells):
        error = ERRORS[cell.machine]
        splits = list(error + 0.01 * np.random.default_rng(i).integers(-3, 4, 5))
        made = record(cell, float(np.mean(splits)), fold_errors=splits)
        for part in ("grid", "errors", "oracle_error"):
            del made["result"][part]
        made["result"]["metrics"] = {"error": made["result"]["error"], "macro-f1": 1 - made["result"]["error"]}
        made["result"]["split_metrics"] = {"error": splits, "macro-f1": [1 - v for v in splits]}
        study.store.write(made)
    return folder / "results"


@pytest.fixture
def board(results) -> Board:
    return find_board(Studies(results), "lab")
