"""What every machine shares: validation, label encoding, the decision, and the sweep of a grid out of fold.

A kernel machine implements ``_fit(K, y, n_classes)`` and ``_scores(K)`` on arrays; scikit-learn's interface, every
kernel and cross-validation come from here. Where algebra allows, it declares the parameters that its ``_sweep``
shares. A machine that learns from rows implements ``_fit_rows`` and ``_row_scores`` instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from mcls.errors import McLsError
from mcls.kernels import KERNELS, check_precomputed, kernel_matrix
from mcls.parameters import Check, Choice, Number, Whole, width

Array = np.ndarray
Fold = tuple[Array, Array]  # (train, test) row indices
Point = Mapping[str, Any]  # values of some parameters

# Kernel values held at once when new rows are scored: 128 MB, however many rows there are.
_BLOCK_VALUES = 2**24


def rows_per_block(n: int) -> int:
    """How many rows to handle at once when each has n kernel values."""
    return max(1, _BLOCK_VALUES // max(1, n))


class BaseMachine(ClassifierMixin, BaseEstimator):
    """Base of all our classifiers: what outsiders must know of a machine stands on its class."""

    #: What each parameter may be; a subclass adds its own.
    checks: ClassVar[Mapping[str, Check]] = {}
    #: Parameters whose values ``_sweep`` shares at one kernel matrix, or at the same rows; none: it refits.
    swept: tuple[str, ...] = ()
    #: Whether ``_sweep`` leaves rows out of a solution of all rows: a fold then trains on all that it does not test.
    leaves_rows_out: bool = False
    #: What a sweep starts from: the kernel matrix of all rows, or the rows.
    works_on: Literal["kernel", "rows"] = "rows"
    #: Whether a fitted machine has something to tell beside its error (see ``facts``).
    has_facts: ClassVar[bool] = False

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
        self, A: Array, y: Array, n_classes: int, folds: Sequence[Fold], points: Sequence[Point], prepared: Any
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
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise McLsError(
                f"{type(self).__name__} needs samples of at least 2 classes; "
                f"the data holds one class: {self.classes_[0]!r}"
            )
        self.check_parameters()
        self._fit_rows(X, codes, len(self.classes_))
        return self

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
        return self._row_scores(validate_data(self, X, reset=False, dtype=np.float64))

    # Cross-validation ---------------------------------------------------------------------------------------

    def at(self, point: Point, present: Array, n_classes: int) -> Self:
        """A copy with some parameters changed, for a training fold that holds the classes ``present``."""
        machine = clone(self).set_params(**point)
        if len(present) < n_classes:
            machine._keep_classes(present, n_classes)
        machine.check_parameters()
        return machine

    def _learn_and_score(self, A: Array, y: Array, n_classes: int, train: Array, test: Array) -> Array:
        """Fit to the training rows, whose class codes are y, and score the test rows (|test|, ℓ)."""
        self._fit_rows(A[train], y, n_classes)
        return self._row_scores(A[test])

    def sweep(
        self,
        A: Array,
        y: Array,
        folds: Sequence[Fold],
        points: Sequence[Point],
        *,
        n_classes: int | None = None,
        engine: str = "fast",
        prepared: Any = None,
    ) -> list[Array]:
        """Out-of-fold scores for every point of a grid.

        Here, and nowhere else, is decided what is swept and what is refitted: a fold that lacks a class is another
        problem (fewer classes, another labelbook) and is refitted, and so is a system whose digits the algebra
        would lose. Points that differ in more than the ``swept`` parameters are swept group by group.

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
            What ``prepare(A)`` returned.

        Returns
        -------
        list of arrays (points, |test|, ℓ)
            One per fold; a class that the training fold does not hold scores −∞.
        """
        ell = int(y.max()) + 1 if n_classes is None else n_classes
        swept = self.swept if engine == "fast" else ()
        learned, places = _distinct(folds, len(y), self.leaves_rows_out)
        results = [np.full((len(points), len(asked), ell), np.nan) for _, asked in learned]
        fast = [k for k, fold in enumerate(learned) if swept and self._can_sweep(fold, y, ell)]
        if self.leaves_rows_out and len(fast) == 1:
            fast = []  # a few factorisations of one training set cost less than a decomposition of all rows
        for shared, members in _groups(points, swept):
            machine = self.at(shared, np.arange(ell), ell) if shared else self
            own = {name: getattr(machine, name) for name in swept}  # for what a point leaves out
            path = [{**own, **{n: v for n, v in points[i].items() if not swept or n in swept}} for i in members]
            if fast:
                for name, value in ((name, value) for point in path for name, value in point.items()):
                    parameter_checks(type(self))[name](name, value)  # a fit checks for itself
                found = machine._sweep(A, y, ell, [learned[k] for k in fast], path, prepared)
                for k, scores in zip(fast, found, strict=True):
                    results[k][members] = scores
            for k, fold in enumerate(learned):
                if np.isnan(results[k][members].sum()):
                    lost = np.flatnonzero(np.isnan(results[k][members]).any(axis=(1, 2))).tolist()
                    refitted = refit(machine, A, y, ell, fold, [path[i] for i in lost])
                    results[k][[members[i] for i in lost]] = refitted
        return [results[k] if at is None else results[k][:, at] for k, at in places]

    def _can_sweep(self, fold: Fold, y: Array, n_classes: int) -> bool:
        """Whether ``_sweep`` gives the scores of a fold."""
        train, asked = fold
        # A fold without some class is another problem (fewer classes, another labelbook): it is refitted.
        if not np.bincount(y[train], minlength=n_classes).all():
            return False
        used = np.concatenate([train, asked]) if self.leaves_rows_out else train
        times = np.bincount(used, minlength=len(y))
        if not self.leaves_rows_out:
            return bool((times <= 1).all())
        # Leaving most rows out costs more than learning from the few others.
        return len(asked) <= len(train) and bool((times == 1).all())


def _distinct(
    folds: Sequence[Fold], n: int, leaves_rows_out: bool
) -> tuple[list[Fold], list[tuple[int, Array | None]]]:
    """Training sets, each once, with the rows to score; and where the scores of each fold are among them.

    Nested cross-validation tests several folds of rows on machines that learn from the same rows. A machine that
    leaves rows out scores all the rows that a training set lacks. The second part holds, per fold, the place of its
    training set and the positions of its test rows there; None: all of them, in order.
    """
    learned: list[Fold] = []
    places: list[tuple[int, Array | None]] = []
    known: dict[bytes, list[int]] = {}
    for i, (train, _) in enumerate(folds):
        known.setdefault(np.asarray(train, dtype=np.intp).tobytes(), []).append(i)
    where: dict[int, tuple[int, Array | None]] = {}
    for members in known.values():
        train, asked = folds[members[0]]
        rest = np.ones(n, dtype=bool)
        rest[train] = False
        if len(members) > 1 or (leaves_rows_out and len(train) + len(asked) < n):
            wanted = np.zeros(n, dtype=bool)
            for i in members:
                wanted[folds[i][1]] = True
            asked = np.flatnonzero(rest if leaves_rows_out and rest[wanted].all() else wanted)
        place = np.empty(n, dtype=np.intp)
        place[asked] = np.arange(len(asked))
        for i in members:
            where[i] = len(learned), None if asked is folds[i][1] else place[folds[i][1]]
        learned.append((train, asked))
    places = [where[i] for i in range(len(folds))]
    return learned, places


def refit(machine: Any, A: Array, y: Array, n_classes: int, fold: Fold, points: Sequence[Point]) -> Array:
    """Scores (points, |test|, ℓ) of a fold by brute force, one fit per point: what shortcuts are tested against."""
    train, test = fold
    present, codes = np.unique(y[train], return_inverse=True)
    scores = np.full((len(points), len(test), n_classes), -np.inf)
    if len(present) == 1:  # one class to learn from: it is the only answer
        scores[:, :, present] = 0.0
        return scores
    for i, point in enumerate(points):
        fitted = machine.at(point, present, n_classes)
        scores[i][:, present] = fitted._learn_and_score(A, codes, len(present), train, test)
    return scores


def _groups(points: Sequence[Point], swept: Sequence[str]) -> Iterator[tuple[dict[str, Any], list[int]]]:
    """What is not swept, and the indices of the points that share these values of it."""
    groups: dict[str, tuple[dict[str, Any], list[int]]] = {}
    for i, point in enumerate(points):
        shared = {name: value for name, value in point.items() if swept and name not in swept}
        groups.setdefault(repr(shared), (shared, []))[1].append(i)
    yield from groups.values()


def parameter_checks(cls: type[BaseMachine]) -> dict[str, Check]:
    """The checks of a class and its bases; parameters that a class does not take are left out."""
    merged: dict[str, Check] = {}
    for base in reversed(cls.__mro__):
        merged |= vars(base).get("checks", {})
    return {name: merged[name] for name in cls._get_param_names() if name in merged}


class KernelMachine(BaseMachine):
    """Base of the kernel classifiers; subclasses take ``kernel, sigma, degree, coef0`` and their own parameters."""

    checks: ClassVar[Mapping[str, Check]] = {
        "kernel": Choice("kernel", KERNELS, or_else=callable),
        "sigma": width(),
        "degree": Whole(1, as_float=True),
        "coef0": Number(),
    }
    works_on: Literal["kernel", "rows"] = "kernel"

    def _fit(self, K: Array, y: Array, n_classes: int) -> None:
        """Learn from the kernel matrix K (n, n) and the class codes y (n,) in 0..n_classes−1."""
        raise NotImplementedError

    def _scores(self, K: Array) -> Array:
        """Score every class from K (m, n), the kernel between m new rows and the n training rows: (m, ℓ)."""
        raise NotImplementedError

    def prepare(self, K: Array) -> Any:
        """The part of a sweep that depends on K alone, done beforehand; None where there is none."""
        return None

    def _fit_rows(self, X: Array, y: Array, n_classes: int) -> None:
        if self.kernel == "precomputed":
            check_precomputed(X)
            self._fit(X, y, n_classes)
            return
        self.X_fit_ = X.copy()  # what becomes of the caller's array is no longer our business
        self._fit(self._kernel(X, None), y, n_classes)

    def _row_scores(self, X: Array) -> Array:
        if self.kernel == "precomputed":
            return self._scores(X)
        step = rows_per_block(len(self.X_fit_))
        blocks = [X[start : start + step] for start in range(0, len(X), step)]
        return np.concatenate([self._scores(self._kernel(block, self.X_fit_)) for block in blocks])

    def _learn_and_score(self, A: Array, y: Array, n_classes: int, train: Array, test: Array) -> Array:
        if self.works_on == "rows":
            return super()._learn_and_score(A, y, n_classes, train, test)
        self._fit(A[np.ix_(train, train)], y, n_classes)
        return self._scores(A[np.ix_(test, train)])

    def _kernel(self, X: Array, Z: Array | None) -> Array:
        return kernel_matrix(X, Z, kernel=self.kernel, sigma=self.sigma, degree=self.degree, coef0=self.coef0)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags
