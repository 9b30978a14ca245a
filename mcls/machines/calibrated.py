"""Probabilities of a machine's classes, calibrated by its own out-of-fold scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mcls.parameters import Check, Choice, OrNone, declares_parameters
from mcls.solvers.calibration import CALIBRATIONS, DECIDE, calibrate

Array = np.ndarray

#: Folds of the training rows whose out-of-fold scores fit the map, and the seed that deals the rows out to them.
_FOLDS, _SEED = 5, 0


def calibration_folds(rows: Array, y: Array) -> Array:
    """The fold (n,) of each row (n, d) with class codes y: stratified, fewer than five where there are fewer rows.

    Equal rows of a class share a fold, and the order of the rows does not matter: weights and repeated rows then give
    the same probabilities.

    >>> calibration_folds(np.array([[0.0], [1.0], [0.0], [2.0]]), np.array([0, 0, 0, 1])).tolist()
    [1, 0, 1, 2]
    """
    distinct, place = np.unique(np.column_stack([y, rows]), axis=0, return_inverse=True)
    order = np.lexsort((np.random.default_rng(_SEED).random(len(distinct)), distinct[:, 0]))  # class after class
    fold = np.empty(len(distinct), dtype=np.intp)
    fold[order] = np.arange(len(distinct)) % min(_FOLDS, len(distinct))
    return fold[place.ravel()]


def _is_calibrated(machine: Any) -> bool:
    if machine.calibration is None:
        raise AttributeError(f"{type(machine).__name__} gives probabilities with calibration='auto'")
    return True


@declares_parameters
class CalibratedMachine:
    """What a machine needs to give probabilities.

    Parameters
    ----------
    calibration : None, "temperature", "matrix", "auto" or "decide"
        How scores become probabilities; with None there is no ``predict_proba``. The map is fitted to the scores of
        the training rows out of fold (:mod:`mcls.solvers.calibration`), and "auto" takes the better of the first two.
        The class with the largest probability is always the predicted one: "decide" is the matrix map that moves the
        decision to it, the others leave the decision to the scores.
    """

    calibration: str | None = None

    checks: ClassVar[Mapping[str, Check]] = {"calibration": OrNone(Choice("calibration", CALIBRATIONS))}

    def _calibrate(self: Any, X: Array, y: Array, sample_weight: Array | None) -> None:
        """Fit the map to out-of-fold scores of the training rows X, whose class codes are y."""
        self.__dict__.pop("probability_map_", None)  # of an earlier fit
        if self.calibration is None:
            return
        n_classes = len(self.classes_)
        fold = calibration_folds(np.arange(len(y))[:, None] if self.kernel_is_given else X, y)
        folds = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(fold.max() + 1)]
        # At one point five factorisations cost less than the decomposition of all rows that a sweep begins with.
        engine = "refit" if self.leaves_rows_out else "fast"
        settings = {"n_classes": n_classes, "engine": engine, "sample_weight": sample_weight}
        found = self.on_codes(self.classes_.tolist())._sweep_rows(X, y, folds, [{}], **settings)
        F = np.empty((len(y), n_classes))
        for (_, test), scores in zip(folds, found):
            F[test] = scores[0]
        self.probability_map_ = calibrate(F, y, self.calibration, sample_weight, fold)[0]

    @available_if(_is_calibrated)
    def predict_proba(self: Any, X: Any) -> Array:
        """Probability of each class (m, ℓ); the largest is that of the predicted class. Needs ``calibration``."""
        scores = self._machine_scores(X)
        check_is_fitted(self, "probability_map_")
        return self.probability_map_.probabilities(scores)

    def _class_scores(self: Any, X: Any) -> Array:
        """What decides the class (m, ℓ): the machine's scores, or what the map makes of them."""
        scores: Array = self._machine_scores(X)
        return self.probability_map_.logits(scores) if self.calibration == DECIDE else scores
