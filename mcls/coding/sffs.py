"""Sequential forward floating search over classes (arvanitopoulos, Algorithm 1; Pudil et al. 1994)."""

from __future__ import annotations

from collections.abc import Sequence

from mcls.coding.criteria import Criterion


def sffs(classes: Sequence[int], criterion: Criterion) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Split classes into the two disjoint sets with the largest criterion that the search meets.

    Algorithm 1 starts from X_0 = ∅ and X'_{N_c} = Y. A step of inclusion moves to X the class that makes
    J(X, X') largest; then, as long as moving a class back gives a J above that of the X_{k−1} known so far,
    it is moved back and becomes the new X_{k−1}. It ends when X holds every class.

    The algorithm as printed ends with the empty X'. What is wanted is the best pair it passed through: the
    (X_k, X'_{k'}) with the largest J over all steps with both sides non-empty. Of equal values the first in
    the order of the classes wins.

    J is symmetric and the search meets the same partition often, so each is evaluated once.

    The search ends: an exclusion to size j raises the J known for that size and leaves the smaller sizes alone,
    and size j is reached by inclusion again only after such a rise at a smaller size.

    Parameters
    ----------
    classes : class codes, at least two
    criterion : J(left, right)

    Returns
    -------
    left, right : tuples of class codes in the given order; ``left`` holds the first class.

    Examples
    --------
    >>> position = {0: 0.0, 1: 5.0, 2: 0.1}
    >>> def gap(left, right):
    ...     return min((abs(position[a] - position[b]) for a in left for b in right), default=0.0)
    >>> sffs([0, 1, 2], gap)
    ((0, 2), (1,))
    """
    classes = tuple(classes)
    everything = frozenset(classes)
    known: dict[frozenset[int], float] = {}

    def ordered(subset: frozenset[int]) -> tuple[int, ...]:
        return tuple(c for c in classes if c in subset)

    def value(subset: frozenset[int]) -> float:
        # One entry for a set and its complement: the side with the first class stands for both.
        side = subset if classes[0] in subset else everything - subset
        if side not in known:
            known[side] = criterion(ordered(side), ordered(everything - side))
        return known[side]

    X: frozenset[int] = frozenset()
    sets = {0: X}  # X_k for every size k met
    best, best_value = frozenset(classes[:1]), -float("inf")
    while len(X) < len(classes):
        # Step 1, inclusion
        X = max((X | {c} for c in classes if c not in X), key=value)
        sets[len(X)] = X
        if len(X) == len(classes):
            break
        if value(X) > best_value:
            best, best_value = X, value(X)
        # Step 2, conditional exclusion
        while True:
            smaller = max((X - {c} for c in classes if c in X), key=value)
            if not value(smaller) > value(sets[len(X) - 1]):
                break
            X = smaller
            sets[len(X)] = X
            if value(X) > best_value:
                best, best_value = X, value(X)
    left = best if classes[0] in best else everything - best
    return ordered(left), ordered(everything - left)
