"""Many small problems in lockstep, against each problem solved alone."""

import numpy as np
import pytest

from mcls.solvers.qp import BoxQP, grid, solve_grid
from mcls.solvers.qp.lockstep import Systems, solve_together
from tests.solvers.boxes import GAMMAS, assert_like_alone, label_problem, thinned


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
