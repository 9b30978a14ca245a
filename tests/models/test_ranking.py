"""Machines ranked by their errors, and the test between the best two."""

from __future__ import annotations

import numpy as np
from sklearn.model_selection import StratifiedKFold

from mcls.data import load_dataset
from mcls.evaluation.scaling import to_range
from mcls.models import ranking

IRIS = load_dataset("iris")
X = to_range(IRIS.X) + 1e-9 * np.arange(150)[:, None]  # no two rows are equal
Y = np.array(IRIS.classes)[IRIS.y]
GRID = {"gamma": [0.01, 1.0], "sigma": [0.3, 1.0, 3.0]}


def test_ranking_orders_by_error_and_tests_the_best_two():
    machines = ("oneLSM:gamma=16", "voLSSVM", "ovO")
    grid = {"gamma": [0.1, 1.0], "sigma": [0.1, 0.5]}
    found, ranked = ranking.rank(X, Y, grid, machines, folds=5, test=True)
    errors = [r.error for r in ranked.machines]
    assert errors[1:] == sorted(errors[1:])  # the chosen one is first, near ties by log-loss
    assert errors[0] <= min(errors) + np.sqrt(min(errors) / len(Y))
    assert sorted(r.machine for r in ranked.machines) == sorted(machines)
    assert found.machine == ranked.machines[0].machine
    assert found.error == errors[0]
    assert 0 <= ranked.test.p <= 1
    first, second = (r.machine for r in ranked.machines[:2])
    better = first if ranked.test_errors[0] < ranked.test_errors[1] else second
    same = f"between {first} and {second} is not significant"
    assert (f"{better} is better than" if ranked.test.differs(0.05) else same) in ranked.verdict()


def test_machines_that_are_one_function_never_differ():
    _, ranked = ranking.rank(X, Y, GRID, ("oneLSM", "ovA"), folds=3, test=True)
    assert [r.machine for r in ranked.machines] == ["oneLSM", "ovA"]
    assert ranked.verdict() == "oneLSM and ovA never differ"


def test_the_verdict_names_the_machine_with_the_smaller_error():
    from mcls.evaluation.statistics import TestResult

    two = tuple(ranking.Ranked(name, 0.1, 0.0, 0.0, {}, {}) for name in ("a", "b"))
    said = ranking.Ranking(two, TestResult(9.0, 0.01), (0.2, 0.1)).verdict()
    assert said == "b is better than a (f = 9.00, p = 0.010)"
    said = ranking.Ranking(two, TestResult(2.0, 0.2), (0.2, 0.1)).verdict()
    assert said == "the difference between a and b is not significant (f = 2.00, p = 0.200)"
    said = ranking.Ranking(
        two, TestResult(float("nan"), float("nan"), undefined="no variance"), (0.2, 0.1)
    ).verdict()
    assert said == "the test between a and b is undefined: no variance"


def test_the_test_of_a_large_table_uses_a_sample(monkeypatch):
    monkeypatch.setattr(ranking, "TEST_ROWS", 60)
    said = []
    ranking.rank(X, Y, {"gamma": [1.0], "sigma": [0.5]}, ("oneLSM", "ovO"), folds=3, test=True, say=said.append)
    assert said == ["the F-test of the best two uses a stratified sample of 60 rows"]


def test_auto_tries_what_the_registry_says():
    assert ranking.AUTO_MACHINES == ("oneLSM", "ovO", "voRLS-beta", "voLSSVM", "lssvm")
    kernels = ("gaussian-standard", "laplace-l1-standard", "laplace-l1-ranks")
    assert ranking.BEST_MACHINES == ("oneLSM", *(f"oneLSM:kernel={name}" for name in kernels), "ovO:decision=soft")


# Folds of the user's -------------------------------------------------------------------------------------------


def test_a_ranking_judges_all_machines_on_the_folds_that_a_splitter_draws_once():
    drawn = StratifiedKFold(3, shuffle=True)  # other folds at every call
    _, ranked = ranking.rank(X, Y, {"gamma": [1.0], "sigma": [0.05]}, ("oneLSM", "ovA"), folds=drawn)
    assert ranked.machines[0].spread == ranked.machines[1].spread
    pairs = iter(list(drawn.split(X, Y)))
    assert (
        len(ranking.rank(X, Y, {"gamma": [1.0], "sigma": [1.0]}, ("oneLSM", "ovA"), folds=pairs)[1].machines) == 2
    )


# Columns with names ---------------------------------------------------------------------------------------------
