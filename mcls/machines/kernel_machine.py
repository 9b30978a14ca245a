"""The base of machines that learn from a kernel matrix."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from mcls.kernels import KERNELS, RADIAL, KernelFunction, check_precomputed, kernel_matrix
from mcls.machines.base import BaseMachine, Weights
from mcls.machines.sweeping import Folds, Points
from mcls.machines.widths import WidthMixin
from mcls.parameters import SCALE, Check, Choice, Number, Whole, declares_parameters

Array = np.ndarray

# Values of a block of the kernel matrix when new rows are scored: 8 MB, not fetched from the system for each block.
_SCORED_VALUES = 2**20


@declares_parameters
class KernelMachine(WidthMixin, BaseMachine):
    """Base of the kernel classifiers; subclasses add their own parameters to ``kernel, sigma, degree, coef0``."""

    kernel: str | KernelFunction = "gaussian"
    sigma: float | str = SCALE
    degree: int = 3
    coef0: float = 1.0

    checks: ClassVar[Mapping[str, Check]] = {
        "kernel": Choice("kernel", KERNELS, or_else=callable),
        "degree": Whole(1, as_float=True),
        "coef0": Number(),
    }
    works_on = "kernel"

    def _present_rows(self, X: Array, y: Array, w: Weights) -> tuple[Array, Array, Array | None]:
        self.__dict__.pop("kept_", None)  # of an earlier fit
        if self.kernel != "precomputed" or w is None or w.all():
            return super()._present_rows(X, y, w)
        check_precomputed(X)
        self.kept_ = np.flatnonzero(w)  # the rows of the precomputed matrix that are learned from
        return X[np.ix_(self.kept_, self.kept_)], y[self.kept_], w[self.kept_]

    def _fit(self, K: Array, y: Array, n_classes: int) -> None:
        """Learn from the kernel matrix K (n, n) and the class codes y (n,) in 0..n_classes−1."""
        raise NotImplementedError

    def _scores(self, K: Array) -> Array:
        """Score every class from K (m, n), the kernel between m new rows and the n training rows: (m, ℓ)."""
        raise NotImplementedError

    def prepare(self, K: Array, often: Points = ()) -> Any:
        """The part of a sweep that depends on K alone, done beforehand; None where there is none.

        ``often`` lists the points that will be swept again and again, with other labels.
        """
        return None

    def decomposes(self, n: int, n_points: int) -> bool:
        """Whether a sweep of n rows at so many points starts from what ``prepare`` gives."""
        return True

    def certifier(self, n: int) -> Any:
        """What is handed to a sweep of n rows as ``prepared`` where the classes must be exact and the scores need not.

        None where that is not quicker.
        """
        return None

    def _fit_rows(self, X: Array, y: Array, n_classes: int, *w: Array) -> None:
        if self.kernel == "precomputed":
            check_precomputed(X)
            self._fit(X, y, n_classes, *w)
            return
        self.X_fit_ = X.copy()  # what becomes of the caller's array is no longer our business
        self._find_width(X, *w)
        self._fit(self._kernel(X, None), y, n_classes, *w)

    def _row_scores(self, X: Array) -> Array:
        if self.kernel == "precomputed":
            return self._scores(X[:, self.kept_] if "kept_" in vars(self) else X)
        step = max(1, _SCORED_VALUES // max(1, len(self.X_fit_)))
        blocks = [X[start : start + step] for start in range(0, len(X), step)]
        return np.concatenate([self._scores(self._kernel(block, self.X_fit_)) for block in blocks])

    @property
    def kernel_is_given(self) -> bool:
        """Whether rows come as those of a precomputed kernel matrix."""
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _sweep_rows(self, X: Array, y: Array, folds: Folds, points: Points, **settings: Any) -> list[Array]:
        if self.works_on == "rows" or self.kernel == "precomputed":
            return self.sweep(X, y, folds, points, **settings)
        if self.sigma == SCALE and isinstance(self.kernel, str) and self.kernel in RADIAL:
            return self.sweep_at_own_widths(X, RADIAL[self.kernel].distances(X), y, folds, points, **settings)
        return self.sweep(self._kernel(X, None), y, folds, points, **settings)

    def _learn_and_score(self, A: Array, y: Array, n_classes: int, train: Array, test: Array, *w: Array) -> Array:
        if self.works_on == "rows":
            return super()._learn_and_score(A, y, n_classes, train, test, *w)
        self._fit(A[np.ix_(train, train)], y, n_classes, *w)
        return self._scores(A[np.ix_(test, train)])

    def _kernel(self, X: Array, Z: Array | None) -> Array:
        # Other kernels have no width, and a copy that was not fitted has none where the rows decide it.
        sigma = self._width if isinstance(self.kernel, str) and self.kernel in RADIAL else 1.0
        return kernel_matrix(X, Z, kernel=self.kernel, sigma=sigma, degree=self.degree, coef0=self.coef0)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags
