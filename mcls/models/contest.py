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
from typing import NamedTuple

import numpy as np

from mcls.evaluation.grid_result import near_bound
from mcls.evaluation.metrics import ERROR, Metric
from mcls.evaluation.protocols import Outcome
from mcls.evaluation.scoring import mean_over_folds
from mcls.solvers.calibration import DECIDE, ProbabilityMap, calibrations_together, log_loss, temperature_losses
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


class Judged(NamedTuple):
    """Out-of-fold scores of a machine at its point, and what judges them."""

    F: Array  # (m, ℓ)
    y: Array  # (m,) class codes
    folds: Array  # (m,) the fold that tests each row
    parts: Array | None  # (m,) what is left out together where a map is fitted: a few folds; None for a default
    weights: Array | None  # (m,)


def standings(
    every: Sequence[Judged], metrics: Sequence[Metric], calibration: str | None, either: bool = True
) -> list[list[Standing]]:
    """For each of several scores the ways to decide: by these, and where ``either`` is wanted by the map as well.

    All maps are fitted together. The first metric chooses; if it decides the class itself, the map is left to give
    probabilities. ``calibration`` is that of ``mcls.select``; "decide" leaves the map alone to decide, and with None
    there are no maps.
    """
    kinds = ["temperature", "matrix"] if calibration == "auto" else [calibration] if calibration else []
    if calibration == "auto" and either and metrics[0].decide is None:
        kinds.append(DECIDE)
    if not kinds and any(metric.need == "probabilities" for metric in metrics):
        kinds = ["temperature"]
    if not kinds:
        return [[_standing(judged, metrics, None, None)] for judged in every]
    maps = calibrations_together([(F, y, w, parts) for F, y, _, parts, w in every], kinds)
    found = []
    for judged, of in zip(every, maps):
        by_scores = [pair for kind, pair in of.items() if kind != DECIDE]
        ways = [min(by_scores, key=lambda pair: log_loss(judged.y, pair[1], judged.weights))] if by_scores else []
        ways += [of[DECIDE]] if DECIDE in of else []
        found.append([_standing(judged, metrics, *way) for way in ways])
    return found


def _standing(of: Judged, metrics: Sequence[Metric], made: ProbabilityMap | None, P: Array | None) -> Standing:
    F, y, w = of.F, of.y, of.weights
    codes = decided(F, P, made, metrics[0])
    values = {ERROR.name: _fold_errors(codes != y, of.folds, w)}
    others = [metric for metric in metrics if metric.name != ERROR.name]
    parts = [np.flatnonzero(of.folds == k) for k in np.unique(of.folds)] if others else []
    for metric in others:
        values[metric.name] = np.array(
            [judged(metric, y[at], F[at], codes[at], _some(P, at), _some(w, at)) for at in parts]
        )
    loss = metrics[0].as_loss(mean_over_folds(values[metrics[0].name][None]))[0]
    told = log_loss(y, P, w) if P is not None else float(temperature_losses(F[None], y, w)[0])
    return Standing(values, float(np.nan_to_num(loss, nan=np.inf)), told, codes, P, made)


def _fold_errors(wrong: Array, folds: Array, w: Array | None) -> Array:
    """The error of each fold, NaN where no row has a weight."""
    tested = np.bincount(folds) > 0
    weight = np.bincount(folds, w)[tested]
    with np.errstate(invalid="ignore"):
        return np.bincount(folds, wrong if w is None else wrong * w)[tested] / weight


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

    def choose(folds: Sequence[Sequence[Outcome]]) -> list[Outcome]:
        inside = [_inside(outcome, y, weights) for of_fold in folds for outcome in of_fold]
        found = iter(standings(inside, metrics, calibration, either))
        chosen = []
        for of_fold in folds:
            ways = [(place, way) for place in range(len(of_fold)) for way in next(found)]
            place, way = ways[best_of([way for _, way in ways], metrics[0])]
            chosen.append(_judge_outside(of_fold[place], way, names[place], y, weights, metrics))
        return chosen

    folds = list(zip(*outcomes, strict=True))
    many = len(y) >= _THREADS_FROM  # of few rows all maps are fitted together
    with shared_by((os.cpu_count() or 1) if many else 1):
        return [outcome for part in spread(choose, [[f] for f in folds] if many else [folds]) for outcome in part]


def _inside(outcome: Outcome, y: Array, weights: Array | None) -> Judged:
    """The scores of the inner folds of an outer one at the point that they choose."""
    inside = outcome.inside
    assert inside is not None
    return Judged(inside.inner_scores, y[inside.rows], inside.folds, inside.folds % 5, _some(weights, inside.rows))


def _judge_outside(
    outcome: Outcome, way: Standing, name: str, y: Array, weights: Array | None, metrics: Sequence[Metric]
) -> Outcome:
    """The test rows of an outer fold, by the way that its inner folds have chosen."""
    assert outcome.inside is not None
    F, made, test = outcome.inside.scores, way.probability_map, outcome.test
    P = None if made is None else made.probabilities(F)
    codes = decided(F, P, made, metrics[0])
    w = _some(weights, test)
    values = {
        metric.name: judged(metric, y[test], F, codes, P, w)
        for metric in {m.name: m for m in (ERROR, *metrics)}.values()
    }
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
