"""The extreme learning machine of Huang et al.: a random hidden layer and ridge outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from mcls.errors import McLsError
from mcls.kernels import check_positive
from mcls.machines.base import Fold, Point, sweep_rows
from mcls.solvers import elm

Array = np.ndarray


class ELM(ClassifierMixin, BaseEstimator):
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

    kernelized = False

    def __init__(
        self, n_hidden: int = 1000, C: float = 1.0, random_state: int | np.random.RandomState | None = 0
    ) -> None:
        self.n_hidden = n_hidden
        self.C = C
        self.random_state = random_state

    def _check_parameters(self) -> None:
        """Refuse parameters out of range; called before every fit."""
        check_positive("C", self.C)
        if not isinstance(self.n_hidden, int | np.integer) or self.n_hidden < 1:
            raise McLsError(f"n_hidden must be a whole number of at least 1, got {self.n_hidden!r}")

    def fit(self, X: Any, y: Any) -> Self:
        """Draw the hidden layer and solve for the output weights."""
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise McLsError(
                f"ELM needs samples of at least 2 classes; the data holds one class: {self.classes_[0]!r}"
            )
        self._check_parameters()
        self.weights_, self.biases_ = self._layer(X.shape[1])
        H = elm.hidden(X, self.weights_, self.biases_)
        self.beta_ = elm.fit(H, codes, len(self.classes_), [self.C])[0]
        return self

    def decision_function(self, X: Any) -> Array:
        """Output of each class (m, ℓ), the larger the better; with two classes, the margin of the second (m,)."""
        scores = self._class_scores(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> Array:
        """Class of each row: the one with the largest output."""
        best = np.argmax(self._class_scores(X), axis=1)
        return self.classes_[best]

    def sweep_features(
        self,
        X: Array,
        y: Array,
        folds: Sequence[Fold],
        points: Sequence[Point],
        *,
        n_classes: int,
        engine: str = "fast",
    ) -> list[Array]:
        """Out-of-fold outputs (points, |test|, ℓ) of each fold; a class that a training fold lacks gets −∞.

        The fast engine takes one SVD a fold and a size of the layer for all values of C; ``refit`` fits at every
        point and is what the tests compare it with.
        """

        def learn(machines: list[ELM], X: Array, y: Array, X_test: Array) -> Array:
            layer = machines[0]._layer(X.shape[1])  # one hidden layer for all values of C
            beta = elm.fit(elm.hidden(X, *layer), y, int(y.max()) + 1, [machine.C for machine in machines])
            return elm.hidden(X_test, *layer) @ beta  # (values of C, |test|, classes)

        return sweep_rows(self, X, y, folds, points, n_classes=n_classes, engine=engine, along="C", learn=learn)

    def _layer(self, n_features: int) -> tuple[Array, Array]:
        return elm.draw_layer(n_features, self.n_hidden, check_random_state(self.random_state))

    def _class_scores(self, X: Any) -> Array:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        return elm.hidden(X, self.weights_, self.biases_) @ self.beta_
