"""Sparse oneLSM beside the full one: error on rows kept apart, time to predict, and size of the model file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from benchmarks.accuracy import SETS, load
from benchmarks.measure import Row, timed
from mcls.evaluation.folds import class_half_split
from mcls.evaluation.scaling import to_range
from mcls.models.saving import dump
from mcls.models.selection import select


def sparse_against_full(sets: Sequence[str] = SETS) -> Iterator[Row]:
    """Half of the rows teach both machines, each tuned by five folds, and the other half judges them."""
    for data in sets:
        X, y = load(data)
        train, test = class_half_split(y, 0)
        A, B = to_range(X[train]), to_range(X[test], X[train])
        few, full = (select(A, y[train], name, folds=5).estimator for name in ("sparse-oneLSM", "oneLSM"))
        seconds, codes = timed(partial(few.predict, B), 5)
        peer_seconds, peer_codes = timed(partial(full.predict, B), 5)
        errors = [100 * float(np.mean(found != y[test])) for found in (codes, peer_codes)]
        sizes = [len(dump(machine)) / 1000 for machine in (few, full)]
        spread = 100 * np.sqrt(errors[1] / 100 * (1 - errors[1] / 100) / len(test))
        note = (
            f"{len(few.chosen_)} of {len(train)} rows; test errors {errors[0]:.2f} and {errors[1]:.2f} "
            f"(standard error {spread:.2f}); files {sizes[0]:.0f} and {sizes[1]:.0f} kB"
        )
        yield Row("sparse", data, "sparse-oneLSM", seconds, "oneLSM", peer_seconds, note)
