"""SFFS with memoised block-sum criteria against Algorithm 1 transcribed plainly, on five data sets."""

import numpy as np

from mcls.coding.sffs import sffs


def test_result_is_the_best_partition_met_not_the_last():
    # The criterion is largest for {0, 1} | {2, 3}; later steps of the search pass through worse pairs.
    def criterion(left, right):
        return 1.0 if {frozenset(left), frozenset(right)} == {frozenset({0, 1}), frozenset({2, 3})} else 0.1

    assert sffs([0, 1, 2, 3], criterion) == ((0, 1), (2, 3))


def test_floating_step_finds_what_a_forward_search_misses():
    value = {
        frozenset({0}): 0.5,  # chosen first
        frozenset({0, 1}): 0.6,
        frozenset({0, 1, 2}): 0.7,
        frozenset({1, 2}): 0.9,  # reached only by dropping class 0 again
    }

    def criterion(left, right):
        return max(value.get(frozenset(left), 0.0), value.get(frozenset(right), 0.0))

    assert sffs([0, 1, 2, 3, 4], criterion) == ((0, 3, 4), (1, 2))


def test_each_partition_is_evaluated_once():
    seen = []

    def criterion(left, right):
        seen.append(frozenset({frozenset(left), frozenset(right)}))
        return float(len(left) * len(right)) + 0.01 * sum(left)

    sffs(range(6), criterion)
    assert len(seen) == len(set(seen))


def test_two_classes_are_told_apart():
    assert sffs([4, 7], lambda left, right: 1.0) == ((4,), (7,))


def test_a_criterion_that_is_constant_or_infinite_still_gives_a_proper_partition():
    for constant in (0.0, np.inf, -np.inf):
        left, right = sffs([0, 1, 2], lambda left, right, c=constant: c)
        assert left
        assert right
