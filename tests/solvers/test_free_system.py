"""Free sets that differ little, against a factor of each."""

import numpy as np

from mcls.solvers.qp.free_system import FreeSystem
from tests.solvers.corners import problem


def test_free_sets_that_differ_little_are_solved_by_borders_of_one_factor(monkeypatch):
    H, _ = problem("vowel", "alignment", 0.5)
    ridge, rng = np.full(len(H), 1e-3), np.random.default_rng(0)
    system, factors = FreeSystem(H, ridge), []
    keep = FreeSystem._keep
    monkeypatch.setattr(FreeSystem, "_keep", lambda self, f: (factors.append(len(f)), keep(self, f)))
    free = rng.random(len(H)) < 0.7
    for flips in (0, 1, 5, 0, 12, 3):
        free[rng.choice(len(H), flips, replace=False)] ^= True
        f = np.flatnonzero(free)
        for b in (rng.normal(size=len(f)), rng.normal(size=(len(f), 3))):
            expected = np.linalg.solve(H[np.ix_(f, f)] + np.diag(ridge[f]), b)
            np.testing.assert_allclose(system.solve(f, b), expected, atol=1e-8 * np.abs(expected).max())
    assert len(factors) == 1
    system.solve(f, b, fresh=True)
    assert len(factors) == 2
