"""A sparse oneLSM: few rows decide everything (honeine2013, Sec. 9, future work)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from mcls.errors import McLsError
from mcls.kernels import COLUMN_KERNELS, KERNELS, KernelFunction
from mcls.machines.base import rows_per_block
from mcls.machines.kernel_machine import KernelMachine
from mcls.parameters import SCALE, Check, Choice, Positive, Whole
from mcls.solvers import lsm, sparse

Array = np.ndarray

AUTO = "auto"
# The most rows that are kept where the machine chooses how many, and the largest share of all.
_MOST, _SHARE = 500, 0.2
# Rows that are not kept are forgotten, and with them what their columns were like.
_KERNELS = tuple(name for name in KERNELS if name not in COLUMN_KERNELS)


def _check_kept(name: str, value: Any) -> None:
    if isinstance(value, str):
        if value != AUTO:
            raise McLsError(f"{name} is a number of rows, or '{AUTO}', got {value!r}")
    else:
        Whole(1, as_float=True)(name, value)


class SparseLSM(KernelMachine):
    """OneLSM on few rows, chosen one by one by the exact decrease of its objective.

    A model of m rows is m/n of the size of the full one, and predicts in m/n of its time. The rows are chosen
    greedily among all training rows, and all of these have their say in the fit (``mcls.solvers.sparse``); with every
    row kept it is :class:`~mcls.machines.lsm.OneLSM`. O(mn²) operations.

    Parameters
    ----------
    kernel, sigma, degree, coef0, gamma
        As in :class:`~mcls.machines.lsm.OneLSM`.
    n_kept : int or "auto"
        How many rows to keep. ``auto``: a fifth of all and 500 at most, as many as there are classes at least, and
        the fewest from which on the mean squared leave-one-out residual is within a quarter of a standard error of the
        smallest on the way.

    Attributes
    ----------
    chosen_ : array (m,)
        Places of the kept rows among the training rows, the most useful first.
    curve_ : array
        Leave-one-out error with 1, 2, … rows kept (``mcls plot sparsity MODEL`` draws it).
    beta_ : array (m, ℓ)
        Coefficients of the kept rows.
    n_rows_ : int
        Training rows.

    Examples
    --------
    >>> from mcls import SparseLSM
    >>> X, y = [[0.0], [0.2], [1.0], [1.2], [2.0], [2.2]], ["a", "a", "b", "b", "c", "c"]
    >>> machine = SparseLSM(sigma=0.5, gamma=0.1, n_kept=3).fit(X, y)
    >>> machine.predict([[0.1], [2.1]]), len(machine.chosen_)
    (array(['a', 'c'], dtype='<U1'), 3)
    """

    checks: ClassVar[Mapping[str, Check]] = {
        "kernel": Choice("kernel", _KERNELS, or_else=callable),
        "gamma": Positive(),
        "n_kept": _check_kept,
    }
    has_facts: ClassVar[bool] = True

    def __init__(
        self,
        kernel: str | KernelFunction = "gaussian",
        sigma: float | str = SCALE,
        degree: int = 3,
        coef0: float = 1.0,
        gamma: float = 1.0,
        n_kept: int | str = AUTO,
        calibration: str | None = None,
    ) -> None:
        self.kernel = kernel
        self.sigma = sigma
        self.degree = degree
        self.coef0 = coef0
        self.gamma = gamma
        self.n_kept = n_kept
        self.calibration = calibration

    def _fit(self, K: Array, y: Array, n_classes: int) -> None:
        n, Y = len(K), lsm.indicators(y, n_classes)
        automatic = self.n_kept == AUTO
        most = min(n, min(_MOST, max(n_classes, int(_SHARE * n))) if automatic else int(self.n_kept))
        path = sparse.forward(K, Y, self.gamma, most, patient=not automatic)
        if not len(path.rows):
            raise McLsError(
                "no row of this kernel matrix has a positive value with itself: there is nothing to keep"
            )
        m = len(path.rows)
        if automatic:
            m = min(m, max(n_classes, sparse.smallest_within(path.misses)))
        self.chosen_, self.curve_, self.n_rows_ = path.rows[:m], path.errors, n
        self.beta_ = sparse.coefficients(path, Y, self.gamma, m)

    def _scores(self, K: Array) -> Array:
        return K[:, self.chosen_] @ self.beta_

    def _fit_rows(self, X: Array, y: Array, n_classes: int, *w: Array) -> None:
        super()._fit_rows(X, y, n_classes, *w)
        if self.kernel != "precomputed":
            self.X_fit_ = self.X_fit_[self.chosen_]

    def _row_scores(self, X: Array) -> Array:
        if self.kernel == "precomputed":
            return self._scores(X)
        step = rows_per_block(len(self.X_fit_))
        blocks = [X[start : start + step] for start in range(0, len(X), step)]
        return np.concatenate([self._kernel(block, self.X_fit_) @ self.beta_ for block in blocks])

    def facts(self, X: Array, y: Array) -> dict[str, Any]:
        """How many rows are kept, and which share of all that is."""
        return {"kept": len(self.chosen_), "share": len(self.chosen_) / self.n_rows_}
