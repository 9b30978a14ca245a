"""The objective of a quadratic programme, and matrices to try it on."""

import numpy as np


def objective(H, beta):
    return 0.5 * beta @ H @ beta - beta.sum()


def random_psd(seed, n, rank):
    V = np.random.default_rng(seed).normal(size=(n, rank))
    return V @ V.T
