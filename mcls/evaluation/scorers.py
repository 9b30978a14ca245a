"""scikit-learn's scorers on precomputed scores: the common ones for all grid points at once, others point by point.

A scorer that is equal to one of scikit-learn's by name (``accuracy``, ``neg_log_loss``, …) is a metric of
:mod:`mcls.evaluation.metrics`. Any other is called with a stand-in for the fitted estimator, which returns what that
estimator would predict for the very rows it is asked about.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer
from sklearn.utils.metaestimators import available_if

from mcls.evaluation.metrics import confusions, log_loss, macro_f1

Array = np.ndarray


def accuracy(y: Array, predictions: Array, weights: Array | None = None) -> Array:
    """Share of rows whose class is right, to the last digit as scikit-learn computes it: ranks depend on it."""
    right = predictions == y
    return right.mean(axis=1) if weights is None else (right * weights).sum(axis=1) / weights.sum()


def balanced_accuracy(y: Array, predictions: Array, weights: Array | None = None) -> Array:
    """Mean recall of the classes that have a row."""
    n_classes = int(max(y.max(), predictions.max())) + 1
    C = confusions(y, predictions, n_classes, weights)
    sizes = C[0].sum(axis=1)
    return (np.diagonal(C, axis1=1, axis2=2)[:, sizes > 0] / sizes[sizes > 0]).mean(axis=1)


#: Names of scikit-learn's scorers → whether they judge probabilities, and the function.
_KNOWN: dict[str, tuple[bool, Callable[[Array, Array, Array | None], Array]]] = {
    "accuracy": (False, accuracy),
    "balanced_accuracy": (False, balanced_accuracy),
    "f1_macro": (False, macro_f1),
    "neg_log_loss": (True, lambda y, probabilities, weights: -log_loss(y, probabilities, weights)),
}


class NotSwept(Exception):  # noqa: N818 (no error: it says that plain fits are needed)
    """What is asked for cannot be answered from precomputed scores."""


@dataclass(frozen=True)
class FoldScores:
    """What the machines of all grid points say of one test fold."""

    X: Any  # the rows, as a scorer is given them
    y: Array  # (m,) labels
    codes: Array  # (m,) class codes
    classes: Array  # (ℓ,) labels
    present: Array  # codes of the classes that the training fold has
    scores: Array  # (points, m, ℓ)
    probabilities: Array | None  # (points, m, ℓ)


class StandIn(ClassifierMixin, BaseEstimator):
    """An estimator that was fitted to a training fold, as far as its test fold goes."""

    def __init__(self, fold: FoldScores, point: int) -> None:
        self.fold = fold
        self.point = point

    def __sklearn_is_fitted__(self) -> bool:
        return True

    @property
    def classes_(self) -> Array:
        """Labels of the classes of the training fold."""
        return self.fold.classes[self.fold.present]

    def _of(self, values: Array, X: Any) -> Array:
        if X is not self.fold.X:
            raise NotSwept("predictions of other rows than those of the test fold")
        return values[self.point][:, self.fold.present]

    def predict(self, X: Any) -> Array:
        """Class of each row."""
        return self.classes_[self._of(self.fold.scores, X).argmax(axis=1)]

    def decision_function(self, X: Any) -> Array:
        """Scores, as a machine gives them."""
        scores = self._of(self.fold.scores, X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    @available_if(lambda self: self.fold.probabilities is not None)
    def predict_proba(self, X: Any) -> Array:
        """Probabilities, where the machine is calibrated."""
        assert self.fold.probabilities is not None
        return self._of(self.fold.probabilities, X)


@cache
def _known_scorers() -> dict[str, dict[str, Any]]:
    return {name: vars(get_scorer(name)) for name in _KNOWN}


def recognised(scorer: Any) -> str | None:
    """The name of scikit-learn's scorer that this one is equal to, if it is a common one.

    >>> recognised(get_scorer("f1_macro")), recognised(get_scorer("f1_micro"))
    ('f1_macro', None)
    """
    if not hasattr(scorer, "__dict__"):
        return None
    return next((name for name, known in _known_scorers().items() if vars(scorer) == known), None)


def score_points(
    scorer: Any, name: str | None, fold: FoldScores, params: Mapping[str, Any]
) -> list[float] | list[dict[str, float]]:
    """The scores of every point on a fold; ``name`` is that of a recognised scorer.

    ``params`` are what the scorer is given beside, such as the ``sample_weight`` of the rows.
    """
    points = len(fold.scores)
    whole = len(np.unique(fold.codes)) == len(fold.present) == len(fold.classes)
    if name is not None and set(params) <= {"sample_weight"}:
        of_probabilities, function = _KNOWN[name]
        values = fold.probabilities if of_probabilities else fold.scores.argmax(axis=2)
        if values is not None and (whole or not of_probabilities):
            found: list[float] = function(fold.codes, values, params.get("sample_weight")).tolist()
            return found
    try:
        return [scorer(StandIn(fold, point), fold.X, fold.y, **params) for point in range(points)]
    except Exception as error:  # of somebody else's code: it may ask for what only a fit has
        raise NotSwept(f"the scorer failed on predictions alone: {error}") from error
