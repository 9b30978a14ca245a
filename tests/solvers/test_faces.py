"""The face of a solution, against multipliers and each problem solved alone."""

import numpy as np
import pytest

from mcls.solvers.qp import BoxQP, solve_grid
from mcls.solvers.qp.active_set import ActiveSet
from mcls.solvers.qp.faces import solve_by_faces
from tests.solvers.boxes import GAMMAS, assert_like_alone, label_problem, thinned


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
