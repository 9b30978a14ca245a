"""What every kernel machine shares: validation, label encoding, the kernel, the decision and the sweep.

A machine implements ``_fit(K, y, n_classes)`` and ``_scores(K)`` on arrays; scikit-learn's interface, every
kernel and the generic cross-validation sweep come from here. Where algebra allows, it overrides ``_sweep``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from mcls.errors import McLsError
from mcls.kernels import check_precomputed, kernel_matrix
from mcls.solvers.linear import PrecisionError

Array = np.ndarray
Fold = tuple[Array, Array]  # (train, test) row indices
Point = Mapping[str, Any]  # values of the parameters swept at a fixed kernel

# Kernel values held at once when new rows are scored: 128 MB, however many rows there are.
_BLOCK_VALUES = 2**24


def rows_a_block(n: int) -> int:
    """How many rows to handle at once when each has n kernel values."""
    return max(1, _BLOCK_VALUES // max(1, n))


class KernelMachine(ClassifierMixin, BaseEstimator):
    """Base of the kernel classifiers; subclasses take ``kernel, sigma, degree, coef0`` and their own parameters."""

    kernelized = True

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        # scikit-learn inspects the signature anew for every get_params and clone: a third of the time of a plan.
        return super()._get_param_names()

    # What a subclass provides -------------------------------------------------------------------------------

    def _fit(self, K: Array, y: Array, n_classes: int) -> None:
        """Learn from the kernel matrix K (n, n) and the class codes y (n,) in 0..n_classes−1."""
        raise NotImplementedError

    def _scores(self, K: Array) -> Array:
        """Score every class from K (m, n), the kernel between m new rows and the n training rows: (m, ℓ)."""
        raise NotImplementedError

    def _sweep(
        self, K: Array, y: Array, n_classes: int, folds: Sequence[Fold], points: Sequence[Point]
    ) -> list[Array]:
        """Out-of-fold scores (points, |test|, ℓ) of each fold; every training fold holds every class."""
        return refit_sweep(self, K, y, n_classes, folds, points)

    def _check_parameters(self) -> None:
        """Refuse parameters out of range; called before every fit."""

    def _keep_classes(self, present: Array, n_classes: int) -> None:
        """Restrict a parameter that lists all classes, such as a matrix of labels, to those that a fold holds."""

    # scikit-learn's interface -------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to the rows of X (n, d), or to a kernel matrix (n, n) when ``kernel="precomputed"``.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Finite numbers.
        y : array-like of shape (n,)
            Class labels of any kind, at least two different ones.
        """
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise McLsError(
                f"{type(self).__name__} needs samples of at least 2 classes; "
                f"the data holds one class: {self.classes_[0]!r}"
            )
        self._check_parameters()
        if self.kernel == "precomputed":
            check_precomputed(X)
            self._fit(X, codes, len(self.classes_))
        else:
            self._fit_rows(X, codes, len(self.classes_))
        return self

    def _fit_rows(self, X: Array, y: Array, n_classes: int) -> None:
        """Learn from the rows themselves; a machine that needs no whole kernel matrix overrides this."""
        self.X_fit_ = X.copy()  # what becomes of the caller's array is no longer our business
        self._fit(self._kernel(X, None), y, n_classes)

    def decision_function(self, X: Any) -> Array:
        """Score of each class (m, ℓ), the larger the better; with two classes, the margin of the second (m,)."""
        scores = self._class_scores(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> Array:
        """Class of each row: the one with the largest score, the first of equal ones."""
        best = np.argmax(self._class_scores(X), axis=1)
        return self.classes_[best]

    def _class_scores(self, X: Any) -> Array:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        if self.kernel == "precomputed":
            return self._scores(X)
        step = rows_a_block(len(self.X_fit_))
        blocks = [X[start : start + step] for start in range(0, len(X), step)]
        return np.concatenate([self._scores(self._kernel(block, self.X_fit_)) for block in blocks])

    def _kernel(self, X: Array, Z: Array | None) -> Array:
        return kernel_matrix(X, Z, kernel=self.kernel, sigma=self.sigma, degree=self.degree, coef0=self.coef0)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    # Cross-validation ---------------------------------------------------------------------------------------

    def prepare(self, K: Array) -> Any:
        """The part of a sweep that depends on K alone, done beforehand; None where there is none."""
        return None

    def sweep(
        self,
        K: Array,
        y: Array,
        folds: Sequence[Fold],
        points: Sequence[Point],
        *,
        n_classes: int | None = None,
        engine: str = "fast",
        prepared: Any = None,
    ) -> list[Array]:
        """Out-of-fold scores for every point of a grid at one kernel.

        Parameters
        ----------
        K : array (n, n)
            Kernel matrix of all rows.
        y : array (n,)
            Class codes 0..ℓ−1.
        folds : list of (train, test)
            Index arrays.
        points : list of dict
            Parameters that do not enter the kernel, such as ``{"gamma": 0.5}``.
        engine : {"fast", "refit"}
            The machine's own algebra, or one fit a fold and a point: the oracle of the tests.
        prepared : object, optional
            What ``prepare(K)`` returned.

        Returns
        -------
        list of arrays (points, |test|, ℓ)
            One a fold; a class that the training fold does not hold scores −∞.
        """
        ell = int(y.max()) + 1 if n_classes is None else n_classes
        if engine == "refit":
            return refit_sweep(self, K, y, ell, folds, points)
        # A fold without some class is another problem (fewer classes, another labelbook): it is refitted.
        complete = [bool(np.bincount(y[train], minlength=ell).all()) for train, _ in folds]
        if not any(complete):
            return refit_sweep(self, K, y, ell, folds, points)
        known = {} if prepared is None else {"prepared": prepared}
        try:
            swept = self._sweep(K, y, ell, [f for f, c in zip(folds, complete) if c], points, **known)
        except PrecisionError:
            return refit_sweep(self, K, y, ell, folds, points)
        fast = iter(swept)
        return [
            next(fast) if whole else refit_sweep(self, K, y, ell, [fold], points)[0]
            for fold, whole in zip(folds, complete)
        ]


def _for_classes(machine: Any, present: Array, n_classes: int) -> Any:
    """The machine itself, ready for a fold that may lack some of the classes."""
    if len(present) < n_classes and isinstance(machine, KernelMachine):
        machine._keep_classes(present, n_classes)
    return machine


def refit_sweep(
    machine: KernelMachine,
    K: Array,
    y: Array,
    n_classes: int,
    folds: Sequence[Fold],
    points: Sequence[Point],
) -> list[Array]:
    """Sweep by brute force: fit on each training fold at each point. What every shortcut is tested against."""
    results = []
    for train, test in folds:
        present, codes = np.unique(y[train], return_inverse=True)
        scores = np.full((len(points), len(test), n_classes), -np.inf)
        if len(present) == 1:  # one class to learn from: it is the only answer
            scores[:, :, present] = 0.0
        else:
            K_train, K_test = K[np.ix_(train, train)], K[np.ix_(test, train)]
            for i, point in enumerate(points):
                fitted = _for_classes(clone(machine).set_params(**point), present, n_classes)
                fitted._check_parameters()
                fitted._fit(K_train, codes, len(present))
                scores[i][:, present] = fitted._scores(K_test)
        results.append(scores)
    return results


def sweep_rows(
    machine: Any,
    X: Array,
    y: Array,
    folds: Sequence[Fold],
    points: Sequence[Point],
    *,
    n_classes: int,
    engine: str,
    along: str,
    learn: Callable[[list[Any], Array, Array, Array], Array],
) -> list[Array]:
    """Sweep of a machine that works on rows: out-of-fold scores (points, |test|, ℓ), one array a fold.

    ``learn(machines, X_train, codes, X_test)`` gives the scores of some machines that differ in the parameter
    ``along`` alone, for the classes that a training fold holds; the others score −∞. ``refit`` fits each instead.
    """
    machines = [clone(machine).set_params(**point) for point in points]
    groups: dict[str, list[int]] = {}
    for i, each in enumerate(machines):
        each._check_parameters()
        groups.setdefault(repr({**each.get_params(), along: None}), []).append(i)
    results = []
    for train, test in folds:
        present, codes = np.unique(y[train], return_inverse=True)
        scores = np.full((len(points), len(test), n_classes), -np.inf)
        results.append(scores)
        if len(present) == 1:  # one class to learn from: it is the only answer
            scores[:, :, present] = 0.0
            continue
        for group in groups.values():
            some = [_for_classes(clone(machines[i]), present, n_classes) for i in group]
            if engine == "refit":
                found = np.stack([m.fit(X[train], codes)._class_scores(X[test]) for m in some])
            else:
                found = learn(some, X[train], codes, X[test])
            for i, of_point in zip(group, found, strict=True):
                scores[i][:, present] = of_point
    return results
