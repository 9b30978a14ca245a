"""Classifiers of other libraries, seen as machines: they learn from rows and are refitted at every point."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from mcls.errors import McLsError
from mcls.machines.base import BaseMachine, Folds, Point, Points, refit
from mcls.solvers.calibration import DECIDE
from mcls.solvers.weights import check_weights

Array = np.ndarray


class ForeignMachine:
    """A scikit-learn classifier with the part of our interface that cross-validation needs."""

    works_on = "rows"
    swept: tuple[str, ...] = ()
    folds_together = False
    has_facts = False

    def __init__(self, classifier: Any, with_scores: bool = False) -> None:
        self.classifier = classifier
        self.with_scores = with_scores  # only where they are asked for: they cost a second prediction

    @property
    def calibrates_itself(self) -> bool:
        """Whether a fit calibrates the probabilities by its own rows, as ``TableClassifier`` declares it."""
        return bool(getattr(self.classifier, "calibrates_itself", False))

    def at(self, point: Point, present: Array, n_classes: int) -> ForeignMachine:
        """A copy with some parameters changed; it learns whatever classes it is given."""
        return ForeignMachine(clone(self.classifier).set_params(**point), self.with_scores)

    def training_weights(self, y: Array, classes: Sequence[Any], sample_weight: Array | None) -> list[Array]:
        """What a fit is given beside: the weights of the rows, or nothing."""
        if sample_weight is None:
            return []
        if not has_fit_parameter(self.classifier, "sample_weight"):
            raise McLsError(f"{type(self.classifier).__name__} takes no sample weights")
        return [sample_weight]

    def _learn_and_score(self, X: Array, y: Array, n_classes: int, train: Array, test: Array, *w: Array) -> Array:
        """Scores (|test|, ℓ) of which the largest is that of the class that is predicted.

        They are the classifier's decision function, or else the logarithms of its probabilities, and these alone where
        it has calibrated them. Without either, or where scores are not asked for: 1 for the predicted class, 0 for the
        others.
        """
        if "decision_function_shape" in self.classifier.get_params(deep=False):
            self.classifier.set_params(decision_function_shape="ovr")  # one score per class; predictions stay
        weights = {"sample_weight": w[0]} if w else {}
        fitted = self.classifier.fit(X[train], y, **weights)
        predicted = fitted.predict(X[test])
        scores = _class_scores(fitted, X[test], n_classes, self.calibrates_itself) if self.with_scores else None
        if scores is None:
            return np.eye(n_classes)[predicted]
        rows = np.arange(len(test))
        top = scores.max(axis=1)
        other = scores.argmax(axis=1) != predicted  # SVC counts votes, for one
        scores[rows[other], predicted[other]] = np.nextafter(top[other], np.inf)
        return scores

    def sweep(
        self,
        X: Array,
        y: Array,
        folds: Folds,
        points: Points,
        *,
        n_classes: int,
        engine: str = "fast",
        prepared: Any = None,
        sample_weight: Array | None = None,
    ) -> list[Array]:
        """As ``BaseMachine.sweep``, one fit per fold and point.

        A point that cannot be fitted to some fold (more neighbours than rows) scores −∞ everywhere and is never right;
        that is an error only where no point is left.
        """
        sample_weight = check_weights(sample_weight, len(y))
        self.training_weights(y, range(n_classes), sample_weight)  # refuses what the classifier does not take
        results = [np.full((len(points), len(test), n_classes), -np.inf) for _, test in folds]
        failed = 0
        for i, point in enumerate(points):
            try:
                found = [refit(self, X, y, n_classes, fold, [point], sample_weight)[0] for fold in folds]
            except ValueError as error:
                failed += 1
                if failed == len(points):
                    raise
                warnings.warn(f"left out of the grid: {dict(point)}, {error}", stacklevel=2)
                continue
            for scores, of_fold in zip(results, found, strict=True):
                scores[i] = of_fold
        return results


def _class_scores(fitted: Any, X: Array, n_classes: int, calibrated: bool = False) -> Array | None:
    """Scores (m, ℓ) of a fitted classifier, None where it has none; where they are calibrated its probabilities."""
    decide = None if calibrated else getattr(fitted, "decision_function", None)
    if decide is not None:
        scores = np.array(decide(X), dtype=np.float64)
        scores = np.column_stack([-scores / 2, scores / 2]) if scores.ndim == 1 else scores
    elif (predict_proba := getattr(fitted, "predict_proba", None)) is not None:
        scores = np.log(np.maximum(predict_proba(X), np.finfo(float).eps))
    else:
        return None
    return scores if scores.shape[1] == n_classes and np.isfinite(scores).all() else None


def gives_probabilities(fitted: Any) -> bool:
    """Whether a fitted machine, or a classifier of another library, has probabilities."""
    if isinstance(fitted, BaseMachine):
        return fitted.calibration is not None
    return getattr(fitted, "predict_proba", None) is not None


def class_scores(fitted: Any, X: Array) -> Array:
    """Scores (m, ℓ) of a fitted machine or classifier; where it has none, 1 for the predicted class."""
    if isinstance(fitted, BaseMachine):
        scores = fitted.decision_function(X)
        return np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
    made = _class_scores(fitted, X, len(fitted.classes_))
    return (fitted.predict(X)[:, None] == fitted.classes_).astype(float) if made is None else made


def as_machine(estimator: Any, with_scores: bool = False) -> Any:
    """One of our machines as it is, any other classifier in the shape of one.

    A machine whose class a calibrated map decides is fitted like another: a sweep gives the scores alone.
    """
    if not isinstance(estimator, BaseMachine):
        return ForeignMachine(estimator, with_scores)
    if estimator.calibration != DECIDE:
        return estimator
    if estimator.kernel_is_given:
        raise McLsError("calibration='decide' is cross-validated on rows, not on a precomputed kernel matrix")
    return ForeignMachine(estimator, with_scores)


def parameters_of(estimator: Any) -> dict[str, Any]:
    """Parameters that options and grids may name: of a classifier of another library those of its parts too."""
    return dict(estimator.get_params(deep=not isinstance(estimator, BaseMachine)))
