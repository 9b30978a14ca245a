"""Machines that take weights of rows and classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone

from mcls.machines.base import BaseMachine
from mcls.parameters import Check, declares_parameters
from mcls.solvers.weights import check_class_weight

ClassWeight = str | Mapping[Any, float] | None


@declares_parameters
class WeightedMachine(BaseMachine):
    """A machine that takes weights, as scikit-learn defines them: a weight of 2 counts as the row twice.

    A row of weight zero is absent, also from the counts of classes.

    Parameters
    ----------
    class_weight : None, "balanced" or dict
        Weight of each class, which multiplies those of its rows; in a dictionary, 1 for classes that it does not name.
        "balanced" gives every class the same total weight, n / (ℓ n_c) for each row of class c.
    """

    class_weight: ClassWeight = None

    checks: ClassVar[Mapping[str, Check]] = {"class_weight": check_class_weight}
    takes_weights = True

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to the rows of X (n, d), or to a kernel matrix (n, n) when ``kernel="precomputed"``.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Finite numbers.
        y : array-like of shape (n,)
            Class labels of any kind, at least two different ones.
        sample_weight : array-like of shape (n,), optional
            Weight of each row, zero or positive; all 1 by default.
        """
        return self._fit_weighted(X, y, sample_weight)

    def _keep_classes(self, present: np.ndarray, n_classes: int) -> None:
        super()._keep_classes(present, n_classes)
        if isinstance(self.class_weight, Mapping):
            own = enumerate(present.tolist())
            self.class_weight = {new: self.class_weight[old] for new, old in own if old in self.class_weight}

    def on_codes(self, classes: Sequence[Any]) -> Self:
        """A copy whose dictionary of class weights, if it has one, has the codes of the ``classes`` as keys."""
        if not isinstance(self.class_weight, Mapping):
            return self
        by_code = {code: self.class_weight[c] for code, c in enumerate(classes) if c in self.class_weight}
        return clone(self).set_params(class_weight=by_code)
