"""Many strengths from one factor, against a factor for each."""

import numpy as np
import pytest

from mcls.data import load_dataset
from mcls.evaluation.folds import stratified_folds
from mcls.evaluation.scaling import to_range
from mcls.kernels import gaussian, squared_distances
from mcls.labelbooks import label_gram
from mcls.solvers import strengths, vector

GAMMAS = 2.0 ** np.arange(-4, 5)


@pytest.mark.parametrize("pencil", [True, False])
def test_every_strength_is_solved_from_one_factor(pencil):
    rng = np.random.default_rng(0)
    n = 60
    G, H = (A @ A.T for A in rng.standard_normal((2, n, n)))
    d = rng.standard_normal(n)
    other = H if pencil else np.eye(n)
    together = strengths.Strengths.of(np.array(G, order="F"), np.asfortranarray(H) if pencil else None, GAMMAS)
    expected = np.array([np.linalg.solve(G + gamma * other, d) for gamma in GAMMAS])
    np.testing.assert_allclose(together.solutions(d), expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
    assert not together.solutions(np.zeros(n)).any()


def test_a_refinement_gives_the_digits_back():
    rng = np.random.default_rng(1)
    n = 50
    G, H = (A @ A.T for A in rng.standard_normal((2, n, n)))
    d = rng.standard_normal(n)
    expected = np.array([np.linalg.solve(G + gamma * H, d) for gamma in GAMMAS])
    together = strengths.Strengths.of(np.array(G, order="F"), np.asfortranarray(H), GAMMAS)
    rough = expected * (1 + 1e-4 * rng.standard_normal(expected.shape))
    residuals = np.array([d - (G + gamma * H) @ x for gamma, x in zip(GAMMAS, rough)])
    found = rough + together.refinement(residuals, d)
    assert np.abs(found - expected).max() < 1e-6 * np.abs(rough - expected).max()


def test_an_indefinite_pencil_is_left_to_others():
    assert strengths.Strengths.of(np.asfortranarray(np.diag([1.0, -100.0])), None, GAMMAS) is None


def test_strengths_far_apart_have_factors_of_their_own():
    found = strengths.groups(2.0 ** np.arange(-20, 5, 2))
    assert [len(places) for places in found] == [5, 5, 3]
    assert sorted(np.concatenate(found).tolist()) == list(range(13))


@pytest.mark.parametrize("book", ["alignment", "pm1", "indicators"])
@pytest.mark.parametrize("regularizer", ["beta", "f"])
@pytest.mark.parametrize("sigma", [2.0**-4, 0.5, 16.0])
def test_vo_rls_gives_the_labels_of_a_factor_for_each_strength(monkeypatch, book, regularizer, sigma):
    data = load_dataset("vowel")
    X, L = to_range(data.X), label_gram(book, data.n_classes)
    K = gaussian(squared_distances(X), sigma)
    folds = stratified_folds(data.y, 10, seed=0)[:2]
    monkeypatch.setattr(strengths, "FROM_ROWS", 30)
    together = vector.sweep_rls(K, data.y, L, folds, GAMMAS, regularizer)
    monkeypatch.setattr(strengths, "FROM_ROWS", 10**6)
    alone = vector.sweep_rls(K, data.y, L, folds, GAMMAS, regularizer)
    for one, other in zip(together, alone, strict=True):
        np.testing.assert_array_equal((one @ L).argmax(axis=-1), (other @ L).argmax(axis=-1))
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-8 * np.abs(other).max())
