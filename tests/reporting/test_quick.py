"""Quick versions of the configs: small, valid, and never the cells of the full run."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcls.experiments.layout import plan
from mcls.experiments.loading import config_from
from mcls.reporting.quick import quick

FULL = {
    "name": "full",
    "datasets": ["iris", "vowel", "letter:first=2000", "usps:resample=decimate,sample=1000,seed=3"],
    "machines": ["oneLSM", {"name": "voSVM", "labelbook": ["pm1", "alignment"], "grid": {"gamma": [1, 2]}}],
}


def test_rows_replicates_folds_and_grids_shrink():
    small = quick(config_from(FULL, "full"), Path())
    assert [entry.label for entry in small.datasets] == [
        "iris",
        "vowel:sample=250",
        "letter:first=400",
        "usps:resample=decimate,sample=250,seed=3",
    ]
    assert (small.n_replicates, small.folds) == (2, 3)
    assert small.machines[0].grid == {"gamma": [0.125, 1.0, 8.0], "sigma": [0.125, 1.0, 8.0]}
    assert small.machines[1].grid == {"gamma": [1, 2], "sigma": [0.125, 1.0, 8.0]}
    assert small.machines[1].labelbook == ["pm1", "alignment"]


def test_no_quick_cell_is_a_cell_of_the_full_run():
    full = config_from({**FULL, "datasets": ["iris"]}, "full")
    keys = [{cell.key for cell in plan(config).cells} for config in (full, quick(full, Path()))]
    assert not keys[0] & keys[1]


@pytest.mark.parametrize("train", [120, [30, 40, 40]])
def test_a_split_by_numbers_of_rows_keeps_the_whole_table(train):
    full = config_from(
        {"name": "f", "datasets": ["balance"], "machines": ["ovA"], "protocol": "hold-out", "train": train}, "f"
    )
    small = quick(full, Path())
    assert small.datasets[0].label == "balance"
    assert small.train == train


def test_five_by_two_keeps_its_five_replications():
    full = config_from({"name": "f", "datasets": ["iris"], "machines": ["ovA"], "protocol": "5x2cv"}, "f")
    assert (quick(full, Path()).n_replicates, quick(full, Path()).inner_folds) == (5, 3)
