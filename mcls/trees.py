"""Trees of classes as labels: classes that share branches have label vectors with a large inner product.

A tree comes as nested lists and dictionaries (from YAML), or as text in the Newick format, ``((a,b),c);``. The label
vector of a class has an entry for itself and one for each inner branch above it: the inner product of two classes grows
with the number of branches they share (a kernel on labels, honeine2013, Sec. 7.2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mcls.errors import McLsError, unknown_name

Array = np.ndarray
_DEEPEST = 100


def read_tree(path: Path | str) -> Any:
    """A tree from a file: Newick where it ends in ``;``, YAML otherwise."""
    try:
        text = Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise McLsError(f"{path} cannot be read as a tree: {error}") from None
    if text.endswith(";"):
        return parse_newick(text)
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise McLsError(
            f"{path} is neither YAML nor Newick (which ends in ';'): {str(error).splitlines()[0]}"
        ) from None


def parse_newick(text: str) -> Any:
    """A tree as nested lists; lengths of branches and names of inner nodes are left out.

    >>> parse_newick("((cat,dog)pets:2,fish);")
    [['cat', 'dog'], 'fish']
    """
    stack: list[list[Any]] = [[]]
    word = ""
    closed = False  # the word that follows is the name of an inner node
    for sign in text.strip().removesuffix(";"):
        if sign not in "(),":
            word += sign
            continue
        name, word = word.split(":")[0].strip().strip("'"), ""
        if name and not closed:
            stack[-1].append(name)
        closed = sign == ")"
        if sign == "(":
            stack.append([])
        elif sign == ")":
            if len(stack) < 2:
                raise McLsError("a Newick tree closes a bracket that it did not open")
            stack[-2].append(stack.pop())
    name = word.split(":")[0].strip().strip("'")
    if name and not closed:
        stack[-1].append(name)
    if len(stack) != 1:
        raise McLsError("a Newick tree opens a bracket that it does not close")
    return stack[0][0] if len(stack[0]) == 1 else stack[0]


def tree_labels(tree: Any, classes: Sequence[Any], share: float = 0.5) -> Array:
    """Label vectors B (p, ℓ) of unit length, one column per class in the order given, for ``labelbook=``.

    Parameters
    ----------
    tree : nested lists or dictionaries
        Its leaves are the classes, each once. Names of inner branches (the keys of dictionaries) mean nothing.
    classes : list
        Names of the classes in the order of ``classes_``: sorted.
    share : float
        How much of the squared length of a label is that of its inner branches, from 0 (indicators) to below 1.

    Examples
    --------
    >>> B = tree_labels([["cat", "dog"], "fish"], ["cat", "dog", "fish"])
    >>> (B.T @ B).round(2).tolist()
    [[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share < 1:
        raise McLsError(f"share must be a number from 0 to below 1, got {share!r}")
    paths: dict[str, list[int]] = {}
    counter = [0]
    _walk(tree, [], paths, counter)
    names = [str(name) for name in classes]
    for name in paths:
        if name not in names:
            raise unknown_name("class in the tree", name, names)
    missing = [name for name in names if name not in paths]
    if missing:
        raise McLsError(f"the tree has no leaf for the class {missing[0]!r}")
    B = np.zeros((len(names) + counter[0], len(names)))
    for c, name in enumerate(names):
        above = paths[name]
        B[c, c] = np.sqrt(1 - share) if above else 1.0
        for branch in above:
            B[len(names) + branch, c] = np.sqrt(share / len(above))
    return B[np.abs(B).sum(axis=1) > 0]


def _walk(node: Any, above: list[int], paths: dict[str, list[int]], counter: list[int], depth: int = 0) -> None:
    if depth > _DEEPEST:
        raise McLsError(f"a tree of classes has at most {_DEEPEST} levels")
    children = list(node.values()) if isinstance(node, Mapping) else node
    if isinstance(children, list | tuple):
        for child in children:
            inner = isinstance(child, Mapping | list | tuple)
            counter[0] += inner
            _walk(child, [*above, counter[0] - 1] if inner else above, paths, counter, depth + 1)
        return
    name = str(node)
    if node is None or name in paths:
        raise McLsError("a leaf of the tree has no name" if node is None else f"the tree has two leaves {name!r}")
    paths[name] = above
