"""The binary machines behind the columns of a code: our least-squares machine, SVC, or any scikit-learn classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.svm import SVC

from mcls.errors import McLsError, unknown_name
from mcls.solvers import lsm

Array = np.ndarray

BASES = ("lsm", "svc")


def check_base(base: Any) -> None:
    """Refuse what is neither a known name nor a classifier."""
    if isinstance(base, str):
        if base not in BASES:
            raise unknown_name("binary machine", base, BASES)
    elif not (hasattr(base, "fit") and hasattr(base, "predict") and hasattr(base, "get_params")):
        raise McLsError(f"base is one of {', '.join(BASES)} or a scikit-learn classifier, got {base!r}")


class BinaryMachines:
    """One binary machine a column of targets T (n, l) in {−1, 0, +1}; a machine never sees its rows of target 0.

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
        if isinstance(self.base, str) and self.base == "lsm":
            self.alpha = fit_least_squares(A, T, self.gamma)  # (n, l)
            return self
        self.machines = []
        self.rows = [np.flatnonzero(t) for t in T.T]
        for rows, t in zip(self.rows, T.T, strict=True):
            if isinstance(self.base, str):
                # LIBSVM is deterministic without probability estimates; its cache is the memory of one column.
                machine = SVC(kernel="precomputed", C=self.C).fit(A[np.ix_(rows, rows)], t[rows])
            else:
                machine = clone(self.base).fit(A[rows], t[rows])
            self.machines.append(machine)
        return self

    def outputs(self, A: Array) -> Array:
        """Real outputs F (m, l), positive for the side +1.

        A classifier without ``decision_function`` gives 2p − 1 from its probabilities, or else its ±1 itself.
        """
        if isinstance(self.base, str):
            if self.base == "lsm":
                return A @ self.alpha
            columns = [m.decision_function(A[:, rows]) for m, rows in zip(self.machines, self.rows, strict=True)]
        elif hasattr(self.base, "decision_function"):
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
