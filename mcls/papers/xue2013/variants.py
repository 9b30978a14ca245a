"""xue2013, Table 1: readings of the linear LSSVM on iris, the base that does not reproduce.

Three readings are the printed machine itself. With an unregularised bias for each class, targets 0/1 in the place of ±1
give (w/2, (b + 1)/2): the same arg max. Centred features change b only. And the nearest codeword, 0/1 or ±1, is the
largest output, as all codewords have one length. The table shows it; the readings that differ follow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mcls.data import load_dataset
from mcls.evaluation.folds import class_half_split, stratified_folds
from mcls.seeds import derive

Array = np.ndarray

LAMBDAS = tuple(2.0**k for k in range(-10, 11))


@dataclass(frozen=True)
class LssvmReading:
    """One way to fit and decide: the features as they are prepared on the training rows, targets, bias, decision."""

    name: str
    prepare: Callable[[Array], tuple[Array, Array]]  # training rows → what is subtracted and what is divided by
    low: float = -1.0  # the target of the other classes; that of the own class is 1
    bias: str = "free"  # free, penalised, or none
    nearest: bool = False  # the nearest codeword, instead of the largest output


def _as_they_are(X: Array) -> tuple[Array, Array]:
    return np.zeros(X.shape[1]), np.ones(X.shape[1])


def _centred(X: Array) -> tuple[Array, Array]:
    return X.mean(axis=0), np.ones(X.shape[1])


def _standardised(X: Array) -> tuple[Array, Array]:
    return X.mean(axis=0), X.std(axis=0)


def _to_one(X: Array) -> tuple[Array, Array]:
    low, high = X.min(axis=0), X.max(axis=0)
    return (low + high) / 2, (high - low) / 2


READINGS = (
    LssvmReading("as printed: ±1, a bias for each class, arg max", _as_they_are),
    LssvmReading("targets 0/1", _as_they_are, low=0.0),
    LssvmReading("centred features", _centred),
    LssvmReading("nearest codeword, ±1", _as_they_are, nearest=True),
    LssvmReading("nearest codeword, 0/1", _as_they_are, low=0.0, nearest=True),
    LssvmReading("bias penalised like a weight", _as_they_are, bias="penalised"),
    LssvmReading("bias penalised, targets 0/1", _as_they_are, low=0.0, bias="penalised"),
    LssvmReading("no bias, centred features", _centred, bias="none"),
    LssvmReading("features to [-1, 1]", _to_one),
    LssvmReading("standardised features", _standardised),
    LssvmReading("standardised features, targets 0/1, bias penalised", _standardised, low=0.0, bias="penalised"),
)


def outputs(reading: LssvmReading, X: Array, y: Array, X_test: Array, lambdas: Sequence[float]) -> Array:
    """Outputs (λ₁, m, ℓ) of the linear LSSVM: min λ₁ Σe² + ‖w‖² for each class, e = t − Xw − b, for every λ₁."""
    shift, scale = reading.prepare(X)
    A, A_test = (X - shift) / scale, (X_test - shift) / scale
    T = np.where(y[:, None] == np.arange(y.max() + 1), 1.0, reading.low)  # (n, ℓ)
    if reading.bias != "none":
        A, A_test = (np.column_stack([rows, np.ones(len(rows))]) for rows in (A, A_test))
    penalties = np.repeat(1.0 / np.array(lambdas)[:, None], A.shape[1], axis=1)  # (λ₁, p)
    if reading.bias == "free":
        penalties[:, -1] = 0.0
    systems = A.T @ A + penalties[:, :, None] * np.eye(A.shape[1])  # (λ₁, p, p)
    return np.asarray(A_test @ np.linalg.solve(systems, (A.T @ T)[None]))


def predictions(reading: LssvmReading, F: Array) -> Array:
    """Classes (..., m) from the outputs (..., m, ℓ)."""
    if not reading.nearest:
        return F.argmax(axis=-1)
    codewords = np.where(np.eye(F.shape[-1]) == 1, 1.0, reading.low)
    return np.square(F[..., None, :] - codewords).sum(axis=-1).argmin(axis=-1)


def accuracies_of(reading: LssvmReading, seeds: Sequence[int]) -> tuple[Array, Array]:
    """Accuracy of each repeat in percent, λ₁ chosen by 5-fold CV in the training half, and chosen on the test half."""
    data = load_dataset("iris")
    chosen, oracle = [], []
    for seed in seeds:
        train, test = class_half_split(data.y, seed, None)
        X, y = data.X[train], data.y[train]
        inner = stratified_folds(y, 5, derive(seed, "inner"))
        folds = [predictions(reading, outputs(reading, X[a], y[a], X[b], LAMBDAS)) != y[b] for a, b in inner]
        errors = np.mean([wrong.mean(axis=1) for wrong in folds], axis=0)  # (λ₁,)
        judged = predictions(reading, outputs(reading, X, y, data.X[test], LAMBDAS)) == data.y[test]
        right = 100.0 * judged.mean(axis=1)  # (λ₁,)
        chosen.append(right[int(np.argmin(errors))])
        oracle.append(right.max())
    return np.array(chosen), np.array(oracle)
