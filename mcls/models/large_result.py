"""The end of a fit to a large table: the point is chosen, the machine made, calibrated on the sample and described."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from mcls.data.cells import parse_number
from mcls.data.statistics import Classes
from mcls.evaluation.conformal import ConformalSets
from mcls.evaluation.grid import choose
from mcls.evaluation.metrics import ERROR, Metric
from mcls.evaluation.scoring import mean_over_folds
from mcls.machines.registry import Machine
from mcls.models.closeness import compare_with_exact
from mcls.models.grids import Point
from mcls.models.judging import Confusion
from mcls.models.large_search import Sample
from mcls.models.passes import Job, Scored, Scorer, kernel_of
from mcls.models.selected import Selection
from mcls.models.table import ModelFacts, TableModel
from mcls.seeds import derive
from mcls.solvers.calibration import calibrate
from mcls.solvers.gram_sums import FoldedRows

Array = np.ndarray

#: How the fingerprint of a table begins that was read piece by piece: it does not depend on the order of the rows.
FINGERPRINT = "rows:"


class Tried(NamedTuple):
    """A kernel that was cross-validated on all rows."""

    point: Point  # the kernel's parameters
    Z: Array
    whole: Array  # (γ, m, ℓ) coefficients of the machine of all rows
    folds: Array  # (k, γ, m, ℓ)
    N: Array  # (k, ℓ) rows of each class
    scored: Scored


class Large(NamedTuple):
    """What a fit to a large table gives."""

    model: TableModel
    selection: Selection
    confusion: Confusion


@dataclass(frozen=True)
class PassResults:
    """What the passes over a table have found."""

    entry: Machine
    estimator: Any
    machine: str  # with the options that were given
    metrics: tuple[Metric, ...]
    calibration: str | None
    job: Job
    sample: Sample
    rows: int
    tried: Sequence[Tried]
    gammas: list[float]
    notes: list[str]
    note: Callable[[str], None]

    def finish(self) -> Large:
        """Choose the point, make the machine, and say how far it is from the exact one."""
        job, sample, tried, gammas = self.job, self.sample, self.tried, self.gammas
        names = np.array(job.classes.names)
        points = [{**of.point, "gamma": gamma} for of in tried for gamma in gammas]
        counts = np.concatenate([of.scored.counts for of in tried])  # (points, k, ℓ, ℓ)
        values = {metric.name: fold_values(metric, counts) for metric in (ERROR, *self.metrics)}
        means = {name: mean_over_folds(of) for name, of in values.items()}
        first = self.metrics[0]
        losses = first.as_loss(means[first.name])
        losses = np.where(np.isnan(losses), np.inf, losses)
        best = choose(points, losses, dict(self.entry.smoother))
        chosen, at = tried[best // len(gammas)], best % len(gammas)
        estimator = self.estimator.set_params(**points[best], solver="nystrom", n_landmarks=len(chosen.Z))
        estimator.with_coefficients(chosen.Z, chosen.whole[at], names, chosen.N.sum(axis=0))
        conformal = self._calibrate(estimator, chosen, at)
        order = np.random.default_rng(derive(job.seed, "closeness")).permutation(len(sample.y))
        X, y, folds = sample.X[order], sample.y[order], sample.folds[order]
        w = job.training(
            FoldedRows(X, y, folds, None if sample.weights is None else sample.weights[order])
        ).weights
        self.note(str(compare_with_exact(estimator, chosen.Z, X, y, folds, self.rows, w)))
        results = pd.DataFrame(points).assign(**means, rank=losses.argsort().argsort() + 1.0)
        confusion = Confusion(
            tuple(names.tolist()), tuple(names.tolist()), np.rint(counts[best].sum(axis=0)).astype(int)
        )
        selection = Selection(
            machine=self.machine,
            estimator=estimator,
            results=results.sort_values("rank", ignore_index=True),
            grid={name: sorted({point[name] for point in points}) for name in points[0]},
            extended=False,
            best_params=points[best],
            error=float(means[ERROR.name][best]),
            spread=float(np.nanstd(values[ERROR.name][best])),
            rows=range(self.rows),
            tested=np.empty(0, dtype=np.intp),
            predictions=np.empty(0, dtype=names.dtype),
            folds=job.folds,
            n_independent=min(chosen.scored.different, self.rows),
            metric=first.name,
            metrics={metric.name: float(means[metric.name][best]) for metric in self.metrics},
            conformal=conformal,
            notes=list(self.notes),
        )
        facts = self._facts(selection, confusion, chosen.scored)
        return Large(TableModel(estimator, job.encoder, job.parts.target, facts, conformal), selection, confusion)

    def _calibrate(self, estimator: Any, chosen: Tried, at: int) -> ConformalSets | None:
        """Give the machine probabilities by the scores of the sample out of fold."""
        estimator.set_params(calibration=self.calibration)
        if self.calibration is None:
            return None
        sample = self.sample
        training = chosen.N.sum(axis=0) - chosen.N
        scorer = Scorer(kernel_of(estimator), chosen.Z, chosen.folds[:, at : at + 1], training, estimator)
        F = np.empty((len(sample.y), len(self.job.classes.names)))
        for f in np.unique(sample.folds).tolist():
            F[sample.folds == f] = scorer.scores(sample.X[sample.folds == f], f)[0]
        folds = np.unique(sample.folds % 5, return_inverse=True)[1]
        made, P = calibrate(F, sample.y, self.calibration, sample.weights, folds if folds.any() else None)
        estimator.probability_map_ = made
        if self.rows > len(sample.y):
            self.note(f"probabilities are calibrated on a sample of {len(sample.y)} rows, out of fold")
        return ConformalSets.fit(P, sample.y, sample.weights)

    def _facts(self, selection: Selection, confusion: Confusion, scored: Scored) -> ModelFacts:
        parts, classes = self.job.parts, self.job.classes
        shown = _as_people_count(classes)
        return ModelFacts.of(
            selection,
            confusion.error,
            file=parts.title,
            fingerprint=fingerprint(scored.fingerprint),
            rows=self.rows,
            classes={classes.names[c]: int(classes.rows[c]) for c in shown},
            scaling="dataset",
            seed=self.job.seed,
            notes=list(self.notes),
            dropped=parts.dropped,
            group=parts.group,
            weight=parts.weight,
            confusion=confusion.counts[np.ix_(shown, shown)].tolist(),
        )


def fingerprint(sums: Array) -> str:
    """The fingerprint of a table from the sums (2,) of ``row_fingerprints``."""
    return FINGERPRINT + "".join(f"{int(part):016x}" for part in sums)


def _as_people_count(classes: Classes) -> list[int]:
    """Codes of the classes in the order of their numbers, where they are numbers."""
    numbers = [parse_number(name) for name in classes.names]
    if any(number is None for number in numbers):
        return list(range(len(numbers)))
    return sorted(range(len(numbers)), key=lambda c: float(numbers[c] or 0.0))


def fold_values(metric: Metric, counts: Array) -> Array:
    """A metric of classes (points, k) from counts (points, k, ℓ, ℓ); NaN for a fold without rows."""
    ell = counts.shape[-1]
    true, predicted = np.divmod(np.arange(ell * ell), ell)
    found = np.full(counts.shape[:2], np.nan)
    for p, of_point in enumerate(counts):
        for k, of_fold in enumerate(of_point.reshape(len(of_point), -1)):
            some = of_fold > 0
            if some.any():
                found[p, k] = metric(true[some], predicted[some][None], of_fold[some])[0]
    return found
