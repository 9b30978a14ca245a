"""The search for a DECOC tree: criteria from block sums against the papers' formulas evaluated each time."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_limits

from benchmarks.grids import load
from benchmarks.measure import Row, in_child, timed
from mcls.coding.criteria import FLDR, FQMI
from mcls.coding.tree import Dichotomy, discriminant_tree

Array = np.ndarray


class DirectFQMI:
    """Eq. (4)–(7) of arvanitopoulos for one partition at a time, every pair of samples visited again."""

    def __init__(self, X: Array, y: Array, sigma: float) -> None:
        self.X, self.y, self.sigma = X, y, sigma

    def __call__(self, left: Collection[int], right: Collection[int]) -> float:
        A, B = (self.X[np.isin(self.y, list(side))] for side in (left, right))
        if not len(A) or not len(B):
            return 0.0
        both = np.concatenate([A, B])
        N = len(both)
        within = self._total(A, A) + self._total(B, B)
        everything = ((len(A) / N) ** 2 + (len(B) / N) ** 2) * self._total(both, both)
        between = (len(A) * self._total(both, A) + len(B) * self._total(both, B)) / N
        return float(within + everything - 2 * between) / N**2

    def _total(self, A: Array, B: Array) -> float:
        return float(np.exp(-cdist(A, B, "sqeuclidean") / (4 * self.sigma**2)).sum())


def fqmi_on_vowel() -> Iterator[Row]:
    """The whole search on the 990 rows of vowel."""
    X, y = load("vowel", rows="all")
    seconds, tree = timed(lambda: discriminant_tree(11, FQMI(X, y, 1.0)), 5)
    peer_seconds, expected = timed(lambda: discriminant_tree(11, DirectFQMI(X, y, 1.0)))
    note = "the same tree" if tree == expected else "another tree"
    yield Row("FQMI search", "vowel, n=990", "block sums", seconds, "formula a partition", peer_seconds, note)
    seconds, _ = timed(lambda: discriminant_tree(11, FLDR(X, y)), 5)
    yield Row("FLDR search", "vowel, n=990", "class means", seconds, "", None)


def face_sized_search() -> list[Dichotomy]:
    """FQMI's whole search on a made-up set of the size of the paper's face data."""
    rng = np.random.default_rng(0)
    y = np.arange(4000) % 7
    X = rng.normal(size=(4000, 1200)) + rng.normal(size=(7, 1200))[y]
    with threadpool_limits(1):
        return discriminant_tree(7, FQMI(X, y, 30.0))


def timed_face_search() -> float:
    """Seconds of ``face_sized_search``, data included."""
    return timed(face_sized_search)[0]


def fqmi_on_faces() -> Iterator[Row]:
    """7 classes, 4000 rows, 1200 features, where the paper's FQMI took five days."""
    seconds, peak = in_child(timed_face_search)
    yield Row("FQMI search", "4000 x 1200, 7 classes", "block sums", seconds, "", None, f"peak {peak:.1f} GB")
