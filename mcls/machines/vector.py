"""The vector-output machines of honeine2013, Sec. 4: one coefficient a sample for all the classes.

f(x) = Σⱼ βⱼ yⱼ κ(xⱼ, x)   (10),   class of x: arg max_y yᵀf(x)   (11).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from mcls.errors import McLsError
from mcls.machines.base import Folds, Points, Weights
from mcls.machines.labels import LabelMachine, decide, gammas_of
from mcls.machines.weighted import WeightedMachine
from mcls.parameters import Check, Choice, Flag, Positive, declares_parameters
from mcls.solvers import vector, vosvm
from mcls.solvers.qp import SOLVERS

Array = np.ndarray


@declares_parameters
class VectorMachine(WeightedMachine, LabelMachine):
    """What the vector-output machines share: scores from β (n,) and, with a bias, b (p,)."""

    labelbook: str | Array = "alignment"

    bias = False  # a parameter of the machines that have one
    _signed = True  # whether coefficients may be negative

    sees_labels = "gram"

    @property
    def swept(self) -> tuple[str, ...]:  # type: ignore[override]
        """γ, unless each fold has labels of its own."""
        return () if self._labels_need_counts else ("gamma",)

    def _scores(self, K: Array) -> Array:
        g = vector.class_values(K, self.beta_, self.y_codes_, self.labels_.shape[1])
        return decide(g, self.labels_, self.label_gram_, self.decision, getattr(self, "bias_", None))

    def _begin(self, y: Array, n_classes: int, w: Weights) -> None:
        self._set_labels(y, n_classes, w)
        self.y_codes_ = y
        self.__dict__.pop("bias_", None)  # of an earlier fit, with other parameters

    def _labels(self, y: Array, n_classes: int, w: Weights = None) -> tuple[Array, Array]:
        """Label vectors and their Gram matrix; refused where the bias leaves nothing to learn with them."""
        B, L = super()._labels(y, n_classes, w)
        if self._constrained:
            vector.refuse_degenerate(B, signed=self._signed)
        return B, L

    @property
    def _constrained(self) -> bool:
        """Whether the bias comes with the constraint on β that some labelbooks cannot meet."""
        return bool(self.bias)

    def _refuse_bias_with_label_kernel(self) -> None:
        if self.bias and self.label_kernel != "linear":
            raise McLsError("a bias lives in the space of the label vectors: use label_kernel='linear' with it")

    def _decide_folds(self, values: list[Array], biases: Array | None, B: Array, L: Array) -> list[Array]:
        """Scores of each fold from its class values (γ, |S|, ℓ) and the biases (γ, fold, p)."""
        if biases is None:
            return [decide(g, B, L, self.decision) for g in values]
        return [decide(g, B, L, self.decision, biases[:, k, None, :]) for k, g in enumerate(values)]


@declares_parameters
class VoRLS(VectorMachine):
    """Vector-output regularised least squares (honeine2013, Sec. 4.1; noumir2011).

    Solves min_β Σⱼ ‖f(xⱼ) − yⱼ‖² + γ‖β‖² (12), that is (G + γI)β = d (14), or with γR(f) as the penalty
    (15)–(16), (G + γH)β = d (17), where

        G = L_yy ∘ (K·K),   dⱼ = Σᵢ yᵢᵀyⱼ κᵢⱼ,   H = L_yy ∘ K,   [L_yy]ᵢⱼ = yᵢᵀyⱼ.

    G + γH is singular whenever K is: a ridge of 1e-10 of its largest diagonal entry is added. One
    factorisation, n³/3 operations, whatever the number of classes (orthogonal labels: one system per class).

    Parameters
    ----------
    regularizer : {"beta", "f"}
        The penalty: ‖β‖² or R(f) = βᵀHβ.
    kernel, sigma, degree, coef0, gamma, labelbook, label_kernel, label_sigma, decision, class_weight, calibration
        As in :class:`OneLSM`; here the labelbook matters.

    Attributes
    ----------
    beta_ : array (n,)
        One coefficient a training row.
    labels_, label_gram_ : arrays (p, ℓ), (ℓ, ℓ)
        The label vectors and their Gram (or kernel) matrix.

    Examples
    --------
    >>> from mcls import VoRLS
    >>> X, y = [[0.0], [0.2], [1.0], [1.2], [2.0], [2.2]], ["a", "a", "b", "b", "c", "c"]
    >>> VoRLS(regularizer="f", sigma=0.5, gamma=0.1).fit(X, y).predict([[0.1], [2.1]])
    array(['a', 'c'], dtype='<U1')
    """

    regularizer: str = "beta"

    checks: ClassVar[Mapping[str, Check]] = {"regularizer": Choice("regularizer", ("beta", "f"))}

    def _fit(self, K: Array, y: Array, n_classes: int, w: Weights = None) -> None:
        self._begin(y, n_classes, w)
        self.beta_ = vector.fit_rls(K, y, self.label_gram_, self.gamma, self.regularizer, w)

    def _sweep(
        self, K: Array, y: Array, n_classes: int, folds: Folds, points: Points, prepared: Any, w: Weights = None
    ) -> list[Array]:
        B, L = self._labels(y, n_classes)
        values = vector.sweep_rls(K, y, L, folds, gammas_of(points), self.regularizer, w)
        return self._decide_folds(values, None, B, L)


@declares_parameters
class VoLSSVM(VectorMachine):
    """Vector-output least-squares SVM: one linear system for all the classes (honeine2013, Sec. 4.2).

    Solves min_{W,ξ} ½‖W‖²_F + ½γ Σᵢ ξᵢ² subject to yᵢᵀ(Wᵀxᵢ) = 1 − ξᵢ, whose dual is

        (H + I/γ)β = 1,   [H]ᵢⱼ = yᵢᵀyⱼ κ(xᵢ, xⱼ).

    With a bias (Sec. 4.4) the bordered system also holds Yβ = 0 (21), taken in as many entries as the labels
    span; where a bias alone meets every constraint (indicators, and ±1 labels of more than two classes) it leaves
    only β = 0, and the labelbook is refused. One factorisation, n³/3 operations, whatever the number of classes.

    Parameters
    ----------
    bias : bool
        Whether f(x) has the offset b of Sec. 4.4. The paper argues for none.
    kernel, sigma, degree, coef0, labelbook, label_kernel, label_sigma, decision, class_weight, calibration
        As in :class:`OneLSM`; here the labelbook matters.
    gamma : float
        Weight of the *errors*: the smaller, the smoother.

    Attributes
    ----------
    beta_ : array (n,)
        One coefficient a training row.
    bias_ : array (p,)
        The offset; only with ``bias=True``.

    Examples
    --------
    >>> from mcls import VoLSSVM
    >>> X, y = [[0.0], [0.2], [1.0], [1.2], [2.0], [2.2]], ["a", "a", "b", "b", "c", "c"]
    >>> VoLSSVM(sigma=0.5, gamma=10.0).fit(X, y).predict([[0.1], [2.1]])
    array(['a', 'c'], dtype='<U1')
    """

    bias: bool = False

    leaves_rows_out = True

    checks: ClassVar[Mapping[str, Check]] = {"bias": Flag()}

    def _check_together(self) -> None:
        super()._check_together()
        self._refuse_bias_with_label_kernel()

    def _fit(self, K: Array, y: Array, n_classes: int, w: Weights = None) -> None:
        self._begin(y, n_classes, w)
        if self.bias:
            self.beta_, self.bias_ = vector.fit_lssvm_bias(K, y, self.labels_, self.gamma, w)
        else:
            self.beta_ = vector.fit_lssvm(K, y, self.label_gram_, self.gamma, w)

    def _sweep(
        self, K: Array, y: Array, n_classes: int, folds: Folds, points: Points, prepared: Any, w: Weights = None
    ) -> list[Array]:
        B, L = self._labels(y, n_classes)
        tests, gammas = [test for _, test in folds], gammas_of(points)
        return self._decide_folds(*vector.sweep_lssvm(K, y, B, L, tests, gammas, self.bias, w), B, L)


@declares_parameters
class VoSVM(VectorMachine):
    """Vector-output SVM: one sparse quadratic programme for all the classes (honeine2013, Sec. 4.3).

    Solves min_{W,ξ} ½‖W‖²_F + γ Σᵢ ξᵢ subject to yᵢᵀ(Wᵀxᵢ) ≥ 1 − ξᵢ, ξᵢ ≥ 0 (18), whose dual is

        min_β ½βᵀHβ − 1ᵀβ,   0 ≤ β ≤ γ   (19)–(20),   [H]ᵢⱼ = yᵢᵀyⱼ κ(xᵢ, xⱼ).

    With a bias (the model of Szedmak et al., Sec. 4.4) also Yβ = 0 (21), and b is the mean over the support
    vectors of yᵢ − Σⱼ βⱼ yⱼ κ(xⱼ, xᵢ). That constraint leaves only β = 0 for indicators, and for ±1 labels of
    more than two classes: such a labelbook is refused. n³/3 operations an iteration of either solver; the
    certificate is the box-KKT residual, computed here from β whatever solver found it.

    Parameters
    ----------
    bias : bool
        Whether f(x) has an offset. The paper argues for none.
    constraint : {"exact", "none"}
        With a bias: whether Yβ = 0 is imposed. Without it every labelbook is accepted, and b is no longer the
        offset of an optimum: a reading of figures that cannot come from the printed problem.
    averaged : {"support", "free"}
        With a bias: the mean over all support vectors, or over those below their bound.
    unit_labels : bool
        Whether label vectors are divided by their length.
    solver : {"osqp", "active-set", "cvxpy"}
        OSQP, an active-set method (faster on a grid, certified the same way), or cvxpy's interior point.
    tol : float
        Largest KKT residual that passes without a ConvergenceWarning.
    kernel, sigma, degree, coef0, labelbook, label_kernel, label_sigma, decision, class_weight, calibration
        As in :class:`OneLSM`; here the labelbook matters.
    gamma : float
        Upper bound of the coefficients (γwᵢ for a row of weight wᵢ), the weight of the *errors*: the smaller, the
        smoother.

    Attributes
    ----------
    beta_ : array (n,)
        One coefficient a training row, zero but for the support vectors.
    support_, n_support_ : arrays (m,), (ℓ,)
        The support vectors, and how many each class has.
    bias_ : array (p,)
        The offset; only with ``bias=True``.
    kkt_residual_ : float
        The certificate.

    Examples
    --------
    >>> from mcls import VoSVM
    >>> X, y = [[0.0], [0.2], [1.0], [1.2], [2.0], [2.2]], ["a", "a", "b", "b", "c", "c"]
    >>> machine = VoSVM(sigma=0.5, gamma=10.0).fit(X, y)
    >>> machine.predict([[0.1], [2.1]])
    array(['a', 'c'], dtype='<U1')
    >>> bool(machine.kkt_residual_ < 1e-6)
    True
    """

    bias: bool = False
    constraint: str = "exact"
    averaged: str = "support"
    unit_labels: bool = False
    solver: str = "osqp"
    tol: float = 1e-6

    _signed = False

    checks: ClassVar[Mapping[str, Check]] = {
        "bias": Flag(),
        "constraint": Choice("constraint", vosvm.CONSTRAINTS),
        "averaged": Choice("average for the bias", vosvm.AVERAGES),
        "unit_labels": Flag(),
        "solver": Choice("QP solver", SOLVERS),
        "tol": Positive(),
    }

    def _check_together(self) -> None:
        super()._check_together()
        self._refuse_bias_with_label_kernel()
        if self.unit_labels and self.label_kernel != "linear":
            raise McLsError("unit_labels divides the label vectors: use label_kernel='linear' with it")

    @property
    def _constrained(self) -> bool:
        return self.bias and self.constraint == "exact"

    def _labels(self, y: Array, n_classes: int, w: Weights = None) -> tuple[Array, Array]:
        B, L = super()._labels(y, n_classes, w)
        if self.unit_labels:
            B = B / np.linalg.norm(B, axis=0)
            L = B.T @ B
        return B, L

    def _fit(self, K: Array, y: Array, n_classes: int, w: Weights = None) -> None:
        self._begin(y, n_classes, w)
        B, L = self.labels_, self.label_gram_
        how = self.constraint, self.averaged
        found = vosvm.fit(K, y, B, L, self.gamma, self.bias, self.solver, self.tol, w, *how)
        self.beta_ = found.beta
        if found.bias is not None:
            self.bias_ = found.bias
        self.kkt_residual_ = found.kkt_residual
        self.support_ = np.flatnonzero(vosvm.support(found.beta))
        self.n_support_ = np.bincount(y[self.support_], minlength=n_classes)

    def _sweep(
        self, K: Array, y: Array, n_classes: int, folds: Folds, points: Points, prepared: Any, w: Weights = None
    ) -> list[Array]:
        B, L = self._labels(y, n_classes)
        how = self.constraint, self.averaged
        found = vosvm.sweep(K, y, B, L, folds, gammas_of(points), self.bias, self.solver, self.tol, w, *how)
        return self._decide_folds(*found, B, L)
