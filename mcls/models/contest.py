"""Which machine, and what decides the class: one choice, made alike on all rows and inside each nested fold.

Every machine comes with the out-of-fold scores F at its chosen point. From these alone two ways to decide are judged:
by the scores, arg max F, and by the matrix map that is fitted to them (``calibration="decide"``), which undoes that
least squares masks classes. The map that judges a row was fitted to the scores of other folds. The way with the
smallest loss is taken; of those within ``NEAR`` standard errors of it, the one with the smallest log-loss; of equal
ones the first, which is the simplest. Inside a nested fold the same is done with the scores of its inner folds, so the
honest error is that of the whole choice: of the point, the machine and the map.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mcls.evaluation.grid_result import near_bound
from mcls.evaluation.metrics import ERROR, Metric
from mcls.evaluation.protocols import Outcome
from mcls.evaluation.scoring import mean_over_folds
from mcls.solvers.calibration import DECIDE, ProbabilityMap, calibrations, log_loss, temperature_losses
from mcls.threads import shared_by, spread

Array = np.ndarray

#: Losses within so many standard errors count as equal, of points as of machines: log-loss tells far more of few rows
#: than the error does. On forty-five data sets that are not shipped, halves of at most 600 rows, one was better than a
#: quarter, and as good as two.
NEAR = 1.0

# Fewer rows are judged in no time.
_THREADS_FROM = 1000


@dataclass(frozen=True)
class Standing:
    """One way to decide, judged by the out-of-fold scores of some rows."""

    fold_values: dict[str, Array]  # metric → (folds,)
    loss: float  # of the metric that chooses
    log_loss: float
    predictions: Array  # (m,) class codes
    probabilities: Array | None  # (m, ℓ), each from a map that was fitted without the row
    probability_map: ProbabilityMap | None

    @property
    def decides(self) -> bool:
        """Whether the map decides the class."""
        return self.probability_map is not None and self.probability_map.decides

    @property
    def values(self) -> dict[str, float]:
        """Mean over the folds of each metric."""
        return {name: float(mean_over_folds(of[None])[0]) for name, of in self.fold_values.items()}


def standings(
    F: Array,
    y: Array,
    folds: Array,
    parts: Array | None,
    weights: Array | None,
    metrics: Sequence[Metric],
    calibration: str | None,
    either: bool = True,
) -> list[Standing]:
    """The ways to decide from out-of-fold scores: by these, and where ``either`` is wanted by the map as well.

    Parameters
    ----------
    F, y, folds : arrays (m, ℓ), (m,), (m,)
        Scores, class codes, and the fold that tests each row.
    parts : array (m,) or None
        What is left out together where a map is fitted: a few folds, put together; None for a default.
    weights : array (m,), optional
        Weights of the rows.
    metrics : sequence of Metric
        The first one chooses. If it decides the class itself, the map is left to give probabilities.
    calibration : str or None
        As in ``mcls.select``; "decide" leaves the map alone to decide, and with None there are no maps.
    """
    kinds = ["temperature", "matrix"] if calibration == "auto" else [calibration] if calibration else []
    if calibration == "auto" and either and metrics[0].decide is None:
        kinds.append(DECIDE)
    if not kinds and any(metric.need == "probabilities" for metric in metrics):
        kinds = ["temperature"]
    found = calibrations(F, y, kinds, weights, parts) if kinds else {}
    by_scores = [pair for kind, pair in found.items() if kind != DECIDE]
    ways: list[tuple[ProbabilityMap | None, Array | None]] = []
    if by_scores:
        ways.append(min(by_scores, key=lambda pair: log_loss(y, pair[1], weights)))
    elif DECIDE not in kinds:
        ways.append((None, None))
    if DECIDE in found:
        ways.append(found[DECIDE])
    return [_standing(F, y, folds, weights, metrics, *way) for way in ways]


def _standing(
    F: Array,
    y: Array,
    folds: Array,
    w: Array | None,
    metrics: Sequence[Metric],
    made: ProbabilityMap | None,
    P: Array | None,
) -> Standing:
    codes = decided(F, P, made, metrics[0])
    parts = [np.flatnonzero(folds == k) for k in np.unique(folds)]
    values = {
        metric.name: np.array(
            [judged(metric, y[at], F[at], codes[at], _some(P, at), _some(w, at)) for at in parts]
        )
        for metric in (ERROR, *metrics)
    }
    loss = metrics[0].as_loss(mean_over_folds(values[metrics[0].name][None]))[0]
    told = log_loss(y, P, w) if P is not None else float(temperature_losses(F[None], y, w)[0])
    return Standing(values, float(np.nan_to_num(loss, nan=np.inf)), told, codes, P, made)


def decided(F: Array, P: Array | None, made: ProbabilityMap | None, metric: Metric) -> Array:
    """Class codes (m,) of scores F (m, ℓ) and their probabilities P, by whatever decides."""
    if metric.decide is not None and P is not None:
        return metric.decided(P)
    of = P if made is not None and made.decides else F
    assert of is not None
    return of.argmax(axis=1)


def judged(metric: Metric, y: Array, F: Array, codes: Array, P: Array | None, w: Array | None) -> float:
    """A metric of some rows; NaN where it needs probabilities and there are none."""
    given = {"classes": codes, "scores": F, "probabilities": P}[metric.need]
    return float("nan") if given is None else float(metric(y, given[None], w)[0])


def best_of(ways: Sequence[Standing], metric: Metric) -> int:
    """The place of the way that is taken."""
    least = min(way.loss for way in ways)
    bound = near_bound(metric, least, len(ways[0].predictions), NEAR)
    near = [i for i, way in enumerate(ways) if way.loss <= bound]
    return min(near, key=lambda i: ways[i].log_loss)


def chosen_inside(
    outcomes: Sequence[Sequence[Outcome]],
    names: Sequence[str],
    y: Array,
    weights: Array | None,
    metrics: Sequence[Metric],
    calibration: str | None,
    either: bool = True,
) -> list[Outcome]:
    """The outcomes of the folds of one partition, the machine and the map of each chosen by its inner folds.

    ``outcomes`` has one list for each of the machines, which have ``names``; all folds with their inner scores.
    """

    def choose(of_fold: Sequence[Outcome]) -> Outcome:
        ways: list[Standing] = []
        of: list[int] = []
        for place, outcome in enumerate(of_fold):
            inside = outcome.inside
            assert inside is not None
            rows = inside.rows
            w, folds = _some(weights, rows), inside.folds
            some = standings(inside.inner_scores, y[rows], folds, folds % 5, w, metrics, calibration, either)
            ways += some
            of += [place] * len(some)
        best = best_of(ways, metrics[0])
        return _judge_outside(of_fold[of[best]], ways[best], names[of[best]], y, weights, metrics)

    threads = os.cpu_count() or 1
    with shared_by(threads if len(y) >= _THREADS_FROM else 1):
        return spread(choose, list(zip(*outcomes, strict=True)))


def _judge_outside(
    outcome: Outcome, way: Standing, name: str, y: Array, weights: Array | None, metrics: Sequence[Metric]
) -> Outcome:
    """The test rows of an outer fold, by the way that its inner folds have chosen."""
    assert outcome.inside is not None
    F, made, test = outcome.inside.scores, way.probability_map, outcome.test
    P = None if made is None else made.probabilities(F)
    codes = decided(F, P, made, metrics[0])
    w = _some(weights, test)
    values = {metric.name: judged(metric, y[test], F, codes, P, w) for metric in (ERROR, *metrics)}
    return replace(
        outcome,
        predictions=codes,
        error=values[ERROR.name],
        inner_error=way.values[ERROR.name],
        values=values,
        probabilities=P,
        machine=name + " (map)" * way.decides,
    )


def _some(values: Array | None, rows: Array) -> Array | None:
    return None if values is None else values[rows]
