"""Tables whose classes differ much in size: choosing by balanced error with balanced weights, judged nested."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.measure import Row
from mcls.data import load_dataset
from mcls.evaluation.metrics import read_metrics
from mcls.evaluation.protocols import nested_folds
from mcls.evaluation.task import Task
from mcls.machines.registry import get_machine

#: Of ecoli the six classes that can be learned: two more have two rows each.
DATASETS: dict[str, dict[str, Any]] = {"glass": {}, "yeast": {}, "ecoli": {"classes": "6"}}
SEEDS = range(3)


def balanced() -> Iterator[Row]:
    """Nested 10-fold balanced error of oneLSM: chosen by the error, and by the balanced error with balanced weights.

    Mean of three partitions.
    """
    machine = get_machine("oneLSM")
    grid = {"gamma": [2.0**k for k in range(-10, 5, 2)], "sigma": [2.0**k for k in range(-3, 4)]}
    for name, options in DATASETS.items():
        data = load_dataset(name, **options)
        found, seconds = [], []
        for weight, metrics in ((None, ["error", "balanced-error"]), ("balanced", ["balanced-error", "error"])):
            task = Task(
                machine.create(class_weight=weight),
                data.X,
                data.y,
                grid,
                scaling="dataset",
                smoother=dict(machine.smoother),
                metrics=read_metrics(metrics),
            )
            start = time.process_time()
            results = [nested_folds(task, seed, folds=10)["metrics"] for seed in SEEDS]
            found.append({metric: float(np.mean([r[metric] for r in results])) for metric in metrics})
            seconds.append(time.process_time() - start)
        (plain, weighed) = found
        note = (
            f"balanced error {100 * weighed['balanced-error']:.2f} and {100 * plain['balanced-error']:.2f}, "
            f"error {100 * weighed['error']:.2f} and {100 * plain['error']:.2f}"
        )
        ours, peer = "by balanced error, balanced weights", "by error, no weights"
        yield Row("imbalanced", name, ours, seconds[1], peer, seconds[0], note)
