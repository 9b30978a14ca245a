"""The least-squares machines of honeine2013, Sec. 5: oneLSM, and the plain OvA and OvO schemes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcls.errors import McLsError
from mcls.kernels import KernelFunction
from mcls.machines.base import Fold, KernelMachine, Point, refit_sweep
from mcls.machines.labels import LabelMachine, decide, gammas_of, only_gamma
from mcls.solvers import lsm
from mcls.solvers.linear import is_partition

Array = np.ndarray


class OneLSM(LabelMachine):
    """All one-against-all least-squares classifiers from a single matrix inverse (honeine2013, Sec. 5).

    Solves min_W Σᵢ ‖Wᵀxᵢ − yᵢ‖² + γ‖W‖²_F (Proposition 2). With a kernel,

        [α⁽¹⁾ … α⁽ᵖ⁾] = (K + γI)⁻¹ Yᵀ,   f(x) = Y (K + γI)⁻¹ κ_x   (24),

    and the class of x is arg max_y yᵀf(x) (25). By Theorem 5 every one-per-class labelbook, and by
    Corollary 6 the minimum-correlation one, gives the same classes. One factorisation, n³/3 operations,
    whatever the number of classes.

    Parameters
    ----------
    kernel : {"gaussian", "linear", "polynomial", "precomputed"} or callable
        A callable takes two arrays of rows and returns their kernel matrix.
    sigma : float
        Width of the Gaussian kernel exp(−‖x − x'‖²/2σ²).
    degree, coef0 : int, float
        Polynomial kernel (xᵀx' + coef0)^degree.
    gamma : float
        Weight of the regularisation; the larger, the smoother.
    labelbook : str or array (p, ℓ)
        ``pm1``, ``indicators``, ``alignment``, ``consistency``, ``mincorr``, ``fisher``, or one column a class.
    label_kernel : {"linear", "gaussian"}
        Kernel on the labels (Sec. 7.2), with the width ``label_sigma``.
    decision : {"max", "nearest", "winner"}
        Rule of Sec. 7.1: arg max yᵀf(x), the nearest label, or the largest entry of f(x).

    Attributes
    ----------
    alpha_ : array (n, p)
        The coefficients of (23), one column an entry of the label vectors.
    labels_, label_gram_ : arrays (p, ℓ), (ℓ, ℓ)
        The label vectors and their Gram (or kernel) matrix.

    Examples
    --------
    >>> from mcls import OneLSM
    >>> X, y = [[0.0], [0.2], [1.0], [1.2], [2.0], [2.2]], ["a", "a", "b", "b", "c", "c"]
    >>> OneLSM(sigma=0.5, gamma=0.1).fit(X, y).predict([[0.1], [2.1]])
    array(['a', 'c'], dtype='<U1')
    """

    def __init__(
        self,
        kernel: str | KernelFunction = "gaussian",
        sigma: float = 1.0,
        degree: int = 3,
        coef0: float = 1.0,
        gamma: float = 1.0,
        labelbook: str | Array = "indicators",
        label_kernel: str = "linear",
        label_sigma: float = 1.0,
        decision: str = "max",
    ) -> None:
        self.kernel = kernel
        self.sigma = sigma
        self.degree = degree
        self.coef0 = coef0
        self.gamma = gamma
        self.labelbook = labelbook
        self.label_kernel = label_kernel
        self.label_sigma = label_sigma
        self.decision = decision

    _solve = staticmethod(lsm.fit)

    def _fit(self, K: Array, y: Array, n_classes: int) -> None:
        self._set_labels(y, n_classes)
        # With the indicators as right-hand sides, every labelbook is a product away: Yᵀ = Ind Bᵀ.
        self.class_alpha_ = self._solve(K, lsm.indicators(y, n_classes), self.gamma)  # (n, ℓ)
        self.alpha_ = self.class_alpha_ @ self.labels_.T  # (n, p)

    def _scores(self, K: Array) -> Array:
        return decide(K @ self.class_alpha_, self.labels_, self.label_gram_, self.decision)

    def _sweep(
        self, K: Array, y: Array, n_classes: int, folds: Sequence[Fold], points: Sequence[Point]
    ) -> list[Array]:
        if not only_gamma(points) or not is_partition(folds, len(y)):
            return refit_sweep(self, K, y, n_classes, folds, points)
        Y = lsm.indicators(y, n_classes)
        values = lsm.sweep(K, Y, [test for _, test in folds], gammas_of(points))  # (γ, |S|, ℓ) a fold
        return [
            decide(g, *self._labels(y[train], n_classes), self.decision) for g, (train, _) in zip(values, folds)
        ]


class OvALSM(OneLSM):
    """One-against-all least-squares classifiers, each with a factorisation of its own (honeine2013, eq. 23).

    The paper's baseline: the same scores as OneLSM for ℓ times its price, ℓ·n³/3 operations. Its exact
    cross-validation sweep is OneLSM's, since the two are one function of the data.

    Parameters are those of :class:`OneLSM`.

    Examples
    --------
    >>> from mcls import OvALSM
    >>> X, y = [[0.0], [0.2], [1.0], [1.2], [2.0], [2.2]], ["a", "a", "b", "b", "c", "c"]
    >>> OvALSM(sigma=0.5, gamma=0.1).fit(X, y).predict([[0.1], [2.1]])
    array(['a', 'c'], dtype='<U1')
    """

    _solve = staticmethod(lsm.fit_one_by_one)


class OvOLSM(KernelMachine):
    """One least-squares classifier a pair of classes, and a vote (honeine2013, Sec. 2).

    Each of the ℓ(ℓ−1)/2 machines solves (K + γI)α = ±1 on the rows of its two classes. A new x gets a vote
    from each; equal votes are ordered by the summed values. Together about n³/3 · 8/ℓ operations when the
    classes are of one size and many: *less* than one full factorisation from about eight classes on.

    Parameters
    ----------
    kernel, sigma, degree, coef0, gamma
        As in :class:`OneLSM`.

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

    def __init__(
        self,
        kernel: str | KernelFunction = "gaussian",
        sigma: float = 1.0,
        degree: int = 3,
        coef0: float = 1.0,
        gamma: float = 1.0,
    ) -> None:
        self.kernel = kernel
        self.sigma = sigma
        self.degree = degree
        self.coef0 = coef0
        self.gamma = gamma

    def _check_parameters(self) -> None:
        if not np.isfinite(self.gamma) or self.gamma <= 0:
            raise McLsError(f"gamma must be a positive number, got {self.gamma}")

    def _fit(self, K: Array, y: Array, n_classes: int) -> None:
        self.alpha_ = lsm.fit_pairs(K, y, n_classes, self.gamma)
        self.n_classes_ = n_classes

    def _scores(self, K: Array) -> Array:
        return lsm.votes(K @ self.alpha_, self.n_classes_)

    def _sweep(
        self, K: Array, y: Array, n_classes: int, folds: Sequence[Fold], points: Sequence[Point]
    ) -> list[Array]:
        if not only_gamma(points) or not is_partition(folds, len(y)):
            return refit_sweep(self, K, y, n_classes, folds, points)
        values = lsm.sweep_pairs(K, y, n_classes, [test for _, test in folds], gammas_of(points))
        return [lsm.votes(v, n_classes) for v in values]
