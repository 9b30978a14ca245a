"""``Task``: what is judged, whoever asks: a cell of an experiment, ``select``, a comparison."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from mcls.errors import McLsError
from mcls.evaluation.folds import Fold, groups_of
from mcls.evaluation.grid import OnStep, search
from mcls.evaluation.grid_result import GridResult, choose, losses, near_bound, settle
from mcls.evaluation.metrics import ERROR, Metric
from mcls.evaluation.scaling import scale_dataset, to_range
from mcls.machines.foreign import as_machine
from mcls.solvers.weights import check_weights

Array = np.ndarray
#: Features (n, d) of all rows of a task, learnt from its training rows, which are given.
Prepare = Callable[[Array], Array]


def named_weights(weights: Any, n: int, what: str) -> Array | None:
    """Weights (n,) of rows, checked; a complaint says what they are."""
    try:
        return check_weights(weights, n)
    except McLsError as error:
        raise McLsError(f"{what}: {error}") from None


@dataclass(frozen=True)
class Task:
    """What a protocol judges: a machine and its grid on one data set.

    ``X`` holds the features as they come; ``scaling`` is applied here: ``dataset`` and ``standard`` before any
    row is set aside (as the papers do, without a look at the labels), ``fold`` from training rows alone.
    """

    estimator: Any
    X: Array  # (n, d)
    y: Array  # (n,) class codes 0..ℓ−1
    grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]]  # one, or all points of several
    scaling: str = "dataset"
    engine: str = "fast"
    smoother: Mapping[str, int] = field(default_factory=dict)
    declared_split: Array | None = None  # (n,) "train" or "test", where the data set's source says so
    groups: Array | None = None  # (n,) rows of one group are never split between training and testing
    weights: Array | None = None  # (n,) of the rows, in training and in every metric
    metrics: tuple[Metric, ...] = (ERROR,)  # what is judged; the first one chooses
    near: float = (
        0.0  # losses within so many standard errors of the least count as equal: log-loss tells them apart
    )
    on_step: OnStep | None = None  # told how many outer folds of ``nested`` are done

    @property
    def n_classes(self) -> int:
        """The number ℓ of classes of the whole data set."""
        return int(self.y.max()) + 1

    @property
    def grids(self) -> list[dict[str, list[Any]]]:
        """The grid, or the several of them, as lists."""
        several = [self.grid] if isinstance(self.grid, Mapping) else self.grid
        return [{name: list(values) for name, values in grid.items()} for grid in several]

    def of_rows(self, rows: Array) -> Task:
        """The same question about some of the rows; classes without a row leave no gap in the codes."""
        return replace(
            self,
            X=self.X[rows],
            y=np.unique(self.y[rows], return_inverse=True)[1],
            groups=groups_of(self.groups, rows),
            weights=None if self.weights is None else self.weights[rows],
            declared_split=None if self.declared_split is None else self.declared_split[rows],
        )

    def scaled(self) -> Array:
        """The features as ``search`` expects them: scaled, unless each fold scales for itself."""
        return scale_dataset(self.X, self.scaling)

    @property
    def needs_probabilities(self) -> bool:
        """Whether a metric does."""
        return any(metric.need == "probabilities" for metric in self.metrics)

    def search(
        self,
        X: Array,
        folds: Sequence[Fold],
        rows: Array | None = None,
        at: Any = None,
        **settings: Any,
    ) -> GridResult:
        """Grid search over ``folds`` of all rows, or of some ``rows``; ``at`` narrows the grid to one point.

        ``settings`` are further ones of ``mcls.evaluation.grid.search``, such as ``calibrators``.
        """
        weights = self.weights
        return search(
            self.estimator,
            X if rows is None else X[rows],
            self.y if rows is None else self.y[rows],
            self.grids if at is None else {k: [v] for k, v in at.items()},
            folds,
            engine=self.engine,
            scaling="fold" if self.scaling == "fold" else "none",
            smoother=self.smoother,
            n_classes=self.n_classes,
            metrics=self.metrics,
            weights=weights if weights is None or rows is None else weights[rows],
            near=self.near,
            **settings,
        )

    def settled(self, found: GridResult, folds: Sequence[int], kept: Mapping[int, Array], rows: Array) -> int:
        """The point that some folds choose; near ties by the scores (m, ℓ) that were kept for the test ``rows``."""
        of_folds = found.fold_values[found.metric.name][:, folds]
        loss = losses(found.metric, of_folds)
        if not self.near:
            return choose(found.points, loss, self.smoother)
        bound = near_bound(found.metric, float(loss.min()), len(rows), self.near)
        w = None if self.weights is None else self.weights[rows]
        return settle(found.points, loss, kept, self.y[rows], w, bound, self.smoother)

    def facts(self, X: Array, folds: Sequence[Fold], point: Mapping[str, Any]) -> dict[str, Any]:
        """``{"facts": […]}``, one dict per fold, from the machines fitted at a point; nothing where they have none."""
        if not as_machine(self.estimator).has_facts:
            return {}
        scaled = [to_range(X, X[train]) if self.scaling == "fold" else X for train, _ in folds]
        return {
            "facts": [
                fitted_facts(self.estimator, point, Z[train], self.y[train])
                for Z, (train, _) in zip(scaled, folds)
            ]
        }

    @property
    def n_points(self) -> int:
        """The number of points of the grid."""
        return sum(math.prod(len(values) for values in grid.values()) for grid in self.grids)


def fitted_facts(estimator: Any, point: Mapping[str, Any], X: Array, y: Array) -> dict[str, Any]:
    """Fit a machine at a point on its training rows and note what it became (``BaseMachine.facts``).

    >>> from mcls import ECOC
    >>> X, y = np.array([[0.0], [0.2], [1.0], [1.2], [2.0], [2.2]]), np.array([0, 0, 1, 1, 2, 2])
    >>> facts = fitted_facts(ECOC(coding="all-pairs"), {"gamma": 0.1}, X, y)
    >>> facts["rows"], facts["columns"]
    (3, 3)
    """
    if len(np.unique(y)) < 2:
        return {}
    facts: dict[str, Any] = clone(estimator).set_params(**point).fit(X, y).facts(X, y)
    return facts
