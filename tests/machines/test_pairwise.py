"""One machine for each pair of classes, and their vote."""

import numpy as np

from mcls import OneLSM, OvOLSM
from tests.machines.problems import load


def test_ovo_is_the_vote_of_pairwise_machines():
    X, y = load("glass")
    machine = OvOLSM(sigma=0.5, gamma=0.5).fit(X, y)
    votes = np.zeros((len(X), 6))
    for a in range(6):
        for b in range(a + 1, 6):
            rows = (y == a) | (y == b)
            pair = OneLSM(sigma=0.5, gamma=0.5, labelbook="pm1").fit(X[rows], y[rows])
            votes[np.arange(len(X)), pair.predict(X)] += 1
    chosen = machine.predict(X)
    assert (votes[np.arange(len(X)), chosen] == votes.max(axis=1)).all()
