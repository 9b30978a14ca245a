"""The search of a candidate, and of several side by side."""

from dataclasses import replace

import numpy as np
import pytest

from mcls.evaluation.metrics import ERROR
from mcls.machines.registry import MACHINES
from mcls.models import growing, ranking
from mcls.models.candidates import Candidate
from mcls.models.searching import CandidateSearch
from mcls.models.training_rows import TrainingRows


def classes_in_rings(n, seed=0):
    """Two classes in rings, which no kernel of one column alone tells apart."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, (np.hypot(*X.T) > 1.2).astype(int)


@pytest.fixture
def small_samples(monkeypatch):
    monkeypatch.setattr(growing, "SIZES", {80: 100, 150: 200})


def test_samples_and_all_rows_are_judged_as_they_are(small_samples):
    X, y = classes_in_rings(240)
    data = TrainingRows.read(X, y, folds=4, seed=0, groups=None, sample_weight=None, say=None)
    candidate = Candidate.read(data, "oneLSM", "auto", (ERROR,))
    assert candidate.sizes == [80, 150]
    search = CandidateSearch(candidate, data, keep_scores=True)
    for size in candidate.sizes:
        task, found = search.sample(size)
        assert abs(len(task.y) - size) <= 1
        assert sum(len(test) for test in found.tests) == len(task.y)
        scores = np.concatenate(found.scores[found.best])
        wrong = scores.argmax(axis=1) != task.y[np.concatenate(found.tests)]
        assert np.mean(wrong) == pytest.approx(found.best_error, abs=0.01)
    found, outcomes = search.complete()
    assert outcomes is None
    assert found.n_rows == 240
    same = CandidateSearch(candidate, data, keep_scores=True).run()[0]
    assert same.points == found.points
    np.testing.assert_array_equal(same.errors, found.errors)


def test_a_machine_far_behind_on_a_sample_is_never_searched_on_all_rows(small_samples, monkeypatch):
    X, y = classes_in_rings(240)
    completed, shares = [], []
    complete = CandidateSearch.complete

    def watched(self, rivals=1):
        completed.append((self._candidate.machine, rivals))
        return complete(self, rivals)

    def behind(best, other, share):
        shares.append(share)
        return other is not best

    monkeypatch.setattr(CandidateSearch, "complete", watched)
    machines = ["oneLSM", "oneLSM:kernel=laplace", "oneLSM:kernel=laplace-l1"]
    monkeypatch.setattr(ranking, "far_behind", lambda best, other, share: False)
    chosen, ranked = ranking.rank(X, y, machines=machines, folds=4, nested=True)
    assert [rivals for _, rivals in completed] == [len(completed)] * len(completed)
    assert len(completed) == len(ranked.machines) == 3
    completed.clear()
    monkeypatch.setattr(ranking, "far_behind", behind)
    chosen, ranked = ranking.rank(X, y, machines=machines, folds=4, nested=True)
    ((name, rivals),) = completed
    assert name in chosen.machine
    assert rivals == len(ranked.machines) == 1
    assert ranked.nested
    assert shares == [80 / 240] * 3  # on the second sample there is nobody left to compare with
    (told,) = (note for note in chosen.notes if "left out" in note)
    assert all(machine in told for machine in machines if machine != name)


def test_a_guest_stays_only_where_it_is_far_ahead(small_samples, monkeypatch):
    rng = np.random.default_rng(0)
    X, y = classes_in_rings(300)
    entries = tuple(
        replace(entry, as_guest_from=100 if entry.options else None) for entry in MACHINES["oneLSM"].entries
    )
    monkeypatch.setitem(MACHINES, "oneLSM", replace(MACHINES["oneLSM"], entries=entries))
    machines = ["oneLSM", "oneLSM:kernel=laplace-l1-ranks"]
    _, ranked = ranking.rank(X, y, machines=machines, folds=4, calibration="auto")
    assert [each.machine.split(",")[0] for each in ranked.machines] == ["oneLSM"]
    # In columns of heavy tails the few far values decide every distance; their ranks are those of X.
    heavy = np.sinh(6 * X) * np.exp(rng.normal(size=2))
    _, ranked = ranking.rank(heavy, y, machines=machines, folds=4, calibration="auto")
    assert ranked.machines[0].machine.startswith("oneLSM:kernel=laplace-l1-ranks")
