"""What every machine shares: validation, label encoding, the decision, and the sweep of a grid out of fold.

A kernel machine implements ``_fit(K, y, n_classes)`` and ``_scores(K)`` on arrays; scikit-learn's interface, every
kernel and cross-validation come from here. Where algebra allows, it declares the parameters that its ``_sweep``
shares. A machine that learns from rows implements ``_fit_rows`` and ``_row_scores`` instead. One that takes weights
inherits from ``WeightedMachine``, and its ``_fit`` (or ``_fit_rows``) and ``_sweep`` have a last argument ``w``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from numbers import Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from mcls.errors import McLsError
from mcls.machines.calibrated import CalibratedMachine
from mcls.machines.sweeping import (
    Fold,
    Folds,
    Point,
    Points,
    Weights,
    among_all,
    by_classes,
    distinct,
    found_once,
    in_places,
    point_groups,
    refit,
)
from mcls.parameters import Anything, Check
from mcls.solvers.calibration import DECIDE
from mcls.solvers.weights import check_class_names, check_weights, class_factors, row_weights

Array = np.ndarray

# Kernel values held at once when landmarks are summed: 128 MB, however many rows there are.
_BLOCK_VALUES = 2**24


def rows_per_block(n: int) -> int:
    """How many rows to handle at once when each has n kernel values."""
    return max(1, _BLOCK_VALUES // max(1, n))


class BaseMachine(CalibratedMachine, ClassifierMixin, BaseEstimator):
    """Base of all our classifiers: what outsiders must know of a machine stands on its class."""

    #: What each parameter may be; a subclass adds its own.
    checks: ClassVar[Mapping[str, Check]] = {}
    #: Parameters whose values ``_sweep`` shares at one kernel matrix, or at the same rows; none: it refits.
    swept: ClassVar[tuple[str, ...]] = ()
    #: Whether ``_sweep`` leaves rows out of a solution of all rows: a fold then trains on all that it does not test.
    leaves_rows_out: bool = False
    #: Whether ``_sweep`` takes hardly longer for all folds than for one of them: they are not spread over threads.
    folds_together: bool = False
    #: What a sweep starts from: the kernel matrix of all rows, or the rows.
    works_on: Literal["kernel", "rows"] = "rows"
    #: Whether it has ``class_weight`` and its ``fit`` takes ``sample_weight`` (see ``WeightedMachine``).
    takes_weights: ClassVar[bool] = False
    #: Whether a fitted machine has something to tell beside its error (see ``facts``).
    has_facts: ClassVar[bool] = False
    #: Whether the scores of a sweep are logarithms of probabilities that each fit has calibrated by rows of its own.
    calibrates_itself: ClassVar[bool] = False

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        # scikit-learn inspects the signature anew for every get_params and clone: a third of the time of a plan.
        return super()._get_param_names()

    # What a subclass provides -------------------------------------------------------------------------------

    def _fit_rows(self, X: Array, y: Array, n_classes: int) -> None:
        """Learn from rows X (n, d) and class codes y (n,) in 0..n_classes−1."""
        raise NotImplementedError

    def _row_scores(self, X: Array) -> Array:
        """Score every class for new rows X (m, d): (m, ℓ)."""
        raise NotImplementedError

    def _sweep(
        self, A: Array, y: Array, n_classes: int, folds: Folds, points: Points, prepared: Any
    ) -> list[Array]:
        """Out-of-fold scores (points, |test|, ℓ) of each fold, each point giving all ``swept`` parameters.

        A is what the machine works on. Every fold trains on every class and, with ``leaves_rows_out``, on all the
        rows that it does not test. A fold and point that the algebra cannot give to enough digits is NaN.
        """
        raise NotImplementedError

    def _check_together(self) -> None:
        """Refuse parameters that do not go together."""

    def _keep_classes(self, present: Array, n_classes: int) -> None:
        """Restrict a parameter that lists all classes, such as a matrix of labels, to those that a fold holds."""

    def facts(self, X: Array, y: Array) -> dict[str, Any]:
        """What tables report of a fitted machine beside its error, as JSON values; X and y are its training rows."""
        return {}

    def importances(self) -> Array | None:
        """How much each column matters to a fitted machine (d,), shares of one; None where it does not say."""
        return vars(self).get("feature_importances_")

    # scikit-learn's interface -------------------------------------------------------------------------------

    def check_parameters(self) -> None:
        """Refuse parameters out of range; called before every fit."""
        for name, check in parameter_checks(type(self)).items():
            check(name, getattr(self, name))
        self._check_together()

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to the rows of X (n, d), or to a kernel matrix (n, n) when ``kernel="precomputed"``.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Finite numbers.
        y : array-like of shape (n,)
            Class labels of any kind, at least two different ones.
        """
        return self._fit_weighted(X, y, None)

    def _fit_weighted(self, X: Any, y: Any, sample_weight: Any) -> Self:
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        sample_weight = check_weights(sample_weight, len(y))
        X, y, sample_weight = self._present_rows(X, y, sample_weight)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise McLsError(
                f"{type(self).__name__} needs samples of at least 2 classes; "
                f"the data holds one class: {self.classes_[0]!r}"
            )
        self.check_parameters()
        names = self.classes_.tolist()
        if self.takes_weights:
            check_class_names(self.class_weight, names)
        weights = self.training_weights(codes, names, sample_weight)
        self._fit_rows(X, codes, len(self.classes_), *weights)
        self._calibrate(X, codes, sample_weight)
        return self

    def _present_rows(self, X: Array, y: Array, w: Weights) -> tuple[Array, Array, Array | None]:
        """Rows, labels and weights without the rows of weight zero, which are as good as absent."""
        if w is None or w.all():
            return X, y, w
        return X[w > 0], y[w > 0], w[w > 0]

    def training_weights(self, y: Array, classes: Sequence[Any], sample_weight: Array | None) -> list[Array]:
        """What a fit to class codes y (n,) of the ``classes`` is given beside: the weights of the rows, or nothing.

        This is the one place where sample and class weights are put together. Rows of weight zero are gone before.
        """
        if not self.takes_weights:
            if sample_weight is None:
                return []
            raise McLsError(f"{type(self).__name__} takes no sample weights")
        w = row_weights(self.class_weight, y, classes, sample_weight)
        return [] if w is None else [w]

    def decision_function(self, X: Any) -> Array:
        """Score of each class (m, ℓ), the larger the better; with two classes, the margin of the second (m,)."""
        scores = self._class_scores(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> Array:
        """Class of each row: the one with the largest score, the first of equal ones."""
        best = np.argmax(self._class_scores(X), axis=1)
        return self.classes_[best]

    def _machine_scores(self, X: Any) -> Array:
        """Scores (m, ℓ) before any calibration."""
        check_is_fitted(self)
        return self._row_scores(validate_data(self, X, reset=False, dtype=np.float64))

    @property
    def kernel_is_given(self) -> bool:
        """Whether rows come as those of a precomputed kernel matrix."""
        return False

    def _sweep_rows(self, X: Array, y: Array, folds: Folds, points: Points, **settings: Any) -> list[Array]:
        """What ``sweep`` gives with what the machine works on made from the rows X."""
        return self.sweep(X, y, folds, points, **settings)

    # Cross-validation ---------------------------------------------------------------------------------------

    def at(self, point: Point, present: Array, n_classes: int) -> Self:
        """A copy with some parameters changed, for a training fold that holds the classes ``present``."""
        machine = clone(self).set_params(**point)
        if len(present) < n_classes:
            machine._keep_classes(present, n_classes)
        machine.check_parameters()
        return machine

    def _learn_and_score(self, A: Array, y: Array, n_classes: int, train: Array, test: Array, *w: Array) -> Array:
        """Fit to the training rows, whose class codes are y, and score the test rows (|test|, ℓ)."""
        self._fit_rows(A[train], y, n_classes, *w)
        return self._row_scores(A[test])

    def sweep(
        self,
        A: Array,
        y: Array,
        folds: Folds,
        points: Points,
        *,
        n_classes: int | None = None,
        engine: str = "fast",
        prepared: Any = None,
        sample_weight: Array | None = None,
    ) -> list[Array]:
        """Out-of-fold scores for every point of a grid.

        Here, and nowhere else, is decided what is swept and what is refitted. Folds that lack a class are another
        problem (fewer classes, another labelbook), and are swept by themselves; a system whose digits the algebra
        would lose is refitted. Points that differ in more than the ``swept`` parameters are swept group by group, and
        so are folds whose rows weigh differently: ``class_weight="balanced"`` counts the classes of each training
        fold.

        Parameters
        ----------
        A : array (n, n) or (n, d)
            What the machine ``works_on``: the kernel matrix of all rows, or the rows.
        y : array (n,)
            Class codes 0..ℓ−1.
        folds : list of (train, test)
            Index arrays. Folds may overlap and need not test every row; those that train on the same rows, as in
            nested cross-validation, share the work.
        points : list of dict
            Parameters, such as ``{"gamma": 0.5}``; with a kernel matrix, those that do not enter the kernel.
        engine : {"fast", "refit"}
            The machine's own algebra, or one fit per fold and point: the oracle of the tests.
        prepared : object, optional
            What ``prepare(A)`` returned; of no use where rows have weights.
        sample_weight : array (n,), optional
            Weights of the rows in training; a row of weight zero is learned from by no fold. (The keys of a
            ``class_weight`` dictionary are class codes here.)

        Returns
        -------
        list of arrays (points, |test|, ℓ)
            One per fold; a class that the training fold does not hold scores −∞.
        """
        ell = int(y.max()) + 1 if n_classes is None else n_classes
        if any(point.get("calibration") == DECIDE for point in points):
            raise McLsError("calibration='decide' is an option of a machine, not a value of its grid")
        sample_weight = check_weights(sample_weight, len(y))
        if sample_weight is not None:
            folds = [(train[sample_weight[train] > 0], test) for train, test in folds]
            if not all(len(train) for train, _ in folds):
                raise McLsError("every training row of some fold has a sample_weight of zero")
        if engine != "fast" or not self.swept:
            learned, places = distinct(folds, len(y), self.leaves_rows_out)
            return in_places([refit(self, A, y, ell, fold, points, sample_weight) for fold in learned], places)
        results: list[Array] = [np.empty(0)] * len(folds)
        groups = found_once(folds, ("classes", ell, y.tobytes()), lambda: by_classes(folds, y, ell))
        for present, of_group, some, codes in groups:
            if len(present) == 1:  # the only answer
                found = [np.zeros((len(points), len(test), 1)) for _, test in some]
            else:
                machine, own = self, points
                if len(present) < ell:
                    machine, own = self.at({}, present, ell), [self._among(p, present, ell) for p in points]
                found = machine._sweep_classes(A, codes, len(present), some, own, prepared, sample_weight)
            for k, scores in zip(of_group, found, strict=True):
                results[k] = scores if len(present) == ell else among_all(scores, present, ell)
        return results

    def _among(self, point: Point, present: Array, n_classes: int) -> Point:
        """A point for the classes ``present`` alone, of which a matrix of labels or a dictionary of weights tells."""
        if all(value is None or isinstance(value, str | Real) for value in point.values()):
            return point
        kept = self.at(point, present, n_classes)
        return {name: getattr(kept, name) for name in point}

    def _sweep_classes(
        self,
        A: Array,
        y: Array,
        n_classes: int,
        folds: Folds,
        points: Points,
        prepared: Any,
        sample_weight: Weights,
    ) -> list[Array]:
        """What ``sweep`` gives of folds that all train on every class."""
        learned, places, able, fast = found_once(
            folds, (type(self), self.leaves_rows_out), lambda: self._plan(folds, len(y))
        )
        results = [np.empty(0)] * len(learned)
        checks = parameter_checks(type(self))
        for shared, members in point_groups(points, self.swept):
            machine = self.at(shared, np.arange(n_classes), n_classes) if shared else self
            own = {name: getattr(machine, name) for name in self.swept}  # for what a point leaves out
            path = [{**own, **{n: v for n, v in points[i].items() if n in self.swept}} for i in members]
            for name, value in ((name, value) for point in path for name, value in point.items()):
                checks[name](name, value)  # a fit checks for itself
            found: list[Array | None] = [None] * len(learned)
            # What a sweep shares may follow from other parameters: with these, the machine may have to be refitted.
            shares = able if machine.swept == self.swept else []
            for some, weights in machine._equally_weighed(shares, learned, y, n_classes, sample_weight):
                together = [k for k in some if k in fast]
                if self.leaves_rows_out and len(together) == 1:
                    together = []  # a few factorisations of one training set cost less than a decomposition of all rows
                if together:
                    usable = None if weights else prepared
                    of_some = machine._sweep(
                        A, y, n_classes, [learned[k] for k in together], path, usable, *weights
                    )
                    for k, of_fold in zip(together, of_some, strict=True):
                        found[k] = of_fold
                for k in set(some).difference(together):
                    found[k] = machine._sweep_alone(A, y, n_classes, learned[k], path, *weights)
            for k, fold in enumerate(learned):
                scores = found[k]
                if scores is None:
                    scores = refit(machine, A, y, n_classes, fold, path, sample_weight)
                elif np.isnan(scores.sum()):
                    lost = np.flatnonzero(np.isnan(scores).any(axis=(1, 2))).tolist()
                    scores[lost] = refit(machine, A, y, n_classes, fold, [path[i] for i in lost], sample_weight)
                if len(members) == len(points):
                    results[k] = scores
                    continue
                if not results[k].size:
                    results[k] = np.empty((len(points), *scores.shape[1:]))
                results[k][members] = scores
        return in_places(results, places)

    def _sweep_alone(
        self, A: Array, y: Array, n_classes: int, fold: Fold, points: Points, w: Weights = None
    ) -> Array | None:
        """Scores (points, |test|, ℓ) of a single training set, of a machine that leaves rows out.

        None: a fit per point is as quick.
        """
        return None

    def _plan(
        self, folds: Folds, n: int
    ) -> tuple[list[Fold], list[tuple[int, Array | None]], list[int], set[int]]:
        """What ``distinct`` finds; which training sets have no row twice; which of these ``_sweep`` takes together."""
        learned, places = distinct(folds, n, self.leaves_rows_out)
        once = [k for k, (train, _) in enumerate(learned) if (np.bincount(train) <= 1).all()]
        return learned, places, once, {k for k in once if self._can_sweep(learned[k], n)}

    def _equally_weighed(
        self, places: Sequence[int], folds: Folds, y: Array, n_classes: int, sample_weight: Array | None
    ) -> list[tuple[list[int], list[Array]]]:
        """The folds at some places, all of which train on every class, in groups that share the weights of rows.

        With each group comes what ``_sweep`` is given beside: the weights (n,) or nothing.
        """
        if not self.takes_weights or (self.class_weight is None and sample_weight is None):
            self.training_weights(y, range(n_classes), sample_weight)  # refuses what the machine does not take
            return [(list(places), [])] if places else []
        groups: dict[bytes, tuple[list[int], list[Array]]] = {}
        # Rows of weight zero are left out of every fold: any weight serves them.
        own = np.ones(len(y)) if sample_weight is None else np.where(sample_weight > 0, sample_weight, 1.0)
        for k in places:
            train = folds[k][0]
            counts = np.bincount(y[train], own[train], minlength=n_classes)
            w = class_factors(self.class_weight, range(n_classes), counts)[y] * own
            groups.setdefault(w.tobytes(), ([], [] if (w == 1.0).all() else [w]))[0].append(k)
        return list(groups.values())

    def on_codes(self, classes: Sequence[Any]) -> Self:
        """The machine as ``sweep`` wants it, which knows classes by their codes: itself, if it names none."""
        return self

    def _can_sweep(self, fold: Fold, n: int) -> bool:
        """Whether ``_sweep`` gives the scores of a fold that has no training row twice."""
        train, asked = fold
        # Leaving most rows out costs more than learning from the few others.
        return not self.leaves_rows_out or (
            len(asked) <= len(train)
            and bool((np.bincount(np.concatenate([train, asked]), minlength=n) == 1).all())
        )


def parameter_checks(cls: type[BaseMachine]) -> dict[str, Check]:
    """The check of every parameter of a class, by itself and its bases; one without a check takes anything."""
    merged: dict[str, Check] = {}
    for base in reversed(cls.__mro__):
        merged |= vars(base).get("checks", {})
    return {name: merged.get(name, Anything()) for name in cls._get_param_names()}
