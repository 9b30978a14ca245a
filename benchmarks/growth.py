"""How time grows with the samples and with the classes, and the memory of a large exact grid."""

from __future__ import annotations

from collections.abc import Iterator

from threadpoolctl import threadpool_limits

from benchmarks.grids import CORES, GRID, load
from benchmarks.measure import Row, in_child, timed
from mcls.evaluation.folds import stratified_folds
from mcls.evaluation.grid import search
from mcls.machines.registry import MACHINES


def with_samples() -> Iterator[Row]:
    """oneLSM's whole grid on the first n rows of letter, against its own time at half of n."""
    before, label = None, ""
    for n in (500, 1000, 2000, 4000):
        X, y = load("letter", first=n)
        folds = stratified_folds(y, 10, seed=0)
        seconds, _ = timed(lambda: search(MACHINES["oneLSM"].create(), X, y, GRID, folds, n_threads=CORES))  # noqa: B023
        note = "" if before is None else f"{seconds / before:.1f} times the time at half of n"
        yield Row("growth with n", f"letter, n={n}", "oneLSM, fast", seconds, label, before, note)
        before, label = seconds, f"n={n}"


def with_classes() -> Iterator[Row]:
    """oneLSM's whole grid on 2000 rows of letter with the letters merged into ℓ classes, against ℓ = 2."""
    X, letters = load("letter", first=2000)
    two = None
    for ell in (2, 5, 13, 26):
        y = letters % ell
        folds = stratified_folds(y, 10, seed=0)
        seconds, _ = timed(lambda: search(MACHINES["oneLSM"].create(), X, y, GRID, folds, n_threads=CORES), 2)  # noqa: B023
        two = two or seconds
        note = f"{seconds / two:.2f} times the time at two classes"
        yield Row("growth with classes", f"letter, n=2000, l={ell}", "oneLSM, fast", seconds, "l=2", two, note)


def letter_grid(n: int) -> tuple[float, float]:
    """Time and error of the exact 10-fold 9×9 grid on the first n rows of letter."""
    with threadpool_limits(1):
        X, y = load("letter", first=n)
        folds = stratified_folds(y, 10, seed=0)
        seconds, found = timed(lambda: search(MACHINES["oneLSM"].create(), X, y, GRID, folds, n_threads=CORES))
    return seconds, found.best_error


def memory() -> Iterator[Row]:
    """Peak memory of the exact grid on 10000 rows of letter."""
    (seconds, error), peak = in_child(letter_grid, 10000)
    note = f"peak {peak:.1f} GB; error {100 * error:.2f}"
    yield Row("memory", "letter, n=10000", "oneLSM, fast", seconds, "", None, note)
