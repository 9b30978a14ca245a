"""Kernel SVMs for several classes: reductions to binary C-SVCs, and the two single machines."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mcls.machines.base import Folds, Points, Weights
from mcls.machines.kernel_machine import KernelMachine
from mcls.machines.weighted import WeightedMachine
from mcls.parameters import Check, Positive, declares_parameters
from mcls.solvers import multisvm_libsvm, multisvm_path

Array = np.ndarray


@declares_parameters
class _SVM(WeightedMachine, KernelMachine):
    """Parameters of every machine here: the kernel's, C, tol and class_weight."""

    C: float = 1.0
    tol: float = 1e-5

    checks: ClassVar[Mapping[str, Check]] = {"C": Positive(), "tol": Positive()}


class SVMOvA(_SVM):
    """One C-SVC per class, trained against all the other classes.

    Machine c solves  min ½‖w‖² + C Σᵢ max(0, 1 − tᵢ(wᵀφ(xᵢ) + b)),  tᵢ = +1 in class c and −1 elsewhere;
    the class with the largest value wᵀφ(x) + b wins. LIBSVM's SMO solves the ℓ duals on one kernel matrix:
    between n² and n³ operations each.

    Parameters
    ----------
    kernel, sigma, degree, coef0, class_weight, calibration
        As in :class:`~mcls.machines.lsm.OneLSM`.
    C : float
        Price of a violated margin (Cwᵢ for a row of weight wᵢ); the smaller, the smoother.
    tol : float
        LIBSVM's tolerance on the optimality conditions.

    Attributes
    ----------
    alpha_ : array (n, ℓ)
        Signed dual coefficients αᵢtᵢ of each machine, zero off its support vectors.
    intercept_ : array (ℓ,)

    References
    ----------
    C.-W. Hsu and C.-J. Lin, A comparison of methods for multiclass support vector machines, IEEE TNN 13, 2002.

    Examples
    --------
    >>> from mcls.machines.svm import SVMOvA
    >>> X, y = [[0.0], [0.2], [1.0], [1.2], [2.0], [2.2]], ["a", "a", "b", "b", "c", "c"]
    >>> SVMOvA(sigma=0.5, C=10.0).fit(X, y).predict([[0.1], [2.1]])
    array(['a', 'c'], dtype='<U1')
    """

    def _fit(self, K: Array, y: Array, n_classes: int, w: Weights = None) -> None:
        self.alpha_, self.intercept_ = multisvm_libsvm.fit_one_against_all(K, y, n_classes, self.C, self.tol, w)

    def _scores(self, K: Array) -> Array:
        return K @ self.alpha_ + self.intercept_


class SVMOvO(_SVM):
    """One C-SVC per pair of classes, and max-wins voting.

    Each of the ℓ(ℓ−1)/2 machines sees the rows of its two classes only and casts one vote; the class with most
    votes wins, the first of equal ones (LIBSVM's rule). The scores are the votes; with two classes, the margin.
    Each machine has about 2n/ℓ rows, so that all pairs together are cheaper than :class:`SVMOvA`.

    Parameters
    ----------
    kernel, sigma, degree, coef0, C, tol, class_weight, calibration
        As in :class:`SVMOvA`.

    Attributes
    ----------
    alpha_ : array (n, ℓ(ℓ−1)/2)
        Signed dual coefficients of each pair (a, b), a < b in the order of ``classes_``; positive values mean a.
    intercept_ : array (ℓ(ℓ−1)/2,)

    References
    ----------
    C.-W. Hsu and C.-J. Lin, A comparison of methods for multiclass support vector machines, IEEE TNN 13, 2002.

    Examples
    --------
    >>> from mcls.machines.svm import SVMOvO
    >>> X, y = [[0.0], [0.2], [1.0], [1.2], [2.0], [2.2]], ["a", "a", "b", "b", "c", "c"]
    >>> SVMOvO(sigma=0.5, C=10.0).fit(X, y).predict([[0.1], [2.1]])
    array(['a', 'c'], dtype='<U1')
    """

    _combine = staticmethod(multisvm_libsvm.votes)

    def _fit(self, K: Array, y: Array, n_classes: int, w: Weights = None) -> None:
        self.alpha_, self.intercept_ = multisvm_libsvm.fit_pairs(K, y, n_classes, self.C, self.tol, w)
        self.n_classes_ = n_classes

    def _scores(self, K: Array) -> Array:
        return self._combine(K @ self.alpha_ + self.intercept_, self.n_classes_)


class SVMDAG(SVMOvO):
    """The pairwise C-SVCs asked along a decision DAG (Platt, Cristianini and Shawe-Taylor).

    The machines are those of :class:`SVMOvO`. A new x starts with the list of all classes; the first is tested
    against the last, the loser is struck off, and after ℓ−1 tests one class is left. The score of a class is the
    round it survives to; with two classes, the margin.

    Parameters and attributes are those of :class:`SVMOvO`.

    References
    ----------
    J. Platt, N. Cristianini and J. Shawe-Taylor, Large margin DAGs for multiclass classification, NIPS 12, 2000.

    Examples
    --------
    >>> from mcls.machines.svm import SVMDAG
    >>> X, y = [[0.0], [0.2], [1.0], [1.2], [2.0], [2.2]], ["a", "a", "b", "b", "c", "c"]
    >>> SVMDAG(sigma=0.5, C=10.0).fit(X, y).predict([[0.1], [2.1]])
    array(['a', 'c'], dtype='<U1')
    """

    _combine = staticmethod(multisvm_libsvm.dag)


@declares_parameters
class WestonWatkins(_SVM):
    """The multiclass SVM of Weston & Watkins: one problem for all classes, every wrong class pays its own slack.

        min  ½ Σ_m ‖w_m‖² + C Σᵢ Σ_{m≠yᵢ} ξ_im    s.t.  (w_yᵢ − w_m)ᵀφ(xᵢ) ≥ 2 − ξ_im,  ξ_im ≥ 0,

    and the class of x is arg max_m w_mᵀφ(x). There is no bias, as in the vector-output SVM of honeine2013; a
    constant added to the kernel (``kernel="polynomial", degree=1, coef0=1``) is the penalised bias of Hsu & Lin.
    With two classes this is the C-SVC without bias, of twice the objective.

    Solved by the interior-point method of :mod:`mcls.solvers.multisvm`, O(ℓn³) time per iteration, five to
    twenty-five iterations, O(ℓn²) memory, and finished by the active set of :mod:`mcls.solvers.multisvm_path`, which
    alone serves the values of C and the folds of a grid. The duality gap is computed, not assumed: see ``gap_``.

    Parameters
    ----------
    kernel, sigma, degree, coef0, class_weight, calibration
        As in :class:`~mcls.machines.lsm.OneLSM`.
    C : float
        Price of a violated margin (Cwᵢ for a row of weight wᵢ); the smaller, the smoother.
    tol : float
        Relative duality gap to reach; a ``ConvergenceWarning`` tells when rounding did not allow it.

    Attributes
    ----------
    alpha_ : array (n, ℓ)
        Coefficients of the scores, w_m = Σᵢ alpha_im φ(xᵢ).
    objective_ : float
        The primal objective reached.
    gap_ : float
        Duality gap relative to it: the optimum lies between ``objective_ * (1 - gap_)`` and ``objective_``.
    n_iter_ : int

    References
    ----------
    J. Weston and C. Watkins, Support vector machines for multi-class pattern recognition, ESANN 1999.

    Examples
    --------
    >>> from mcls.machines.svm import WestonWatkins
    >>> X, y = [[0.0], [0.2], [1.0], [1.2], [2.0], [2.2]], ["a", "a", "b", "b", "c", "c"]
    >>> machine = WestonWatkins(sigma=0.5).fit(X, y)
    >>> machine.predict([[0.1], [2.1]])
    array(['a', 'c'], dtype='<U1')
    >>> machine.gap_ < 1e-7
    True
    """

    tol: float = 1e-7

    swept = ("C",)
    _loss = "weston-watkins"

    def _fit(self, K: Array, y: Array, n_classes: int, w: Weights = None) -> None:
        price = self.C * (np.ones(len(y)) if w is None else w)
        solution = multisvm_path.MultiSVM(K, y, n_classes, self._loss, self.tol).finished(price)
        self.alpha_ = solution.A
        self.objective_, self.gap_, self.n_iter_ = solution.primal, solution.gap, solution.n_iter
        if self.gap_ > self.tol:
            warnings.warn(
                f"{type(self).__name__} stopped at a relative duality gap of {self.gap_:.1e}, above tol={self.tol:g}: "
                "rescale the features or take a smaller C",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _scores(self, K: Array) -> Array:
        return K @ self.alpha_

    def _sweep(
        self, K: Array, y: Array, n_classes: int, folds: Folds, points: Points, prepared: Any, w: Weights = None
    ) -> list[Array]:
        prices = [float(point["C"]) for point in points]
        return multisvm_path.sweep(K, y, n_classes, folds, prices, self._loss, self.tol, w)


class CrammerSinger(WestonWatkins):
    """The multiclass SVM of Crammer & Singer: one problem for all classes, the worst wrong class pays.

        min  ½ Σ_m ‖w_m‖² + C Σᵢ ξᵢ    s.t.  (w_yᵢ − w_m)ᵀφ(xᵢ) ≥ 1 − ξᵢ for every m ≠ yᵢ,  ξᵢ ≥ 0,

    and the class of x is arg max_m w_mᵀφ(x); no bias. It is also the multiclass SVM of keshet2014, Sec. 2.2, with
    λ = 1/(Cm). With two classes it is the C-SVC of price 2C without bias, of half the objective.

    Algorithm, cost, parameters and attributes are those of :class:`WestonWatkins`.

    References
    ----------
    K. Crammer and Y. Singer, On the algorithmic implementation of multiclass kernel-based vector machines,
    JMLR 2, 2002.

    Examples
    --------
    >>> from mcls.machines.svm import CrammerSinger
    >>> X, y = [[0.0], [0.2], [1.0], [1.2], [2.0], [2.2]], ["a", "a", "b", "b", "c", "c"]
    >>> machine = CrammerSinger(sigma=0.5).fit(X, y)
    >>> machine.predict([[0.1], [2.1]])
    array(['a', 'c'], dtype='<U1')
    >>> machine.gap_ < 1e-7
    True
    """

    _loss = "crammer-singer"
