"""Sparse oneLSM: the decrease of the objective by brute force, all rows kept, the rule for how many."""

import numpy as np
import pytest

import mcls
from mcls import OneLSM, SparseLSM
from mcls.data import load_dataset
from mcls.evaluation.scaling import to_range
from mcls.kernels import kernel_matrix
from mcls.solvers import sparse
from mcls.solvers.lsm import indicators


def glass():
    data = load_dataset("glass")
    return to_range(data.X)[::2], np.unique(data.y[::2], return_inverse=True)[1]


def objective(K, Y, J, gamma):
    """min over β of ‖Y − K_nJ β‖² + γ tr βᵀK_JJ β, and the minimiser."""
    A = K[:, J]
    beta = np.linalg.solve(A.T @ A + gamma * K[np.ix_(J, J)], A.T @ Y)
    return np.square(Y - A @ beta).sum() + gamma * np.trace(beta.T @ K[np.ix_(J, J)] @ beta), beta


@pytest.mark.parametrize("gamma", [0.01, 1.0])
def test_every_step_takes_the_row_with_the_largest_decrease(gamma):
    X, y = glass()
    X, Y = X[:40], indicators(y[:40], y.max() + 1)
    K = kernel_matrix(X, sigma=0.5)
    path = sparse.forward(K, Y, gamma, 12)
    before = np.square(Y).sum()
    for m in range(12):
        J = path.rows[:m].tolist()
        tried = {j: objective(K, Y, [*J, j], gamma)[0] for j in range(40) if j not in J}
        assert tried[path.rows[m]] == pytest.approx(min(tried.values()), rel=1e-9)
        assert before - tried[path.rows[m]] == pytest.approx(path.decreases[m], rel=1e-6)
        before = tried[path.rows[m]]
    assert np.allclose(sparse.coefficients(path, Y, gamma, 12), objective(K, Y, path.rows, gamma)[1], atol=1e-6)


def test_the_curve_and_the_misses_are_the_leave_one_out_ones_of_the_chosen_rows():
    X, y = glass()
    Y, K = indicators(y, y.max() + 1), kernel_matrix(X, sigma=0.5)
    path = sparse.forward(K, Y, 0.1, 20)
    for m in (1, 7, 20):
        P = path.P[:, :m]
        wrong, misses = 0, []
        for i in range(len(y)):
            rest = np.delete(np.arange(len(y)), i)
            c = np.linalg.solve(P[rest].T @ P[rest] + 0.1 * np.eye(m), P[rest].T @ Y[rest])
            wrong += (P[i] @ c).argmax() != y[i]
            misses.append(np.square(Y[i] - P[i] @ c).sum())
        assert path.errors[m - 1] == pytest.approx(wrong / len(y))
        assert path.misses[m - 1] == pytest.approx(np.array(misses))


@pytest.mark.parametrize("kernel", ["gaussian", "laplace", "polynomial"])
def test_with_all_rows_kept_it_is_onelsm(kernel):
    X, y = glass()
    options = {"kernel": kernel, "sigma": 0.4, "gamma": 0.1}
    ours, expected = SparseLSM(n_kept=len(X), **options).fit(X, y), OneLSM(**options).fit(X, y)
    assert np.allclose(ours.decision_function(X), expected.decision_function(X), atol=1e-5)


def within(misses):
    """The rule word by word: the fewest rows from which on all mean misses are near the smallest."""
    n, best = misses.shape[1], int(np.argmin(misses.mean(axis=1)))
    for m in range(1, best + 2):
        differences = [misses[k] - misses[best] for k in range(m - 1, best + 1)]
        if all(d.mean() <= 0.25 * d.std() / np.sqrt(n) for d in differences):
            return m
    raise AssertionError


def test_it_keeps_the_fewest_rows_from_which_on_the_misses_stay_near_the_smallest():
    rng = np.random.default_rng(0)
    kept = []
    for _ in range(200):
        slope = rng.uniform(0, 0.3)
        misses = (
            np.exp(-slope * np.arange(12))[:, None] + rng.normal(scale=rng.uniform(0.1, 3), size=(12, 30)) ** 2
        )
        kept.append(sparse.smallest_within(misses))
        assert kept[-1] == within(misses)
    assert len(set(kept)) > 8
    assert sparse.smallest_within(np.array([[1.0, 1.0], [2.0, 2.0]])) == 1
    assert sparse.smallest_within(np.array([[1.0, 1.1], [2.0, 3.0], [1.0, 1.0]])) == 3


def test_how_many_rows_are_kept_follows_from_the_curve():
    X, y = glass()
    machine = SparseLSM(sigma=0.5, gamma=0.1).fit(X, y)
    Y, K = indicators(y, y.max() + 1), kernel_matrix(X, sigma=0.5)
    path = sparse.forward(K, Y, 0.1, len(X) // 5, patient=False)
    assert np.array_equal(machine.curve_, path.errors)
    assert len(machine.chosen_) == sparse.smallest_within(path.misses) <= len(X) / 5
    assert machine.X_fit_.shape == (len(machine.chosen_), 9)
    assert machine.facts(X, y)["share"] < 0.5


def test_the_model_file_is_small(tmp_path):
    data = load_dataset("yeast")
    X = to_range(data.X)
    for name, machine in (("full", OneLSM()), ("few", SparseLSM(n_kept=40))):
        mcls.save(machine.fit(X, data.y), tmp_path / name)
    assert (tmp_path / "few").stat().st_size < 0.1 * (tmp_path / "full").stat().st_size


@pytest.mark.parametrize("value", [0, -3, 2.5, "many", None])
def test_a_number_of_rows_is_refused_that_is_none(value):
    with pytest.raises(ValueError, match="n_kept"):
        SparseLSM(n_kept=value).fit([[0.0], [1.0]], [0, 1])


def test_a_kernel_without_positive_values_is_refused():
    with pytest.raises(ValueError, match="nothing to keep"):
        SparseLSM(kernel=lambda A, B: -np.ones((len(A), len(B)))).fit([[0.0], [1.0]], [0, 1])
