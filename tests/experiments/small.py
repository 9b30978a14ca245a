"""A small experiment that runs in a fraction of a second."""

from __future__ import annotations

from pathlib import Path

from mcls.experiments.experiment import Experiment
from mcls.experiments.loading import config_from

SMALL = {
    "name": "small",
    "datasets": ["iris:sample=60", "wine:sample=60"],
    "machines": ["oneLSM", "ovO", "voLSSVM"],
    "folds": 3,
    "replicates": 3,
    "grid": {"gamma": [0.25, 4], "sigma": [0.5, 2]},
}


def make_experiment(out: Path, **changes) -> Experiment:
    values = {k: v for k, v in {**SMALL, **changes}.items() if v is not None}
    return Experiment.laid_out(config_from(values, "small"), Path(), out)


def without_times(csv: str) -> list[list[str]]:
    """The rows of a summary.csv without its time columns."""
    rows = [line.split(",") for line in csv.splitlines()]
    keep = [j for j, name in enumerate(rows[0]) if not name.startswith("time")]
    return [[row[j] for j in keep] for row in rows]
