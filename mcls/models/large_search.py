"""Which kernels of a landmark machine are worth a pass over a large table: found on a sample of its rows.

Exact sweeps on up to 1500 rows say where to begin. But the exact machine may prefer a kernel so narrow that landmarks
hardly see anything of it, while wider ones are nearly as good. So the landmark machine itself is then tried on the
whole sample: trained on four fifths of it, with the number of landmarks that it is to have, and judged on the others.
From where it begins the width goes up or down as long as that is better. If the better neighbour of the best width is
within one standard error of it, the two are cross-validated on all rows of the sample, and the better one is taken:
a pass over the table costs more than what is left to win.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mcls.evaluation.folds import EQUAL_ROWS
from mcls.evaluation.grid import OnStep
from mcls.evaluation.metrics import Metric
from mcls.kernels import KERNEL_PARAMETERS
from mcls.models import growing
from mcls.models.candidates import Candidate
from mcls.models.grids import Ladder, Point
from mcls.models.passes import Landmarks, kernel_of, make_landmarks, weighed
from mcls.models.searching import CandidateSearch
from mcls.models.training_rows import TrainingRows
from mcls.solvers.gram_sums import FoldedRows, fold_coefficients, sum_rows, whole_coefficients
from mcls.solvers.landmarks import choose_landmarks
from mcls.specs import format_spec

Array = np.ndarray

#: Threads of this process.
CORES = os.cpu_count() or 1
#: Rows of the sample that exact sweeps begin on.
EXACT_ROWS = 1500
# Sums that threads may share, on any machine: with other shares the last digits would be others.
_SHARES = 4
#: What a sweep of the exact machine does not look at.
_OF_LANDMARKS = ("solver", "n_landmarks", "landmarks", "random_state", "calibration")


class Sample(NamedTuple):
    """The rows that a search and landmarks are taken from."""

    X: Array  # (s, d)
    y: Array  # (s,) class codes
    folds: Array  # (s,)
    weights: Array | None


class Worth(NamedTuple):
    """What is worth a pass over the table: kernels, the best guess first, and strengths."""

    kernels: list[Point]
    gammas: list[float]


@dataclass(frozen=True)
class KernelSearch:
    """A search on a sample.

    Attributes
    ----------
    estimator : OneLSM
        With the options that were given.
    options : dict
        These.
    sample : Sample
        Of the rows.
    classes : sequence of str
        Class names.
    rows : int
        Of the whole table.
    metric : Metric
        What chooses.
    seed, folds : int
        Of the exact sweeps.
    together : bool
        Whether equal rows share a fold there.
    factors : array (ℓ,) or None
        Weights of the classes in training.
    """

    estimator: Any
    options: dict[str, Any]
    sample: Sample
    classes: tuple[str, ...]
    rows: int
    metric: Metric
    folds: int
    seed: int
    together: bool
    factors: Array | None = None

    def worth(self, m: int, on_step: OnStep | None = None) -> Worth:
        """What to try with m landmarks."""
        best, ladders = self._exact(on_step)
        kernel = {name: value for name, value in best.items() if name in KERNEL_PARAMETERS}
        strengths = ladders.get("gamma")
        if strengths is None:
            return Worth([kernel], [float(self.estimator.gamma)])
        tried: dict[float, tuple[float, float]] = {}  # width → loss, best strength

        def loss(width: float) -> float:
            if width not in tried:
                if on_step is not None:
                    on_step("widths tried on a sample", len(tried), None)
                tried[width] = self._held_out({**kernel, growing.WIDTH: width}, strengths, m)
            return tried[width][0]

        if growing.WIDTH not in ladders:
            gamma = self._held_out(kernel, strengths, m)[1]
            return Worth([kernel], self._carried(gamma, strengths))
        width = climb(ladders[growing.WIDTH], kernel[growing.WIDTH], loss)
        beside = sorted(
            (loss(other), other) for other in ladders[growing.WIDTH].around(width, 1) if other != width
        )
        error = np.sqrt(max(loss(width) * (1 - loss(width)), 1e-4) / max(1, self._test.sum()))
        if beside and beside[0][0] <= loss(width) + error:
            both = [width, beside[0][1]]
            losses = [
                self._cross_validated({**kernel, growing.WIDTH: each}, strengths.around(tried[each][1], 1), m)
                for each in both
            ]
            width = both[int(np.argmin(losses))]
        return Worth([{**kernel, growing.WIDTH: width}], self._carried(tried[width][1], strengths))

    def _exact(self, on_step: OnStep | None) -> tuple[Point, dict[str, Ladder]]:
        """The best point of the exact machine on a part of the sample, and the values that parameters may take."""
        data = TrainingRows.read(
            self.sample.X,
            np.array(self.classes)[self.sample.y],
            folds=self.folds,
            seed=self.seed,
            groups=EQUAL_ROWS if self.together else None,
            sample_weight=self.sample.weights,
            say=None,
            most=lambda n: EXACT_ROWS,
        )
        exact = {name: value for name, value in self.options.items() if name not in _OF_LANDMARKS}
        candidate = Candidate.read(data, format_spec("oneLSM", exact), "auto", (self.metric,), on_step)
        return CandidateSearch(candidate, data).run()[0].best_point, candidate.ladders

    @property
    def _test(self) -> Array:
        """Which rows of the sample judge: those of every fifth fold."""
        return self.sample.folds % min(5, self.folds) == 0

    def _held_out(self, kernel: Point, strengths: Ladder, m: int) -> tuple[float, float]:
        """The smallest loss over the strengths that a search starts with, and the strongest that has it."""
        gammas, test = strengths.start, self._test
        machine, landmarks = self._machine(kernel, m)
        rows = self._rows(~test)
        rows = rows._replace(folds=np.arange(len(rows.y)) % _SHARES)  # for the threads: only the whole is wanted
        sums = sum_rows([rows], *landmarks, _SHARES, len(self.classes), CORES)
        beta = whole_coefficients(sums, landmarks.L, gammas, CORES)  # (γ, m, ℓ)
        classes = self._classes(machine, landmarks, self.sample.X[test], beta, sums.N.sum(axis=0))
        losses = self._losses(test, classes)
        best = int(np.flatnonzero(losses <= losses.min() + 1e-12)[-1])
        return float(losses[best]), gammas[best]

    def _cross_validated(self, kernel: Point, gammas: list[float], m: int) -> float:
        """The smallest loss over some strengths, in at most five folds of the whole sample."""
        machine, landmarks = self._machine(kernel, m)
        folds = self.sample.folds % min(5, self.folds)
        rows = self._rows(np.ones(len(folds), dtype=bool))._replace(folds=folds)
        sums = sum_rows([rows], *landmarks, int(folds.max()) + 1, len(self.classes), CORES)
        beta = fold_coefficients(sums, landmarks.L, gammas, CORES)  # (k, γ, m, ℓ)
        classes = np.empty((len(gammas), len(folds)), dtype=np.intp)
        for f, own in enumerate(beta):
            test, trained = folds == f, sums.N.sum(axis=0) - sums.N[f]
            classes[:, test] = self._classes(machine, landmarks, rows.X[test], own, trained)
        return float(self._losses(folds >= 0, classes).min())

    def _machine(self, kernel: Point, m: int) -> tuple[Any, Landmarks]:
        """The machine with a kernel, and m landmarks of the sample."""
        machine = self.estimator.set_params(**kernel)
        of = kernel_of(machine)
        Z = choose_landmarks(machine.landmarks, of, self.sample.X, m, machine.random_state)
        return machine, make_landmarks(of, Z)

    def _rows(self, some: Array) -> FoldedRows:
        """Some rows to learn from."""
        X, y, folds, w = self.sample
        if self.factors is not None:
            w = weighed(w, self.factors[y])
        return FoldedRows(X[some], y[some], folds[some], None if w is None else w[some])

    def _classes(self, machine: Any, landmarks: Landmarks, X: Array, beta: Array, trained: Array) -> Array:
        """Classes (γ, s) of some rows X (s, d) by the coefficients beta (γ, m, ℓ)."""
        kernel, Z, _ = landmarks
        flat = beta.transpose(1, 0, 2).reshape(len(Z), -1)
        parts = np.array_split(X, max(1, len(X) * len(Z) // 2**22))
        values = np.concatenate([kernel(part, Z) @ flat for part in parts])
        scores = values.reshape(len(X), *beta.shape[::2]).transpose(1, 0, 2)
        classes: Array = machine.decided(scores, trained).argmax(axis=2)
        return classes

    def _losses(self, some: Array, classes: Array) -> Array:
        """The loss of each strength on some rows; infinite where it has none."""
        _, y, _, w = self.sample
        losses = self.metric.as_loss(self.metric(y[some], classes, None if w is None else w[some]))
        return np.where(np.isnan(losses), np.inf, losses)

    def _carried(self, gamma: float, ladder: Ladder) -> list[float]:
        """Strengths for all rows: γ weighs against a sum over rows, so from the sample's to n/s times that."""
        most = gamma * max(1.0, self.rows / max(1, (~self._test).sum()))
        inside = [value for value in ladder.values if gamma <= value <= most]
        return sorted({*ladder.around(inside[0], 1), *inside, *ladder.around(inside[-1], 1)})


def climb(ladder: Ladder, start: float, loss: Callable[[float], float]) -> float:
    """The value, from ``start`` on, beside which no other is better; of equal ones the largest.

    >>> climb(Ladder([1.0, 2.0, 4.0, 8.0], [], 1), 1.0, lambda v: abs(v - 4.0))
    4.0
    """
    here = start
    while True:
        near = ladder.around(here, 1)
        best = min(near, key=lambda value: (loss(value), -value))
        if best == here:
            return here
        here = best
