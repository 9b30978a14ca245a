"""Classes of given sizes, and every value of their pairs against a fit to the training rows."""

from __future__ import annotations

import numpy as np

from mcls.kernels import gaussian, squared_distances
from mcls.solvers import one_vs_one

GAMMAS = [2.0**-12, 0.1, 3.0]


COUNTS = [[40, 30], [37, 5, 22, 11], [12] * 5]


SIGMAS = [0.05, 0.6, 20.0]


def made(counts, sigma):
    rng = np.random.default_rng(len(counts))
    y = rng.permutation(np.repeat(np.arange(len(counts)), counts))
    X = rng.standard_normal((len(counts), 3))[y] + 0.5 * rng.standard_normal((len(y), 3))
    return y, gaussian(squared_distances(X), sigma)


def assert_equals_fits(K, y, tests, w=None, gammas=GAMMAS):
    n, ell = len(y), int(y.max()) + 1
    mix = np.random.default_rng(1).standard_normal((ell * (ell - 1) // 2, ell))  # every value counts, by itself
    found = one_vs_one.sweep(K, y, ell, tests, gammas, lambda values, _: np.moveaxis(values, 0, -1) @ mix, w)
    for test, of_fold in zip(tests, found, strict=True):
        train = np.setdiff1d(np.arange(n), test)
        of_train = None if w is None else w[train]
        for gamma, scores in zip(gammas, of_fold, strict=True):
            alpha = one_vs_one.fit_pairs(K[np.ix_(train, train)], y[train], ell, gamma, of_train)
            expected = K[np.ix_(test, train)] @ alpha @ mix
            np.testing.assert_allclose(scores, expected, rtol=1e-7, atol=1e-7 * np.abs(expected).max(initial=0.0))
