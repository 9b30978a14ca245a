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

LOSSES: dict[str, Callable[[Array], Array]] = {
    "linear": lambda z: -z,
    "hinge": lambda z: np.maximum(0.0, 1.0 - z),
    "exponential": lambda z: np.exp(np.minimum(-z, 700.0)),  # exp overflows beyond 709
    "logistic": lambda z: np.logaddexp(0.0, -z),
    "squared": lambda z: (1.0 - z) ** 2,
}


def hamming(M: Array, F: Array) -> Array:
    """Eq. (1): Σ_s (1 − sign(M_rs f_s))/2; a zero of the code or of the output counts ½."""
    return (M.shape[1] - np.sign(F) @ M.T) / 2


def euclidean(M: Array, F: Array) -> Array:
    """‖M_r − f(x)‖ on the outputs as they are."""
    return cdist(F, M.astype(float))


def attenuated_euclidean(M: Array, F: Array) -> Array:
    """Pujol et al. (2006): Σ_s |M_rs| (M_rs − sign f_s)², which ignores the zeros of the code.

    The square root is left out: it does not change the order, and multiples of 1 make ties exact.
    """
    S = np.sign(F)
    # |M|(M − S)² = |M|(1 + S²) − 2 M S, as |M| M = M and |M| M² = |M|
    return (1 + S**2) @ np.abs(M).T - 2 * S @ M.T


def loss_based(M: Array, F: Array, loss: str) -> Array:
    """Eq. (2): Σ_s L(M_rs f_s); a zero of the code costs L(0)."""
    L = LOSSES[loss]
    return np.stack([L(row * F).sum(axis=1) for row in M], axis=1)


def loss_weighted(M: Array, F: Array, weights: Array) -> Array:
    """Escalera et al. (2010): Σ_s W_rs exp(−M_rs f_s) with the weights of :func:`training_weights` (k, l)."""
    L = LOSSES["exponential"]
    return np.stack([L(row * F) @ w for row, w in zip(M, weights, strict=True)], axis=1)


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
    if decoder not in DECODERS:
        raise unknown_name("decoder", str(decoder), DECODERS)
    if decoder == "hamming":
        return hamming(M, F)
    if decoder == "euclidean":
        return euclidean(M, F)
    if decoder == "attenuated-euclidean":
        return attenuated_euclidean(M, F)
    if decoder == "loss-weighted":
        if weights is None:
            raise McLsError("the loss-weighted decoder needs the weights of the training set")
        return loss_weighted(M, F, weights)
    return loss_based(M, F, decoder.removeprefix("loss-"))


def class_scores(decoder: str, M: Array, F: Array, weights: Array | None = None) -> Array:
    """Scores (m, k), the larger the better: minus the distances, with ties of the sign decoders broken.

    ``hamming`` and ``attenuated-euclidean`` look at signs only and often tie. Their distances are multiples of ½;
    the summed outputs Σ_s M_rs f_s, scaled into [−1/5, 1/5] by the largest of the sample, choose among equals
    and change no order.
    """
    scores = -distances(decoder, M, F, weights)
    if decoder in ("hamming", "attenuated-euclidean"):
        total = F @ M.T
        largest = np.abs(total).max(axis=1, keepdims=True)
        scores += total / np.where(largest > 0, 5 * largest, 1.0)
    return scores


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
