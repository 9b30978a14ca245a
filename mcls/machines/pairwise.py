"""One machine per pair of classes: one-against-one least squares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from mcls.machines.base import Folds, Points, Weights
from mcls.machines.kernel_machine import KernelMachine
from mcls.machines.labels import gammas_of
from mcls.machines.weighted import WeightedMachine
from mcls.parameters import Check, Choice, Positive, declares_parameters
from mcls.solvers import one_vs_one

Array = np.ndarray

#: How the values of the pairs become scores of classes.
_COUNTS = {"votes": one_vs_one.votes, "soft": one_vs_one.soft_votes}


@declares_parameters
class OvOLSM(WeightedMachine, KernelMachine):
    """One least-squares classifier per pair of classes, and a vote (honeine2013, Sec. 2).

    Each of the ℓ(ℓ−1)/2 machines solves (K + γI)α = ±1 on the rows of its two classes. A new x gets a vote
    from each; equal votes are ordered by the summed values, and with ``decision="soft"`` a vote is the value itself,
    between −1 and 1. Together they cost about n³/3 · 8/ℓ operations when the classes are of one size and many: *less*
    than one full factorisation from about eight classes on.

    Parameters
    ----------
    kernel, sigma, degree, coef0, gamma, class_weight, calibration
        As in :class:`OneLSM`.
    decision : {"votes", "soft"}
        Whole votes, as in the paper, or votes that say how sure they are: the better probabilities.

    Attributes
    ----------
    alpha_ : array (n, ℓ(ℓ−1)/2)
        Coefficients of each pair (a, b), a < b in the order of ``classes_``; zero on the rows of other classes.

    Examples
    --------
    >>> from mcls import OvOLSM
    >>> X, y = [[0.0], [0.2], [1.0], [1.2], [2.0], [2.2]], ["a", "a", "b", "b", "c", "c"]
    >>> OvOLSM(sigma=0.5, gamma=0.1).fit(X, y).predict([[0.1], [2.1]])
    array(['a', 'c'], dtype='<U1')
    """

    gamma: float = 1.0
    decision: str = "votes"

    checks: ClassVar[Mapping[str, Check]] = {
        "gamma": Positive(),
        "decision": Choice("decision rule", tuple(_COUNTS)),
    }
    swept = ("gamma",)
    leaves_rows_out = True

    def _fit(self, K: Array, y: Array, n_classes: int, w: Weights = None) -> None:
        self.alpha_ = one_vs_one.fit_pairs(K, y, n_classes, self.gamma, w)
        self.n_classes_ = n_classes

    def _scores(self, K: Array) -> Array:
        return _COUNTS[self.decision]((K @ self.alpha_).T, self.n_classes_)

    def _sweep(
        self, K: Array, y: Array, n_classes: int, folds: Folds, points: Points, prepared: Any, w: Weights = None
    ) -> list[Array]:
        tests, count = [test for _, test in folds], _COUNTS[self.decision]
        return one_vs_one.sweep(K, y, n_classes, tests, gammas_of(points), count, w)
