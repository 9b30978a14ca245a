"""Problems of real data sets at the corners of the paper's grid."""

from itertools import product

import numpy as np

from mcls.data import load_dataset
from mcls.evaluation.scaling import to_range
from mcls.kernels import gaussian, squared_distances
from mcls.labelbooks import label_vectors
from mcls.solvers.qp import BoxQP

CORNERS = list(product((2.0**-4, 2.0**4), repeat=2))  # (σ, γ)


def problem(name, labelbook, sigma):
    """H (n, n) and Y (p, n) of a data set."""
    data = load_dataset(name)
    B = label_vectors(labelbook, len(data.classes))
    K = gaussian(squared_distances(to_range(data.X)), sigma)
    return K * (B.T @ B)[np.ix_(data.y, data.y)], B[:, data.y]


def solve_box_qp(H, gamma, *, start=None, **options):
    """One problem, set up and solved."""
    return BoxQP(H, **options).solve(gamma, start)
