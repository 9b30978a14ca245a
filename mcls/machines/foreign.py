"""Classifiers of other libraries, seen as machines: they learn from rows and are refitted at every point."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from mcls.machines.base import BaseMachine, Fold, Point, refit

Array = np.ndarray


class ForeignMachine:
    """A scikit-learn classifier with the part of our interface that cross-validation needs."""

    works_on = "rows"
    swept: tuple[str, ...] = ()
    has_facts = False

    def __init__(self, classifier: Any) -> None:
        self.classifier = classifier

    def at(self, point: Point, present: Array, n_classes: int) -> ForeignMachine:
        """A copy with some parameters changed; it learns whatever classes it is given."""
        return ForeignMachine(clone(self.classifier).set_params(**point))

    def _learn_and_score(self, X: Array, y: Array, n_classes: int, train: Array, test: Array) -> Array:
        """1 for the class that is predicted, 0 for the others (|test|, ℓ)."""
        return np.eye(n_classes)[self.classifier.fit(X[train], y).predict(X[test])]

    def sweep(
        self,
        X: Array,
        y: Array,
        folds: Sequence[Fold],
        points: Sequence[Point],
        *,
        n_classes: int,
        engine: str = "fast",
        prepared: Any = None,
    ) -> list[Array]:
        """As ``BaseMachine.sweep``, one fit per fold and point.

        A point that cannot be fitted to some fold (more neighbours than rows) scores −∞ everywhere and is never right;
        that is an error only where no point is left.
        """
        results = [np.full((len(points), len(test), n_classes), -np.inf) for _, test in folds]
        failed = 0
        for i, point in enumerate(points):
            try:
                found = [refit(self, X, y, n_classes, fold, [point])[0] for fold in folds]
            except ValueError as error:
                failed += 1
                if failed == len(points):
                    raise
                warnings.warn(f"left out of the grid: {dict(point)}, {error}", stacklevel=2)
                continue
            for scores, of_fold in zip(results, found, strict=True):
                scores[i] = of_fold
        return results


def as_machine(estimator: Any) -> Any:
    """One of our machines as it is, any other classifier in the shape of one."""
    return estimator if isinstance(estimator, BaseMachine) else ForeignMachine(estimator)


def parameters_of(estimator: Any) -> dict[str, Any]:
    """Parameters that options and grids may name: of a classifier of another library those of its parts too."""
    return dict(estimator.get_params(deep=not isinstance(estimator, BaseMachine)))
