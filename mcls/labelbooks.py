"""Labelbooks: one label vector per class (honeine2013, Table 1), their Gram matrices and kernels on labels.

A labelbook is a matrix B (p, ℓ) whose column c is the label vector y_c of class c. The machines need only its
Gram matrix L = BᵀB (ℓ, ℓ), or a kernel on the labels in its place (Sec. 7.2).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mcls import plugins
from mcls.errors import McLsError, unknown_name
from mcls.parameters import width

Array = np.ndarray


@dataclass(frozen=True)
class Labelbook:
    """One line of the labelbook registry.

    ``one_per_class``: by Theorem 5 and Corollary 6 all of these give oneLSM the same classes. ``same_gram_as`` names
    a labelbook with the same Gram matrix, which is all that the vector-output machines see.
    """

    name: str
    summary: str
    reference: str
    build: Callable[[int, Array | None], Array]  # (ℓ, class counts) -> B (p, ℓ)
    needs_counts: bool = False
    one_per_class: bool = False
    same_gram_as: str = ""


def _one_per_class(own: float, other: float, n_classes: int) -> Array:
    """Labelbook with ``own`` in the entry of the class and ``other`` elsewhere (Lemma 4)."""
    return np.where(np.eye(n_classes, dtype=bool), own, other)


def _pm1(n_classes: int, counts: Array | None) -> Array:
    return _one_per_class(1.0, -1.0, n_classes)


def _indicators(n_classes: int, counts: Array | None) -> Array:
    return _one_per_class(1.0, 0.0, n_classes)


def _alignment(n_classes: int, counts: Array | None) -> Array:
    ell = n_classes
    return _one_per_class(np.sqrt((ell - 1) / ell), -1 / np.sqrt(ell * (ell - 1)), ell)


def _consistency(n_classes: int, counts: Array | None) -> Array:
    return _one_per_class(1.0, -1.0 / (n_classes - 1), n_classes)


def _mincorr(n_classes: int, counts: Array | None) -> Array:
    """Minimum correlation [26, Prop. 2]: ℓ unit vectors in ℓ−1 dimensions, all inner products −1/(ℓ−1).

    The wanted Gram matrix R has eigenvalue 0 once (the vector of ones) and ℓ/(ℓ−1) otherwise; with
    R = U diag(λ) Uᵀ the label vectors are the columns of diag(λ)^½ Uᵀ over the non-zero eigenvalues.
    """
    ell = n_classes
    R = _one_per_class(1.0, -1.0 / (ell - 1), ell)
    eigenvalues, U = np.linalg.eigh(R)  # ascending: the zero eigenvalue comes first
    return np.sqrt(eigenvalues[1:, None]) * U[:, 1:].T  # (ℓ−1, ℓ)


def _fisher(n_classes: int, counts: Array | None) -> Array:
    """Fisher coding (footnote 3) in each one-against-all row: n/n_k for class k, −n/(n − n_k) for the rest."""
    if counts is None:
        raise McLsError("the fisher labelbook depends on the class counts of the training set")
    n = counts.sum()
    own, other = n / counts, -n / (n - counts)
    return np.where(np.eye(n_classes, dtype=bool), own[:, None], other[:, None])


LABELBOOKS: dict[str, Labelbook] = {}
LABEL_KERNELS = ("linear", "gaussian")


def register(book: Labelbook) -> None:
    """Add a labelbook; its name must be new and in lower case."""
    if book.name in LABELBOOKS or book.name != book.name.lower():
        raise McLsError(f"a labelbook needs a new name in lower case, got '{book.name}'")
    LABELBOOKS[book.name] = book
    plugins.note("labelbook", book.name)


plugins.registers(Labelbook, register)


_TABLE1 = "honeine2013, Table 1"
for _book in (
    Labelbook("pm1", "+1 for the class, -1 for the others", _TABLE1, _pm1, one_per_class=True),
    Labelbook(
        "indicators", "the standard basis: 1 for the class, 0 else", _TABLE1, _indicators, one_per_class=True
    ),
    Labelbook("alignment", "unit vectors with the origin as centroid", _TABLE1, _alignment, one_per_class=True),
    Labelbook(
        "consistency", "1 for the class, -1/(l-1) for the others", _TABLE1, _consistency, one_per_class=True
    ),
    Labelbook(
        "mincorr",
        "alignment's Gram matrix in l-1 dimensions",
        "honeine2013, Prop. 3",
        _mincorr,
        one_per_class=True,
        same_gram_as="alignment",
    ),
    Labelbook(
        "fisher", "n/n_k for the class, -n/(n-n_k) else", "honeine2013, footnote 3", _fisher, needs_counts=True
    ),
):
    register(_book)


def get_labelbook(name: str) -> Labelbook:
    """Look a labelbook up by its name, case-insensitively."""
    for known, book in LABELBOOKS.items():
        if known == str(name).lower():
            return book
    if plugins.load_entry("labelbook", str(name)):
        return get_labelbook(name)
    raise unknown_name("labelbook", str(name), [*LABELBOOKS, *plugins.entry_names("labelbook")])


def label_vectors(labelbook: str | Array, n_classes: int, counts: Array | None = None) -> Array:
    """Matrix B (p, ℓ) of label vectors: a labelbook by name, or a matrix of the user's checked for shape.

    >>> label_vectors("pm1", 3)
    array([[ 1., -1., -1.],
           [-1.,  1., -1.],
           [-1., -1.,  1.]])
    """
    if isinstance(labelbook, str):
        if n_classes < 2:
            raise McLsError(f"a labelbook needs at least two classes, got {n_classes}")
        return get_labelbook(labelbook).build(n_classes, counts)
    B = np.asarray(labelbook, dtype=float)
    if B.ndim != 2 or B.shape[1] != n_classes or not np.isfinite(B).all():
        raise McLsError(f"a labelbook matrix needs one finite column per class ({n_classes}), got shape {B.shape}")
    if len(np.unique(B, axis=1).T) < n_classes:
        raise McLsError("a labelbook needs a different label vector for each class")
    return B


def labels_of(labelbook: str | Array, present: Array, n_classes: int) -> str | Array:
    """The labelbook of some of the classes: a name serves any number of them, a matrix gives their columns."""
    if isinstance(labelbook, str) or np.shape(labelbook)[1:] != (n_classes,):
        return labelbook
    return np.asarray(labelbook)[:, present]


def label_gram(
    labelbook: str | Array,
    n_classes: int,
    counts: Array | None = None,
    label_kernel: str = "linear",
    label_sigma: float = 1.0,
) -> Array:
    """Gram matrix L (ℓ, ℓ) of the labels: yᵀy', or a Gaussian kernel on the labels (Sec. 7.2).

    >>> label_gram("pm1", 3)
    array([[ 3., -1., -1.],
           [-1.,  3., -1.],
           [-1., -1.,  3.]])
    """
    B = label_vectors(labelbook, n_classes, counts)
    if label_kernel == "linear":
        return B.T @ B
    if label_kernel == "gaussian":
        width()("label_sigma", label_sigma)
        D2 = np.square(B[:, :, None] - B[:, None, :]).sum(axis=0)
        return np.exp(-D2 / (2 * label_sigma**2))
    raise unknown_name("label kernel", str(label_kernel), LABEL_KERNELS)
