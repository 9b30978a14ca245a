"""Multiclass SVM by stochastic subgradient descent (keshet2014, Sec. 2.2), many prices C in one pass.

The primal objective of the notes, for m rows and scores f_r(x) = w^r·φ(x), is

    (1/m) Σᵢ maxᵣ [δ(r ≠ yᵢ) + f_r(xᵢ) − f_yᵢ(xᵢ)] + (λ/2) Σᵣ ‖w^r‖²,

which is Crammer & Singer's divided by Cm, with λ = 1/(Cm). One step on row i, with r̂ the class of the maximum and
η_t = 1/(λt): every w^r shrinks by 1 − λη_t = 1 − 1/t, then, if the maximum is positive, w^yᵢ gains η_t φ(xᵢ) and
w^r̂ loses it. (The notes print the shrinking under the "if"; it belongs to every step, being the subgradient of the
regularisation. As printed, the objective on iris stays 2 % above the minimum for C = 1, 25 % for C = 10.)

By induction w_t = N_t/(λt) with N counting gains minus losses of each row and class: a step adds ±1 to N and ± one
column of K to the scores, whatever λ, so that several prices share the loop over the rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

Array = np.ndarray


def fit(
    K: Array, y: Array, n_classes: int, prices: Sequence[float], order: Iterable[Array]
) -> tuple[Array, Array]:
    """Run one pass over the rows for each permutation in ``order``, for every price C at once.

    Returns
    -------
    alpha : array (prices, n, ℓ)
        w^r = Σᵢ alpha[:, i, r] φ(xᵢ) after the last step.
    objectives : array (prices, passes)
        The primal objective after each pass.
    """
    m, P = len(y), len(prices)
    lam = 1.0 / (np.asarray(prices, dtype=float) * m)  # (P,)
    N = np.zeros((P, m, n_classes))
    G = np.zeros((P, n_classes, m))  # scores of the training rows, times λt
    cost = 1.0 - np.eye(n_classes)  # (label, class): δ(r ≠ y)
    unit = cost[:, None, :] * lam[:, None]  # (label, P, ℓ): the cost times λ
    labels, rows_of_K = y.tolist(), list(K)
    history = []
    t = 0
    for rows in order:
        for i in rows.tolist():
            label = labels[i]
            v = G[:, :, i] + max(t, 1) * unit[label]  # (P, ℓ): λt [δ(r ≠ y) + f_r(xᵢ)]
            t += 1
            wrong = np.flatnonzero(v.max(axis=1) > v[:, label])
            if len(wrong):
                guess = v[wrong].argmax(axis=1)
                N[wrong, i, guess] -= 1.0
                G[wrong, guess] -= rows_of_K[i]
                G[wrong, label] += rows_of_K[i]
        N[:, np.arange(m), y] = 0.0
        N[:, np.arange(m), y] = -N.sum(axis=2)  # what the other classes lost, the label gained
        history.append(_objective(G, N, y, lam, t, cost))
    return N / (lam * t)[:, None, None], np.stack(history, axis=1)


def _objective(G: Array, N: Array, y: Array, lam: Array, t: int, cost: Array) -> Array:
    """The primal objective of every price, (P,)."""
    m = len(y)
    F = G / (lam * t)[:, None, None]  # (P, ℓ, m)
    label_scores = F[:, y, np.arange(m)]  # (P, m)
    loss = (F + cost[y].T).max(axis=1) - label_scores
    norms = np.einsum("pir,pri->p", N, G) / (lam * t) ** 2
    return loss.mean(axis=1) + 0.5 * lam * norms
