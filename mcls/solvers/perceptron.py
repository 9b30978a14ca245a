"""The multiclass perceptron of keshet2014, Sec. 2.1, in dual form: any kernel, both updates, optional averaging.

Row i is seen with the scores f_r(xᵢ) = w^r·φ(xᵢ). When ŷ = arg maxᵣ f_r(xᵢ) is not yᵢ, every w^r gains τ_r φ(xᵢ):

    "two-class":  τ = +1 for yᵢ, −1 for ŷ;
    "spread":     τ = +1 for yᵢ, −1/|E| for each class of E = {r ≠ yᵢ : f_r(xᵢ) > f_yᵢ(xᵢ)}.

The arg max takes the first of equal scores. When ŷ only won such a tie, E is empty as printed, and the spread update
is the two-class one. So w^r = Σᵢ alpha_ir φ(xᵢ), with alpha the sum of the updates of each row.

Mistake bound: if some W* has f*_yᵢ(xᵢ) − f*_r(xᵢ) ≥ 1 for every i and r ≠ yᵢ, then at most 2R²‖W*‖² mistakes are
made in any order and any number of passes, R = max ‖φ(xᵢ)‖. (A mistake raises ⟨W, W*⟩ by at least 1 and ‖W‖² by at
most ‖τ‖²R² ≤ 2R²; compare by Cauchy–Schwarz.)
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

Array = np.ndarray

UPDATES = ("two-class", "spread")


def step(f: Array, label: int, update: str) -> Array:
    """τ (ℓ,) of a row of class ``label`` with the scores f (ℓ,) that another class has won.

    >>> step(np.array([0.1, 0.9, 0.5, 0.0]), 0, "two-class"), step(np.array([0.1, 0.9, 0.5, 0.0]), 0, "spread")
    (array([ 1., -1.,  0.,  0.]), array([ 1. , -0.5, -0.5,  0. ]))
    """
    tau = np.zeros(len(f))
    higher = f > f[label]
    if update == "spread" and higher.any():
        tau[higher] = -1.0 / higher.sum()
    else:
        tau[f.argmax()] = -1.0
    tau[label] = 1.0
    return tau


def fit(
    K: Array, y: Array, n_classes: int, order: Iterable[Array], *, update: str, averaged: bool
) -> tuple[Array, list[int]]:
    """Pass over the rows in the given orders until one pass makes no mistake.

    Parameters
    ----------
    K, y : arrays (n, n), (n,)
        Kernel matrix and class codes.
    order : iterable of index arrays
        The rows of each pass.
    update : {"two-class", "spread"}
    averaged : bool
        Return the mean of the coefficients after every step seen, instead of the last ones.

    Returns
    -------
    alpha : array (n, ℓ)
    mistakes : list of int
        One count a pass.
    """
    alpha = np.zeros((len(y), n_classes))
    early = np.zeros_like(alpha)  # Σ over updates of τ × (steps seen before it), for the mean
    F = np.zeros_like(alpha)  # scores of the training rows, kept up to date
    mistakes, steps = [], 0
    for rows in order:
        mistakes.append(0)
        for i in rows:
            f, label = F[i], y[i]
            guess = f.argmax()
            if guess != label:
                tau = step(f, label, update)
                alpha[i] += tau
                early[i] += steps * tau
                F += np.outer(K[i], tau)
                mistakes[-1] += 1
            steps += 1
        if mistakes[-1] == 0:
            break
    return (alpha - early / steps if averaged else alpha), mistakes
