"""What a sweep is made of: folds that share their work, points that share a machine, and the refit by brute force."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

Array = np.ndarray
Fold = tuple[Array, Array]  # (train, test) row indices
Folds = Sequence[Fold]
Point = Mapping[str, Any]  # values of some parameters
Points = Sequence[Point]
Weights = Array | None  # (n,) of rows in training; None: each counts once
Found = TypeVar("Found")


class SharedFolds(list[Fold]):
    """Folds that are swept at one kernel after another: what follows from them alone is found once."""

    def __init__(self, folds: Folds) -> None:
        super().__init__(folds)
        self.known: dict[Hashable, Any] = {}


def found_once(folds: Folds, key: Hashable, find: Callable[[], Found]) -> Found:
    """What ``find`` gives, from memory if the folds are shared and it is known there by its key."""
    if not isinstance(folds, SharedFolds):
        return find()
    if key not in folds.known:
        folds.known[key] = find()
    found: Found = folds.known[key]
    return found


def distinct(folds: Folds, n: int, leaves_rows_out: bool) -> tuple[list[Fold], list[tuple[int, Array | None]]]:
    """Training sets, each once, with the rows to score; and where the scores of each fold are among them.

    Nested cross-validation tests several folds of rows on machines that learn from the same rows. A machine that
    leaves rows out scores all the rows that a training set lacks. The second part holds, per fold, the place of its
    training set and the positions of its test rows there; None: all of them, in order.
    """
    learned: list[Fold] = []
    places: list[tuple[int, Array | None]] = []
    known: dict[bytes, list[int]] = {}
    for i, (train, _) in enumerate(folds):
        known.setdefault(np.asarray(train, dtype=np.intp).tobytes(), []).append(i)
    where: dict[int, tuple[int, Array | None]] = {}
    for members in known.values():
        train, asked = folds[members[0]]
        rest = np.ones(n, dtype=bool)
        rest[train] = False
        if len(members) > 1 or (leaves_rows_out and len(train) + len(asked) < n):
            wanted = np.zeros(n, dtype=bool)
            for i in members:
                wanted[folds[i][1]] = True
            asked = np.flatnonzero(rest if leaves_rows_out and rest[wanted].all() else wanted)
        place = np.empty(n, dtype=np.intp)
        place[asked] = np.arange(len(asked))
        for i in members:
            where[i] = len(learned), None if asked is folds[i][1] else place[folds[i][1]]
        learned.append((train, asked))
    places = [where[i] for i in range(len(folds))]
    return learned, places


def in_places(found: Sequence[Array], places: Sequence[tuple[int, Array | None]]) -> list[Array]:
    """The scores of each fold from those of the training sets, with the places that ``distinct`` gives."""
    return [found[k] if at is None else found[k].take(at, axis=1) for k, at in places]


class SameClasses(NamedTuple):
    """Folds whose training rows hold the same classes."""

    present: Array  # (ℓ',) the codes of these
    places: list[int]  # of the folds
    folds: SharedFolds
    codes: Array  # (n,) the classes as 0..ℓ'−1


def by_classes(folds: Folds, y: Array, n_classes: int) -> list[SameClasses]:
    """The folds in groups that train on the same classes, each a problem of its own with fewer classes.

    A class that no training row of a group has is one of rows that are left out. What these are called does not matter
    to a machine that has not seen them: they are given the first class.
    """
    groups: dict[bytes, list[int]] = {}
    for i, (train, _) in enumerate(folds):
        held = np.bincount(y[train], minlength=n_classes) > 0
        groups.setdefault(held.tobytes(), []).append(i)
    made = []
    for key, places in groups.items():
        held = np.frombuffer(key, dtype=bool)
        code = np.where(held, np.cumsum(held) - 1, 0)
        made.append(SameClasses(np.flatnonzero(held), places, SharedFolds([folds[i] for i in places]), code[y]))
    return made


def among_all(scores: Array, present: Array, n_classes: int) -> Array:
    """Scores (points, m, ℓ) from those (points, m, ℓ') of the classes present; the others score −∞."""
    made = np.full((*scores.shape[:2], n_classes), -np.inf)
    made[:, :, present] = scores
    return made


def refit(
    machine: Any,
    A: Array,
    y: Array,
    n_classes: int,
    fold: Fold,
    points: Points,
    sample_weight: Array | None = None,
) -> Array:
    """Scores (points, |test|, ℓ) of a fold by brute force, one fit per point: what shortcuts are tested against."""
    train, test = fold
    of_train = None if sample_weight is None else sample_weight[train]
    present, codes = np.unique(y[train], return_inverse=True)
    scores = np.full((len(points), len(test), n_classes), -np.inf)
    if len(present) == 1:  # one class to learn from: it is the only answer
        scores[:, :, present] = 0.0
        return scores
    for i, point in enumerate(points):
        fitted = machine.at(point, present, n_classes)
        weights = fitted.training_weights(codes, range(len(present)), of_train)
        scores[i][:, present] = fitted._learn_and_score(A, codes, len(present), train, test, *weights)
    return scores


def point_key(point: Point) -> Hashable:
    """What tells a point from others: numbers by their value, arrays by what they hold, and objects by themselves.

    >>> point_key({"gamma": 1}) == point_key({"gamma": np.float64(1.0)})
    True
    >>> point_key({"labelbook": np.eye(2)}) == point_key({"labelbook": np.eye(2) + 1e-15})
    False
    """
    return tuple((name, _value_key(value)) for name, value in sorted(point.items()))


def _value_key(value: Any) -> Hashable:
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, list | tuple):
        return tuple(map(_value_key, value))
    if isinstance(value, Mapping):
        return frozenset((name, _value_key(of)) for name, of in value.items())
    if isinstance(value, Hashable):
        try:
            hash(value)  # a tuple in an object may hold what is not
            return value
        except TypeError:
            pass
    return "object", id(value)


def point_groups(points: Points, swept: Sequence[str]) -> Iterator[tuple[dict[str, Any], list[int]]]:
    """What is not swept, and the indices of the points that share these values of it."""
    groups: dict[Hashable, tuple[dict[str, Any], list[int]]] = {}
    for i, point in enumerate(points):
        shared = {name: value for name, value in point.items() if swept and name not in swept}
        groups.setdefault(point_key(shared), (shared, []))[1].append(i)
    yield from groups.values()
