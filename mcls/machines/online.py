"""The two online learners of keshet2014: the multiclass perceptron, and the multiclass SVM by subgradient steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from mcls.machines.base import Folds, Points
from mcls.machines.kernel_machine import KernelMachine
from mcls.parameters import Anything, Check, Choice, Flag, Positive, Whole, declares_parameters
from mcls.solvers import perceptron, sgd

Array = np.ndarray


@declares_parameters
class _OnlineMachine(KernelMachine):
    """Passes over the rows in a seeded order."""

    epochs: int = 50
    shuffle: bool = True
    random_state: int | np.random.RandomState | None = 0

    checks: ClassVar[Mapping[str, Check]] = {"epochs": Whole(1), "shuffle": Flag(), "random_state": Anything()}

    def _order(self, n: int) -> Iterator[Array]:
        random = check_random_state(self.random_state)
        for _ in range(self.epochs):
            yield random.permutation(n) if self.shuffle else np.arange(n)

    def _scores(self, K: Array) -> Array:
        return K @ self.alpha_


@declares_parameters
class MulticlassPerceptron(_OnlineMachine):
    """The multiclass perceptron (keshet2014, Sec. 2.1).

    Rows are seen one by one. When the class ŷ = arg maxᵣ w^r·φ(xᵢ) is wrong, w^r gains τ_r φ(xᵢ), with τ = +1 for the
    true class and −1 for ŷ (``two-class``), or −1/m for each of the m classes that score higher than the true
    one (``spread``). It works in dual form on any kernel; ``kernel="linear"`` is the notes' own. On separable data
    it makes at most 2R²‖W*‖² mistakes, whatever the order (see :mod:`mcls.solvers.perceptron`).

    An epoch costs O(n) decisions and O(nℓ) operations a mistake.

    Parameters
    ----------
    kernel, sigma, degree, coef0, calibration
        As in :class:`~mcls.machines.lsm.OneLSM`.
    update : {"two-class", "spread"}
        Which classes pay for a mistake.
    averaged : bool
        Decide by the mean of the weights over all steps, steadier than the last ones.
    epochs : int
        Passes over the rows, at most: a pass without a mistake is the last.
    shuffle : bool
        A new order for every pass; otherwise the order of the data.
    random_state : int, RandomState or None
        Seed of the orders.

    Attributes
    ----------
    alpha_ : array (n, ℓ)
        w^r = Σᵢ alpha_ir φ(xᵢ).
    mistakes_ : list of int
        Mistakes made in each pass.
    n_mistakes_ : int
        Their sum.

    References
    ----------
    Y. Keshet, Multiclass Classification (notes), 2014.
    Y. Freund and R. E. Schapire, Large margin classification using the perceptron algorithm, Machine Learning 37,
    1999 (averaging).

    Examples
    --------
    >>> from mcls.machines.online import MulticlassPerceptron
    >>> X, y = [[0.0], [0.2], [1.0], [1.2], [2.0], [2.2]], ["a", "a", "b", "b", "c", "c"]
    >>> machine = MulticlassPerceptron(sigma=0.5).fit(X, y)
    >>> machine.predict([[0.1], [2.1]])
    array(['a', 'c'], dtype='<U1')
    >>> machine.mistakes_[-1]
    0
    """

    update: str = "two-class"
    averaged: bool = False

    checks: ClassVar[Mapping[str, Check]] = {"update": Choice("update", perceptron.UPDATES), "averaged": Flag()}

    def _fit(self, K: Array, y: Array, n_classes: int) -> None:
        self.alpha_, self.mistakes_ = perceptron.fit(
            K, y, n_classes, self._order(len(y)), update=self.update, averaged=self.averaged
        )
        self.n_mistakes_ = sum(self.mistakes_)


@declares_parameters
class SVMSGD(_OnlineMachine):
    """The multiclass SVM by stochastic subgradient steps of size η_t = 1/(λt) (keshet2014, Sec. 2.2).

    Minimises  (1/m) Σᵢ maxᵣ [δ(r ≠ yᵢ) − w^yᵢ·φ(xᵢ) + w^r·φ(xᵢ)] + (λ/2) Σᵣ ‖w^r‖²  over m rows. It is the problem of
    :class:`~mcls.machines.svm.CrammerSinger` divided by Cm, with λ = 1/(Cm); C is the parameter, so that one grid
    serves both. The price of an epoch is O(m) decisions and O(mℓ) operations per violated margin; a whole grid of C
    shares the loop over the rows.

    The notes print the shrinking of the weights under the condition of a violated margin; here every step shrinks
    them, as the subgradient of the regularisation asks. Otherwise the steps do not lead to the minimum.

    Parameters
    ----------
    kernel, sigma, degree, coef0, calibration
        As in :class:`~mcls.machines.lsm.OneLSM`.
    C : float
        Price of a violated margin; the smaller, the smoother.
    epochs : int
        Passes over the rows; the larger C, the more are needed.
    shuffle : bool
        A new order for every pass; otherwise the order of the data.
    random_state : int, RandomState or None
        Seed of the orders.

    Attributes
    ----------
    alpha_ : array (n, ℓ)
        w^r = Σᵢ alpha_ir φ(xᵢ).
    objective_ : array (epochs,)
        The primal objective after each pass; :meth:`plot_objective` draws it.

    References
    ----------
    Y. Keshet, Multiclass Classification (notes), 2014.
    S. Shalev-Shwartz, Y. Singer and N. Srebro, Pegasos: primal estimated sub-gradient solver for SVM, ICML 2007
    (the step size).

    Examples
    --------
    >>> from mcls.machines.online import SVMSGD
    >>> X, y = [[0.0], [0.2], [1.0], [1.2], [2.0], [2.2]], ["a", "a", "b", "b", "c", "c"]
    >>> machine = SVMSGD(sigma=0.5).fit(X, y)
    >>> machine.predict([[0.1], [2.1]])
    array(['a', 'c'], dtype='<U1')
    >>> bool(machine.objective_[-1] < machine.objective_[0])
    True
    """

    C: float = 1.0

    checks: ClassVar[Mapping[str, Check]] = {"C": Positive()}

    @property
    def swept(self) -> tuple[str, ...]:  # type: ignore[override]
        """C, where a seed gives every value of it the same orders: one loop over the rows serves them all."""
        return ("C",) if isinstance(self.random_state, int | np.integer) else ()

    def _fit(self, K: Array, y: Array, n_classes: int) -> None:
        alpha, objectives = sgd.fit(K, y, n_classes, [self.C], self._order(len(y)))
        self.alpha_, self.objective_ = alpha[0], objectives[0]

    def _sweep(
        self, K: Array, y: Array, n_classes: int, folds: Folds, points: Points, prepared: Any
    ) -> list[Array]:
        results = []
        for train, test in folds:
            alpha, _ = sgd.fit(
                K[np.ix_(train, train)], y[train], n_classes, [p["C"] for p in points], self._order(len(train))
            )
            results.append(K[np.ix_(test, train)] @ alpha)  # (C, |test|, ℓ)
        return results

    def plot_objective(self, ax: Any = None) -> Any:
        """Draw the primal objective after each pass; returns the matplotlib axes."""
        import matplotlib.pyplot as plt

        ax = ax if ax is not None else plt.subplots()[1]
        ax.plot(np.arange(1, len(self.objective_) + 1), self.objective_)
        ax.set(xlabel="pass over the rows", ylabel="primal objective", yscale="log")
        return ax
