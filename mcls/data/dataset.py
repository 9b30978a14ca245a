"""The small record every loader returns: features, class codes, names, and a fingerprint of them all."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, eq=False)
class Dataset:
    """A labelled table.

    Parameters
    ----------
    name : str
        The card's name, or the file's for a table of the user's own.
    X : ndarray of float64, shape (n, d)
        Features, NaN where one is missing; read-only: no step of an experiment can change what the next one sees.
    y : ndarray of int64, shape (n,)
        Class codes 0 … ℓ−1, indices into ``classes``.
    classes : tuple of str
        Class names; every one of them occurs in ``y``.
    feature_names : tuple of str
        One name per column of ``X``.
    options : mapping
        The options of the card that made this table (``{"rows": "train"}``).
    extra : mapping of str to ndarray
        Columns that are not features, one value per row (pixel positions, the source's own split).
    notes : tuple of str
        What the user should know of how the table was read; not part of the fingerprint.

    Examples
    --------
    >>> from mcls.data import load_dataset
    >>> iris = load_dataset("iris")
    >>> iris
    Dataset(iris: 150 × 4, 3 classes)
    >>> iris.counts
    {'setosa': 50, 'versicolor': 50, 'virginica': 50}
    """

    name: str
    X: NDArray[np.float64]
    y: NDArray[np.int64]
    classes: tuple[str, ...]
    feature_names: tuple[str, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    extra: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        # + 0.0 turns -0.0 into 0.0: equal values must have equal bytes, for the fingerprint's sake.
        X = np.ascontiguousarray(self.X, dtype=np.float64) + 0.0
        y = np.array(self.y, dtype=np.int64)
        if X.ndim != 2 or y.shape != (len(X),) or len(self.feature_names) != X.shape[1]:
            raise ValueError(f"X {X.shape}, y {y.shape} and {len(self.feature_names)} names do not fit together")
        if not np.array_equal(np.unique(y), np.arange(len(self.classes))):
            raise ValueError(f"y must use every code from 0 to {len(self.classes) - 1}")
        if any(len(column) != len(X) for column in self.extra.values()):
            raise ValueError("extra columns must have one value per row")
        for array in (X, y):
            array.flags.writeable = False
        object.__setattr__(self, "X", X)
        object.__setattr__(self, "y", y)

    def __repr__(self) -> str:
        return f"Dataset({self.name}: {self.n} × {self.d}, {self.n_classes} classes)"

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    @property
    def d(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])

    @property
    def n_classes(self) -> int:
        """Number of classes, the papers' ℓ."""
        return len(self.classes)

    @property
    def counts(self) -> dict[str, int]:
        """Rows a class, in the order of ``classes``."""
        per_code = np.bincount(self.y, minlength=self.n_classes)
        return {name: int(count) for name, count in zip(self.classes, per_code)}

    @cached_property
    def fingerprint(self) -> str:
        """sha256 over values, codes, class names, feature names and extra columns; the same on every platform.

        Numbers enter as little-endian 64-bit, names as JSON in UTF-8; name and options stay out, so two
        ways to the same table have the same fingerprint.
        """
        digest = hashlib.sha256()
        names = [list(self.classes), list(self.feature_names), sorted(self.extra)]
        digest.update(json.dumps([list(self.X.shape), *names], ensure_ascii=False).encode("utf-8"))
        digest.update(self.X.astype("<f8").tobytes())
        digest.update(self.y.astype("<i8").tobytes())
        for key in sorted(self.extra):
            digest.update(json.dumps(self.extra[key].tolist(), ensure_ascii=False).encode("utf-8"))
        return digest.hexdigest()

    def take_rows(self, rows: ArrayLike) -> Dataset:
        """Keep the rows of a boolean mask or an index array; classes left without a row disappear."""
        y = self.y[np.asarray(rows)]
        present, codes = np.unique(y, return_inverse=True)
        return replace(
            self,
            X=self.X[np.asarray(rows)],
            y=codes,
            classes=tuple(self.classes[code] for code in present),
            extra={key: column[np.asarray(rows)] for key, column in self.extra.items()},
        )

    def take_features(self, columns: ArrayLike) -> Dataset:
        """Keep the features of an index array, in its order."""
        kept = [int(column) for column in np.asarray(columns)]
        return replace(self, X=self.X[:, kept], feature_names=tuple(self.feature_names[j] for j in kept))
