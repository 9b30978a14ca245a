"""A task: facts about fitted machines (sizes of codes, overlap of codewords), and where the protocols note them."""

from __future__ import annotations

import numpy as np
import pytest

from mcls.data import load_dataset
from mcls.evaluation.folds import stratified_folds
from mcls.evaluation.protocols import half_split, published
from mcls.evaluation.scaling import to_range
from mcls.evaluation.task import Task, fitted_facts
from mcls.machines.codewords import codeword_overlap
from mcls.machines.registry import get_machine
from mcls.packing import unpack


@pytest.fixture(scope="module")
def iris():
    data = load_dataset("iris")
    return to_range(data.X), data.y


def test_only_machines_with_something_to_tell_have_facts():
    assert [get_machine(name).create().has_facts for name in ("oneLSM", "decoc", "olc-rlsc")] == [
        False,
        True,
        True,
    ]


def test_the_code_of_each_fold_is_noted_with_the_class_of_its_rows(iris):
    X, y = iris
    machine = get_machine("sub-ecoc").create(kernel="linear", C=100)
    result = published(Task(machine, X, y, {}, scaling="none"), seed=0, folds=3)
    assert len(result["facts"]) == 3
    for facts, (train, _) in zip(result["facts"], stratified_folds(y, 3, 0)):
        fitted = get_machine("sub-ecoc").create(kernel="linear", C=100).fit(X[train], y[train])
        np.testing.assert_array_equal(unpack(facts["code"]), fitted.code_matrix_)
        assert (facts["rows"], facts["columns"]) == fitted.code_matrix_.shape
        assert facts["row_classes"] == fitted.row_classes_.tolist()


def test_the_overlap_is_that_of_the_machine_at_the_chosen_point(iris):
    X, y = iris
    machine = get_machine("olc-rlsc").create(kernel="linear")
    point = {"lambda1": 0.5, "lambda2": 2.0}
    facts = fitted_facts(machine, point, X, y)
    G = codeword_overlap(get_machine("olc-rlsc").create(kernel="linear", **point).fit(X, y), X, y)
    pairs = [(0, 1), (0, 2), (1, 2)]
    assert facts["overlap"] == pytest.approx(np.mean([abs(G[i, j]) for i, j in pairs]))
    cosines = [abs(G[i, j]) / np.sqrt(G[i, i] * G[j, j]) for i, j in pairs]
    assert facts["overlap_cosine"] == pytest.approx(np.mean(cosines))


def test_a_half_split_notes_the_machine_of_its_training_half(iris):
    X, y = iris
    task = Task(get_machine("rlsc").create(kernel="linear"), X, y, {"lambda1": [0.1, 1.0]}, scaling="none")
    (facts,) = half_split(task, seed=1)["facts"]
    assert 0 < facts["overlap"] < 1


def test_a_machine_without_facts_adds_nothing_to_a_result(iris):
    X, y = iris
    assert "facts" not in published(Task(get_machine("ovA").create(), X, y, {"gamma": [1.0]}), seed=0, folds=3)
