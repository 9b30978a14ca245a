"""Decoders: how far the outputs f(x) of the binary machines are from each codeword of a coding matrix.

Every decoder takes M (k, l) and the outputs F (m, l), and returns distances (m, k); the class with the smallest
distance is predicted. Eq. (1) and (2) are those of keshet2014 (after Allwein et al. 2000).

Which decoder restores which rule:

- with the one-vs-all matrix, ``loss-linear`` and ``loss-squared`` predict argmax_r f_r (Sec. 1.1): the linear
  distance is Σ_s f_s − 2 f_r, and for entries ±1 the squared loss adds Σ_s (1 + f_s²), the same for all classes;
- with the all-pairs matrix, ``loss-linear`` predicts argmax_r Σ_{s≠r} f_rs (Sec. 1.2), and ``hamming`` counts
  votes: every row has equally many zeros, so the distance is a constant less the votes won;
- with a tree of dichotomies (DECOC), ``attenuated-euclidean`` walks down the tree: only the class at the leaf
  that is reached has distance 0.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.spatial.distance import cdist

from mcls.errors import McLsError, unknown_name

Array = np.ndarray

#: Each loss as L(0) and L(z) − L(0): with a narrow kernel the outputs are tiny, and L(z) would round them away.
LOSSES: dict[str, tuple[float, Callable[[Array], Array]]] = {
    "linear": (0.0, lambda z: -z),
    "hinge": (1.0, lambda z: np.maximum(-1.0, -z)),
    "exponential": (1.0, lambda z: np.expm1(np.minimum(-z, 700.0))),  # exp overflows beyond 709
    "logistic": (np.log(2.0), lambda z: np.maximum(-z, 0.0) + np.log1p(np.expm1(-np.abs(z)) / 2)),
    "squared": (1.0, lambda z: z * (z - 2.0)),
}


def hamming(M: Array, F: Array) -> Array:
    """Eq. (1): Σ_s (1 − sign(M_rs f_s))/2; a zero of the code or of the output counts ½."""
    return (M.shape[1] - np.sign(F) @ M.T) / 2


def attenuated_euclidean(M: Array, F: Array) -> Array:
    """Pujol et al. (2006): Σ_s |M_rs| (M_rs − sign f_s)², which ignores the zeros of the code.

    The square root is left out: it does not change the order, and multiples of 1 make ties exact.
    """
    S = np.sign(F)
    # |M|(M − S)² = |M|(1 + S²) − 2 M S, as |M| M = M and |M| M² = |M|
    return (1 + S**2) @ np.abs(M).T - 2 * S @ M.T


def loss_based(M: Array, F: Array, loss: str) -> tuple[Array, Array]:
    """Eq. (2): Σ_s L(M_rs f_s) as its value at f = 0 (k,) and the rest (m, k); a zero of the code costs L(0)."""
    at_zero, beyond = LOSSES[loss]
    return np.full(len(M), M.shape[1] * at_zero), np.stack([beyond(row * F).sum(axis=1) for row in M], axis=1)


def loss_weighted(M: Array, F: Array, weights: Array) -> tuple[Array, Array]:
    """Escalera et al. (2010): Σ_s W_rs exp(−M_rs f_s) as its value at f = 0 (k,) and the rest (m, k).

    The weights (k, l) are those of :func:`training_weights`.
    """
    _, beyond = LOSSES["exponential"]
    rest = np.stack([beyond(row * F) @ w for row, w in zip(M, weights, strict=True)], axis=1)
    return weights.sum(axis=1), rest


def above_smallest(constants: Array) -> Array:
    """By how much each of some constants (k,) is above the smallest, differences by rounding left out.

    What all classes have in common decides nothing, and would drown the tiny scores of a narrow kernel.
    """
    above = constants - constants.min()
    return np.where(above > 1e-12 * np.abs(constants).max(), above, 0.0)


def training_weights(M: Array, F: Array, y: Array) -> Array:
    """Weights (k, l) of the loss-weighted decoder from the outputs F (n, l) on the training set.

    W_rs is the share of class r that machine s puts on its side M_rs, 0 where M_rs = 0, each row then divided
    by its sum: a machine speaks for a class as loudly as it knows it, and all classes have the same total.
    """
    W = np.zeros(M.shape)
    for r, row in enumerate(M):
        W[r] = np.where(row != 0, (np.sign(F[y == r]) == row).mean(axis=0), 0.0)
    totals = W.sum(axis=1, keepdims=True)
    # A class that no machine ever gets right keeps equal weights over the machines that know it.
    return np.where(totals > 0, W, np.abs(M)) / np.where(totals > 0, totals, np.abs(M).sum(axis=1, keepdims=True))


DECODERS = (
    "hamming",
    "euclidean",
    "attenuated-euclidean",
    *(f"loss-{loss}" for loss in LOSSES),
    "loss-weighted",
)


def distances(decoder: str, M: Array, F: Array, weights: Array | None = None) -> Array:
    """Distances (m, k) between the outputs F (m, l) and the rows of M (k, l), by the decoder's name.

    >>> M = np.array([[1, 1], [-1, 0], [0, -1]])
    >>> distances("hamming", M, np.array([[0.5, -2.0]]))
    array([[1. , 1.5, 0.5]])
    """
    _check(decoder, weights)
    if decoder == "hamming":
        return hamming(M, F)
    if decoder == "euclidean":
        return cdist(F, M.astype(float))
    if decoder == "attenuated-euclidean":
        return attenuated_euclidean(M, F)
    at_zero, rest = _constant_and_rest(decoder, M, F, weights)
    return at_zero + rest


def codeword_scores(decoder: str, M: Array, F: Array, weights: Array | None = None) -> Array:
    """Scores (m, k), the larger the better: minus the distances, up to what all classes have in common.

    ``hamming`` and ``attenuated-euclidean`` look at signs only and often tie. Their distances are multiples of ½;
    the summed outputs Σ_s M_rs f_s, scaled into [−1/5, 1/5] by the largest of the sample, choose among equals
    and change no order. ``euclidean`` is squared.
    """
    _check(decoder, weights)
    if decoder in ("hamming", "attenuated-euclidean"):
        total = F @ M.T
        largest = np.abs(total).max(axis=1, keepdims=True)
        return total / np.where(largest > 0, 5 * largest, 1.0) - distances(decoder, M, F)
    at_zero, rest = _constant_and_rest(decoder, M, F, weights)
    return -(above_smallest(at_zero) + rest)


def _check(decoder: str, weights: Array | None) -> None:
    if decoder not in DECODERS:
        raise unknown_name("decoder", str(decoder), DECODERS)
    if decoder == "loss-weighted" and weights is None:
        raise McLsError("the loss-weighted decoder needs the weights of the training set")


def _constant_and_rest(decoder: str, M: Array, F: Array, weights: Array | None) -> tuple[Array, Array]:
    """Distances to each codeword at f = 0 (k,) and what the outputs add (m, k); ‖M_r − f‖² without its ‖f‖²."""
    if decoder == "euclidean":
        return np.square(M).sum(axis=1).astype(float), -2.0 * F @ M.T
    if decoder == "loss-weighted":
        assert weights is not None
        return loss_weighted(M, F, weights)
    return loss_based(M, F, decoder.removeprefix("loss-"))


def class_probabilities(M: Array, P: Array, unused: float = 0.5) -> Array:
    """Class probabilities (m, k) from P (m, l), the probability of side +1 of each binary problem.

    The codeword's likelihood Π_s P(side M_rs), normalised over the classes. A zero of the code contributes
    ``unused``: ½ when the machine's answer says nothing about the class (Passerini et al. 2004); 1 in a tree,
    where the product along the path is the probability of the leaf.
    """
    log_plus, log_minus = np.log(np.clip(P, 1e-300, 1.0)), np.log(np.clip(1 - P, 1e-300, 1.0))
    log_likelihood = log_plus @ (M == 1).T + log_minus @ (M == -1).T + np.log(unused) * (M == 0).sum(axis=1)
    likelihood = np.exp(log_likelihood - log_likelihood.max(axis=1, keepdims=True))
    return likelihood / likelihood.sum(axis=1, keepdims=True)
