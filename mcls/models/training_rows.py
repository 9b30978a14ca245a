"""The rows that ``select`` and ``rank`` learn from: checked, sampled where they are many, split into folds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from mcls.errors import McLsError
from mcls.evaluation.folds import (
    Fold,
    given_folds,
    groups_of,
    make_folds,
    parse_folds,
    require_groups,
    row_groups,
)
from mcls.evaluation.protocols import (
    Rows,
    fewer_folds_note,
    hold_out_rows,
    partitions_of,
)
from mcls.evaluation.protocols.base import MOST_REPEATS
from mcls.evaluation.protocols.nested_folds import MOST_FOLDS
from mcls.evaluation.task import Prepare, named_weights
from mcls.machines.registry import get_machine
from mcls.seeds import derive, whole_seed

Array = np.ndarray
Say = Callable[[str], None]

#: With more rows than this, parameters are chosen on a stratified sample of so many, unless the machine has a way to
#: search many rows: a sweep by a decomposition costs 9n³ operations per width.
SWEEP_ROWS = 2500


@dataclass(frozen=True)
class TrainingRows:
    """The rows that are learned from, those of them that a search uses, and the folds of these."""

    table: Any  # X as it was given, with its column names if it has any
    X: Array
    codes: Array  # (n,)
    classes: Array  # (ℓ,)
    groups: Array | None  # (n,)
    weights: Array | None  # (n,)
    rows: Array  # of the search
    splits: list[Fold]  # of ``rows``, as positions among them
    inner_folds: Any
    given_folds: bool  # whether the user gave them as index arrays
    seed: int
    notes: list[str]
    say: Say | None
    prepare: Prepare | None = None  # of all rows; each outer fold of a nested error then prepares its features

    @classmethod
    def read(
        cls,
        X: Any,
        y: Any,
        *,
        folds: Any,
        seed: int,
        groups: Any,
        sample_weight: Any,
        say: Say | None,
        prepare: Prepare | None = None,
        most: Callable[[int], int] | None = None,
    ) -> TrainingRows:
        """Check what a user gave, draw a sample where there are many rows, and split it.

        ``most`` says how many of n rows the search can take; without it the rows do not depend on the machine.
        """
        table, seed = X, whole_seed(seed)
        X, y = validate_data(get_machine("oneLSM").create(), X, y, dtype=np.float64)
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise McLsError(f"at least two classes are needed; the data holds one: {str(classes[0])!r}")
        weights = named_weights(sample_weight, len(X), "weights of rows")
        notes: list[str] = []
        made = cls(table, X, codes, classes, None, weights, np.arange(len(X)), [], None, False, seed, notes, say)
        made = replace(made, prepare=prepare)
        folds = read_folds(folds)
        require_groups(folds, groups)
        groups = row_groups(X, codes, groups, made.note)
        rows = made.rows
        limit = SWEEP_ROWS if most is None else most(len(X))
        if len(X) > limit:
            rows = sample_rows(codes, limit, seed)
            made.note(f"parameters are chosen on a stratified sample of {len(rows)} of the {len(X)} rows")
        splits, inner_folds = _split(codes, rows, folds, seed, groups)
        for text in fewer_folds_note(Rows(codes[rows], groups_of(groups, rows)), folds):
            made.note(text)
        given = isinstance(folds, list)
        return replace(made, groups=groups, rows=rows, splits=splits, inner_folds=inner_folds, given_folds=given)

    def note(self, text: str) -> None:
        """Keep a note, and tell it; once, whoever makes it again."""
        if text in self.notes:
            return
        self.notes.append(text)
        if self.say is not None:
            self.say(text)

    def partitions(self, repeats: int) -> list[list[Fold]]:
        """The partitions of nested folds, the first being the folds of the search.

        None at all where those are not a partition of 3 to 100 parts (a list of your own, one row at a time): each then
        draws inner folds for itself.
        """
        if not isinstance(repeats, Integral) or isinstance(repeats, bool) or not 1 <= int(repeats) <= MOST_REPEATS:
            raise McLsError(f"repeats must be a whole number from 1 to {MOST_REPEATS}; got {repeats!r}")
        n, k = len(self.rows), len(self.splits)
        whole = len(partitions_of(self.splits)) == 1 and sum(len(test) for _, test in self.splits) == n
        if repeats > 1 and not (whole and isinstance(self.inner_folds, int) and 3 <= k <= MOST_FOLDS):
            raise McLsError(
                f"only 3 to {MOST_FOLDS} folds that are drawn at random can be repeated: give their number"
            )
        if not whole or not 3 <= k <= MOST_FOLDS:
            return []
        y, groups = self.codes[self.rows], groups_of(self.groups, self.rows)
        seeds = [derive(self.seed, "folds", i) for i in range(1, repeats)]
        return [self.splits, *(make_folds(y, self.inner_folds, seed, groups) for seed in seeds)]

    @property
    def weights_of_search(self) -> Array | None:
        """The weights of the rows that the search uses."""
        return None if self.weights is None else self.weights[self.rows]

    @property
    def prepare_searched(self) -> Prepare | None:
        """``prepare`` for the rows of the search, given as positions among them."""
        prepare, rows = self.prepare, self.rows
        return None if prepare is None else lambda train: prepare(rows[train])[rows]

    @property
    def n_independent(self) -> int:
        """How many rows the search uses, a group of rows counted once."""
        return len(self.rows if self.groups is None else np.unique(self.groups[self.rows]))


def sample_rows(codes: Array, size: int, seed: int) -> Array:
    """A seeded stratified sample of rows, in order."""
    return np.sort(hold_out_rows(codes, size / len(codes), derive(seed, "sample"), None)[0])


def read_folds(folds: Any) -> Any:
    """A number, ``loo``, ``logo`` or a splitter as it is, and any other collection as a list."""
    if isinstance(folds, np.integer):
        return int(folds)
    if not isinstance(folds, str):
        return list(folds) if isinstance(folds, Iterable) else folds
    try:
        return parse_folds(folds)
    except McLsError as error:
        raise McLsError(f"folds {error}") from None


def _split(codes: Array, rows: Array, folds: Any, seed: int, groups: Array | None) -> tuple[list[Fold], Any]:
    """Folds of the rows of a search, as positions among them, and what splits the training rows of each."""
    if not isinstance(folds, list):
        return make_folds(codes[rows], folds, derive(seed, "folds"), groups_of(groups, rows)), folds
    return given_folds(codes[rows], folds_among(rows, codes, folds)), 10


def folds_among(rows: Array, y: Array, folds: Any) -> list[Fold]:
    """Index pairs of all rows as positions among some of them; a pair that lacks one side there is left out.

    >>> folds_among(np.array([1, 2]), np.array([0, 0, 1]), [([0, 1], [2]), ([1, 2], [0])])
    [(array([0]), array([1]))]
    """
    place = np.full(len(y), -1)
    place[rows] = np.arange(len(rows))
    found = [tuple(place[part][place[part] >= 0] for part in pair) for pair in given_folds(y, folds)]
    return [(train, test) for train, test in found if len(train) and len(test)]
