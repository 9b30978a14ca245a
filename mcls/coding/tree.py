"""Discriminant ECOC: a binary tree of N − 1 dichotomies, each found by SFFS, as a coding matrix (Pujol et al. 2006)."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np

from mcls.coding.criteria import Criterion
from mcls.coding.sffs import sffs


class Dichotomy(NamedTuple):
    """One inner node of the tree: the classes on the side +1 and on the side −1."""

    left: tuple[int, ...]
    right: tuple[int, ...]


def discriminant_tree(n_classes: int, criterion: Criterion) -> list[Dichotomy]:
    """Divide the set of all classes by :func:`sffs`, then each part, until every part is one class.

    Returns the N − 1 dichotomies, the root first, breadth first.
    """
    waiting = deque([tuple(range(n_classes))])
    dichotomies = []
    while waiting:
        classes = waiting.popleft()
        if len(classes) < 2:
            continue
        left, right = sffs(classes, criterion)
        dichotomies.append(Dichotomy(left, right))
        waiting.extend((left, right))
    return dichotomies


def tree_matrix(dichotomies: list[Dichotomy], n_classes: int) -> np.ndarray:
    """Coding matrix (N, N − 1): one column per dichotomy, +1 left, −1 right, 0 for the classes it leaves out.

    >>> tree_matrix([Dichotomy((0,), (1, 2)), Dichotomy((1,), (2,))], 3)
    array([[ 1,  0],
           [-1,  1],
           [-1, -1]])
    """
    M = np.zeros((n_classes, len(dichotomies)), dtype=int)
    for s, (left, right) in enumerate(dichotomies):
        M[list(left), s], M[list(right), s] = 1, -1
    return M
