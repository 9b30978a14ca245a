"""Sub-ECOC: the discriminant tree with classes split into subclasses where a dichotomy is too hard.

The method is that of Escalera et al. (2008) with the thresholds of arvanitopoulos, Sec. 2. The papers leave room;
what is done here unless :class:`Thresholds` says otherwise, chosen among the readings tried by the published matrix
sizes of all data sets (``mcls tables arvanitopoulos --table readings``):

1. A set of classes (at first all of them) is divided by :func:`mcls.coding.sffs.sffs`, as in DECOC, on the
   subclasses that exist by then.
2. The machine of the dichotomy (A, B) is trained. If its training error is above θ_p, the side with fewer
   subclasses (of equal ones, the more scattered) is divided into two clusters by K-means. That is the side the
   floating search has grown: for FLDR, which peels off one class after another, a single class.
3. The split is accepted if both clusters have at least θ_s samples and *both* new machines, each of one cluster
   against the whole other side, have a training error of at most (1 − θ_i) times that of the first. Then the two
   take its place in the code, and each goes through steps 2 and 3 itself. Otherwise the first machine stays.
4. A class with samples in both clusters becomes two subclasses, in the whole code.
5. Both sides are sets for step 1. A set whose samples are all of one class is not divided further: its
   subclasses need no telling apart.

The rows of the code are the subclasses, each belonging to a class; a sample is given the class of its nearest row.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mcls.coding.criteria import Criterion
from mcls.coding.sffs import sffs

Array = np.ndarray

# Lloyd's iterations end by themselves, after a few dozen; this only bounds what rounding could do.
_MAX_ITERATIONS = 300


#: The side to split: with fewer or more subclasses (of equal ones, the more scattered), with more samples, the more
#: scattered one, or either (the first, and the second where the first split is refused).
SIDES = ("fewer", "more", "larger", "scattered", "either")
JUDGED = ("both", "mean")


@dataclass(frozen=True)
class Thresholds:
    """When and how a dichotomy is split: the paper's θ_p, θ_s and θ_i, and what it leaves open.

    ``performance`` θ_p: training error above which a split is tried; ``size`` θ_s: smallest cluster, in samples, or
    below 1 as a share of them (None: n/50, the paper's); ``improvement`` θ_i: the share of the training error that
    a split must remove; ``side``: which side is split, one of ``SIDES``; ``judged``: whether ``both`` new machines
    must improve, or their ``mean`` error.
    """

    performance: float = 0.0
    size: float | None = None
    improvement: float = 0.05
    side: str = "fewer"
    judged: str = "both"


@dataclass(frozen=True)
class SubclassCode:
    """A code whose rows are subclasses."""

    matrix: Array  # (rows, columns) in {−1, 0, +1}
    rows: Array  # (n,) the row of each training sample
    classes: Array  # (rows,) the class each row belongs to


def subclass_code(
    X: Array,
    y: Array,
    criterion_of: Callable[[Array, Array], Criterion],
    training_error: Callable[[Array, Array], float],
    thresholds: Thresholds | None = None,
    random_state: int = 0,
) -> SubclassCode:
    """Design the code of sub-ECOC for a training set.

    Parameters
    ----------
    X, y : arrays (n, d), (n,)
        Features and class codes 0..ℓ−1.
    criterion_of : callable
        ``criterion_of(X, codes)`` gives the criterion of the search for some samples and their codes.
    training_error : callable
        ``training_error(left, right)`` trains a machine on two index arrays and gives its error on them.

    Examples
    --------
    Class 0 lies on both sides of class 1; no threshold on a line tells them apart, two do.

    >>> from mcls.coding.criteria import FLDR
    >>> X = np.array([[0.0], [0.1], [0.2], [1.0], [1.1], [1.2], [2.0], [2.1], [2.2]])
    >>> y = np.array([0, 0, 0, 1, 1, 1, 0, 0, 0])
    >>> def best_threshold_error(left, right):
    ...     cuts = (X[:, 0] <= c for c in X[:, 0])
    ...     wrong = [(~s[left]).sum() + s[right].sum() for s in cuts]
    ...     return min(min(w, len(left) + len(right) - w) for w in wrong) / (len(left) + len(right))
    >>> code = subclass_code(X, y, FLDR, best_threshold_error)
    >>> code.matrix
    array([[ 1,  0],
           [ 0,  1],
           [-1, -1]])
    >>> code.classes
    array([0, 0, 1])
    """
    limits = thresholds or Thresholds()
    smallest = len(y) / 50 if limits.size is None else limits.size * (len(y) if limits.size < 1 else 1)
    labels = np.array(y)  # the subclass of each sample, refined as splits are accepted

    def to_split(A: Array, B: Array) -> list[tuple[Array, Array]]:
        """The side to split and the other one (step 2)."""
        n_a, n_b = len(np.unique(labels[A])), len(np.unique(labels[B]))
        first = {"fewer": n_b - n_a, "more": n_a - n_b, "larger": len(A) - len(B)}.get(limits.side, 0)
        if first > 0 or (first == 0 and X[A].var(axis=0).sum() >= X[B].var(axis=0).sum()):
            return [(A, B), (B, A)]
        return [(B, A), (A, B)]

    def halves(side: Array, other: Array, error: float) -> list[tuple[Array, float]]:
        """Step 3: the two clusters of a side with the errors of their machines; none where the split is refused."""
        first = two_means(X[side], random_state)
        parts = side[first], side[~first]
        if min(len(part) for part in parts) < max(smallest, 1):
            return []
        errors = [training_error(part, other) for part in parts]
        judged = max(errors) if limits.judged == "both" else sum(errors) / 2
        return list(zip(parts, errors, strict=True)) if judged <= (1 - limits.improvement) * error else []

    def dichotomies_of(left: Array, right: Array) -> list[tuple[Array, Array]]:
        """Steps 2 to 4: the dichotomy itself, or what it is replaced by."""
        accepted, waiting = [], [(left, right, training_error(left, right))]
        while waiting:
            A, B, error = waiting.pop()
            orders = to_split(A, B)[: 2 if limits.side == "either" else 1]
            for side, other in orders if error > limits.performance else []:
                if parts := halves(side, other, error):
                    _refine(labels, parts[0][0], parts[1][0])
                    waiting.extend((part, other, e) for part, e in parts[::-1])
                    break
            else:
                accepted.append((A, B))
        return accepted

    columns: list[tuple[Array, Array]] = []
    nodes = deque([np.arange(len(y))])
    while nodes:
        node = nodes.popleft()
        if len(np.unique(y[node])) < 2:
            continue
        subclasses, codes = np.unique(labels[node], return_inverse=True)
        left, right = sffs(range(len(subclasses)), criterion_of(X[node], codes))
        sides = node[np.isin(codes, left)], node[np.isin(codes, right)]
        columns.extend(dichotomies_of(*sides))
        nodes.extend(sides)

    # Numbered so that the subclasses of a class are neighbours, in the order in which they came to be.
    names = sorted(np.unique(labels), key=lambda name: (y[labels == name][0], name))
    row_of = {name: row for row, name in enumerate(names)}
    rows = np.array([row_of[label] for label in labels])
    M = np.zeros((len(names), len(columns)), dtype=int)
    for s, (A, B) in enumerate(columns):
        M[np.unique(rows[A]), s], M[np.unique(rows[B]), s] = 1, -1
    return SubclassCode(M, rows, np.array([y[labels == name][0] for name in names]))


def two_means(X: Array, random_state: int = 0, n_starts: int = 5) -> Array:
    """K-means with K = 2: whether each row (n,) is in the cluster of the first row.

    Lloyd's iterations from seeded pairs of rows, the second drawn with probability proportional to its squared
    distance from the first (k-means++); the start with the smallest scatter wins. It is written out because
    scikit-learn's ``KMeans`` needs milliseconds to set up its threads, a hundred times what these sets need.
    """
    rng = np.random.default_rng(random_state)
    best, best_scatter = np.ones(len(X), dtype=bool), np.inf
    for _ in range(n_starts):
        centre = X[rng.integers(len(X))]
        weights = ((X - centre) ** 2).sum(axis=1)
        if not weights.any():  # all rows are equal: one cluster
            break
        centres = np.array([centre, X[rng.choice(len(X), p=weights / weights.sum())]])
        nearer = np.zeros(len(X), dtype=bool)
        for _ in range(_MAX_ITERATIONS):
            D2 = ((X[:, None] - centres) ** 2).sum(axis=2)  # (n, 2)
            previous, nearer = nearer, D2[:, 0] <= D2[:, 1]
            if np.array_equal(previous, nearer) or nearer.all():
                break
            centres = np.array([X[nearer].mean(axis=0), X[~nearer].mean(axis=0)])
        scatter = D2.min(axis=1).sum()
        if scatter < best_scatter:
            best, best_scatter = nearer, scatter
    return best == best[0]


def _refine(labels: Array, first: Array, second: Array) -> None:
    """Give the samples of the second part new labels where a label occurs in both parts."""
    for label in np.intersect1d(labels[first], labels[second]):
        labels[second[labels[second] == label]] = labels.max() + 1
