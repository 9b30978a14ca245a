"""OneLSM with a labelbook that is learned from its own honest scores (honeine2013, Sec. 9, future work)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from mcls.machines.kernel_machine import KernelMachine
from mcls.parameters import Check, Positive, declares_parameters
from mcls.solvers import labelgram, lsm
from mcls.solvers.linear import add_ridge, solve_spd

Array = np.ndarray


@declares_parameters
class LearnedLSM(KernelMachine):
    """OneLSM whose label Gram matrix is the solution of a semidefinite programme on its leave-one-out scores.

    The scores of :class:`~mcls.machines.lsm.OneLSM` with the label Gram matrix L are F L. L is learned from the
    leave-one-out scores F of the training rows, Fᵢ = yᵢ − αᵢ/[(K + γI)⁻¹]ᵢᵢ, by a squared hinge loss with μ‖L − I‖² as
    the penalty (``mcls.solvers.labelgram``). As μ grows it is oneLSM with indicators. The learned label vectors
    ``labels_`` can be given to any machine that takes a labelbook: ``VoLSSVM(labelbook=machine.labels_)``.

    Parameters
    ----------
    kernel, sigma, degree, coef0, gamma
        As in :class:`~mcls.machines.lsm.OneLSM`.
    mu : float
        Weight of the distance of L to the indicators' Gram matrix; the larger, the nearer.

    Attributes
    ----------
    labels_, label_gram_ : arrays (ℓ, ℓ)
        The learned label vectors, one column per class, and their Gram matrix L.
    class_alpha_ : array (n, ℓ)
        Coefficients for the indicators.

    Examples
    --------
    >>> from mcls import LearnedLSM
    >>> X, y = [[0.0], [0.2], [1.0], [1.2], [2.0], [2.2]], ["a", "a", "b", "b", "c", "c"]
    >>> LearnedLSM(sigma=0.5, gamma=0.1).fit(X, y).predict([[0.1], [2.1]])
    array(['a', 'c'], dtype='<U1')
    """

    gamma: float = 1.0
    mu: float = 0.1

    checks: ClassVar[Mapping[str, Check]] = {"gamma": Positive(), "mu": Positive()}

    def _fit(self, K: Array, y: Array, n_classes: int) -> None:
        Y = lsm.indicators(y, n_classes)
        M = solve_spd(add_ridge(K, self.gamma), np.eye(len(K)))  # (K + γI)⁻¹
        self.class_alpha_ = M @ Y
        F = Y - self.class_alpha_ / M.diagonal()[:, None]
        self.label_gram_ = labelgram.learn(F, y, self.mu)
        self.labels_ = labelgram.root(self.label_gram_)

    def _scores(self, K: Array) -> Array:
        return K @ self.class_alpha_ @ self.label_gram_
