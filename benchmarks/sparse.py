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

#: The twelve shipped data sets; of the two large ones so many rows.
ALL_SETS, MOST_ROWS = (*SETS, "lenses"), 1000
SPLITS = 3


def sparse_against_full(sets: Sequence[str] = ALL_SETS) -> Iterator[Row]:
    """Half of the rows teach both machines, each tuned by five folds, and the other half judges them, three times."""
    counted = 0
    for data in sets:
        X, y = load(data, MOST_ROWS)
        found = np.array([_of_split(X, y, split) for split in range(SPLITS)])  # (splits, figures)
        kept, share, error, peer_error, size, peer_size, seconds, peer_seconds = found.mean(axis=0)
        spread = float(np.sqrt(peer_error * (1 - peer_error) / (len(y) - len(class_half_split(y, 0)[0]))))
        within = error <= peer_error + spread
        counted += within and share <= 0.2
        note = (
            f"{kept:.0f} rows, {100 * share:.0f} %; test errors {100 * error:.2f} and {100 * peer_error:.2f} "
            f"(standard error {100 * spread:.2f}, {'within' if within else 'beyond'}); "
            f"files {size:.0f} and {peer_size:.0f} kB"
        )
        yield Row("sparse", data, "sparse-oneLSM", seconds, "oneLSM", peer_seconds, note)
    note = f"{counted} of {len(sets)} within one standard error with at most 20 % of the rows"
    yield Row("sparse", "all sets", "sparse-oneLSM", 0.0, "oneLSM", None, note)


def _of_split(X: np.ndarray, y: np.ndarray, split: int) -> list[float]:
    """Rows kept, their share, both errors, sizes in kB and seconds to predict."""
    train, test = class_half_split(y, split)
    A, B = to_range(X[train]), to_range(X[test], X[train])
    few, full = (select(A, y[train], name, folds=5).estimator for name in ("sparse-oneLSM", "oneLSM"))
    timings = [timed(partial(machine.predict, B), 5) for machine in (few, full)]
    errors = [float(np.mean(codes != y[test])) for _, codes in timings]
    sizes = [len(dump(machine)) / 1000 for machine in (few, full)]
    kept = len(few.chosen_)
    return [kept, kept / len(train), *errors, *sizes, *(seconds for seconds, _ in timings)]
