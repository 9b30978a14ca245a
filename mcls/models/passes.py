"""The passes over a large table: what each does with one piece, wherever that piece is read.

1. ``count_piece`` (``mcls.data.statistics``): ranges, texts, classes, a sample.
2. ``sum_piece``: the Gram sums of each fold, at one kernel (``mcls.solvers.gram_sums``).
3. ``score_piece``: the classes out of fold at every strength, counted against the true ones.

The fold of a row is a scrambled number of what it holds: equal rows share a fold, and neither the order of the rows nor
the number of files matters.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from mcls.data.blocks import read_blocks
from mcls.data.encoder import Encoder, Reading
from mcls.data.encoding import read_values
from mcls.data.parts import Parts, Piece
from mcls.data.statistics import Classes, content_keys, row_keys, scramble
from mcls.data.tables import Column, NumberColumn
from mcls.errors import McLsError
from mcls.kernels import KERNEL_PARAMETERS, RADIAL, kernel_matrix
from mcls.parameters import SCALE
from mcls.seeds import derive
from mcls.solvers import nystrom
from mcls.solvers.gram_sums import FoldedRows, Sums, by_fold, sum_rows
from mcls.threads import blas_threads

Array = np.ndarray
Together = Literal["equal rows", "group", "nothing"]

#: Keys of different rows that are kept to tell how many there are: about 1.6 % accurate where there are more.
SKETCH = 4096
_VALUES = 2**22  # kernel values that one thread holds at once


@dataclass(frozen=True)
class Job:
    """What every pass after the first knows of the table."""

    parts: Parts
    encoder: Encoder
    classes: Classes  # codes are those of the class names in sorted order
    folds: int
    seed: int
    together: Together  # which rows share a fold
    factors: Array | None = None  # (ℓ,) weights of the classes in training

    def training(self, rows: FoldedRows) -> FoldedRows:
        """The rows as they are learned from: their weights times those of their classes."""
        return rows if self.factors is None else rows._replace(weights=weighed(rows.weights, self.factors[rows.y]))

    def rows(self, piece: Piece) -> Iterator[tuple[FoldedRows, Array]]:
        """The encoded rows of a piece, block by block, and the key (b,) of what each holds."""
        for block in read_blocks(self.parts, piece):
            columns = [block.columns[name] for name in self.encoder.names]
            keys = row_keys(self.seed, piece.number, block.start, block.rows)
            yield self.encoded(columns, block.columns, keys)

    def encoded(self, features: list[Column], columns: dict[str, Column], keys: Array) -> tuple[FoldedRows, Array]:
        """Rows from their columns, and from the keys of their places; see ``rows``."""
        log = Reading(self.parts.decimal)
        X = self.encoder.features(read_values(features, self.encoder, self.parts.decimal), log)
        if log.reasons:
            raise McLsError(f"{self.parts.title} has changed while it was read")
        labels = columns[self.parts.target]
        assert not isinstance(labels, NumberColumn)
        y = self.classes.code(labels)
        content = content_keys(X, derive(self.seed, "content"))
        if self.together == "nothing":
            shared = scramble(keys)
        else:
            shared = content if self.together == "equal rows" else self._group_keys(columns)
        folds = (scramble(shared ^ np.uint64(derive(self.seed, "folds"))) % np.uint64(self.folds)).astype(np.intp)
        return FoldedRows(X, y, folds, self._weights(columns)), shared if self.together == "group" else content

    def _group_keys(self, columns: dict[str, Column]) -> Array:
        column = columns[str(self.parts.group)]
        if isinstance(column, NumberColumn):
            return content_keys(column.values[:, None], 0)
        keys = [
            hashlib.blake2b(level.encode("utf-8", "replace"), digest_size=8).digest() for level in column.levels
        ]
        return np.frombuffer(b"".join(keys), dtype="<u8").astype(np.uint64)[column.codes]

    def _weights(self, columns: dict[str, Column]) -> Array | None:
        if self.parts.weight is None:
            return None
        column = columns[self.parts.weight]
        assert isinstance(column, NumberColumn)
        if not (np.isfinite(column.values).all() and (column.values >= 0).all()):
            raise McLsError(f"{self.parts.title}: column '{self.parts.weight}' must hold weights, zero or more")
        return column.values


def weighed(weights: Array | None, factors: Array) -> Array:
    """The weights (b,) of rows times further factors (b,)."""
    return factors if weights is None else weights * factors


def kernel_of(estimator: Any) -> Callable[[Array, Array], Array]:
    """The kernel of a machine, as a function that other processes can be given."""
    if estimator.sigma == SCALE and estimator.kernel in RADIAL:
        raise McLsError("sigma=scale needs all rows at once, and this table is read piece by piece; give a number")
    return partial(kernel_matrix, **{name: getattr(estimator, name) for name in KERNEL_PARAMETERS})


class Landmarks(NamedTuple):
    """A kernel, landmarks (m, d), and the factor (m, m) of their kernel matrix."""

    kernel: Callable[[Array, Array], Array]
    Z: Array
    L: Array


def make_landmarks(kernel: Callable[[Array, Array], Array], Z: Array) -> Landmarks:
    """Landmarks with their factor, by one thread: the same bits wherever it is made."""
    with blas_threads(1):
        return Landmarks(kernel, Z, nystrom.factor(kernel(Z, Z)))


def sum_piece(piece: Piece, job: Job, landmarks: Landmarks, threads: int = 1) -> Sums:
    """The Gram sums of a piece."""
    blocks = (job.training(rows) for rows, _ in job.rows(piece))
    return sum_rows(blocks, *landmarks, job.folds, len(job.classes.names), threads)


class Scorer(NamedTuple):
    """What scores rows out of fold: the coefficients of every fold and strength, and the machine that decides."""

    kernel: Callable[[Array, Array], Array]
    Z: Array  # (m, d)
    beta: Array  # (k, γ, m, ℓ)
    rows: Array  # (k, ℓ) training rows of each class
    estimator: Any

    def scores(self, X: Array, fold: int) -> Array:
        """Scores (γ, b, ℓ) of rows that a fold tests."""
        strengths, m, ell = self.beta.shape[1:]
        flat = self.beta[fold].transpose(1, 0, 2).reshape(m, -1)
        step = max(1, _VALUES // m)
        values = [self.kernel(X[i : i + step], self.Z) @ flat for i in range(0, len(X), step)]
        shaped = np.concatenate(values).reshape(len(X), strengths, ell).transpose(1, 0, 2)
        return self.estimator.decided(shaped, self.rows[fold])


class Scored(NamedTuple):
    """What the rows of a piece, or of several, are classified as out of fold."""

    counts: Array  # (γ, k, ℓ, ℓ) rows, or weights, by strength, fold, true and predicted class
    keys: Array  # at most ``SKETCH`` smallest different keys
    fingerprint: Array  # (2,) sums of keys

    def plus(self, other: Scored) -> Scored:
        """Both."""
        keys = np.unique(np.concatenate([self.keys, other.keys]))[:SKETCH]
        return Scored(self.counts + other.counts, keys, self.fingerprint + other.fingerprint)

    @property
    def different(self) -> int:
        """How many different rows, or groups, there are; an estimate where they are more than ``SKETCH``."""
        if len(self.keys) < SKETCH:
            return len(self.keys)
        return round((SKETCH - 1) / (float(self.keys[-1]) / 2.0**64))


def score_piece(piece: Piece, job: Job, scorer: Scorer, threads: int = 1) -> Scored:
    """Classify the rows of a piece out of fold, at every strength."""
    ell, strengths = len(job.classes.names), scorer.beta.shape[1]
    counts = np.zeros((strengths, job.folds, ell, ell))
    keys, total = np.zeros(0, dtype=np.uint64), np.zeros(2, dtype=np.uint64)

    def score(part: tuple[int, FoldedRows]) -> None:
        f, rows = part
        best = scorer.scores(rows.X, f).argmax(axis=2)  # (γ, b)
        cells = rows.y * ell + best
        for g in range(strengths):
            counts[g, f] += np.bincount(cells[g], rows.weights, minlength=ell * ell).reshape(ell, ell)

    with blas_threads(1), ThreadPoolExecutor(threads) as pool:
        for rows, content in job.rows(piece):
            for _ in pool.map(score, by_fold(rows, job.folds)):
                pass
            keys = np.unique(np.concatenate([keys, content]))[:SKETCH]
            total += row_fingerprints(rows.X, rows.y)
    return Scored(counts, keys, total)


def row_fingerprints(X: Array, y: Array) -> Array:
    """The sum (2,) of two keys of each row: whatever the order of the rows, the same rows have the same."""
    both = np.column_stack([X, y])
    return np.array([content_keys(both, seed).sum(dtype=np.uint64) for seed in (1, 2)], dtype=np.uint64)
