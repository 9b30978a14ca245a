"""What a grid search saw, and how a point is chosen from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mcls.errors import McLsError
from mcls.evaluation.metrics import ERROR, Metric
from mcls.evaluation.scoring import mean_over_folds
from mcls.kernels import KERNEL_PARAMETERS
from mcls.solvers.calibration import temperature_losses

if TYPE_CHECKING:
    from pandas import DataFrame

Array = np.ndarray


@dataclass(frozen=True)
class GridResult:
    """What a grid search saw: all points, what each fold predicted and its metrics, and the choice."""

    points: list[dict[str, Any]]
    tests: list[Array]  # the rows that each fold tests
    fold_predictions: list[Array]  # (points, |test|) class codes, one array per fold
    fold_values: dict[str, Array]  # metric → (points, folds); "error" is always there
    n_rows: int
    best: int  # index of the chosen point
    metric: Metric = ERROR  # what chooses
    kept: list[dict[int, list[Array]]] = field(default_factory=list)  # per choice: best points → scores per fold

    @property
    def scores(self) -> dict[int, list[Array]]:
        """Best points → scores (|test|, ℓ) per fold, those of the first choice if there are several."""
        return self.kept[0]

    @property
    def fold_errors(self) -> Array:
        """Errors (points, folds), fractions."""
        return self.fold_values[ERROR.name]

    @property
    def predictions(self) -> Array:
        """Class codes (points, n) out of fold, −1 for a row that no fold tests.

        Repeated folds have no such table, since they predict a row several times: see ``fold_predictions``.
        """
        tested = np.concatenate(self.tests)
        if len(np.unique(tested)) < len(tested):
            raise McLsError("some rows are tested by several folds: take the predictions of each fold")
        merged = np.full((len(self.points), self.n_rows), -1, dtype=np.int16)
        merged[:, tested] = np.concatenate(self.fold_predictions, axis=1)
        return merged

    def joined(self, other: GridResult) -> GridResult:
        """The points of both searches, which judged them on the same folds; the choice stays."""
        return replace(
            self,
            points=self.points + other.points,
            fold_predictions=[
                np.concatenate(codes) for codes in zip(self.fold_predictions, other.fold_predictions)
            ],
            fold_values={
                name: np.concatenate([values, other.fold_values[name]])
                for name, values in self.fold_values.items()
            },
            kept=[
                own | {len(self.points) + i: scores for i, scores in new.items()}
                for own, new in zip(self.kept, other.kept)
            ],
        )

    def of_folds(self, folds: slice, choices: slice, smoother: Mapping[str, int] | None = None) -> GridResult:
        """What some of the folds saw and choose, and what was kept for some of the choices."""
        values = {name: of[:, folds] for name, of in self.fold_values.items()}
        return replace(
            self,
            tests=self.tests[folds],
            fold_predictions=self.fold_predictions[folds],
            fold_values=values,
            best=choose(self.points, losses(self.metric, values[self.metric.name]), smoother),
            kept=self.kept[choices],
        )

    def values(self, name: str) -> Array:
        """Mean over the folds of each point's metric (points,); folds on which it is not defined are left out."""
        return mean_over_folds(self.fold_values[name])

    @property
    def errors(self) -> Array:
        """Mean over the folds of each point's error (points,)."""
        return self.values(ERROR.name)

    @property
    def losses(self) -> Array:
        """What the choice minimises (points,); infinite where the metric is not defined."""
        return losses(self.metric, self.fold_values[self.metric.name])

    @property
    def best_point(self) -> dict[str, Any]:
        """Parameters of the chosen point."""
        return self.points[self.best]

    @property
    def best_error(self) -> float:
        """Cross-validation error of the chosen point."""
        return float(self.errors[self.best])

    @property
    def best_values(self) -> dict[str, float]:
        """Every metric of the chosen point."""
        return {name: float(self.values(name)[self.best]) for name in self.fold_values}

    @property
    def at_best(self) -> list[dict[str, float]]:
        """Every metric of the chosen point on each fold."""
        folds = range(len(self.tests))
        return [{name: float(v[self.best, k]) for name, v in self.fold_values.items()} for k in folds]

    def frame(self) -> DataFrame:
        """One row per point, the chosen one first: parameters, mean and spread of the error, the means of other
        metrics, the rank by the metric that chooses, and its value on each fold.
        """
        import pandas as pd

        frame = pd.DataFrame(self.points)
        frame["error"] = self.errors
        frame["spread"] = self.fold_errors.std(axis=1)
        for name in self.fold_values:
            if name != ERROR.name:
                frame[name] = self.values(name)
        frame["rank"] = pd.Series(self.losses).rank(method="min").astype(int)
        of_folds = self.fold_values[self.metric.name]
        folds = pd.DataFrame(of_folds, columns=[f"fold {k}" for k in range(of_folds.shape[1])])
        order = np.argsort(frame["rank"].to_numpy() - (np.arange(len(frame)) == self.best), kind="stable")
        return pd.concat([frame, folds], axis=1).iloc[order].reset_index(drop=True)


def losses(metric: Metric, fold_values: Array) -> Array:
    """What a choice minimises (points,), from values (points, folds); infinite where no fold has one."""
    means = metric.as_loss(mean_over_folds(fold_values))
    return np.where(np.isnan(means), np.inf, means)


def near_bound(metric: Metric, least: float, n: int, near: float) -> float:
    """How large a loss may be to be near the least of n tested rows: within ``near`` of its standard errors.

    The standard error is √(p(1 − p)/n) of a share p of rows; a metric of scores or probabilities has no near ties.
    """
    share = min(max(least, 0.0), 1.0) if metric.need == "classes" and np.isfinite(least) else 0.0
    return least + near * float(np.sqrt(share * (1.0 - share) / n)) + 1e-12


def settle(
    points: Sequence[Mapping[str, Any]],
    losses: Array,
    kept: Mapping[int, Array],
    y: Array,
    weights: Array | None,
    bound: float,
    smoother: Mapping[str, int] | None = None,
) -> int:
    """Index of the point that is chosen where losses (points,) up to ``bound`` count as equal: by its log-loss.

    ``kept`` has the scores (m, ℓ) of such points for rows with the class codes y (m,); each gets the temperature that
    fits it best. Equal log-losses go to the smoothest, as in ``choose``.
    """
    places = [i for i in kept if losses[i] <= bound]
    told = temperature_losses(np.stack([kept[i] for i in places]), y, weights)
    return places[choose([points[i] for i in places], told, smoother)]


def choose(points: Sequence[Mapping[str, Any]], errors: Array, smoother: Mapping[str, int] | None = None) -> int:
    """Index of the smallest error, or of another loss, which may be infinite.

    Ties go to the smoothest model: the widest kernel first, then the strongest regularisation (``smoother`` gives
    each parameter's direction), then the first in the order of the grid.
    """
    smoother = smoother or {}
    names = sorted(smoother, key=lambda name: name not in KERNEL_PARAMETERS)  # stable: kernel parameters first
    ties = smallest(errors).tolist()

    def smoothness(i: int) -> tuple[float, ...]:
        values = [(name, points[i][name]) for name in names if name in points[i]]
        # Among numbers a word, such as scikit-learn's gamma="scale", comes last.
        return tuple(
            -np.inf if isinstance(value, str) else smoother[name] * float(value) for name, value in values
        )

    return max(ties, key=lambda i: (smoothness(i), -i))


def smallest(errors: Array) -> Array:
    """Indices of the smallest losses, equal up to rounding; refused where none is finite."""
    if np.isinf(errors.min()):
        raise McLsError(
            "the metric is not defined on any fold of any grid point (a fold may lack a class, or have one row): "
            "use fewer folds or another metric"
        )
    return np.flatnonzero(errors <= errors.min() + 1e-12)
