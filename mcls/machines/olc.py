"""Orthogonality-based label correction (xue2013): RLSC and LSSVM, plain and corrected.

The plain machines estimate the codeword of each row; the corrected ones also penalise the inner products of
the estimated codewords with the labels of the other classes, so that the codewords of two classes overlap less.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from mcls.labelbooks import labels_of
from mcls.machines.base import Fold, Folds, Points, Weights
from mcls.machines.codewords import codeword_facts, codeword_norms, settle_ties, swept_path
from mcls.machines.kernel_machine import KernelMachine
from mcls.machines.weighted import WeightedMachine
from mcls.parameters import Anything, Check, Number, Positive, declares_parameters
from mcls.solvers import lsm, olc

Array = np.ndarray


@declares_parameters
class _CodewordMachine(WeightedMachine, KernelMachine):
    """What the four machines share: orthogonal codewords, λ₁ and λ₂ (zero where a class has no such parameter)."""

    lambda1: float = 1.0
    codewords: str | Array = "indicators"

    lambda2 = 0.0
    swept: ClassVar[tuple[str, ...]] = ("lambda1",)
    checks: ClassVar[Mapping[str, Check]] = {
        "lambda1": Positive(),
        "lambda2": Number(0.0, wanted="zero or a positive number"),
        "codewords": Anything(),
    }
    has_facts = True

    def facts(self, X: Array, y: Array) -> dict[str, Any]:
        """How much the estimated codewords of two classes overlap on the training rows."""
        return codeword_facts(self, X, y)

    def _keep_classes(self, present: Array, n_classes: int) -> None:
        super()._keep_classes(present, n_classes)
        self.set_params(codewords=labels_of(self.codewords, present, n_classes))

    def _sweep(
        self, K: Array, y: Array, n_classes: int, folds: Folds, points: Points, prepared: Any, w: Weights = None
    ) -> list[Array]:
        norms = codeword_norms(self.codewords, n_classes)
        path = swept_path("lambda1", points)
        scores = []
        for train, test in folds:
            K_train, K_test = K[np.ix_(train, train)], K[np.ix_(test, train)]
            f = self._swept(K_train, K_test, y[train], norms, path, None if w is None else w[train])
            scores.append(self._decide(f, norms))
        return scores

    def _sweep_alone(
        self, A: Array, y: Array, n_classes: int, fold: Fold, points: Points, w: Weights = None
    ) -> Array | None:
        """One decomposition for all points; a fit decomposes too."""
        return (
            None
            if len(points) == 1
            else _CodewordMachine._sweep(self, A, y, n_classes, [fold], points, None, w)[0]
        )

    @staticmethod
    def _swept(K: Array, K_test: Array, y: Array, norms: Array, path: olc.Lambdas, w: Weights = None) -> Array:
        """Outputs (points, m, ℓ) at every (λ₁, λ₂) of the path."""
        raise NotImplementedError

    @staticmethod
    def _decide(f: Array, norms: Array) -> Array:
        """Class scores (..., ℓ) from the outputs."""
        raise NotImplementedError


class _Regularised(_CodewordMachine):
    """The regularised least-squares classifier, without a bias."""

    _swept = staticmethod(olc.sweep_rlsc)

    def _fit(self, K: Array, y: Array, n_classes: int, w: Weights = None) -> None:
        self.norms_ = codeword_norms(self.codewords, n_classes)
        self.alpha_ = olc.fit_rlsc(K, y, self.norms_, self.lambda1, self.lambda2, w)

    def _codewords(self, K: Array) -> Array:
        """Estimated codewords (m, ℓ), in the basis of the codewords' own directions."""
        return K @ self.alpha_

    def _scores(self, K: Array) -> Array:
        return self._decide(self._codewords(K), self.norms_)

    @staticmethod
    def _decide(f: Array, norms: Array) -> Array:
        """Nearest codeword: −½‖f − ν_c e_c‖² up to what is common to all classes (..., ℓ).

        The smallest ½ν² is common too. With one norm for all nothing is subtracted, and the tiny entries of f
        that a narrow kernel gives keep their order.
        """
        return settle_ties(f * norms - 0.5 * (norms**2 - norms.min() ** 2))


@declares_parameters
class OLCRLSC(_Regularised):
    """Regularised least-squares classifier with orthogonality-based label correction (xue2013, eq. 2).

    min_W ½‖WᵀX − Y‖² + ½λ₁‖W‖²_F + ½λ₂ Σ_c Σ_{c'≠c} [w_cᵀX·y⁽ᶜ'⁾]²; no bias. Each class has its own matrix (5):

        w_c = [XXᵀ + λ₁I + λ₂ X B_cB_cᵀ Xᵀ]⁻¹ X y⁽ᶜ⁾,   B_c = the columns y⁽ᶜ'⁾, c' ≠ c.

    Kernel form: with w_c = Xa, X[XᵀXa + λ₁a + λ₂B_cB_cᵀXᵀXa − y⁽ᶜ⁾] = 0 holds when

        (H_cK + λ₁I)a = y⁽ᶜ⁾,   H_c = I + λ₂B_cB_cᵀ.

    Since B_cᵀy⁽ᶜ⁾ = 0, H_c⁻¹y⁽ᶜ⁾ = y⁽ᶜ⁾ and this is (K + λ₁H_c⁻¹)a = y⁽ᶜ⁾: kernel ridge regression that weighs
    the residuals by H_c. The correction asks that the *sum* of the residuals over each other class be small.
    ``mcls.solvers.olc`` solves (5) in the feature space of K, which is well-conditioned for raw features too; a kernel
    that is not positive semi-definite has none, and loses its negative eigenvalues.

    Parameters
    ----------
    kernel, sigma, degree, coef0, class_weight, calibration
        As in :class:`~mcls.machines.lsm.OneLSM`.
    lambda1 : float
        Weight of ‖W‖²; the larger, the smoother.
    lambda2 : float
        Weight of the correction; zero gives :class:`RLSC`.
    codewords : str or array (p, ℓ)
        A labelbook with orthogonal label vectors, one column per class.

    Attributes
    ----------
    alpha_ : array (n, ℓ)
        Coefficients: the entry for class c of the estimated codeword of x is Σ_k alpha_[k, c] κ(x_k, x).
    norms_ : array (ℓ,)
        Norms of the codewords.

    Examples
    --------
    >>> from mcls import OLCRLSC
    >>> X, y = [[0.0], [0.2], [1.0], [1.2], [2.0], [2.2]], ["a", "a", "b", "b", "c", "c"]
    >>> OLCRLSC(sigma=0.5, lambda1=0.1, lambda2=1.0).fit(X, y).predict([[0.1], [2.1]])
    array(['a', 'c'], dtype='<U1')
    """

    lambda2: float = 1.0

    swept = ("lambda1", "lambda2")


class RLSC(_Regularised):
    """Regularised least-squares classifier with orthogonal codewords and no bias (xue2013, eq. 2, λ₂ = 0).

    Parameters and attributes are those of :class:`OLCRLSC` without ``lambda2``. With the indicators as
    codewords this is :class:`~mcls.machines.lsm.OneLSM` with γ = λ₁.

    Examples
    --------
    >>> from mcls import RLSC
    >>> X, y = [[0.0], [0.2], [1.0], [1.2], [2.0], [2.2]], ["a", "a", "b", "b", "c", "c"]
    >>> RLSC(sigma=0.5, lambda1=0.1).fit(X, y).predict([[0.1], [2.1]])
    array(['a', 'c'], dtype='<U1')
    """

    leaves_rows_out = True

    def _sweep(
        self, K: Array, y: Array, n_classes: int, folds: Folds, points: Points, prepared: Any, w: Weights = None
    ) -> list[Array]:
        if not olc.is_semidefinite(K):
            return super()._sweep(K, y, n_classes, folds, points, prepared, w)
        norms = codeword_norms(self.codewords, n_classes)
        targets = lsm.indicators(y, n_classes)
        lambdas = [point["lambda1"] for point in points]
        values = lsm.sweep(K, targets, [test for _, test in folds], lambdas, None, w)
        return [self._decide(f * norms, norms) for f in values]


class _WithBias(_CodewordMachine):
    """The least-squares SVM."""

    _swept = staticmethod(olc.sweep_lssvm)

    def _fit(self, K: Array, y: Array, n_classes: int, w: Weights = None) -> None:
        self.alpha_, self.b_ = olc.fit_lssvm(
            K, y, codeword_norms(self.codewords, n_classes), self.lambda1, self.lambda2, w
        )

    def _scores(self, K: Array) -> Array:
        return K @ self.alpha_ + self.b_

    def _codewords(self, K: Array) -> Array:
        """Estimated codewords (m, ℓ), from ±1 to the 0/1 of the indicators."""
        return (1 + self._scores(K)) / 2

    @staticmethod
    def _decide(f: Array, norms: Array) -> Array:
        return f


@declares_parameters
class OLCLSSVM(_WithBias):
    """Least-squares SVM with orthogonality-based label correction (xue2013, eq. 6 and 9).

    min ½Σ_c ‖w_c‖² + ½λ₁ Σ_{k,c} e²_kc + ½λ₂ Σ_c Σ_{c'≠c} [w_cᵀX·y⁽ᶜ'⁾]²  s.t.  t_kc(w_cᵀx_k + b_c) = 1 − e_kc.

    Taken literally, with one 0/1 codeword for the constraints and the penalty, (9) is degenerate: b_c = 1 and
    w_c = 0 meet every constraint that is not void. So t_kc = +1 for the rows of class c and −1 for the others,
    and the penalty keeps the orthogonal codewords y⁽ᶜ'⁾.

    Kernel form: eliminating w_c and e as in (8), with a_k = α_kc t_kc and B_c the columns y⁽ᶜ'⁾, c' ≠ c,

        [0 1ᵀ; 1 K_c + λ₁⁻¹I] [b_c; a] = [0; t_c],   K_c = Xᵀ(I + λ₂XB_cB_cᵀXᵀ)⁻¹X,

    and by the Woodbury identity K_c = K − λ₂KB_c(I + λ₂B_cᵀKB_c)⁻¹B_cᵀK. (The λ₁⁻¹I in the printed Ω_kl stands
    for λ₁⁻¹ on the diagonal.) ``mcls.solvers.olc`` solves the same problem in the feature space of K, without
    the subtraction. The codewords here are those of ±1, and the nearest is that of the largest output.

    The penalty of (6) is on w_cᵀX and leaves the bias out. It drives that part to zero on the other classes, but
    the outputs w_cᵀx + b_c that decide need not come nearer to orthogonal codewords: on iris their overlap
    (:func:`~mcls.machines.codewords.codeword_overlap`) rises with λ₂, where that of OLC-RLSC falls to nothing.

    Parameters
    ----------
    kernel, sigma, degree, coef0, class_weight, calibration
        As in :class:`~mcls.machines.lsm.OneLSM`.
    lambda1 : float
        Weight of the errors e; the *smaller*, the smoother.
    lambda2 : float
        Weight of the correction; zero gives :class:`LSSVM`.
    codewords : str or array (p, ℓ)
        A labelbook with orthogonal label vectors for the penalty, one column per class.

    Attributes
    ----------
    alpha_ : array (n, ℓ)
        Coefficients: the output of class c at x is Σ_k alpha_[k, c] κ(x_k, x) + b_[c]. Where λ₂ = 0 they are
        α_kc t_kc; the multipliers of (9) themselves are α_kc = λ₁e_kc.
    b_ : array (ℓ,)
        Biases.

    Examples
    --------
    >>> from mcls import OLCLSSVM
    >>> X, y = [[0.0], [0.2], [1.0], [1.2], [2.0], [2.2]], ["a", "a", "b", "b", "c", "c"]
    >>> OLCLSSVM(sigma=0.5, lambda1=10.0, lambda2=1.0).fit(X, y).predict([[0.1], [2.1]])
    array(['a', 'c'], dtype='<U1')
    """

    lambda2: float = 1.0

    swept = ("lambda1", "lambda2")


class LSSVM(_WithBias):
    """Least-squares SVM of each class against the others, with a bias (xue2013, eq. 6, λ₂ = 0).

    Parameters and attributes are those of :class:`OLCLSSVM` without ``lambda2``.

    Examples
    --------
    >>> from mcls import LSSVM
    >>> X, y = [[0.0], [0.2], [1.0], [1.2], [2.0], [2.2]], ["a", "a", "b", "b", "c", "c"]
    >>> LSSVM(sigma=0.5, lambda1=10.0).fit(X, y).predict([[0.1], [2.1]])
    array(['a', 'c'], dtype='<U1')
    """

    leaves_rows_out = True

    def _sweep(
        self, K: Array, y: Array, n_classes: int, folds: Folds, points: Points, prepared: Any, w: Weights = None
    ) -> list[Array]:
        if not olc.is_semidefinite(K):
            return super()._sweep(K, y, n_classes, folds, points, prepared, w)
        codeword_norms(self.codewords, n_classes)  # refuses those that are not orthogonal
        lambdas = [point["lambda1"] for point in points]
        return olc.sweep_without_penalty(K, y, n_classes, [test for _, test in folds], lambdas, w)
