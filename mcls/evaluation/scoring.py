"""From the out-of-fold scores of a sweep to the metrics of every grid point and fold, all points at once.

**Probabilities inside a search.** A metric that needs them gets softmax(tF) of the scores F of a fold, t the
temperature that fits the scores of *other* folds at the same grid point: by default those of all the rows that the
other folds test and this one does not; ``calibrators`` names other folds instead, or none where the scores are
logarithms of calibrated probabilities already (t = 1). No row takes part in the fit of the temperature by which it is
judged, and no machine is fitted for it. With more than twenty folds (leaving one row out,
for instance) the folds are dealt to twenty blocks, and the temperature of a block comes from the rows of the others.

**Undefined values.** A metric is NaN where it is not defined on a fold (the area under the curve where a fold lacks a
class, for instance) and where a classifier could not be fitted. The mean over the folds leaves NaN folds out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from mcls.errors import McLsError
from mcls.evaluation.metrics import ERROR, Metric
from mcls.solvers.calibration import fit_temperatures, temperature_probabilities

Array = np.ndarray

#: Of the temperatures of a grid point: with more folds than this, blocks of them share one.
_BLOCKS = 20

# Numbers that are looked at together: many small folds cost one call.
_TOGETHER = 2**18


class Seen(NamedTuple):
    """What is kept of the scores of one fold: the classes with the largest, and the scores where they are needed."""

    codes: Array  # (points, |test|) int16, −1 where no class has a score
    scores: Array | None  # (points, |test|, ℓ)


class Judged(NamedTuple):
    """Some grid points, judged: per judged fold the codes and, if wanted, the scores; metric → (points, folds)."""

    codes: list[Array]
    values: dict[str, Array]
    scores: list[Array] | None


class Scoring:
    """How the scores of a sweep are judged.

    Parameters
    ----------
    y : array (n,)
        Class codes.
    tests : list of arrays
        The rows that each fold tests.
    metrics : sequence of Metric
        The first one chooses; if it has a rule of its own to decide the class, that decides. ``error`` is always
        judged too.
    weights : array (n,), optional
        Weights of the rows in every metric.
    calibrators : dict, optional
        Fold → the folds whose test scores fit its temperature, none for t = 1; only these folds are judged. By default
        all folds are, each calibrated as the text above says.
    keep_scores : bool
        Whether what is judged comes with its scores.
    """

    def __init__(
        self,
        y: Array,
        tests: Sequence[Array],
        metrics: Sequence[Metric],
        weights: Array | None = None,
        calibrators: Mapping[int, Sequence[int]] | None = None,
        keep_scores: bool = False,
    ) -> None:
        self.y, self.tests, self.weights, self.keep_scores = y, tests, weights, keep_scores
        self.metrics = {metric.name: metric for metric in (ERROR, *metrics)}
        self.first = metrics[0]
        self.judged = list(range(len(tests))) if calibrators is None else sorted(calibrators)
        self.needs_probabilities = any(metric.need == "probabilities" for metric in self.metrics.values())
        self.needs_scores = keep_scores or any(metric.need != "classes" for metric in self.metrics.values())
        self._calibrating = self._calibrating_rows(calibrators) if self.needs_probabilities else []

    def see(self, scores: Sequence[Array]) -> list[Seen]:
        """Keep what is needed of the scores (points, |test|, ℓ) of each of some folds."""
        seen: list[Seen] = []
        while len(seen) < len(scores):
            start = len(seen)
            ends = np.cumsum([each.size for each in scores[start:]])
            some = scores[start : start + max(1, int(np.searchsorted(ends, _TOGETHER)))]
            joined = np.concatenate(some, axis=1) if len(some) > 1 else some[0]
            codes = joined.argmax(axis=-1).astype(np.int16)
            if (joined == -np.inf).any():
                codes[joined.max(axis=-1) == -np.inf] = -1
            end = 0
            for each in some:
                end += each.shape[1]
                of_fold = codes[:, end - each.shape[1] : end]
                seen.append(Seen(of_fold, each if self.needs_scores else None))
        return seen

    def judge(self, seen: Sequence[Seen]) -> Judged:
        """Judge some grid points from what was seen of every fold."""
        codes = [seen[f].codes for f in self.judged]
        probabilities = self._probabilities([fold.scores for fold in seen]) if self.needs_probabilities else {}
        if self.first.decide is not None:
            codes = [
                np.where(c < 0, -1, self.first.decided(probabilities[f])).astype(np.int16)
                for c, f in zip(codes, self.judged)
            ]
        values = {name: np.full((len(codes[0]), len(codes)), np.nan) for name in self.metrics}
        sizes = [len(self.tests[f]) for f in self.judged]
        together = self.weights is None and min(sizes) > 0
        if together:
            wrong = np.concatenate(codes, axis=1) != self.y[np.concatenate([self.tests[f] for f in self.judged])]
            starts = np.cumsum([0, *sizes[:-1]])
            values[ERROR.name][:] = np.add.reduceat(wrong, starts, axis=1, dtype=np.intp) / sizes
            if len(self.metrics) == 1:
                return self._judged(codes, values, seen)
        for k, (f, predicted) in enumerate(zip(self.judged, codes)):
            y, w = self.y[self.tests[f]], None if self.weights is None else self.weights[self.tests[f]]
            able = np.flatnonzero((predicted >= 0).all(axis=1))  # a classifier may fail at some points
            given = {"classes": predicted, "scores": seen[f].scores, "probabilities": probabilities.get(f)}
            for name, metric in self.metrics.items():
                if name == ERROR.name and together:
                    continue
                if name == ERROR.name:
                    values[name][:, k] = metric(y, predicted, w)  # no class at all is a wrong one
                elif len(able):
                    of = given[metric.need]
                    assert of is not None
                    values[name][able, k] = metric(y, of if len(able) == len(of) else of[able], w)
        return self._judged(codes, values, seen)

    def _judged(self, codes: list[Array], values: dict[str, Array], seen: Sequence[Seen]) -> Judged:
        scores = [of for f in self.judged if (of := seen[f].scores) is not None] if self.keep_scores else None
        return Judged(codes, values, scores)

    def _probabilities(self, scores: Sequence[Array | None]) -> dict[int, Array]:
        """Probabilities (points, |test|, ℓ) of each judged fold."""
        every = [of_fold for of_fold in scores if of_fold is not None]
        joined = np.concatenate(every, axis=1)  # (points, Σ|test|, ℓ)
        rows = np.concatenate(self.tests)
        w = None if self.weights is None else self.weights[rows]
        found: dict[int, Array] = {}
        for at, folds in self._calibrating:
            t = np.ones(len(joined))
            if len(at):
                t = fit_temperatures(joined[:, at], self.y[rows[at]], None if w is None else w[at])
            found |= {f: temperature_probabilities(every[f], t) for f in folds}
        return found

    def _calibrating_rows(self, calibrators: Mapping[int, Sequence[int]] | None) -> list[tuple[Array, list[int]]]:
        """Places among the test rows of all folds that fit a temperature, and the folds that it is for."""
        fold_of = np.repeat(np.arange(len(self.tests)), [len(test) for test in self.tests])
        if calibrators is not None:
            groups: dict[tuple[int, ...], list[int]] = {}
            for fold, by in calibrators.items():
                groups.setdefault(tuple(sorted(by)), []).append(fold)
            own_scores = groups.pop((), [])  # which need no temperature
            found = [(np.flatnonzero(np.isin(fold_of, by)), folds) for by, folds in groups.items()]
        else:
            rows, own_scores = np.concatenate(self.tests), []
            block_of = np.arange(len(self.tests)) % min(_BLOCKS, len(self.tests))
            found = []
            for block in range(block_of.max() + 1):
                folds = np.flatnonzero(block_of == block).tolist()
                own = np.isin(rows, np.concatenate([self.tests[f] for f in folds]))
                found.append((np.flatnonzero(~own), folds))
        if not all(len(at) for at, _ in found):
            names = ", ".join(name for name, metric in self.metrics.items() if metric.need == "probabilities")
            raise McLsError(
                f"{names} needs probabilities, which are calibrated on the rows that other folds test: "
                "give at least two folds that test different rows"
            )
        return [*found, (np.empty(0, dtype=np.intp), own_scores)] if own_scores else found


def partition_calibrators(n_folds: int) -> dict[int, list[int]]:
    """What calibrates the folds of a partition by default, as ``calibrators``.

    >>> partition_calibrators(3)
    {0: [1, 2], 1: [0, 2], 2: [0, 1]}
    """
    block_of = np.arange(n_folds) % min(_BLOCKS, n_folds)
    return {f: np.flatnonzero(block_of != block_of[f]).tolist() for f in range(n_folds)}


def mean_over_folds(values: Array) -> Array:
    """Mean (points,) of values (points, folds); folds with NaN are left out, NaN where all are.

    >>> mean_over_folds(np.array([[1.0, np.nan], [np.nan, np.nan], [1.0, 3.0]]))
    array([ 1., nan,  2.])
    """
    known = ~np.isnan(values)
    if known.all():
        return values.mean(axis=1)
    with np.errstate(invalid="ignore"):
        return np.where(known, values, 0.0).sum(axis=1) / known.sum(axis=1)
