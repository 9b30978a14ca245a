"""How far a landmark machine is from the exact one."""

import numpy as np
import pytest

from mcls import OneLSM, select
from mcls.models.closeness import compare_with_exact
from tests.models.large import made_up


def test_a_landmark_machine_in_memory_says_how_far_it_is_from_the_exact_one():
    frame = made_up()
    X, y = frame[[f"f{j}" for j in range(5)]], frame["kind"]
    grid = {"sigma": [1.0], "gamma": [1.0]}
    told = select(X, y, "oneLSM:solver=nystrom,n_landmarks=40", grid, folds=4).notes
    assert sum("beside the exact machine on 940 rows" in note for note in told) == 1
    assert not any("beside" in note for note in select(X, y, grid=grid, folds=4).notes)


def test_closeness_is_complete_where_every_row_is_a_landmark():
    X = np.random.default_rng(0).normal(size=(120, 2))
    y, folds = (X[:, 0] > 0).astype(int), np.arange(120) % 3
    near = compare_with_exact(OneLSM(sigma=0.5, gamma=0.1), X, X, y, folds, 120)
    assert (near.agreement, near.rows) == (1.0, 120)
    assert near.explained == pytest.approx(1.0)
    assert compare_with_exact(OneLSM(sigma=0.5, gamma=0.1), X[:5], X, y, folds, 120).explained < 0.9
