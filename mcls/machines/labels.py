"""Machines whose classes are label vectors: parameters of the labelbook, and the decision rules on f(x).

Every machine of honeine2013 ends in f(x) = Σ_c y_c g_c(x) + b with one number g_c a class, so the scores of
all classes follow from g (m, ℓ) and the Gram matrix L of the labels: y_cᵀf(x) = [gL]_c + y_cᵀb.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np

from mcls.coding.decoders import above_smallest
from mcls.errors import McLsError
from mcls.labelbooks import LABEL_KERNELS, get_labelbook, label_gram, label_vectors, labels_of
from mcls.machines.base import Points, Weights
from mcls.machines.kernel_machine import KernelMachine
from mcls.parameters import Check, Choice, Positive, declares_parameters, width

Array = np.ndarray

DECISIONS = ("max", "nearest", "winner")


def _check_labelbook(name: str, value: Any) -> None:
    if isinstance(value, str):
        get_labelbook(value)


@declares_parameters
class LabelMachine(KernelMachine):
    """Base of the machines with ``gamma, labelbook, label_kernel, label_sigma, decision``."""

    gamma: float = 1.0
    labelbook: str | Array = "indicators"
    label_kernel: str = "linear"
    label_sigma: float = 1.0
    decision: str = "max"

    checks: ClassVar[Mapping[str, Check]] = {
        "gamma": Positive(),
        "labelbook": _check_labelbook,
        "label_kernel": Choice("label kernel", LABEL_KERNELS),
        "label_sigma": width(),
        "decision": Choice("decision rule", DECISIONS),
    }
    #: How a machine sees a labelbook whose classes it decides by arg max yᵀf(x): every one-per-class labelbook is the
    #: same to it, two with one Gram matrix are, or no two.
    sees_labels: ClassVar[Literal["one-per-class", "gram", "vectors"]] = "vectors"

    def _check_together(self) -> None:
        if self.decision == "winner" and self.label_kernel != "linear":
            raise McLsError("decision='winner' reads the entries of f(x), which a label kernel does not have")

    def check_labels(self, y: Array, n_classes: int) -> None:
        """Refuse a labelbook that cannot serve classes with the codes y, before anything is fitted."""
        self._labels(y, n_classes)

    def _keep_classes(self, present: Array, n_classes: int) -> None:
        self.set_params(labelbook=labels_of(self.labelbook, present, n_classes))

    def _labels(self, y: Array, n_classes: int, w: Weights = None) -> tuple[Array, Array]:
        """Label vectors B (p, ℓ) and their Gram matrix L (ℓ, ℓ) for a training set with codes y and weights w."""
        counts = np.bincount(y, w, minlength=n_classes)
        B = label_vectors(self.labelbook, n_classes, counts)
        if self.decision == "winner" and len(B) != n_classes:
            raise McLsError(f"decision='winner' needs one entry per class; this labelbook has {len(B)}")
        return B, label_gram(self.labelbook, n_classes, counts, self.label_kernel, self.label_sigma)

    def _set_labels(self, y: Array, n_classes: int, w: Weights = None) -> None:
        self.labels_, self.label_gram_ = self._labels(y, n_classes, w)

    def same_labelbook(self) -> str | Array:
        """The labelbook, or the one among those that are provably the same to this machine which stands for all."""
        book = self.labelbook
        if not isinstance(book, str) or self.decision != "max":
            return book
        known = get_labelbook(book)
        if self.sees_labels == "one-per-class" and known.one_per_class and self.label_kernel == "linear":
            return "indicators"
        return known.same_gram_as or known.name if self.sees_labels == "gram" else known.name

    @property
    def _labels_need_counts(self) -> bool:
        return isinstance(self.labelbook, str) and get_labelbook(self.labelbook).needs_counts


def decide(g: Array, B: Array, L: Array, decision: str, bias: Array | None = None) -> Array:
    """Class scores (..., ℓ) from g (..., ℓ) by a decision rule of Sec. 7.1; the largest wins.

    ``max`` (the paper's, eq. 8): y_cᵀf(x). ``nearest``: −‖f(x) − y_c‖² up to what is common to all classes.
    ``winner``: the entry f⁽ᶜ⁾(x) itself. All three agree when the labels have one norm and a bias is absent.

    >>> B = np.eye(2)
    >>> decide(np.array([[0.2, 0.8]]), B, B.T @ B, "max")
    array([[0.2, 0.8]])
    """
    if decision == "winner":
        f = g @ B.T
        return f if bias is None else f + bias
    scores = g @ L
    if bias is not None:
        scores = scores + bias @ B
    if decision == "max":
        return scores
    return 2 * scores - above_smallest(np.diag(L))


def gammas_of(points: Points) -> list[float]:
    """The γ of each point of a sweep."""
    return [float(point["gamma"]) for point in points]
