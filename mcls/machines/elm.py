"""The extreme learning machine of Huang et al.: a random hidden layer and ridge outputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from mcls.machines.base import Folds, Points, Weights
from mcls.machines.weighted import WeightedMachine
from mcls.parameters import Anything, Check, Positive, Whole, declares_parameters
from mcls.solvers import elm

Array = np.ndarray


@declares_parameters
class ELM(WeightedMachine):
    """Extreme learning machine: one hidden layer drawn at random, output weights by ridge regression.

    The layer h(x) = 1/(1 + exp(−(aᵀx + b))) has L nodes with random a and b, never trained. The output weights solve

        min over β   ½‖β‖² + (C/2) Σᵢ ‖βᵀh(xᵢ) − tᵢ‖²,     tᵢ = +1 for the class of xᵢ, −1 for the others,

    and the class of x is the largest entry of βᵀh(x). One SVD of H (n, L), O(n²L) operations, serves every C.

    **The kernel form is not here because it is oneLSM**: with h(x)ᵀh(x') replaced by a kernel, the outputs are
    κ_xᵀ (K + I/C)⁻¹ T, which is :class:`~mcls.machines.lsm.OneLSM` with ``gamma = 1/C``.

    Parameters
    ----------
    n_hidden : int
        Number of nodes L in the hidden layer.
    C : float
        Weight of the fit against the size of β; the smaller, the smoother.
    random_state : int, RandomState or None
        Seed of the hidden layer.
    class_weight, calibration
        As in :class:`~mcls.machines.lsm.OneLSM`.

    Attributes
    ----------
    weights_, biases_ : arrays (d, L), (L,)
        The hidden layer.
    beta_ : array (L, ℓ)
        Output weights.

    References
    ----------
    G.-B. Huang, H. Zhou, X. Ding and R. Zhang, Extreme learning machine for regression and multiclass
    classification, IEEE Transactions on Systems, Man, and Cybernetics B 42, 2012.

    Examples
    --------
    >>> from mcls.machines.elm import ELM
    >>> X, y = [[0.0], [0.2], [1.0], [1.2], [2.0], [2.2]], ["a", "a", "b", "b", "c", "c"]
    >>> ELM(n_hidden=50, C=1000.0).fit(X, y).predict([[0.1], [2.1]])
    array(['a', 'c'], dtype='<U1')
    """

    n_hidden: int = 1000
    C: float = 1.0
    random_state: int | np.random.RandomState | None = 0

    checks: ClassVar[Mapping[str, Check]] = {"n_hidden": Whole(1), "C": Positive(), "random_state": Anything()}
    swept = ("C",)

    def _fit_rows(self, X: Array, y: Array, n_classes: int, w: Weights = None) -> None:
        self.weights_, self.biases_ = self._layer(X.shape[1])
        H = elm.hidden(X, self.weights_, self.biases_)
        self.beta_ = elm.fit(H, y, n_classes, [self.C], w)[0]

    def _row_scores(self, X: Array) -> Array:
        return elm.hidden(X, self.weights_, self.biases_) @ self.beta_

    def _sweep(
        self, X: Array, y: Array, n_classes: int, folds: Folds, points: Points, prepared: Any, w: Weights = None
    ) -> list[Array]:
        """One hidden layer and one SVD per fold for all values of C."""
        layer = self._layer(X.shape[1])
        results = []
        for train, test in folds:
            H = elm.hidden(X[train], *layer)
            of_train = None if w is None else w[train]
            beta = elm.fit(H, y[train], n_classes, [point["C"] for point in points], of_train)
            results.append(elm.hidden(X[test], *layer) @ beta)  # (values of C, |test|, ℓ)
        return results

    def _layer(self, n_features: int) -> tuple[Array, Array]:
        return elm.draw_layer(n_features, self.n_hidden, check_random_state(self.random_state))
