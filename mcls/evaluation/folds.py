"""Splits of the rows, seeded and stratified by class where there is anything to draw."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold, check_cv

from mcls.errors import McLsError

Array = np.ndarray
Fold = tuple[Array, Array]  # (train, test) row indices


#: Instead of a number of folds: each row is a fold of its own.
LEAVE_ONE_OUT = "loo"


def parse_folds(text: Any) -> int | str:
    """Read a number of folds, or ``loo``.

    >>> parse_folds("10"), parse_folds("LOO")
    (10, 'loo')
    """
    word = str(text).strip().lower()
    if word == LEAVE_ONE_OUT:
        return LEAVE_ONE_OUT
    if re.fullmatch(r"[0-9]{1,4}", word) and 2 <= int(word) <= 1000:
        return int(word)
    raise McLsError(f"must be a number from 2 to 1000, or loo to leave out one row at a time; got {text!r}")


def make_folds(y: Array, k: Any, seed: int) -> list[Fold]:
    """The k folds of ``stratified_folds``, with k = ``"loo"`` one fold a row, or those that ``given_folds`` takes.

    >>> [test.tolist() for _, test in make_folds(np.array([0, 1, 1]), "loo", seed=0)]
    [[0], [1], [2]]
    """
    if not isinstance(k, int | np.integer | str):
        return given_folds(y, k)
    if k != LEAVE_ONE_OUT:
        return stratified_folds(y, int(k), seed)
    rows = np.arange(len(y))
    return [(np.delete(rows, i), rows[i : i + 1]) for i in rows]


def given_folds(y: Array, folds: Any) -> list[Fold]:
    """The folds of a scikit-learn splitter, or a list of (train, test) row indices; they may overlap.

    >>> given_folds(np.array([0, 1, 1]), [([0, 1], [2])])
    [(array([0, 1]), array([2]))]
    """
    if folds is None:
        raise McLsError("folds is a number, 'loo', a scikit-learn splitter or a list of (train, test); got None")
    try:
        found = [
            (np.asarray(train), np.asarray(test))
            for train, test in check_cv(folds).split(np.zeros((len(y), 1)), y)
        ]
    except (TypeError, ValueError) as error:
        told = " ".join(str(error).split())
        raise McLsError(f"folds={repr(folds)[:80]} does not split {len(y)} rows: {told[:200]}") from None
    if not found:
        raise McLsError("folds is an empty list; give at least one pair of training and test rows")
    for i, (train, test) in enumerate(found):
        are_rows = all(
            rows.ndim == 1 and len(rows) and rows.dtype.kind in "iu" and 0 <= rows.min() and rows.max() < len(y)
            for rows in (train, test)
        )
        if not are_rows or len(np.intersect1d(train, test)):
            raise McLsError(
                f"fold {i} must be two lists of row numbers from 0 to {len(y) - 1}, training and test, "
                "with a row in each and none in both"
            )
    return found


def stratified_folds(y: Array, k: int, seed: int) -> list[Fold]:
    """Shuffled stratified k folds; k is lowered to the size of the largest class where that is smaller.

    A class with fewer than k members is missing from some test folds, and one with a single member from one
    training fold: that is what cross-validation on such data means, and no reason to stop.
    """
    if k < 2:
        raise McLsError(f"cross-validation needs at least 2 folds, got {k}")
    k = min(k, int(np.bincount(y).max()))
    if k < 2:
        raise McLsError("cross-validation needs a class with at least 2 samples; every class here has one")
    splitter = StratifiedKFold(n_splits=k, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
        return list(splitter.split(np.zeros((len(y), 1)), y))


def stratified_halves(y: Array, seed: int) -> Fold:
    """Two stratified halves of the rows, for one replication of 5×2cv."""
    return stratified_folds(y, 2, seed)[0]


def class_half_split(y: Array, seed: int) -> Fold:
    """⌊n_c/2⌋ random rows of each class for training, the rest for testing (xue2013).

    >>> train, test = class_half_split(np.array([0, 0, 0, 1, 1]), seed=0)
    >>> len(train), len(test)
    (2, 3)
    """
    rng = np.random.default_rng(seed)
    chosen = np.zeros(len(y), dtype=bool)
    for c in np.unique(y):
        rows = rng.permutation(np.flatnonzero(y == c))
        chosen[rows[: len(rows) // 2]] = True
    if not chosen.any():
        raise McLsError("a half split needs a class with at least 2 samples; every class here has one")
    return np.flatnonzero(chosen), np.flatnonzero(~chosen)
