"""FQMI and FLDR from block sums against the paper's formulas evaluated sample by sample."""

import numpy as np
import pytest

from mcls.coding import criteria
from mcls.coding.criteria import FLDR, FQMI, block_sums, largest_distance, make_criterion
from mcls.errors import McLsError


def direct_fqmi(X, y, left, right, sigma):
    """Eq. (4)–(7) of arvanitopoulos over all pairs of samples of the two sides, without the Gaussian's constant."""
    sides = [X[np.isin(y, list(left))], X[np.isin(y, list(right))]]
    everything = np.concatenate(sides)
    N = len(everything)

    def total(A, B):
        return sum(np.exp(-((a - B) ** 2).sum(axis=1) / (4 * sigma**2)).sum() for a in A)

    v_in = sum(total(side, side) for side in sides) / N**2
    v_all = sum((len(side) / N) ** 2 for side in sides) * total(everything, everything) / N**2
    v_btw = sum(len(side) / N * total(everything, side) for side in sides) / N**2
    return v_in + v_all - 2 * v_btw


def direct_fldr(X, y, left, right):
    """Eq. (9), (10) and (12) with the scatter matrices written out."""
    A, B = X[np.isin(y, list(left))], X[np.isin(y, list(right))]
    S_w = (A - A.mean(0)).T @ (A - A.mean(0)) + (B - B.mean(0)).T @ (B - B.mean(0))
    difference = A.mean(0) - B.mean(0)
    return np.trace(np.outer(difference, difference)) / np.trace(S_w)


def made_up(seed, n=83, d=4, n_classes=6):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(n_classes), rng.integers(n_classes, size=n - n_classes)])
    return rng.normal(size=(n, d)) + rng.normal(scale=2, size=(n_classes, d))[y] + 50.0, y


def random_partitions(rng, n_classes, how_many):
    for _ in range(how_many):
        chosen = rng.permutation(n_classes)[: rng.integers(2, n_classes + 1)]
        cut = rng.integers(1, len(chosen))
        yield chosen[:cut].tolist(), chosen[cut:].tolist()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("sigma", [0.3, 1.0, 4.0, None])
def test_fqmi_equals_the_direct_formula(seed, sigma, monkeypatch):
    monkeypatch.setattr(criteria, "_TILE", 17)  # several tiles, cut across classes
    X, y = made_up(seed)
    J = FQMI(X, y, sigma)
    for left, right in random_partitions(np.random.default_rng(seed), 6, 12):
        rows = X[np.isin(y, left + right)]
        width = max(np.linalg.norm(a - b) for a in rows for b in rows) / 2 if sigma is None else sigma
        assert J(left, right) == pytest.approx(direct_fqmi(X, y, left, right, width), rel=1e-10, abs=1e-14)


@pytest.mark.parametrize("seed", range(3))
def test_fldr_equals_the_direct_formula(seed):
    X, y = made_up(seed)
    J = FLDR(X, y)
    for left, right in random_partitions(np.random.default_rng(seed), 6, 25):
        assert J(left, right) == pytest.approx(direct_fldr(X, y, left, right), rel=1e-10)


def test_block_sums_equal_the_sum_over_pairs_and_do_not_depend_on_the_tiles(monkeypatch):
    X, y = made_up(5)
    D2 = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    g = np.exp(-D2 / (4 * 0.7**2))
    expected = [[g[np.ix_(y == a, y == b)].sum() for b in range(6)] for a in range(6)]
    np.testing.assert_allclose(block_sums(X, y, 6, 0.7), expected, rtol=1e-12)
    monkeypatch.setattr(criteria, "_TILE", 10)
    np.testing.assert_allclose(block_sums(X, y, 6, 0.7), expected, rtol=1e-12)


def test_fqmi_survives_high_dimension():
    # The Gaussian's constant (4πσ²)^(−d/2) would be 1e-660 here: every value would be zero.
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    X = rng.normal(size=(60, 1200)) / 20 + 0.2 * np.eye(3, 1200)[y]
    J = FQMI(X, y, 1.0)
    assert J([0], [1, 2]) > 1e-6


@pytest.mark.parametrize("name", ["fldr", "fqmi"])
def test_an_empty_side_is_worth_nothing(name):
    X, y = made_up(0)
    J = make_criterion(name, X, y)
    assert J([], [0, 1]) == 0.0
    assert J([0, 1], []) == 0.0


def test_fldr_of_sides_without_scatter():
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    assert FLDR(X, np.array([0, 0, 1, 1]))([0], [1]) == np.inf
    assert FLDR(np.zeros((4, 1)), np.array([0, 0, 1, 1]))([0], [1]) == 0.0


def test_fqmi_of_equal_samples_is_defined():
    assert FQMI(np.ones((4, 2)), np.array([0, 0, 1, 1]))([0], [1]) == pytest.approx(0.0, abs=1e-15)


def test_largest_distance(monkeypatch):
    monkeypatch.setattr(criteria, "_TILE", 7)
    X, _ = made_up(1)
    assert largest_distance(X) == pytest.approx(max(np.linalg.norm(a - b) for a in X for b in X))


def test_unknown_criterion_is_refused():
    with pytest.raises(McLsError, match="fldr, fqmi"):
        make_criterion("fisher", np.zeros((2, 1)), np.array([0, 1]))
