"""All boxes of a grid: in lockstep, by faces and from OSQP's guess, against each problem solved alone."""

import numpy as np
import pytest

from mcls.solvers.qp import BoxQP, solve_grid
from tests.solvers.boxes import GAMMAS, assert_like_alone, class_problems, label_problem, thinned


@pytest.mark.parametrize("sigma", [2.0**-4, 0.5, 2.0, 2.0**4])
@pytest.mark.parametrize("solver", ["active-set", "osqp"])
def test_grid_of_unequal_classes_equals_each_problem_alone(solver, sigma):
    blocks = class_problems("glass", sigma)  # from 9 to 76 samples
    whole = [np.ones(len(H)) for H in blocks]
    folds = [thinned(len(H), 3) for H in blocks]
    found = solve_grid([BoxQP(H, solver=solver) for H in blocks], GAMMAS, whole, folds)
    for H, of_box, of_folds in zip(blocks, found, folds):
        assert len(of_box) == 3
        for of_fold, w in zip(of_box, of_folds):
            for gamma, result in zip(GAMMAS, of_fold):
                assert_like_alone(H, result, gamma * w)


@pytest.mark.parametrize("sigma", [0.25, 1.0, 8.0])
@pytest.mark.parametrize("solver", ["active-set", "osqp", "cvxpy"])
def test_grid_of_one_matrix_equals_each_problem_alone(solver, sigma):
    H, _ = label_problem("wine", "alignment", sigma)
    folds = thinned(len(H), 2)
    found = solve_grid([BoxQP(H, solver=solver)], GAMMAS[:3], [np.ones(len(H))], [folds])
    for of_fold, w in zip(found[0], folds):
        for gamma, result in zip(GAMMAS, of_fold):
            assert result.solver == {"osqp": "osqp+active-set"}.get(solver, solver)
            assert result.kkt_residual <= 1e-6
            if solver != "cvxpy":
                assert_like_alone(H, result, gamma * w)


def test_huge_gammas_are_certified_without_the_pull_of_the_ridge():
    blocks = class_problems("iris", 16.0)
    gammas = [2.0**10, 2.0**20]
    found = solve_grid(
        [BoxQP(H, solver="active-set") for H in blocks],
        gammas,
        [np.ones(len(H)) for H in blocks],
        [thinned(len(H), 2) for H in blocks],
    )
    assert max(r.kkt_residual for of_box in found for of_fold in of_box for r in of_fold) <= 1e-6


# Faces ------------------------------------------------------------------------------------------------------


# OSQP's guess -----------------------------------------------------------------------------------------------
