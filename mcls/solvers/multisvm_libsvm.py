"""Binary C-SVCs put together into multiclass machines: one against all, all pairs, max-wins votes, decision DAG.

Every binary problem is LIBSVM's C-SVC (through scikit-learn) on the one kernel matrix they all share:

    min over α   ½ Σᵢⱼ αᵢαⱼ tᵢtⱼ Kᵢⱼ − Σᵢ αᵢ     subject to  0 ≤ αᵢ ≤ C,  Σᵢ αᵢtᵢ = 0,   tᵢ = ±1,

and returns plain coefficients: the value of a machine at new rows is K_new @ coefficients + intercept. Row weights
w (n,) make the bound of each αᵢ Cwᵢ.

References
----------
C.-W. Hsu and C.-J. Lin, A comparison of methods for multiclass support vector machines, IEEE TNN 13, 2002.
J. Platt, N. Cristianini and J. Shawe-Taylor, Large margin DAGs for multiclass classification, NIPS 12, 2000.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from sklearn.svm import SVC

Array = np.ndarray


def fit_columns(K: Array, T: Array, C: float, tol: float, w: Array | None = None) -> tuple[Array, Array]:
    """One machine per column of the targets T (n, l) in {−1, 0, +1}: coefficients (n, l) and intercepts (l,).

    A machine never sees the rows whose target is 0.
    """
    coefficients, intercepts = np.zeros(T.shape), np.zeros(T.shape[1])
    for c, t in enumerate(T.T):
        rows = np.flatnonzero(t)
        used = K if len(rows) == len(K) else K[np.ix_(rows, rows)]
        # LIBSVM is deterministic without probability estimates; its cache is the memory of one column.
        svc = SVC(C=C, kernel="precomputed", tol=tol).fit(
            used, t[rows], sample_weight=None if w is None else w[rows]
        )
        coefficients[rows[svc.support_], c] = svc.dual_coef_[0]
        intercepts[c] = svc.intercept_[0]
    return coefficients, intercepts


def fit_one_against_all(
    K: Array, y: Array, n_classes: int, C: float, tol: float, w: Array | None = None
) -> tuple[Array, Array]:
    """Coefficients (n, ℓ) and intercepts (ℓ,) of the machines that tell each class from all the others."""
    return fit_columns(K, np.where(np.arange(n_classes) == y[:, None], 1.0, -1.0), C, tol, w)


def fit_pairs(
    K: Array, y: Array, n_classes: int, C: float, tol: float, w: Array | None = None
) -> tuple[Array, Array]:
    """Coefficients (n, ℓ(ℓ−1)/2) and intercepts of the machines of each pair (a, b), a < b; positive means a."""
    svc = SVC(C=C, kernel="precomputed", tol=tol, decision_function_shape="ovo").fit(K, y, sample_weight=w)
    if n_classes == 2:  # scikit-learn turns the sign of the only pair
        coefficients = np.zeros((len(y), 1))
        coefficients[svc.support_, 0] = -svc.dual_coef_[0]
        return coefficients, -svc.intercept_
    coefficients = np.zeros((len(y), n_classes * (n_classes - 1) // 2))
    label = y[svc.support_]
    for p, (a, b) in enumerate(combinations(range(n_classes), 2)):
        # LIBSVM keeps ℓ−1 coefficients a support vector: row r is against class r, classes beyond its own moved up.
        of_a, of_b = label == a, label == b
        coefficients[svc.support_[of_a], p] = svc.dual_coef_[b - 1, of_a]
        coefficients[svc.support_[of_b], p] = svc.dual_coef_[a, of_b]
    return coefficients, svc.intercept_


def votes(values: Array, n_classes: int) -> Array:
    """Pairs won by each class (m, ℓ), from the pairs' values (m, pairs); with two classes, the margin itself.

    The class with most votes wins, the first of equal ones: LIBSVM's rule, and that of Hsu & Lin.
    """
    if n_classes == 2:
        return np.hstack([values, -values])
    won = np.zeros((len(values), n_classes))
    for value, (a, b) in zip(values.T, combinations(range(n_classes), 2)):
        won[:, a] += value > 0
        won[:, b] += value <= 0
    return won


def dag(values: Array, n_classes: int) -> Array:
    """The round of the decision DAG that each class survives to (m, ℓ); with two classes, the margin itself.

    From the list of all classes, the first is tested against the last and the loser is struck off, ℓ−1 times.
    The survivor scores ℓ−1, the last one struck off ℓ−2, and so on down to 0.
    """
    if n_classes == 2:
        return np.hstack([values, -values])
    pair = np.zeros((n_classes, n_classes), dtype=int)
    pair[np.triu_indices(n_classes, 1)] = np.arange(values.shape[1])
    rows = np.arange(len(values))
    first, last = np.zeros(len(values), dtype=int), np.full(len(values), n_classes - 1)
    rounds = np.full((len(values), n_classes), float(n_classes - 1))
    for struck in range(n_classes - 1):
        first_wins = values[rows, pair[first, last]] > 0
        rounds[rows, np.where(first_wins, last, first)] = struck
        last, first = last - first_wins, first + ~first_wins
    return rounds
