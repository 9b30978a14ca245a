"""What a solved system says of the digits that its folds lose."""

import numpy as np

from mcls.solvers.solved import solve_each
from mcls.solvers.spectrum import Spectrum


def test_what_loses_its_digits_is_nan():
    A = np.diag([1e9, 1.0, 1.0, 1.0])
    spectrum = Spectrum.of(A)
    assert spectrum.keeps_digits(np.array([0.1, 1e3, -1.0])).tolist() == [False, True, False]
    # K + γI is invertible and so is every fold's own system but that without row 0, which is zero.
    A = np.array([[1.0, 1.0], [1.0, -0.5]])
    spectrum, shifts = Spectrum.of(A), np.array([0.5])
    assert spectrum.keeps_digits(shifts).all()
    ((_, solved),) = spectrum.solved(shifts, np.ones((2, 1)), [np.array([0]), np.array([1])])
    e = solved.left_out(np.array([[0], [1]]))
    assert np.isnan(e[0, 0]).all()
    assert np.allclose(e[0, 1], 1 / 3)  # 1 − A₁₀/A₀₀ with the shift


def test_a_singular_system_leaves_the_others_their_solution():
    blocks = np.array([[[0.0]], [[2.0]], [[-4.0]]])
    found = solve_each(blocks, np.ones((3, 1, 1)), definite=False)
    assert np.isnan(found[0]).all()
    assert found[1:].ravel().tolist() == [0.5, -0.25]
