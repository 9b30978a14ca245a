"""Coding matrices M ∈ {−1, 0, +1}^{k×l}: row r is the codeword of class r, column s a binary problem.

An entry 0 means that problem s leaves the class out (keshet2014, Sec. 1.3; Allwein et al. 2000).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import combinations, product
from pathlib import Path

import numpy as np

from mcls.errors import McLsError, unknown_name
from mcls.files import write_atomic

Array = np.ndarray

#: Beyond this many classes the exhaustive code (2^(k−1) − 1 columns) is refused.
MAX_EXHAUSTIVE_CLASSES = 11

#: Random matrices drawn for one random code; the one with the best separated rows is kept.
N_DRAWS = 500


def one_vs_all(n_classes: int) -> Array:
    """+1 on the diagonal, −1 elsewhere (keshet2014, Sec. 1.1); two classes need one column only.

    >>> one_vs_all(3)
    array([[ 1, -1, -1],
           [-1,  1, -1],
           [-1, -1,  1]])
    """
    M = 2 * np.eye(n_classes, dtype=int) - 1
    return M[:, :1] if n_classes == 2 else M


def all_pairs(n_classes: int) -> Array:
    """One column per pair r₁ < r₂: +1 in row r₁, −1 in row r₂, 0 elsewhere (keshet2014, Sec. 1.2).

    >>> all_pairs(3)
    array([[ 1,  1,  0],
           [-1,  0,  1],
           [ 0, -1, -1]])
    """
    pairs = list(combinations(range(n_classes), 2))
    M = np.zeros((n_classes, len(pairs)), dtype=int)
    for s, (first, second) in enumerate(pairs):
        M[first, s], M[second, s] = 1, -1
    return M


def exhaustive(n_classes: int) -> Array:
    """Every bipartition of the classes once: 2^(k−1) − 1 columns (Dietterich and Bakiri 1995).

    >>> exhaustive(3)
    array([[ 1,  1,  1],
           [ 1, -1, -1],
           [-1,  1, -1]])
    """
    if n_classes > MAX_EXHAUSTIVE_CLASSES:
        raise McLsError(
            f"the exhaustive code of {n_classes} classes has {2 ** (n_classes - 1) - 1} columns; "
            f"it is offered up to {MAX_EXHAUSTIVE_CLASSES} classes: take 'dense-random' instead"
        )
    # The first class is always +1, which leaves out complements; the other signs count in binary.
    codes = np.arange(1, 2 ** (n_classes - 1))
    bits = (codes[None, :] >> np.arange(n_classes - 1)[::-1, None]) & 1  # (k−1, l)
    return np.vstack([np.ones((1, len(codes)), dtype=int), 1 - 2 * bits])


def dense_random(n_classes: int, random_state: int = 0) -> Array:
    """⌈10 log₂ k⌉ columns of fair ±1 (Allwein et al. 2000), the best separated of ``N_DRAWS`` draws.

    No column is constant, repeated or the complement of another; where fewer such columns exist than are
    asked for, the code is the exhaustive one.
    """
    available = 2 ** (n_classes - 1) - 1
    n_columns = int(np.ceil(10 * np.log2(n_classes)))
    if n_columns >= available:
        return exhaustive(n_classes)
    return _best_draw(n_classes, n_columns, (-1, 1), random_state)


def sparse_random(n_classes: int, random_state: int = 0) -> Array:
    """⌈15 log₂ k⌉ columns, 0 with probability ½ and ±1 with ¼ each (Allwein et al. 2000), best of ``N_DRAWS``.

    Every column has both signs, none is repeated or the complement of another, and any two rows have
    opposite signs somewhere; where fewer columns exist than are asked for, all of them are taken.
    """
    available = (3**n_classes - 2 ** (n_classes + 1) + 1) // 2
    n_columns = int(np.ceil(15 * np.log2(n_classes)))
    if n_columns >= available:
        columns = [
            c for c in product((1, 0, -1), repeat=n_classes) if {1, -1} <= {*c} and next(filter(None, c)) == 1
        ]
        return np.array(columns).T
    return _best_draw(n_classes, n_columns, (-1, 0, 0, 1), random_state)


def row_separation(M: Array) -> float:
    """Smallest distance between two rows: Δ(u, v) = Σ_s (1 − u_s v_s)/2, a zero counting ½ (Allwein et al.)."""
    distances = (M.shape[1] - M @ M.T) / 2
    return float(distances[np.triu_indices(len(M), 1)].min())


def _told_apart(M: Array) -> Array:
    """Number of columns (k, k) in which two rows have opposite signs."""
    agree = M @ M.T  # same signs minus opposite signs
    both = np.abs(M) @ np.abs(M).T  # same signs plus opposite signs
    return (both - agree) // 2


@lru_cache(maxsize=64)  # cross-validation asks for the same code again and again
def _best_draw(n_classes: int, n_columns: int, entries: tuple[int, ...], random_state: int) -> Array:
    """Among seeded random matrices with all rows told apart, the one with the largest row separation."""
    rng = np.random.default_rng(random_state)
    off_diagonal = np.triu_indices(n_classes, 1)
    best, best_separation = None, -np.inf
    drawn = 0
    while drawn < N_DRAWS or best is None:
        drawn += 1
        M = _draw(rng, n_classes, n_columns, np.array(entries))
        separation = row_separation(M)
        if separation > best_separation and _told_apart(M)[off_diagonal].min() > 0:
            best, best_separation = M, separation
    best.flags.writeable = False  # it is shared by everyone who asks
    return best


def _draw(rng: np.random.Generator, n_classes: int, n_columns: int, entries: Array) -> Array:
    """One random matrix whose columns all have both signs and differ from one another, also up to the sign."""
    pool = np.empty((0, n_classes), dtype=int)  # candidate columns, as rows
    while True:
        batch = entries[rng.integers(len(entries), size=(3 * n_columns, n_classes))]
        pool = np.vstack([pool, batch[(batch.max(axis=1) == 1) & (batch.min(axis=1) == -1)]])
        leading = pool[np.arange(len(pool)), (pool != 0).argmax(axis=1)]
        # Turned so that its first entry is +1, a column equals its complement; the first of equals is kept.
        _, first = np.unique(pool * leading[:, None], axis=0, return_index=True)
        if len(first) >= n_columns:
            return pool[np.sort(first)[:n_columns]].T


CODINGS: dict[str, Callable[[int, int], Array]] = {
    "one-vs-all": lambda k, seed: one_vs_all(k),
    "all-pairs": lambda k, seed: all_pairs(k),
    "dense-random": dense_random,
    "sparse-random": sparse_random,
    "exhaustive": lambda k, seed: exhaustive(k),
}
_WITH_ZEROS = ("all-pairs", "sparse-random")


def has_zeros(coding: str | Array) -> bool:
    """Whether some column of a code leaves classes out; those by name may for more than two classes."""
    return coding in _WITH_ZEROS if isinstance(coding, str) else not np.asarray(coding).all()


def coding_matrix(coding: str | Array, n_classes: int, random_state: int = 0) -> Array:
    """Coding matrix (k, l) by name, or the user's own matrix, checked.

    >>> coding_matrix("all-pairs", 2)
    array([[ 1],
           [-1]])
    """
    if isinstance(coding, str):
        if coding not in CODINGS:
            raise unknown_name("coding", coding, CODINGS)
        return CODINGS[coding](n_classes, random_state)
    return check_matrix(coding, n_classes)


def check_matrix(M: Array, n_classes: int | None = None) -> Array:
    """Check a user's coding matrix and return it as integers.

    It needs one row per class, entries in {−1, 0, +1}, both signs in every column, and for any two classes a
    column that puts them on opposite sides.
    """
    values = np.asarray(M)
    if values.ndim != 2 or 0 in values.shape:
        raise McLsError(
            f"a coding matrix has one row per class and one column per binary problem; got shape {values.shape}"
        )
    if n_classes is not None and len(values) != n_classes:
        raise McLsError(f"the coding matrix has {len(values)} rows, the data {n_classes} classes")
    if not np.isin(values, (-1, 0, 1)).all():
        wrong = values[~np.isin(values, (-1, 0, 1))][0]
        raise McLsError(f"the entries of a coding matrix are -1, 0 and +1; found {wrong}")
    checked = values.astype(int)
    one_sided = np.flatnonzero((checked.max(axis=0) < 1) | (checked.min(axis=0) > -1))
    if len(one_sided):
        raise McLsError(f"column {one_sided[0] + 1} of the coding matrix has no class on one of its two sides")
    apart = _told_apart(checked) + np.eye(len(checked), dtype=int)
    if (apart == 0).any():
        first, second = np.argwhere(apart == 0)[0]
        raise McLsError(f"no column of the coding matrix tells rows {first + 1} and {second + 1} apart")
    return checked


def write_csv(path: Path | str, M: Array, class_names: Sequence[str] | None = None) -> None:
    """Write a coding matrix: header ``class,h1,...,hl``, then one row per class."""
    names = [str(r) for r in range(len(M))] if class_names is None else [str(name) for name in class_names]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["class", *(f"h{s + 1}" for s in range(M.shape[1]))])
    writer.writerows([name, *(int(entry) for entry in row)] for name, row in zip(names, M, strict=True))
    write_atomic(path, text.getvalue())


def read_csv(path: Path | str) -> tuple[Array, list[str]]:
    """Read a coding matrix written by :func:`write_csv` (or by hand): the matrix (k, l) and the class names."""
    with open(path, newline="", encoding="utf-8") as stream:
        header, *rows = [row for row in csv.reader(stream) if row] or [[]]
    if not header or header[0] != "class" or any(len(row) != len(header) for row in rows):
        raise McLsError(
            f"{path}: a coding matrix needs the header class,h1,...,hl and as many entries in every row"
        )
    try:
        M = np.array([[float(entry) for entry in row[1:]] for row in rows])
    except ValueError as error:
        raise McLsError(f"{path}: {error}") from None
    return check_matrix(M), [row[0] for row in rows]
