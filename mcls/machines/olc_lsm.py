"""Label correction beyond xue2013: the same regulariser for oneLSM with any labelbook."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from mcls.machines.base import Folds, Points, Weights
from mcls.machines.codewords import codeword_facts, settle_ties, swept_path
from mcls.machines.labels import decide
from mcls.machines.lsm import OneSystemMachine
from mcls.parameters import Check, Number, declares_parameters
from mcls.solvers import olc

Array = np.ndarray


@declares_parameters
class OLCOneLSM(OneSystemMachine):
    """oneLSM with label correction: class means of the outputs pulled to the label vectors, any labelbook.

    OLC-RLSC penalises [w_cᵀX·y⁽ᶜ'⁾]² for c' ≠ c. As y⁽ᶜ⁾ is orthogonal to y⁽ᶜ'⁾ that is the square of
    (w_cᵀX − y⁽ᶜ⁾)·y⁽ᶜ'⁾, a sum of residuals over class c'. Said of residuals the penalty needs no orthogonality,
    and the own class can join: for the label vectors y_i of any labelbook,

        min_W Σᵢ ‖Wᵀxᵢ − yᵢ‖² + γ‖W‖² + λ₂ Σ_c ‖Σ_{i∈c} (Wᵀxᵢ − yᵢ)‖².

    For orthonormal labels the new term pulls every inner product of a class sum with a label to its ideal
    value, zero for another class (the paper's term) and n_c for its own. The residuals are weighed by
    H = I + λ₂ZZᵀ (Z the class indicators), the *same* for every output, so that oneLSM's single system is kept:

        (K + γH⁻¹) α = Yᵀ,   H⁻¹ = I − Z diag(λ₂/(1 + λ₂n_c)) Zᵀ.

    The ridge is taken off the class sums of α; as λ₂ → ∞ it acts on their deviations from the class means
    alone, and the mean output of each class on the training rows is its label vector exactly. α is still
    linear in Y, so by the argument of honeine2013, Theorem 5, all one-per-class labelbooks give the same classes.

    Parameters
    ----------
    kernel, sigma, degree, coef0, gamma, labelbook, label_kernel, label_sigma, decision, class_weight, calibration
        As in :class:`~mcls.machines.lsm.OneLSM`.
    lambda2 : float
        Weight of the correction; zero gives :class:`~mcls.machines.lsm.OneLSM`.

    Attributes
    ----------
    alpha_, labels_, label_gram_
        As in :class:`~mcls.machines.lsm.OneLSM`.

    Examples
    --------
    >>> from mcls import OLCOneLSM
    >>> X, y = [[0.0], [0.2], [1.0], [1.2], [2.0], [2.2]], ["a", "a", "b", "b", "c", "c"]
    >>> OLCOneLSM(sigma=0.5, gamma=0.1, lambda2=1.0, labelbook="pm1").fit(X, y).predict([[0.1], [2.1]])
    array(['a', 'c'], dtype='<U1')
    """

    lambda2: float = 1.0

    checks: ClassVar[Mapping[str, Check]] = {"lambda2": Number(0.0, wanted="zero or a positive number")}
    swept = ("gamma", "lambda2")
    leaves_rows_out = False
    sees_labels = "vectors"
    has_facts = True

    def facts(self, X: Array, y: Array) -> dict[str, Any]:
        """How much the estimated label vectors of two classes overlap on the training rows."""
        return codeword_facts(self, X, y)

    def _fit(self, K: Array, y: Array, n_classes: int, w: Weights = None) -> None:
        self._set_alpha(olc.fit_one(K, y, n_classes, self.gamma, self.lambda2, w), y, w)

    def _scores(self, K: Array) -> Array:
        return settle_ties(super()._scores(K))

    def _codewords(self, K: Array) -> Array:
        """Estimated label vectors (m, p)."""
        return K @ self.alpha_

    def prepare(self, K: Array, often: Points = ()) -> None:
        """Nothing: each fold and point is a system of its own."""

    def _sweep(
        self, K: Array, y: Array, n_classes: int, folds: Folds, points: Points, prepared: Any, w: Weights = None
    ) -> list[Array]:
        path = swept_path("gamma", points)
        scores = []
        for train, test in folds:
            K_train, K_test, of_train = (
                K[np.ix_(train, train)],
                K[np.ix_(test, train)],
                None if w is None else w[train],
            )
            values = olc.sweep_one(K_train, K_test, y[train], n_classes, path, of_train)
            labels = self._labels(y[train], n_classes, of_train)
            scores.append(settle_ties(decide(values, *labels, self.decision)))
        return scores
