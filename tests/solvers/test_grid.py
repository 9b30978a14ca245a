"""All boxes of a grid: in lockstep, by faces and from OSQP's guess, against each problem solved alone."""

import numpy as np
import pytest

from mcls.data import load_dataset
from mcls.evaluation.scaling import to_range
from mcls.kernels import gaussian, squared_distances
from mcls.labelbooks import label_vectors
from mcls.solvers.qp import BoxQP, grid, solve_grid
from mcls.solvers.qp.active_set import ActiveSet
from mcls.solvers.qp.faces import solve_by_faces
from mcls.solvers.qp.lockstep import Systems, solve_together
from mcls.solvers.qp.osqp_guess import Guess, leading_columns

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
            if solver != "cvxpy":
                assert_like_alone(H, result, gamma * w)


@pytest.mark.parametrize("sigma", [0.25, 1.0, 4.0])
def test_lockstep_ends_where_one_problem_alone_ends_from_any_start(sigma):
    H, _ = label_problem("vowel", "alignment", sigma)
    box, rng = BoxQP(H, solver="active-set"), np.random.default_rng(0)
    upper = thinned(len(H), 4) * np.array([0.1, 1.0, 4.0, 16.0])[:, None]
    beta, _ = solve_together(
        Systems([H], [box.active_set.ridge]), np.zeros(4, dtype=int), upper, rng.uniform(0, 2, upper.shape)
    )
    for b, u in zip(beta, upper):
        alone = box.solve(u)
        assert ((b == 0) == (alone.beta == 0)).all()
        np.testing.assert_allclose(H @ b, H @ alone.beta, atol=1e-10)


def test_what_lockstep_does_not_solve_is_solved_alone(monkeypatch):
    H, _ = label_problem("iris", "alignment", 1.0)
    monkeypatch.setattr(grid, "solve_together", lambda systems, block, upper, start: (upper / 2, block))
    weights = thinned(len(H), 2)
    found = solve_grid([BoxQP(H, solver="active-set")], GAMMAS, [np.ones(len(H))], [weights])
    for of_fold, w in zip(found[0], weights):
        for gamma, result in zip(GAMMAS, of_fold):
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


@pytest.mark.parametrize("labelbook", ["alignment", "consistency"])
@pytest.mark.parametrize("sigma", [0.25, 1.0])
def test_the_face_of_a_neighbour_gives_the_solution_that_multipliers_find(labelbook, sigma, monkeypatch):
    H, Y = label_problem("glass", labelbook, sigma)
    weights = thinned(len(H), 2)
    found = solve_grid([BoxQP(H, Y, solver="active-set")], GAMMAS, [np.ones(len(H))], [weights])
    monkeypatch.setattr("mcls.solvers.qp.active_set.solve_by_faces", lambda *problem: None)
    for of_fold, w in zip(found[0], weights):
        for gamma, result in zip(GAMMAS, of_fold):
            assert np.abs(Y @ result.beta).max() <= 1e-10 * result.beta.sum()
            assert_like_alone(H, result, gamma * w, Y)


def test_one_face_is_enough_where_the_start_is_on_it():
    H, Y = label_problem("wine", "alignment", 1.0)
    backend = BoxQP(H, Y, solver="active-set").active_set
    upper = np.full(len(H), 0.5)
    beta, nu, _ = backend.solve(upper, None, None)
    found = solve_by_faces(backend.system, backend.A, np.ones(len(H)), upper, beta)
    assert found is not None
    assert found[2] == 1
    np.testing.assert_allclose(found[0], beta, atol=1e-9)
    np.testing.assert_allclose(backend.U @ found[1], nu, atol=1e-8)


def test_a_face_that_leads_nowhere_is_given_up(monkeypatch):
    H, Y = label_problem("vowel", "alignment", 4.0)
    backend = BoxQP(H, Y, solver="active-set").active_set
    upper = np.full(len(H), 0.25)
    backend.solve(upper, None, None)
    start = np.where(np.random.default_rng(0).random(len(H)) < 0.5, 0.0, 0.125)
    assert solve_by_faces(backend.system, backend.A, np.ones(len(H)), upper, start) is None
    assert solve_by_faces(backend.system, backend.A, np.ones(len(H)), upper, np.zeros(len(H))) is None
    called = []
    plain = ActiveSet._multipliers
    monkeypatch.setattr(ActiveSet, "_multipliers", lambda self, *how: (called.append(1), plain(self, *how))[1])
    result = BoxQP(H, Y, solver="active-set").solve(upper, start)
    assert called
    assert result.kkt_residual <= 1e-6


# OSQP's guess -----------------------------------------------------------------------------------------------


def test_leading_columns_of_a_low_rank_matrix_are_the_matrix():
    V = np.random.default_rng(0).normal(size=(60, 5))
    columns = leading_columns(V @ V.T, 30, 1e-9)
    assert columns.shape == (60, 5)
    np.testing.assert_allclose(columns @ columns.T, V @ V.T, atol=1e-8)


@pytest.mark.parametrize("sigma", [0.25, 4.0])
def test_a_guess_decreases_the_objective_of_every_block(sigma):
    blocks = [
        label_problem("wine", "alignment", sigma)[0],
        *class_problems("iris", sigma),
    ]  # one large, three small
    guess = Guess(blocks)
    for gamma in (0.25, 4.0):
        uppers = [np.full(len(H), gamma) for H in blocks]
        for H, beta, upper in zip(blocks, guess.solve(uppers), uppers):
            assert ((beta >= 0) & (beta <= upper)).all()
            best = BoxQP(H, solver="active-set").solve(gamma).beta
            value, least = (0.5 * b @ H @ b - b.sum() for b in (beta, best))
            assert least - 1e-9 <= value <= 0.5 * least
