"""The learned metric: its gradients, and the distances that it keeps."""

import numpy as np
import pytest

from mcls import RFM
from mcls.kernels import COLUMN_KERNELS, RADIAL, kernel_matrix, squared_distances
from mcls.solvers.metric import gradients, outer_products, transform

KERNELS = [name for name in RADIAL if name not in COLUMN_KERNELS]


def corner(n=300, d=10, seed=0):
    """Three classes that the columns 0 and 3 decide, among d."""
    X = np.random.default_rng(seed).uniform(-1, 1, size=(n, d))
    return X, (X[:, 0] * X[:, 3] > 0).astype(int) + (X[:, 3] > 0.5)


@pytest.mark.parametrize("shape", [(4,), (4, 2)], ids=str)
@pytest.mark.parametrize("kernel", KERNELS)
def test_gradients_equal_finite_differences(kernel, shape):
    rng = np.random.default_rng(1)
    X, new, S, alpha = (rng.normal(size=size) for size in ((30, 4), (7, 4), shape, (30, 3)))
    Z = transform(X, S)
    found = gradients(kernel, 1.3, transform(new, S), Z, S, alpha)  # (7, 3, 4)

    def f(rows):
        return kernel_matrix(transform(rows, S), Z, kernel=kernel, sigma=1.3) @ alpha

    step = 1e-5 * np.eye(4)
    expected = np.stack([(f(new + h) - f(new - h)) / 2e-5 for h in step], axis=2)
    assert np.allclose(found, expected, atol=1e-8 * np.abs(expected).max())
    own = gradients(kernel, 1.3, Z, Z, S, alpha)
    A = outer_products(kernel, 1.3, Z, S, alpha, diagonal=False)
    assert np.allclose(A, np.einsum("icj,ick->jk", own, own) / 30)
    assert np.allclose(outer_products(kernel, 1.3, Z, S, alpha, diagonal=True), A.diagonal())


def test_a_metric_keeps_the_mean_squared_distance():
    X, y = corner()
    machine = RFM(metric="low-rank").fit(X, y)
    assert squared_distances(machine.Z_fit_).mean() == pytest.approx(squared_distances(X).mean())
