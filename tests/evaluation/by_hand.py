"""Plain loops over fits, which the protocols are compared with."""

from __future__ import annotations

from itertools import product

import numpy as np

from mcls.machines.lsm import OneLSM

GRID = {"gamma": [0.25, 4.0], "sigma": [0.25, 1.0, 4.0]}


SMOOTHER = {"gamma": 1, "sigma": 1}


def fit_error(X, y, train, test, point):
    return np.mean(OneLSM(**point).fit(X[train], y[train]).predict(X[test]) != y[test])


def brute_search(X, y, folds):
    """Mean error of every point, and the chosen one: ties to the widest, then the smoothest."""
    errors = {
        (sigma, gamma): np.mean([fit_error(X, y, *f, {"sigma": sigma, "gamma": gamma}) for f in folds])
        for sigma, gamma in product(GRID["sigma"], GRID["gamma"])
    }
    best = min(errors, key=lambda p: (round(errors[p], 12), -p[0], -p[1]))
    return errors, {"sigma": best[0], "gamma": best[1]}
