"""Splits of the rows, seeded and stratified by class where there is anything to draw; groups stay whole."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold, check_cv

from mcls.data.roles import check_groups
from mcls.errors import McLsError
from mcls.machines.sweeping import Fold
from mcls.terminal import counted

Array = np.ndarray


#: Instead of groups: rows with the same features are one group.
EQUAL_ROWS = "equal rows"
#: Instead of a number of folds: each row is a fold of its own.
LEAVE_ONE_OUT = "loo"
#: Instead of a number of folds: each group of rows is a fold of its own.
LEAVE_ONE_GROUP_OUT = "logo"


def parse_folds(text: Any) -> int | str:
    """Read a number of folds, ``loo`` or ``logo``.

    >>> parse_folds("10"), parse_folds("LOO"), parse_folds("logo")
    (10, 'loo', 'logo')
    """
    word = str(text).strip().lower()
    if word in (LEAVE_ONE_OUT, LEAVE_ONE_GROUP_OUT):
        return word
    if re.fullmatch(r"[0-9]{1,4}", word) and 2 <= int(word) <= 1000:
        return int(word)
    raise McLsError(
        "must be a number from 2 to 1000, loo to leave out one row at a time, or logo to leave out one group at a "
        f"time; got {text!r}"
    )


def make_folds(y: Array, k: Any, seed: int, groups: Array | None = None) -> list[Fold]:
    """The k folds of ``stratified_folds``, with k = ``"loo"`` one fold per row or per group of rows, with ``"logo"``
    one fold per group, which must be given, or those that ``given_folds`` takes.

    >>> [test.tolist() for _, test in make_folds(np.array([0, 1, 1]), "loo", seed=0)]
    [[0], [1], [2]]
    """
    if not isinstance(k, int | np.integer | str):
        return given_folds(y, k, groups)
    if k == LEAVE_ONE_GROUP_OUT:
        require_groups(k, groups)
    elif k != LEAVE_ONE_OUT:
        return stratified_folds(y, int(k), seed, groups)
    parts = np.arange(len(y)) if groups is None else np.unique(groups, return_inverse=True)[1]
    return _folds_of(parts, int(parts.max()) + 1)


def require_groups(folds: Any, groups: Any) -> None:
    """Refuse to leave out one group at a time where the user names no groups."""
    if isinstance(folds, str) and folds == LEAVE_ONE_GROUP_OUT and (groups is None or isinstance(groups, str)):
        raise McLsError("folds: logo leaves out one group at a time: name the column of the groups")


def given_folds(y: Array, folds: Any, groups: Array | None = None) -> list[Fold]:
    """The folds of a scikit-learn splitter, or a list of (train, test) row indices; they may overlap.

    >>> given_folds(np.array([0, 1, 1]), [([0, 1], [2])])
    [(array([0, 1]), array([2]))]
    """
    if folds is None:
        raise McLsError("folds is a number, 'loo', a scikit-learn splitter or a list of (train, test); got None")
    try:
        found = [
            (np.asarray(train), np.asarray(test))
            for train, test in check_cv(folds).split(np.zeros((len(y), 1)), y, groups)
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


def stratified_folds(y: Array, k: int, seed: int, groups: Array | None = None) -> list[Fold]:
    """Shuffled stratified k folds that never split a group; k is lowered to the size of the largest class.

    A class with fewer than k members is missing from some test folds, and one with a single member from one
    training fold: that is what cross-validation on such data means, and no reason to stop.

    ``groups`` (n,) holds the group of each row; the size of a class is then counted in groups. Groups of one row
    each give the folds that no groups give.
    """
    if k < 2:
        raise McLsError(f"cross-validation needs at least 2 folds, got {k}")
    k = min(k, largest_class(y, groups))
    if k < 2:
        raise McLsError(
            f"cross-validation needs a class with at least {members(2, groups)}; every class here has one"
            + (
                ""
                if groups is None
                else " (equal rows are one group, unless --split-equal-rows, in Python groups=None, lets them be split)"
            )
        )
    if groups is not None and len(np.unique(groups)) < len(y):
        return _folds_of(_spread_groups(y, groups, np.full(k, 1.0 / k), seed), k)
    splitter = StratifiedKFold(n_splits=k, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
        return list(splitter.split(np.zeros((len(y), 1)), y))


def stratified_halves(y: Array, seed: int, groups: Array | None = None) -> Fold:
    """Two stratified halves of the rows, for one replication of 5×2cv."""
    return stratified_folds(y, 2, seed, groups)[0]


def stratified_share(y: Array, groups: Array, train: float, seed: int) -> Fold:
    """A share of the rows for training and the rest for testing, each class in proportion, no group split."""
    parts = _spread_groups(y, groups, np.array([train, 1.0 - train]), seed)
    if len(np.unique(parts)) < 2:
        raise McLsError("too few different rows: nothing is left for training or for testing")
    return np.flatnonzero(parts == 0), np.flatnonzero(parts == 1)


def largest_class(y: Array, groups: Array | None = None) -> int:
    """How many rows, or how many groups, the class that has the most of them has.

    >>> largest_class(np.array([0, 0, 0, 1, 1])), largest_class(np.array([0, 0, 0, 1, 1]), np.array([7, 7, 7, 8, 9]))
    (3, 2)
    """
    classes = y if groups is None else np.unique(np.column_stack([y, groups]), axis=0)[:, 0]
    return int(np.bincount(classes).max())


def members(count: int, groups: Array | None) -> str:
    """A number of rows, or of groups of rows, in words."""
    return counted(count, "row") if groups is None else f"{counted(count, 'group')} of rows"


def equal_rows(X: Array) -> Array | None:
    """The group (n,) of each row, where rows with the same features are one group; None where all differ.

    >>> equal_rows(np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]])).tolist()
    [0, 1, 0]
    """
    known: dict[bytes, int] = {}
    rows = np.ascontiguousarray(X, dtype=np.float64) + 0.0  # -0.0 is 0.0
    groups = np.array([known.setdefault(row.tobytes(), len(known)) for row in rows])
    return groups if len(known) < len(rows) else None


def row_groups(X: Array, y: Array, groups: Any, note: Callable[[str], None]) -> Array | None:
    """The group (n,) of each row from what a user gave: ``EQUAL_ROWS``, None, or one value per row."""
    if groups is None:
        return None
    if isinstance(groups, str) and groups == EQUAL_ROWS:
        found = equal_rows(X)
        if found is not None:
            note(f"{count_equal_rows(y, found)}; equal rows are kept in one fold")
        return found
    return check_groups(groups, len(y), f"groups (or {EQUAL_ROWS!r}, or None)")


def groups_of(groups: Array | None, rows: Array) -> Array | None:
    """The groups of some rows, where there are groups."""
    return None if groups is None else groups[rows]


def count_equal_rows(y: Array, groups: Array) -> str:
    """How many rows repeat an earlier one of their group, in words.

    >>> count_equal_rows(np.array([0, 0, 1, 0]), np.array([0, 0, 0, 1]))
    '2 of 4 rows repeat the features of an earlier row, 1 of them with another class'
    """
    _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    other = int((y != y[first[inverse]]).sum())
    return (
        f"{len(y) - len(first)} of {len(y)} rows repeat the features of an earlier row, "
        f"{other or 'none'} of them with another class"
    )


def _folds_of(parts: Array, k: int) -> list[Fold]:
    """The fold of each row (n,) as index arrays."""
    rows = np.arange(len(parts))
    return [(rows[parts != i], rows[parts == i]) for i in range(k)]


def _spread_groups(y: Array, groups: Array, shares: Array, seed: int) -> Array:
    """The part (n,) of each row: every class spread over the parts by their shares as evenly as whole groups allow.

    Groups in random order, large ones first, each to the part where it adds least to χ² = Σ (O − E)² / E, with O
    the rows of a class in a part and E its due; among equals to the part with the fewest rows.
    """
    codes = np.unique(groups, return_inverse=True)[1]
    counts = np.zeros((codes.max() + 1, y.max() + 1))  # (groups, ℓ)
    np.add.at(counts, (codes, y), 1)
    total = counts.sum(axis=0)
    due = np.clip(np.outer(shares, total), 1, np.maximum(total - 1, 1))  # (parts, ℓ): a row of each class for each
    order = np.random.default_rng(seed).permutation(len(counts))
    order = order[np.argsort(-counts[order].sum(axis=1), kind="stable")]
    held = np.zeros_like(due)  # (parts, ℓ)
    part_of = np.empty(len(counts), dtype=np.int64)
    for g in order:
        rise = ((2 * (held - due) + counts[g]) / due) @ counts[g]  # (parts,)
        part_of[g] = np.argmin(rise + 1e-6 * held.sum(axis=1) / len(y))
        held[part_of[g]] += counts[g]
    return part_of[codes]


def class_half_split(y: Array, seed: int, groups: Array | None = None) -> Fold:
    """⌊n_c/2⌋ random rows of each class for training, the rest for testing (xue2013).

    Where groups of rows stay together, half of each class as nearly as they allow.

    >>> train, test = class_half_split(np.array([0, 0, 0, 1, 1]), seed=0)
    >>> len(train), len(test)
    (2, 3)
    """
    if groups is not None:
        return stratified_share(y, groups, 0.5, seed)
    rng = np.random.default_rng(seed)
    chosen = np.zeros(len(y), dtype=bool)
    for c in np.unique(y):
        rows = rng.permutation(np.flatnonzero(y == c))
        chosen[rows[: len(rows) // 2]] = True
    if not chosen.any():
        raise McLsError("a half split needs a class with at least 2 samples; every class here has one")
    return np.flatnonzero(chosen), np.flatnonzero(~chosen)
