"""Protocols against plain loops over fits, on a part of iris."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from mcls.evaluation import protocols
from mcls.evaluation.folds import stratified_folds
from mcls.evaluation.protocols import PROTOCOLS, hold_out_rows
from mcls.evaluation.scaling import to_range
from mcls.evaluation.task import Task
from mcls.machines.lsm import OneLSM
from mcls.seeds import derive
from mcls.solvers.calibration import temperature_losses
from tests.evaluation.by_hand import GRID, fit_error


@pytest.mark.parametrize("protocol", [protocols.nested, protocols.nested_folds], ids=lambda p: p.name)
def test_near_ties_go_to_the_smallest_log_loss_inside_each_fold(task, data, protocol):
    task = replace(task, X=data[0][:, :2])  # two columns tell little: many points are near
    X, y = to_range(task.X), data[1]
    result = protocol(replace(task, near=2.0), seed=3, folds=4)
    outer = stratified_folds(y, 4, 3)
    expected = []
    for i, (train, _) in enumerate(outer):
        folds = [(train[a], train[b]) for a, b in stratified_folds(y[train], 10, derive(3, "inner", i))]
        if protocol is protocols.nested_folds:
            folds = [(np.setdiff1d(train, test), test) for j, (_, test) in enumerate(outer) if j != i]
        tested = np.concatenate([test for _, test in folds])
        seen = {}
        for sigma, gamma in product(GRID["sigma"], GRID["gamma"]):
            scores = [OneLSM(sigma=sigma, gamma=gamma).fit(X[a], y[a]).decision_function(X[b]) for a, b in folds]
            error = np.mean([np.mean(s.argmax(axis=1) != y[b]) for s, (_, b) in zip(scores, folds)])
            seen[sigma, gamma] = error, temperature_losses(np.concatenate(scores)[None], y[tested])[0]
        least = min(error for error, _ in seen.values())
        bound = least + 2.0 * np.sqrt(least * (1 - least) / len(tested)) + 1e-12
        best = min((p for p in seen if seen[p][0] <= bound), key=lambda p: seen[p][1])
        expected.append({"sigma": best[0], "gamma": best[1]})
    assert result["chosen"] == expected
    assert result["chosen"] != protocol(task, seed=3, folds=4)["chosen"]


@pytest.mark.parametrize("scaling", ["fold", "standard", "none"])
def test_scaling_reaches_the_fits(data, scaling):
    X, y = data
    X = X * np.array([1, 10, 0.1, 1])
    result = protocols.hold_out(
        Task(OneLSM(), X, y, grid={"gamma": [0.5], "sigma": [0.5]}, scaling=scaling), seed=0
    )
    train, test = hold_out_rows(y, 0.5, 0, None)
    scaled = {"fold": to_range(X, X[train]), "standard": (X - X.mean(0)) / X.std(0), "none": X}[scaling]
    assert result["error"] == pytest.approx(fit_error(scaled, y, train, test, {"gamma": 0.5, "sigma": 0.5}))


@pytest.mark.parametrize("name", PROTOCOLS)
def test_results_are_json_and_repeat(task, name):
    small = replace(task, grid={"gamma": [1.0, 2.0]})
    first, second = (json.dumps(PROTOCOLS[name](small, 5), allow_nan=False) for _ in range(2))
    assert first == second
    assert {"error", "chosen", "predictions"} <= json.loads(first).keys()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_no_protocol_judges_a_row_by_its_own_copy(protocol):
    """Random classes, every row three times: a nearest neighbour finds the copies unless they stay together."""
    rng = np.random.default_rng(0)
    X, y = np.tile(rng.normal(size=(60, 2)), (3, 1)), np.tile(np.arange(60) % 2, 3)
    task = Task(KNeighborsClassifier(), X, y, {"n_neighbors": [1, 2]}, scaling="none")
    apart = PROTOCOLS[protocol](task, 0)
    together = PROTOCOLS[protocol](replace(task, groups=np.tile(np.arange(60), 3)), 0)
    assert apart["error"] < 0.3
    assert together["error"] > 0.35
    for name in ("inner_error", "oracle_error"):
        assert together.get(name, 0.5) > 0.25
    assert min(together.get("inner_errors", [0.5])) > 0.25
