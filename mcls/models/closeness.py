"""How far a landmark machine is from the exact one: both are cross-validated on the same few rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from mcls.evaluation.grid_result import GridResult
from mcls.machines.lsm import OneLSM
from mcls.models.passes import kernel_of
from mcls.models.training_rows import Say, TrainingRows
from mcls.seeds import derive
from mcls.solvers import inverse, lsm, nystrom

Array = np.ndarray

#: Rows that both machines are cross-validated on.
ROWS = 2000


class Closeness(NamedTuple):
    """What the two machines have in common on some rows.

    Attributes
    ----------
    rows : int
        How many they were compared on.
    agreement : float
        Share of the classes out of fold that are the same.
    error, exact_error : float
        Of the two machines, out of fold.
    explained : float
        Share of κ(x, x) that the landmarks span, on average over the rows: 1 where no digit is lost.
    """

    rows: int
    agreement: float
    error: float
    exact_error: float
    explained: float

    def __str__(self) -> str:
        return (
            f"beside the exact machine on {self.rows} rows: {100 * self.agreement:.1f} % of the classes out of fold "
            f"are the same, errors {100 * self.error:.2f} and {100 * self.exact_error:.2f} %; the landmarks span "
            f"{100 * self.explained:.1f} % of the kernel"
        )


def compare_with_exact(
    estimator: Any, Z: Array, X: Array, y: Array, folds: Array, n: int, w: Array | None = None
) -> Closeness:
    """Cross-validate a landmark machine and the exact one on the first rows of a sample.

    Parameters
    ----------
    estimator : OneLSM
        With the parameters that were chosen on n rows; its γ is taken in the same proportion to the rows here.
    Z : array (m, d)
        Landmarks.
    X, y, folds : arrays (s, d), (s,), (s,)
        A sample of the rows, their class codes, and the fold that tests each.
    n : int
        Rows that the machine was fitted to.
    w : array (s,), optional
        Weights in training.
    """
    X, y, folds, w = X[:ROWS], y[:ROWS], folds[:ROWS], None if w is None else w[:ROWS]
    ell, gamma = int(y.max()) + 1, estimator.gamma * len(X) / n
    kernel, Y = kernel_of(estimator), lsm.indicators(y, ell)
    tests = [np.flatnonzero(folds == f) for f in np.unique(folds)]
    splits = [(np.setdiff1d(np.arange(len(X)), test), test) for test in tests]
    K = kernel(X, X)
    exact = inverse.sweep(K, Y, tests, [gamma]) if w is None else lsm.sweep(K, Y, tests, [gamma], w=w)
    near = nystrom.sweep(kernel, X, Y, Z, splits, [gamma], block=1024, w=w)
    classes = np.empty((2, len(X)), dtype=np.intp)
    for (train, test), a, b in zip(splits, near, exact, strict=True):
        rows = np.bincount(y[train], None if w is None else w[train], minlength=ell).astype(float)
        classes[0, test], classes[1, test] = (estimator.decided(v[0], rows).argmax(axis=1) for v in (a, b))
    P = solve_triangular(nystrom.factor(kernel(Z, Z)), kernel(X, Z).T, lower=True, check_finite=False)
    own = np.concatenate([kernel(x[None], x[None])[0] for x in X])
    return Closeness(
        len(X),
        float((classes[0] == classes[1]).mean()),
        float((classes[0] != y).mean()),
        float((classes[1] != y).mean()),
        float(min(1.0, (P**2).sum() / own.sum())),
    )


def closeness_notes(estimator: Any, data: TrainingRows, found: GridResult, say: Say | None) -> list[str]:
    """How far a machine with landmarks is from the exact one, as a note; nothing of any other machine."""
    if type(estimator) is not OneLSM or not estimator.folds_together or len(estimator.X_fit_) >= len(data.X):
        return []
    folds = np.zeros(found.n_rows, dtype=np.intp)
    for f, test in enumerate(found.tests):
        folds[test] = f
    some = np.random.default_rng(derive(data.seed, "closeness")).permutation(found.n_rows)[:ROWS]
    rows = data.rows[some]
    codes = np.unique(data.codes[rows], return_inverse=True)[1]
    told = str(compare_with_exact(estimator, estimator.X_fit_, data.X[rows], codes, folds[some], len(data.X)))
    if say is not None:
        say(told)
    return [told]
