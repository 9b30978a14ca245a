"""The binary machines behind the columns of a code: our least-squares machine, SVC, or any scikit-learn classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from mcls.errors import McLsError, unknown_name
from mcls.solvers import lsm
from mcls.solvers.multisvm_libsvm import fit_columns

Array = np.ndarray

BASES = ("lsm", "svc")
_TOL = 1e-3  # of LIBSVM: its default, with which the papers worked


def check_base(base: Any) -> None:
    """Refuse what is neither a known name nor a classifier."""
    if isinstance(base, str):
        if base not in BASES:
            raise unknown_name("binary machine", base, BASES)
    elif not (hasattr(base, "fit") and hasattr(base, "predict") and hasattr(base, "get_params")):
        raise McLsError(f"base is one of {', '.join(BASES)} or a scikit-learn classifier, got {base!r}")


class BinaryMachines:
    """One binary machine per column of targets T (n, l) in {−1, 0, +1}; a machine never sees its rows of target 0.

    The named bases work on kernel matrices: ``A`` below is K (n, n) to fit and K (m, n) to predict. A
    scikit-learn classifier works on features: ``A`` is X (n, d) and X (m, d).

    Parameters
    ----------
    base : {"lsm", "svc"} or scikit-learn classifier
        ``lsm`` solves (K + γI)α = t; ``svc`` is LIBSVM's soft-margin SVM with C.
    gamma, C : float
    """

    def __init__(self, base: Any, gamma: float = 1.0, C: float = 1.0) -> None:
        self.base, self.gamma, self.C = base, gamma, C

    def fit(self, A: Array, T: Array) -> BinaryMachines:
        """Train every column."""
        if isinstance(self.base, str):
            # Arrays, not fitted objects: a machine of these bases can be stored as numbers alone.
            if self.base == "lsm":
                self.alpha, self.intercept = fit_least_squares(A, T, self.gamma), np.zeros(T.shape[1])
            else:
                self.alpha, self.intercept = fit_columns(A, T, self.C, _TOL)
        else:
            used = [np.flatnonzero(t) for t in T.T]
            self.machines = [clone(self.base).fit(A[rows], t[rows]) for rows, t in zip(used, T.T, strict=True)]
        return self

    def outputs(self, A: Array) -> Array:
        """Real outputs F (m, l), positive for the side +1.

        A classifier without ``decision_function`` gives 2p − 1 from its probabilities, or else its ±1 itself.
        """
        if isinstance(self.base, str):
            return A @ self.alpha + self.intercept
        if hasattr(self.base, "decision_function"):
            columns = [m.decision_function(A) for m in self.machines]
        elif hasattr(self.base, "predict_proba"):
            return 2 * self.probabilities(A) - 1
        else:
            columns = [np.asarray(m.predict(A), dtype=float) for m in self.machines]
        return np.column_stack(columns)

    def probabilities(self, A: Array) -> Array:
        """Probability (m, l) of the side +1 by each machine."""
        return np.column_stack([m.predict_proba(A)[:, 1] for m in self.machines])


def fit_least_squares(K: Array, T: Array, gamma: float) -> Array:
    """Solve (K + γI)α = t for every column t of T (n, l) on the rows where it is not 0; α (n, l), 0 elsewhere.

    Columns that use the same rows share one factorisation: in a code without zeros, all of them.
    """
    alpha = np.zeros(T.shape)
    patterns, members = np.unique(T != 0, axis=1, return_inverse=True)
    for p, used in enumerate(patterns.T):
        columns, rows = np.flatnonzero(members.ravel() == p), np.flatnonzero(used)
        targets = T[np.ix_(rows, columns)].astype(float)
        K_used = K if len(rows) == len(K) else K[np.ix_(rows, rows)]
        alpha[np.ix_(rows, columns)] = lsm.fit(K_used, targets, gamma)
    return alpha
