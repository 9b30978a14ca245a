"""Problems with box constraints as grids have them, and what each gives when it is solved alone."""

import numpy as np

from mcls.data import load_dataset
from mcls.evaluation.scaling import to_range
from mcls.kernels import gaussian, squared_distances
from mcls.labelbooks import label_vectors
from mcls.solvers.qp import BoxQP

GAMMAS = [2.0**k for k in (2, -4, 0, 4, -2)]  # in no order


def kernel(name, sigma):
    data = load_dataset(name)
    return gaussian(squared_distances(to_range(data.X)), sigma), data.y


def label_problem(name, labelbook, sigma):
    K, y = kernel(name, sigma)
    B = label_vectors(labelbook, int(y.max()) + 1)
    return K * (B.T @ B)[np.ix_(y, y)], B[:, y]


def class_problems(name, sigma):
    K, y = kernel(name, sigma)
    return [K[np.ix_(y == c, y == c)] for c in range(int(y.max()) + 1)]


def thinned(n, k, seed=0):
    """Weights (k, n): a fifth of the samples left out, others of weight ½ to 1."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random((k, n)) < 0.2, 0.0, rng.uniform(0.5, 1.0, (k, n)))


def assert_like_alone(H, result, upper, A=None):
    alone = BoxQP(H, A, solver="active-set").solve(upper)
    assert result.kkt_residual <= 1e-6
    assert ((result.beta >= 0) & (result.beta <= upper)).all()
    np.testing.assert_allclose(H @ result.beta, H @ alone.beta, atol=1e-9)  # what a score depends on
